//! Calls of functions outside the kernel: of the device library and of the driver.

use super::Lower;
use crate::dialect::rt::*;
use melior::{dialect::llvm, ir::Type};
use tile_rtlib::Runtime;

impl<'c> Lower<'c, '_> {
    /// Calls an external function that returns a value, and declares it.
    pub fn call(&self, name: &str, result: Type<'c>, args: &[Val<'c>]) -> Val<'c> {
        self.module.declare(name, result, &args.iter().map(|v| ty(*v)).collect::<Vec<_>>());
        self.l.call(name, result, args)
    }

    /// Calls an external function without a result, and declares it.
    pub fn call_void(&self, name: &str, args: &[Val<'c>]) {
        let void = llvm::r#type::void(self.l.context());
        self.module.declare(name, void, &args.iter().map(|v| ty(*v)).collect::<Vec<_>>());
        self.l.call_void(name, args);
    }

    /// Calls a run-time function of the library that returns a word.
    pub fn runtime_word(&self, function: Runtime, args: &[Val<'c>]) -> Val<'c> {
        self.call(&function.symbol(), self.l.i32, args)
    }

    /// Returns an address as the library takes it.
    pub fn integer(&self, address: Val<'c>) -> Val<'c> {
        self.l.cast("ptrtoint", address, self.l.i64)
    }

    /// Calls a run-time function of the library without a result.
    pub fn runtime(&self, function: Runtime, args: &[Val<'c>]) {
        self.call_void(&function.symbol(), args);
    }
}
