"""Torch, or a test that is skipped; in continuous integration it has to be there."""

import os

import pytest

try:
    import torch
except ImportError:
    reason = "needs torch, which is large: pip install clearwood[torch]"
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)

torch.set_num_threads(1)
