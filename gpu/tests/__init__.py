"""Tests of the GPU kit; they need no GPU. `python3 -m unittest discover -s gpu/tests -t gpu`, or `make test`."""
import os
import pathlib
import sys

GPU = pathlib.Path(__file__).resolve().parent.parent
ROOT = GPU.parent
sys.dont_write_bytecode = True
for path in (str(GPU), str(ROOT / ".tools" / "python")):
    if path not in sys.path:
        sys.path.insert(0, path)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
