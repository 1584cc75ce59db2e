//! Asynchronous operations in flight.

use super::error::SimError;
use super::ldst::Place;
use super::machine::Machine;
use super::warp::Warp;

#[derive(Debug)]
pub(crate) struct AsyncEngine {}

impl AsyncEngine {
    pub fn new(_late: bool) -> AsyncEngine {
        AsyncEngine {}
    }
    pub fn why_unwritten(&self, _place: Place, _byte: u64) -> String {
        String::new()
    }
    pub fn uses_ctas(&self, _ctas: &std::ops::Range<usize>) -> bool {
        false
    }
    pub fn describe_pending(&self) -> Vec<String> {
        Vec::new()
    }
    pub fn tcgen05_idle(&self, _agent: u32) -> bool {
        true
    }
}

impl Machine<'_> {
    pub fn engine_drain(&mut self) -> Result<(), SimError> {
        Ok(())
    }
    pub fn engine_advance(&mut self, _stalled: bool) -> Result<bool, SimError> {
        Ok(false)
    }
    pub fn mbarrier_ready(&self, _cta: usize, _offset: u32, _parity: u32) -> bool {
        true
    }
    pub fn describe_mbarrier(&self, _cta: usize, _offset: u32, _parity: u32) -> String {
        String::new()
    }
    pub fn bulk_ready(&self, _w: &Warp, _mask: u32, _left: u32, _read: bool) -> bool {
        true
    }
    pub fn tmem_available(&self, _cta: usize, _columns: u32) -> bool {
        true
    }
}
