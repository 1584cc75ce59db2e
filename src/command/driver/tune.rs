//! `tileiras tune`: finds the fastest variant of a program.
//!
//! A textual program contains placeholders such as `${TM}` for the rows of a tile, and so do the launch and the
//! compiler options. All combinations of the given values are compiled and timed, either with the timing model of
//! `tile-run`, which needs no GPU, or by a benchmark command of the user.
//!
//! * [`expression`]: expressions in placeholders and conditions;
//! * [`space`]: parameters, combinations of their values, and templates;
//! * [`call`]: the command line;
//! * [`search`]: compiles and times the variants, without duplicate work;
//! * [`table`], [`picture`]: the results.

pub mod call;
pub mod expression;
pub mod picture;
pub mod search;
pub mod space;
pub mod table;
