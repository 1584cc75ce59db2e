//! Chains of inlined calls: the functions through which an operation was inlined, according to its location.
//!
//! `callsite(A at callsite(B at C))` is location A in a function called at B, in a function called at C. The chain is
//! the list A, B, C, innermost first: C is in the function that contains the operation now.

use super::{
    cuda_tile::DILocAttr,
    location::{FileLine, file_line},
    rt::raw_to_str,
};
use melior::ir::{Attribute, Location};
use mlir_sys::*;

/// One location of a chain.
#[derive(Clone, Debug)]
pub struct Frame<'c> {
    pub place: FileLine,
    /// A `cuda_tile` subprogram or lexical block.
    pub scope: Option<Attribute<'c>>,
    /// The name that the location carries.
    pub name: Option<&'c str>,
}

/// Locations are graphs with shared parts, so a small location can represent an exponentially long chain.
const MAX_STEPS: usize = 4096;

/// Returns the chain of a location, innermost first. The chain is empty if the location names no file, and contains
/// only the innermost location if unfolding takes too many steps.
pub fn frames(location: Location<'_>) -> Vec<Frame<'_>> {
    let mut frames = vec![];
    let mut pending = vec![(location, None)];
    for _ in 0..MAX_STEPS {
        let Some((location, name)) = pending.pop() else { return frames };
        let raw = location.to_raw();
        // SAFETY: the kind is checked before each accessor; locations live as long as their context.
        unsafe {
            if mlirLocationIsACallSite(raw) {
                pending.push((Location::from_raw(mlirLocationCallSiteGetCaller(raw)), None));
                pending.push((Location::from_raw(mlirLocationCallSiteGetCallee(raw)), name));
            } else if mlirLocationIsAName(raw) {
                let name = raw_to_str(mlirIdentifierStr(mlirLocationNameGetName(raw)));
                pending.push((Location::from_raw(mlirLocationNameGetChildLoc(raw)), Some(name)));
            } else if mlirLocationIsAFused(raw) {
                let mut parts =
                    vec![MlirLocation { ptr: std::ptr::null() }; mlirLocationFusedGetNumLocations(raw) as usize];
                mlirLocationFusedGetLocations(raw, parts.as_mut_ptr());
                let first = parts.into_iter().map(|p| Location::from_raw(p)).find(|p| file_line(*p).is_some());
                pending.extend(first.map(|p| (p, name)));
            } else if let Some(place) = file_line(location) {
                let attribute = Attribute::from_raw(mlirLocationGetAttribute(raw));
                frames.push(Frame { place, scope: DILocAttr::cast(attribute).and_then(|l| l.scope()), name });
            }
        }
    }
    frames.truncate(1);
    frames
}
