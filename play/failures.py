"""Tool failures that come back the same whenever an episode is run again."""

from hashlib import blake2b

_SCALE = 2**64


class Failures:
    """Decides which calls of an episode fail.

    Whether a call fails depends on the seed, the instance and the call's number alone: not on other episodes, threads,
    processes, or what was drawn before.
    """

    def __init__(self, rate: float, seed: int, instance: str) -> None:
        """Makes the failures of one episode.

        Args:
            rate: Probability that a call fails, 0 to 1.
            seed: Seed of the trial.
            instance: Id of the instance, so that episodes of one trial differ.

        Raises:
            ValueError: The rate is not a probability.
        """
        if not 0 <= rate <= 1:
            raise ValueError(f"the tool failure rate is {rate}; it must lie between 0 and 1")
        self._threshold = int(rate * _SCALE)
        self._key = f"{seed}/{instance}/".encode()

    def hit(self, call: int) -> bool:
        """Tells whether a call fails.

        Args:
            call: Number of the call within its episode, from 0.

        Returns:
            True when it fails.
        """
        if not self._threshold:
            return False
        digest = blake2b(self._key + str(call).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") < self._threshold
