//! Open compiler for CUDA Tile IR.
