//! Facts about values that passes ask for.

pub mod access;
pub mod atomics;
pub mod branches;
pub mod carried;
pub mod combined;
pub mod facts;
pub mod layouts;
pub mod multimem;
pub mod narrow;
pub mod pipelines;
pub mod pressure;
pub mod producers;
pub mod product_warps;
pub mod register_maps;
pub mod registers;
pub mod ring_loads;
pub mod rings;
pub mod rotations;
pub mod schedule;
pub mod synchronization;
pub mod tensor_map_ops;
pub mod tensor_maps;
pub mod thread_copies;
pub mod tile_programs;
pub mod tokens;
pub mod warps;
