//! Reference interpreter of cuda_tile: defines the meaning of programs.
//!
//! It is the oracle for tests of the compiler and shares no code with it: no pass, no device library, and not the
//! simulator's arithmetic. It is written for clarity rather than speed, and runs one op and one element at a time.
//!
//! * [`program`]: programs as plain data, [`types`]: their types, [`text`]: prints them for MLIR to parse;
//! * [`format`]: formats of floating-point numbers and exact arithmetic, [`float`] and [`int`]: ops on one element;
//! * [`scalar`]: an element, and how far the language determines it;
//! * [`memory`]: bounds-checked memory, [`race`]: accesses that no token orders;
//! * [`machine`]: runs programs.
//!
//! ```
//! use tile_interp::{machine::{Limits, Machine}, program::*, types::*};
//! use std::rc::Rc;
//!
//! // entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) { store_ptr_tko weak %p, %x ...; return }
//! let mut entry = Entry { name: "k".into(), ..Entry::default() };
//! let p = entry.value(TileType::new(&[], Element::Pointer(Number::I32)).into());
//! let x = entry.value(TileType::scalar(Number::I32).into());
//! let t = entry.value(Type::Token);
//! let op = |kind, operands, results| Op { kind, operands, results, regions: vec![], location: "here".into() };
//! let store = OpKind::StorePtr { access: AccessOrder::WEAK, mask: false, token: false };
//! entry.body = Block {
//!     arguments: vec![p, x],
//!     ops: vec![op(store, vec![p, x], vec![t]), op(OpKind::Return, vec![], vec![])],
//! };
//! let program = Program { name: "m".into(), globals: vec![], entries: vec![entry] };
//!
//! let mut machine = Machine::new(&program);
//! let address = machine.memory.allocate("buffer", vec![0; 4]);
//! machine.launch("k", [1, 1, 1], &[address, 7], Limits::default())?;
//! assert_eq!(machine.array(address, Number::I32, 1)[0].bits, 7);
//! // One element further is outside the allocation.
//! let error = machine.launch("k", [1, 1, 1], &[address + 4, 7], Limits::default()).unwrap_err();
//! assert!(error.to_string().starts_with("here: 'store_ptr_tko' in tile block (0, 0, 0): access of 4 bytes"));
//! # Ok::<(), tile_interp::machine::Error>(())
//! ```

#![deny(unsafe_code)]

pub mod float;
pub mod format;
pub mod int;
pub mod machine;
pub mod memory;
pub mod portable;
pub mod print;
pub mod program;
pub mod race;
pub mod scalar;
pub mod text;
pub mod types;
