import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread():
    # Histogram gradient boosting on 90 rows only waits for its threads.
    with threadpool_limits(limits=1, user_api="openmp"):
        yield
