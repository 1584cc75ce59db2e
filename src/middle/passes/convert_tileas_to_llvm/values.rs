//! The lowered forms of values: what an op reads of its operands and binds to its results.

use super::{Lower, Lowered, element_type, rings::ITERATOR_WORDS};
use crate::dialect::{
    layouts::Tensor,
    nv_tileas::{MemDescType, PipelineIteratorType},
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::Type;
use tile_layout::{Layout, LayoutError};

impl<'c> Lower<'c, '_> {
    pub fn set(&mut self, v: Val<'c>, lowered: Lowered<'c>) {
        self.values.lowered.insert(key(v), lowered);
    }
    pub fn set_scalar(&mut self, v: Val<'c>, to: Val<'c>) {
        self.set(v, Lowered::Scalar(to));
    }
    pub fn scalar(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        match self.values.lowered.get(&key(v)) {
            Some(Lowered::Scalar(x)) => Ok(*x),
            _ => Err(fail(op, "operand is not a scalar here")),
        }
    }
    /// Returns the registers of a tensor, or the single register of a scalar.
    pub fn fragment(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Vec<Val<'c>>, Failed> {
        match self.values.lowered.get(&key(v)) {
            Some(Lowered::Scalar(x)) => Ok(vec![*x]),
            Some(Lowered::Fragment(f)) => Ok(f.clone()),
            Some(Lowered::Packed(words, element)) => {
                let each = self.registers(op, v)? / words.len();
                Ok(words.iter().flat_map(|word| self.part_word(*word, each, *element)).collect())
            }
            Some(Lowered::Words(_)) => Err(fail(op, "operand is in words; run tileas-choose-register-forms first")),
            _ => Err(fail(op, "operand holds no values here")),
        }
    }
    /// Binds the registers of `v`.
    pub fn set_all(&mut self, v: Val<'c>, registers: Vec<Val<'c>>) {
        let lowered = match Tensor::of_value(v) {
            None if registers.len() == 1 => Lowered::Scalar(registers[0]),
            _ => Lowered::Fragment(registers),
        };
        self.set(v, lowered);
    }
    /// Returns the layout of `v`.
    pub fn layout(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Layout, Failed> {
        Tensor::of_value(v).and_then(|t| t.layout()).ok_or_else(|| fail(op, "tensor has no layout"))
    }
    /// Returns the number of registers that `v` takes in each thread.
    pub fn registers(&self, op: OpRef<'c>, v: Val<'c>) -> Result<usize, Failed> {
        match Tensor::of_value(v) {
            Some(_) => Ok(self.layout(op, v)?.registers() as usize),
            None if PipelineIteratorType::cast(ty(v)).is_some() => Ok(ITERATOR_WORDS),
            None => Ok(1),
        }
    }
    /// Returns the LLVM type of a scalar or of a tensor's element.
    pub fn element_of(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Type<'c>, Failed> {
        let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
        element_type(self.l.context(), element).ok_or_else(|| fail(op, format!("type {element} has no LLVM form")))
    }
    /// Returns the type of a memory descriptor.
    pub fn memdesc(&self, op: OpRef<'c>, v: Val<'c>) -> Result<MemDescType<'c>, Failed> {
        MemDescType::cast(ty(v)).ok_or_else(|| fail(op, "not a memdesc"))
    }
    /// Returns the type of a tensor.
    pub fn tensor(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Tensor<'c>, Failed> {
        Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))
    }
}

/// The answer of the layout algebra, or its error at `op`.
pub(super) fn planned<T>(op: OpRef<'_>, answer: Result<T, LayoutError>) -> Result<T, Failed> {
    answer.map_err(|e| fail(op, e.to_string()))
}
