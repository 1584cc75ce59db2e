//! Assembles PTX into machine code.

use crate::store;
use std::{env, path::Path};
use tile_driver::ptxas;
use tile_interface::DebugInfo;
use tile_targets::Target;

/// The cubin that ptxas generates from a module, with the resources of its kernels. A warning is an error.
pub fn assemble(ptx: &str, target: &'static Target, opt_level: u8, debug: DebugInfo) -> Result<ptxas::Cubin, String> {
    assemble_with(ptx, target, opt_level, debug, false)
}

/// As [`assemble`], with the maximum of shared memory that ptxas permits.
pub fn assemble_with(
    ptx: &str,
    target: &'static Target,
    opt_level: u8,
    debug: DebugInfo,
    extended_shared: bool,
) -> Result<ptxas::Cubin, String> {
    let scratch = env::temp_dir();
    let job = ptxas::Job { extended_shared, ..job(ptx, target, opt_level, debug, &scratch) };
    let cubin = store::assemble(&job)
        .map_err(|e| format!("{}: {e}\n{}", target.name, String::from_utf8_lossy(e.messages())))?;
    if cubin.messages.is_empty() {
        Ok(cubin)
    } else {
        Err(format!("{}: ptxas warns: {}", target.name, String::from_utf8_lossy(&cubin.messages)))
    }
}

/// A job with the statistics of ptxas.
pub(crate) fn job<'a>(
    ptx: &'a str,
    target: &'static Target,
    opt_level: u8,
    debug: DebugInfo,
    scratch: &'a Path,
) -> ptxas::Job<'a> {
    ptxas::Job {
        ptx,
        target,
        opt_level,
        debug,
        extended_shared: false,
        sanitize: None,
        extra: &[],
        timeout: None,
        scratch,
        statistics: true,
    }
}
