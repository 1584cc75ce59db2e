//! Global memory loads and stores: packing into words, masks, and the values of masked elements.

use super::{
    Lower, element_type,
    llvm::{Cmp, Operands},
};
use crate::dialect::{
    elements::padding_bits,
    layouts::storage_bits,
    nv_tileaa::Padding,
    pass::{Failed, fail},
    rt::*,
    types::{integer_width, is_float, is_integer, is_llvm_pointer},
};
use melior::ir::Type;

/// The words of one access: their count, width, and register class in inline PTX.
#[derive(Clone, Copy)]
pub(super) struct Words<'c> {
    pub count: u64,
    pub ty: Type<'c>,
    pub bits: u64,
    pub class: char,
}

impl<'c> Lower<'c, '_> {
    /// Returns the words that hold `count` elements of type `element`.
    pub(super) fn words(&self, element: Type<'c>, count: u64) -> Words<'c> {
        let l = &self.l;
        let bits = u64::from(storage_bits(element)) * count;
        let (ty, width, class) = match bits {
            8 => (l.i8, 8, 'h'),
            16 => (l.i16, 16, 'h'),
            _ if storage_bits(element) == 64 => (l.i64, 64, 'l'),
            _ => (l.i32, 32, 'r'),
        };
        Words { count: bits / width, ty, bits: width, class }
    }

    pub(super) fn read(
        &self,
        address: Val<'c>,
        element: Type<'c>,
        count: u64,
        mask: Option<Val<'c>>,
        fill: Fill<'c>,
        qualifier: &str,
    ) -> Vec<Val<'c>> {
        let words = self.words(element, count);
        // An unmasked load needs no fill value.
        let fill = mask.map(|_| self.fill_words(element, words, count, fill)).unwrap_or_default();
        let loaded = self.read_words(address, words, mask, &fill, qualifier);
        self.unpack_words(element, words, &loaded, count)
    }

    /// Stores neighbors at `address` without ordering or scope.
    pub(super) fn write_plain(&self, address: Val<'c>, element: Type<'c>, values: &[Val<'c>]) {
        self.write(address, element, values, None, "");
    }

    /// Loads neighbors at `address` without ordering or scope.
    pub(super) fn read_plain(&self, address: Val<'c>, element: Type<'c>, count: u64) -> Vec<Val<'c>> {
        self.read(address, element, count, None, Fill::Values(vec![]), "")
    }

    /// Loads words at `address`; the result is `fill` where the mask is false.
    pub(super) fn read_words(
        &self,
        address: Val<'c>,
        words: Words<'c>,
        mask: Option<Val<'c>>,
        fill: &[Val<'c>],
        qualifier: &str,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        if mask.is_none() && qualifier.is_empty() {
            let t = if words.count == 1 { words.ty } else { l.vector(words.count, words.ty) };
            let v = l.load(t, address, words.count * words.bits / 8);
            return if words.count == 1 { vec![v] } else { l.elements(v, words.ty, words.count as usize) };
        }
        self.predicated_read(address, words, mask, fill, qualifier)
    }

    fn predicated_read(
        &self,
        address: Val<'c>,
        words: Words<'c>,
        mask: Option<Val<'c>>,
        fill: &[Val<'c>],
        qualifier: &str,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let n = words.count as usize;
        // 8-bit words use 16-bit registers.
        let carrier = if words.bits == 8 { l.i16 } else { words.ty };
        let mut operands = Operands::results(n, words.class);
        let at = operands.input("l", address);
        let guard = operands.guard(mask);
        if mask.is_some() {
            fill.iter().enumerate().for_each(|(i, f)| operands.tied(i, l.cast("zext", *f, carrier)));
        }
        let (vector, list) = (Operands::vector(n), Operands::list(0, n));
        let text = format!("{guard}ld{qualifier}.global{vector}.b{} {list}, [{at}];", words.bits);
        let loaded = operands.emit_values(l, &text, carrier);
        loaded.into_iter().map(|word| l.cast("trunc", word, words.ty)).collect()
    }

    pub(super) fn write(
        &self,
        address: Val<'c>,
        element: Type<'c>,
        values: &[Val<'c>],
        mask: Option<Val<'c>>,
        qualifier: &str,
    ) {
        let words = self.words(element, values.len() as u64);
        self.write_words(address, words, &self.pack_words(element, words, values), mask, qualifier);
    }

    pub(super) fn write_words(
        &self,
        address: Val<'c>,
        words: Words<'c>,
        out: &[Val<'c>],
        mask: Option<Val<'c>>,
        qualifier: &str,
    ) {
        let l = &self.l;
        if mask.is_none() && qualifier.is_empty() {
            let v = if out.len() == 1 { out[0] } else { l.join(out) };
            l.store(v, address, words.count * words.bits / 8);
            return;
        }
        let carrier = if words.bits == 8 { l.i16 } else { words.ty };
        let mut operands = Operands::default();
        let at = operands.input("l", address);
        let guard = operands.guard(mask);
        let out: Vec<Val<'c>> = out.iter().map(|w| l.cast("zext", *w, carrier)).collect();
        let list = operands.inputs(words.class, &out);
        let vector = Operands::vector(out.len());
        operands.emit(l, &format!("{guard}st{qualifier}.global{vector}.b{} [{at}], {list};", words.bits));
    }

    /// Unpacks the elements of words.
    pub(super) fn unpack_words(
        &self,
        element: Type<'c>,
        words: Words<'c>,
        loaded: &[Val<'c>],
        count: u64,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let to = element_type(l.context(), element).expect("checked with the tensor");
        let memory = self.memory_type(element);
        let per_word = count / words.count;
        loaded
            .iter()
            .flat_map(|&w| -> Vec<Val<'c>> {
                if per_word == 1 {
                    return vec![self.register_form(self.reinterpret(w, memory), to)];
                }
                let vector = l.cast("bitcast", w, l.vector(per_word, memory));
                (0..per_word)
                    .map(|i| {
                        let element = l.extract(vector, memory, i as usize);
                        self.note_origin(element, w, i as u32);
                        self.register_form(element, to)
                    })
                    .collect()
            })
            .collect()
    }

    pub(super) fn pack_words(&self, element: Type<'c>, words: Words<'c>, values: &[Val<'c>]) -> Vec<Val<'c>> {
        let l = &self.l;
        let memory = self.memory_type(element);
        let per_word = values.len() / words.count as usize;
        values
            .chunks(per_word)
            .map(|chunk| {
                let elements: Vec<Val<'c>> = chunk.iter().map(|v| self.memory_form(*v, memory)).collect();
                if per_word == 1 {
                    return self.reinterpret(elements[0], words.ty);
                }
                if let Some(word) = self.common_word(&elements, words.ty) {
                    return word;
                }
                l.cast("bitcast", l.join(&elements), words.ty)
            })
            .collect()
    }

    /// Returns the in-memory type of an element: its register type, or a byte for integers narrower than eight bits.
    fn memory_type(&self, element: Type<'c>) -> Type<'c> {
        let to = element_type(self.l.context(), element).expect("checked with the tensor");
        if self.is_narrow_int(to) { self.l.i8 } else { to }
    }
    fn register_form(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
        match to {
            // Any non-zero byte is true.
            _ if to == self.l.i1 => self.l.icmp(Cmp::Ne, v, self.l.int(self.l.i8, 0)),
            _ if self.is_narrow_int(to) => self.l.cast("trunc", v, to),
            _ => v,
        }
    }
    fn memory_form(&self, v: Val<'c>, memory: Type<'c>) -> Val<'c> {
        if self.is_narrow_int(ty(v)) { self.l.cast("zext", v, memory) } else { v }
    }
    pub(super) fn is_narrow_int(&self, t: Type<'c>) -> bool {
        is_integer(t) && integer_width(t) < 8
    }
    /// Reinterprets the bits as another type of the same width.
    pub(super) fn reinterpret(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
        let l = &self.l;
        let is_pointer = |t: Type<'c>| is_llvm_pointer(t);
        match () {
            _ if ty(v) == to => v,
            _ if is_pointer(to) => l.cast("inttoptr", v, to),
            _ if is_pointer(ty(v)) => l.cast("ptrtoint", v, to),
            _ => l.cast("bitcast", v, to),
        }
    }

    fn fill_words(&self, element: Type<'c>, words: Words<'c>, count: u64, fill: Fill<'c>) -> Vec<Val<'c>> {
        match fill {
            Fill::Value(v) => self.pack_words(element, words, &vec![v; count as usize]),
            Fill::Values(list) => self.pack_words(element, words, &list),
        }
    }

    /// Returns the value of elements outside a view; zero if the view does not define one.
    pub(super) fn padding(
        &self,
        op: OpRef<'c>,
        element: Type<'c>,
        padding: Option<Padding>,
    ) -> Result<Fill<'c>, Failed> {
        let l = &self.l;
        let to = element_type(l.context(), element).ok_or_else(|| fail(op, "element has no LLVM form"))?;
        let (is_float, is_pointer) = (is_float(to), is_llvm_pointer(to));
        let value = match padding.unwrap_or(Padding::Zero) {
            _ if is_pointer => l.b.value("llvm.mlir.zero", to, &[], &[]),
            Padding::Zero if is_float => l.float(to, 0.0),
            Padding::Zero => l.int(to, 0),
            Padding::Ones if !is_float => l.int(to, -1),
            special if is_float && special != Padding::Ones => l.float(
                to,
                match special {
                    Padding::NegZero => -0.0,
                    Padding::Nan => f64::NAN,
                    Padding::PosInf => f64::INFINITY,
                    _ => f64::NEG_INFINITY,
                },
            ),
            special => l.int(
                to,
                padding_bits(element, special)
                    .ok_or_else(|| fail(op, format!("padding {} is not a value of {element}", special.keyword())))?,
            ),
        };
        Ok(Fill::Value(value))
    }
}

/// The values of masked elements.
#[derive(Clone)]
pub(super) enum Fill<'c> {
    Value(Val<'c>),
    Values(Vec<Val<'c>>),
}
