//! Host functions in C for the reference interpreter, which compute calls of functions of tile libraries.
//!
//! ```c
//! int f(const void *const *operands, void *const *results, const int64_t *constants);
//! ```
//!
//! Each operand and each result is an array of the tile's elements in row-major order, at their natural size; tokens
//! are left out. `constants` has the constant arguments, which must be integers. A result other than 0 ends the run.

use libloading::Library;
use std::{ffi::c_int, ffi::c_void, path::Path, rc::Rc};
use tile_interp::{
    machine::{HostCall, HostFunction, HostTile},
    program::Constant,
    types::Element,
};

type Function = unsafe extern "C" fn(*const *const c_void, *const *mut c_void, *const i64) -> c_int;

/// Finds a function in a shared library. `None` if the library lacks it.
pub(super) fn load(file: &Path, name: &str) -> Result<Option<HostFunction>, String> {
    // A name without a folder would be searched in the folders of the system.
    let path = if file.is_absolute() { file.to_owned() } else { Path::new(".").join(file) };
    // SAFETY: the user names the library, whose constructors run.
    let library = unsafe { Library::new(path) }.map_err(|e| format!("{}: {e}", file.display()))?;
    // SAFETY: functions of the library have this type, as documented.
    let Ok(function) = (unsafe { library.get::<Function>(name.as_bytes()) }).map(|f| *f) else { return Ok(None) };
    Ok(Some(Rc::new(move |call: &mut HostCall<'_>| {
        // The function is code of the library.
        let _alive = &library;
        let constants: Option<Vec<i64>> =
            call.constants.iter().map(|c| if let Constant::Int(v) = c { Some(*v) } else { None }).collect();
        let constants = constants.ok_or("a constant argument is not an integer")?;
        let mut operands = call.operands.iter().map(bytes).collect::<Result<Vec<Vec<u8>>, _>>()?;
        let mut results = call.results.iter().map(bytes).collect::<Result<Vec<Vec<u8>>, _>>()?;
        let inputs: Vec<*const c_void> = operands.iter_mut().map(|b| b.as_ptr().cast()).collect();
        let outputs: Vec<*mut c_void> = results.iter_mut().map(|b| b.as_mut_ptr().cast()).collect();
        // SAFETY: the arrays are as long as documented and outlive the call; the user vouches for the function.
        let status = unsafe { function(inputs.as_ptr(), outputs.as_ptr(), constants.as_ptr()) };
        if status != 0 {
            return Err(format!("it returned {status}"));
        }
        for (tile, bytes) in call.results.iter_mut().zip(results) {
            let size = bytes.len() / tile.elements.len().max(1);
            let mask = tile.ty.element.number().map_or(u64::MAX, |n| n.mask());
            for (element, bytes) in tile.elements.iter_mut().zip(bytes.chunks(size.max(1))) {
                *element = bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b)) & mask;
            }
        }
        Ok(())
    })))
}

/// The elements of a tile in memory.
fn bytes(tile: &HostTile) -> Result<Vec<u8>, String> {
    let bits = match tile.ty.element {
        Element::Pointer(_) => 64,
        Element::Number(n) => n.stored_bits(),
    };
    if bits % 8 != 0 {
        return Err(format!("elements of {bits} bits have no type in C"));
    }
    Ok(tile.elements.iter().flat_map(|e| e.to_le_bytes()[..bits as usize / 8].to_vec()).collect())
}
