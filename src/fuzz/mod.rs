//! Random programs: compiled code against the reference interpreter, and arbitrary text against the parser.
//!
//! * `cases/`: the crate `tile-fuzz`, which makes programs and knows no compiler.
//! * [`differential`]: compiles a program, runs it, and compares with what the interpreter says.
//! * [`text`]: the body of the fuzz target of the text parser.
//! * `command/`: the program `tile-fuzz`.

pub mod differential;
pub mod text;
