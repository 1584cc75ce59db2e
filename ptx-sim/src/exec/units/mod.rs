//! Families of instructions.

pub mod access;
pub mod alu_float;
pub mod alu_int;
pub mod async_ops;
pub mod builtins;
pub mod cluster_control;
pub mod combine;
pub mod completion;
pub mod defined;
pub mod ldst;
pub mod multimem;
pub mod observe;
pub mod report;
pub mod tcgen05;
pub mod tensor_ops;
pub mod tensor_touch;
pub mod warp_exec;
pub mod wgmma;
