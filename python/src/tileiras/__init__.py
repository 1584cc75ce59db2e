"""Open compiler for CUDA Tile IR, and a simulator of its programs.

`compile` makes PTX, cubins or any level in between of bytecode, text or a cuTile kernel; `run` launches a kernel on the
simulated GPU, or on the reference interpreter of the language; `disassemble` shows bytecode as text.
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
