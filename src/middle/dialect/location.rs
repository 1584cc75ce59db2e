//! Source information in locations.

use super::{cuda_tile::DILocAttr, rt::raw_to_str};
use melior::ir::{Attribute, AttributeLike, Location};
use mlir_sys::*;

/// A file, and a line and column counted from one; zero is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLine {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// Returns the file location of `location`, or `None` if it names no file.
///
/// For an inlined call, this is the location in the callee; for a fused location, the first one.
pub fn file_line(location: Location<'_>) -> Option<FileLine> {
    let leaf = leaf(location);
    // SAFETY: the accessors are called only on a file location.
    unsafe {
        let raw = leaf.to_raw();
        mlirLocationIsAFileLineColRange(raw).then(|| FileLine {
            file: raw_to_str(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(raw))).to_string(),
            line: mlirLocationFileLineColRangeGetStartLine(raw).max(0) as u32,
            column: mlirLocationFileLineColRangeGetStartColumn(raw).max(0) as u32,
        })
    }
}

/// Returns the file location in `location`, or an unknown location.
pub fn leaf<'c>(location: Location<'c>) -> Location<'c> {
    find(location).unwrap_or_else(|| {
        // SAFETY: the location's context is alive.
        unsafe { Location::from_raw(mlirLocationUnknownGet(mlirLocationGetContext(location.to_raw()))) }
    })
}

/// Returns the location without the name of a value, for a value that is not the program's.
pub fn unnamed<'c>(location: Location<'c>) -> Location<'c> {
    // SAFETY: the kind is checked before the accessor; locations live as long as their context.
    unsafe {
        let raw = location.to_raw();
        if mlirLocationIsAName(raw) { Location::from_raw(mlirLocationNameGetChildLoc(raw)) } else { location }
    }
}

fn find<'c>(mut location: Location<'c>) -> Option<Location<'c>> {
    // Each step descends one level, and locations are finite trees.
    loop {
        // SAFETY: the kind is checked before each accessor; locations live as long as their context.
        unsafe {
            let raw = location.to_raw();
            if mlirLocationIsAFileLineColRange(raw) {
                return Some(location);
            }
            location = if mlirLocationIsACallSite(raw) {
                Location::from_raw(mlirLocationCallSiteGetCallee(raw))
            } else if mlirLocationIsAName(raw) {
                Location::from_raw(mlirLocationNameGetChildLoc(raw))
            } else if mlirLocationIsAFused(raw) {
                let n = mlirLocationFusedGetNumLocations(raw) as usize;
                let mut parts = vec![MlirLocation { ptr: std::ptr::null() }; n];
                mlirLocationFusedGetLocations(raw, parts.as_mut_ptr());
                return parts.into_iter().find_map(|p| find(Location::from_raw(p)));
            } else {
                let attribute = Attribute::from_raw(mlirLocationGetAttribute(raw));
                let source = DILocAttr::cast(attribute)?.source_loc()?;
                Location::from_raw(mlirLocationFromAttribute(source.to_raw()))
            };
        }
    }
}
