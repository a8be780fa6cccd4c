"""One thread for small matrix products: on several, they wait for each other longer than they compute."""

from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

_POOLS = ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Run the linear algebra inside a ``with`` block on one thread; without effect on results."""
    limit: AbstractContextManager[object] = _POOLS.limit(limits=1, user_api="blas")
    return limit
