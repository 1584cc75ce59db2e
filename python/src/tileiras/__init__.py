"""Open compiler for CUDA Tile IR, and a simulator of its programs.

`compile` compiles bytecode, text or a cuTile kernel to PTX, a cubin or any intermediate level; `run` launches a kernel on the
simulated GPU or on the reference interpreter of the language; `disassemble` converts bytecode to text.
"""
from ._compile import Compiled, Kernel, Remark, compile, disassemble
from ._errors import CompileError, ConfigurationError, Diagnostic, Error, InputError, LaunchError, ToolError
from ._run import Scalar, run
from ._tools import program
from ._version import __version__

__all__ = [
    "CompileError", "Compiled", "ConfigurationError", "Diagnostic", "Error", "InputError", "Kernel", "LaunchError", "Remark",
    "Scalar", "ToolError", "__version__", "compile", "disassemble", "program", "run",
]
