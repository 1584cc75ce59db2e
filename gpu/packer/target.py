"""The GPU that the pack is for. `gpu/build.sh --target NAME` sets it for all its processes."""
from __future__ import annotations

import os

TARGET = os.environ.get("PACK_TARGET") or "sm_90"

# The name with which ptxas accepts the features of this architecture alone.
ARCHITECTURE = TARGET + "a"

# Whether two CTAs can run matmuls together.
PAIRS = TARGET.startswith(("sm_10", "sm_11"))

# Parts whose images are written in PTX for Hopper.
HOPPER_PARTS = ("ptx", "abi", "copies", "micro")
