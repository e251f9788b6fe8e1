"""Studies of the library; see ``README.md`` for their commands."""

import os

from threadpoolctl import threadpool_limits

# One thread everywhere: here, and in the processes started from here.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
threadpool_limits(1)
