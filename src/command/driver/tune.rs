//! `tileiras tune`: the variant of a program that takes the least time.
//!
//! A program in text has holes for what may vary, such as `${TM}` for the rows of a tile; so have the launch and the
//! options of the compilation. All combinations of the values that are given for them are compiled, and judged: by the
//! timing model of `tile-run`, which needs no GPU, or by a command of the user's.
//!
//! * [`expression`]: what may stand in a hole or a condition;
//! * [`space`]: parameters, combinations of their values, texts with holes;
//! * [`call`]: the command line;
//! * [`search`]: compiling and judging, nothing twice;
//! * [`table`], [`picture`]: the result.

pub mod call;
pub mod expression;
pub mod picture;
pub mod search;
pub mod space;
pub mod table;
