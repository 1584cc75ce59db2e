//! Execution and testing: runs programs on the simulator and in the reference interpreter, and compares the two.

pub mod fuzz;
