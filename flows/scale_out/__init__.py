"""An audit on workers elsewhere: threads of a Prefect flow, a Dask cluster, a Ray cluster.

Workers keep nothing: what a shard needs, and what comes out, lies in a store that the process of the command and all
workers reach.
"""
