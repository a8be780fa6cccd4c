"""The Claude Agent SDK as a scaffold: its program decides what is asked next; requests and calls are ours.

``protocol`` reads and writes the Messages protocol that the program speaks, ``gateway`` answers it on loopback,
``program`` says how the program runs, ``attempt`` joins its requests to our client and its calls to our tools,
``scaffold`` starts and ends all of it. Only ``program`` and ``scaffold`` import the SDK.
"""
