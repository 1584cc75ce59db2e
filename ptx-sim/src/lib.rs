//! PTX parser and functional simulator.
