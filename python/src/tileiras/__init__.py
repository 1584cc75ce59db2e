"""Open compiler for CUDA Tile IR, and a simulator of its programs.

Programs are cuTile Python kernels, bytecode, text or files. `run` launches a kernel on the simulated GPU or on the reference
interpreter of the language; `compile` compiles to PTX, a cubin or any intermediate level; `predict` predicts the time of a
launch; `tune` searches tile sizes and hints; `explore` shows a program at every level; `numerics` reports the order of sums;
`disassemble` converts bytecode to text.
"""
from ._analyze import Exploration, Numerics, Page, Prediction, Tuning, Variant, explore, numerics, predict, tune
from ._arrays import Zeros, zeros
from ._compile import Compiled, Kernel, Remark, compile, disassemble
from ._errors import CompileError, ConfigurationError, Diagnostic, Error, InputError, LaunchError, ToolError
from ._kernels import Scalar
from ._run import run
from ._tools import program
from ._version import __version__

__all__ = [
    "CompileError", "Compiled", "ConfigurationError", "Diagnostic", "Error", "Exploration", "InputError", "Kernel",
    "LaunchError", "Numerics", "Page", "Prediction", "Remark", "Scalar", "ToolError", "Tuning", "Variant", "Zeros",
    "__version__", "compile", "disassemble", "explore", "numerics", "predict", "program", "run", "tune", "zeros",
]
