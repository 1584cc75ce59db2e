//! Execution and testing: programs run on the simulator, in the reference interpreter, and against each other.

pub mod fuzz;
