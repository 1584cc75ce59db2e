//! Global memory loads and stores: packing into words, masks, and the values of masked elements.

use super::{Lower, element_type, llvm::Cmp};
use crate::dialect::{
    layouts::storage_bits,
    nv_tileaa::Padding,
    pass::{Failed, fail},
    rt::*,
    types::{self, integer_width, is_float, is_integer, is_llvm_pointer},
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
            return match words.count {
                1 => vec![v],
                count => (0..count).map(|i| l.extract(v, words.ty, i as usize)).collect(),
            };
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
        let guard = if mask.is_some() { format!("@${} ", n + 1) } else { String::new() };
        let list: Vec<String> = (0..n).map(|i| format!("${i}")).collect();
        let (vector, operands) = if n == 1 {
            (String::new(), list[0].clone())
        } else {
            (format!(".v{n}"), format!("{{{}}}", list.join(", ")))
        };
        let text = format!("{guard}ld{qualifier}.global{vector}.b{} {operands}, [${n}];", words.bits);
        let mut constraints = vec![format!("={}", words.class); n];
        constraints.push("l".into());
        let mut args = vec![address];
        if let Some(m) = mask {
            constraints.push("b".into());
            args.push(m);
            for (i, f) in fill.iter().enumerate() {
                constraints.push(i.to_string());
                args.push(l.cast("zext", *f, carrier));
            }
        }
        let result = if n == 1 { carrier } else { l.structure(&vec![carrier; n]) };
        let v = l.asm(&text, &constraints.join(","), Some(result), &args, false).expect("asm with a result");
        let fields: Vec<Val<'c>> =
            if n == 1 { vec![v] } else { (0..n).map(|i| l.field(v, carrier, i as i64)).collect() };
        fields.into_iter().map(|f| l.cast("trunc", f, words.ty)).collect()
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
            let v = if out.len() == 1 {
                out[0]
            } else {
                let empty = l.poison(l.vector(words.count, words.ty));
                out.iter().enumerate().fold(empty, |vector, (i, w)| l.insert(vector, *w, i))
            };
            l.store(v, address, words.count * words.bits / 8);
            return;
        }
        let n = out.len();
        let carrier = if words.bits == 8 { l.i16 } else { words.ty };
        let first = 1 + usize::from(mask.is_some());
        let guard = if mask.is_some() { "@$1 " } else { "" };
        let list: Vec<String> = (0..n).map(|i| format!("${}", first + i)).collect();
        let (vector, operands) = if n == 1 {
            (String::new(), list[0].clone())
        } else {
            (format!(".v{n}"), format!("{{{}}}", list.join(", ")))
        };
        let text = format!("{guard}st{qualifier}.global{vector}.b{} [$0], {operands};", words.bits);
        let mut constraints = vec!["l".to_string()];
        let mut args = vec![address];
        if let Some(m) = mask {
            constraints.push("b".into());
            args.push(m);
        }
        for w in out {
            constraints.push(words.class.to_string());
            args.push(l.cast("zext", *w, carrier));
        }
        l.asm(&text, &constraints.join(","), None, &args, false);
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
                let empty = l.poison(l.vector(per_word as u64, memory));
                let vector = elements.iter().enumerate().fold(empty, |vector, (i, e)| l.insert(vector, *e, i));
                l.cast("bitcast", vector, words.ty)
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
                narrow_bits(element, special)
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

/// Returns the bits of a special value in a format that LLVM does not know. The language does not define padding that
/// a format cannot represent. This function then substitutes: NaN for infinities in a format without infinities; the
/// largest value for infinities and zero for NaN in a format without NaN; zero for negative values in an unsigned
/// format.
fn narrow_bits(element: Type<'_>, padding: Padding) -> Option<i64> {
    let [zero, negative_zero, nan, infinity, negative_infinity] = match element {
        t if types::is_e4m3(t) => [0, 0x80, 0x7f, 0x7f, 0xff],
        t if types::is_e5m2(t) => [0, 0x80, 0x7e, 0x7c, 0xfc],
        t if types::is_e8m0(t) => [0, 0, 0xff, 0xff, 0],
        t if types::is_e2m1(t) => [0, 0x8, 0, 0x7, 0xf],
        t if types::is_tf32(t) => [0, 0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 0xff80_0000],
        // Integers do not have special values.
        _ => return None,
    };
    Some(match padding {
        Padding::Zero => zero,
        Padding::NegZero => negative_zero,
        Padding::Nan => nan,
        Padding::PosInf => infinity,
        Padding::NegInf => negative_infinity,
        Padding::Ones => return None,
    })
}
