//! Printing and assertions, with the driver's functions `vprintf` and `__assertfail`.
//!
//! One thread of a CTA prints. A print of up to 32 numbers, the limit of one call, is a single call, so CTAs do not
//! interleave within it. A larger tile is printed one call per element:
//!
//! ```text
//! %d of 5                       ->  5
//! %d of [1, 2]                  ->  [1, 2]
//! %.1f of [[1, 2], [3, 4]]      ->  [[1.0, 2.0], [3.0, 4.0]]
//! ```
//!
//! Numbers are converted to the type that their conversion prints, so formats are independent of integer widths: `%d`
//! of an i64 becomes `%lld`, `%f` of an f16 receives a double, and `%d` of a float prints its integer part. An i1
//! prints as 0 or 1.
//!
//! A failed assertion prints a line for each false element and then stops the kernel. For a tile, all threads
//! synchronize first so that every line is printed; afterward no thread continues.

use super::{
    Lower, Lowered,
    array::{Array, tensor_of},
    llvm::Cmp,
};
use crate::analysis::{
    print_formats::{Expression, Piece, between, closed, parse_format, separator},
    registers::PASS_REGISTERS,
};
use crate::dialect::{
    layouts::{Tensor, storage_bits},
    location, nv_tileaa,
    nv_tileas::{MemDescType, PrintOp},
    pass::{Failed, fail},
    rt::*,
    types::{is_float, is_integer},
};
use melior::{dialect::llvm, ir::Type};
use tile_layout::{Layout, LinearExpr};
use tile_rtlib::Runtime;

/// The maximum number of arguments of one call of `vprintf`.
const MAX_ARGUMENTS: usize = 32;

/// An argument of a print.
enum Argument<'c> {
    Scalar(Type<'c>, Val<'c>),
    Tile(Tile<'c>),
}

struct Tile<'c> {
    tensor: Tensor<'c>,
    layout: Layout,
    registers: Registers<'c>,
    /// Shared memory with room for `room` elements.
    memory: Val<'c>,
    room: u64,
}

/// The storage of a thread's elements of a tile.
enum Registers<'c> {
    Few(Vec<Val<'c>>),
    /// A large tensor's registers, in local memory.
    Many(Array<'c>),
}

impl<'c> Lower<'c, '_> {
    pub(super) fn print(&mut self, x: PrintOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let pieces = parse_format(x.format()).map_err(|e| fail(op, e))?;
        let mut scratch = x.scratch();
        let mut arguments = vec![];
        for v in x.args() {
            arguments.push(match Tensor::of_value(v).or_else(|| tensor_of(v)) {
                None => Argument::Scalar(ty(v), self.scalar(op, v)?),
                Some(tensor) => {
                    let missing = || fail(op, "tensors need scratch; run tileas-materialize-convert-layout first");
                    let memory = scratch.next().ok_or_else(missing)?;
                    let room = MemDescType::cast(ty(memory)).map_or(1, |m| m.shape()[0] as u64);
                    let Some(Lowered::Shared(memory)) = self.values.lowered.get(&key(memory)).cloned() else {
                        return Err(fail(op, "scratch is not allocated here"));
                    };
                    let layout = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
                    let registers = match self.values.lowered.get(&key(v)) {
                        Some(Lowered::Array(array)) => Registers::Many(*array),
                        _ => Registers::Few(self.fragment(op, v)?),
                    };
                    Argument::Tile(Tile { tensor, layout, registers, memory, room })
                }
            });
        }
        let expressions = pieces.iter().filter(|p| matches!(p, Piece::Expression(_))).count();
        if expressions != arguments.len() {
            return Err(fail(op, format!("{expressions} expressions, but {} arguments", arguments.len())));
        }
        let numbers: i64 = arguments
            .iter()
            .map(|a| match a {
                Argument::Scalar(..) => 1,
                Argument::Tile(t) => t.tensor.elements(),
            })
            .sum();
        let buffer = self.print_buffer();
        let arguments = arguments.into_iter();
        if numbers as usize <= MAX_ARGUMENTS {
            self.print_at_once(op, pieces, arguments, buffer)
        } else {
            self.print_in_turn(op, pieces, arguments, buffer)
        }
    }

    fn print_at_once(
        &self,
        op: OpRef<'c>,
        pieces: Vec<Piece>,
        arguments: impl Iterator<Item = Argument<'c>>,
        buffer: Val<'c>,
    ) -> Result<(), Failed> {
        let arguments: Vec<Argument<'c>> = arguments.collect();
        let tiles = || {
            arguments.iter().filter_map(|a| match a {
                Argument::Tile(t) => Some(t),
                Argument::Scalar(..) => None,
            })
        };
        if tiles().next().is_some() {
            self.barrier();
            tiles().for_each(|t| self.share_part(t, None));
            self.barrier();
        }
        let (mut format, mut values) = (String::new(), vec![]);
        let mut outcome = Ok(());
        self.l.when(self.first_thread(), || {
            let mut rest = arguments.iter();
            outcome = pieces.iter().try_for_each(|piece| {
                let e = match piece {
                    Piece::Text(text) => {
                        format.push_str(text);
                        return Ok(());
                    }
                    Piece::Expression(e) => e,
                };
                match rest.next().expect("as many as expressions") {
                    Argument::Scalar(t, v) => values.push(self.printed(op, e, *t, *v, &mut format)?),
                    Argument::Tile(t) => {
                        for i in 0..t.tensor.elements() as u64 {
                            format.push_str(&separator(&t.tensor.shape, i));
                            let v = self.shared_element(t, self.l.i32c(i as i64));
                            values.push(self.printed(op, e, t.tensor.element, v, &mut format)?);
                        }
                        format.push_str(&"]".repeat(t.tensor.shape.len()));
                    }
                }
                Ok(())
            });
            self.vprintf(&format, &values, buffer);
        });
        if tiles().next().is_some() {
            self.barrier();
        }
        outcome
    }

    fn print_in_turn(
        &self,
        op: OpRef<'c>,
        pieces: Vec<Piece>,
        mut arguments: impl Iterator<Item = Argument<'c>>,
        buffer: Val<'c>,
    ) -> Result<(), Failed> {
        // Pieces that the next call prints, with their scalars.
        let mut pending: Vec<(Piece, Option<(Type<'c>, Val<'c>)>)> = vec![];
        for piece in pieces {
            let Piece::Expression(e) = piece else {
                pending.push((piece, None));
                continue;
            };
            match arguments.next().expect("as many as expressions") {
                Argument::Scalar(t, v) => {
                    if pending.iter().filter(|p| p.1.is_some()).count() == MAX_ARGUMENTS {
                        self.print_pending(op, std::mem::take(&mut pending), buffer)?;
                    }
                    pending.push((Piece::Expression(e), Some((t, v))));
                }
                Argument::Tile(t) => {
                    self.print_pending(op, std::mem::take(&mut pending), buffer)?;
                    self.print_tile(op, &e, &t, buffer)?;
                    pending.push((Piece::Text("]".repeat(t.tensor.shape.len())), None));
                }
            }
        }
        self.print_pending(op, pending, buffer)
    }

    fn print_pending(
        &self,
        op: OpRef<'c>,
        pending: Vec<(Piece, Option<(Type<'c>, Val<'c>)>)>,
        buffer: Val<'c>,
    ) -> Result<(), Failed> {
        if pending.is_empty() {
            return Ok(());
        }
        let (mut format, mut values) = (String::new(), vec![]);
        let mut outcome = Ok(());
        self.l.when(self.first_thread(), || {
            outcome = pending.iter().try_for_each(|(piece, scalar)| {
                match (piece, scalar) {
                    (Piece::Expression(e), Some((t, v))) => values.push(self.printed(op, e, *t, *v, &mut format)?),
                    (Piece::Text(text), _) => format.push_str(text),
                    (Piece::Expression(_), None) => {}
                }
                Ok(())
            });
            self.vprintf(&format, &values, buffer);
        });
        outcome
    }

    /// Prints all elements except the closing brackets, as many at a time as fit in scratch memory.
    fn print_tile(&self, op: OpRef<'c>, e: &Expression, t: &Tile<'c>, buffer: Val<'c>) -> Result<(), Failed> {
        let l = &self.l;
        let elements = t.tensor.elements() as u64;
        let mut outcome = Ok(());
        self.repeat(elements / t.room, |part| {
            let base = l.mul(part, l.i32c(t.room as i64));
            self.barrier();
            self.share_part(t, Some(base));
            self.barrier();
            l.when(self.first_thread(), || {
                self.repeat(t.room, |i| {
                    let mut format = String::from("%s");
                    let v = self.shared_element(t, i);
                    match self.printed(op, e, t.tensor.element, v, &mut format) {
                        Ok(v) => self.print_element(&format, &t.tensor.shape, l.add(base, i), v, buffer),
                        Err(e) => outcome = Err(e),
                    }
                });
            });
        });
        self.barrier();
        outcome
    }

    /// Prints element `index` of a tile and the text before it.
    fn print_element(&self, format: &str, shape: &[i64], index: Val<'c>, v: Val<'c>, buffer: Val<'c>) {
        let l = &self.l;
        // Each text is padded with zeros to the length of the longest.
        let stride = 2 * shape.len() + 1;
        let mut texts: Vec<u64> = vec![];
        let levels = (0..shape.len()).map(between).chain([separator(shape, 0)]);
        levels.for_each(|text| texts.extend(text.bytes().map(u64::from).chain([0].repeat(stride)).take(stride)));
        let texts = self.integer(self.generic(self.table(&texts, 8)));
        let closed = self.integer(self.table(&closed(shape), 32));
        let bits = if ty(v) == l.f64 { l.cast("bitcast", v, l.i64) } else { l.zext64(v) };
        let (stride, rank) = (l.i32c(stride as i64), l.i32c(shape.len() as i64));
        let (format, buffer) = (self.integer(self.text(format)), self.integer(buffer));
        self.runtime(Runtime::PrintElement, &[format, buffer, texts, stride, closed, rank, index, bits]);
    }

    /// Stores elements to scratch memory: as many as fit, starting at `base`, or all.
    fn share_part(&self, t: &Tile<'c>, base: Option<Val<'c>>) {
        let l = &self.l;
        let owner = self.owner(&t.layout);
        let index = t.layout.index_expr();
        let thread = self.linear(&index.thread);
        let words = self.words(t.tensor.element, 1);
        let share = |first: Val<'c>, r: u32, v: Val<'c>| {
            let element = match index.registers[r as usize] {
                0 => first,
                part => l.bin("xor", first, l.i32c(part as i64)),
            };
            let place = base.map_or(element, |b| l.bin("sub", element, b));
            let here = base.map(|_| l.icmp(Cmp::Ult, place, l.i32c(t.room as i64)));
            let store = || {
                let bytes = u64::from(storage_bits(t.tensor.element) / 8);
                let address = l.byte_offset(t.memory, l.mul(place, l.i32c(bytes as i64)));
                l.store(self.pack_words(t.tensor.element, words, &[v])[0], address, bytes);
            };
            match self.both(owner, here) {
                Some(c) => l.when(c, store),
                None => store(),
            }
        };
        let owned = t.layout.owned().1;
        match &t.registers {
            Registers::Few(registers) => owned.into_iter().for_each(|r| share(thread, r, registers[r as usize])),
            Registers::Many(array) => {
                // Iterate in passes: the high bits of a register number are the pass number, and they contribute to
                // the index linearly.
                let inner = array.bits.min(PASS_REGISTERS);
                let of_pass = LinearExpr::new(&[], &[], &t.layout.register()[inner as usize..]);
                self.repeat(1 << (array.bits - inner), |pass| {
                    let number = l.bin("shl", pass, l.i32c(inner.into()));
                    let first = l.bin("xor", thread, self.linear_in_block(&of_pass, Some(pass)));
                    let registers = self.read_array(*array, Some(number), inner);
                    let kept = owned.into_iter().filter(|r| r >> inner == 0);
                    kept.for_each(|r| share(first, r, registers[r as usize]));
                });
            }
        }
    }

    /// Loads element `i` from the scratch memory of a tile.
    fn shared_element(&self, t: &Tile<'c>, i: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let words = self.words(t.tensor.element, 1);
        let bytes = u64::from(storage_bits(t.tensor.element) / 8);
        let address = l.byte_offset(t.memory, l.mul(i, l.i32c(bytes as i64)));
        self.unpack_words(t.tensor.element, words, &[l.load(words.ty, address, bytes)], 1)[0]
    }

    /// Converts the value of an expression for `vprintf` and appends its format.
    fn printed(
        &self,
        op: OpRef<'c>,
        e: &Expression,
        element: Type<'c>,
        v: Val<'c>,
        format: &mut String,
    ) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        let pointer = nv_tileaa::PtrType::cast(element).is_some();
        let (integer, float) = (is_integer(element), is_float(element));
        let number = match (pointer, float) {
            (true, _) => l.cast("ptrtoint", v, l.i64),
            (_, true) => self.as_double(op, element, v)?,
            _ => v,
        };
        let bit = integer && ty(number) == l.i1;
        let (length, conversion, value) = match e.conversion {
            's' if pointer => ("", 's', number),
            's' => return Err(fail(op, format!("'%s' prints the string at a pointer, not {element}"))),
            'p' if float => return Err(fail(op, format!("'%p' prints a pointer, not {element}"))),
            'p' => ("", 'p', l.cast("zext", number, l.i64)),
            c if "eEfFgGaA".contains(c) => {
                let value = if float {
                    number
                } else if bit || pointer {
                    l.cast("uitofp", number, l.f64)
                } else {
                    l.cast("sitofp", number, l.f64)
                };
                // The driver's printf does not support `F`, which differs from `f` only in the case of infinities.
                ("", if c == 'F' { 'f' } else { c }, value)
            }
            c => {
                let signed = matches!(c, 'd' | 'i') && !bit;
                let whole = if float {
                    let name = if signed { "fptosi" } else { "fptoui" };
                    let name = format!("llvm.{name}.sat.i64.f64");
                    l.intrinsic(&name, l.i64, &[number])
                } else {
                    number
                };
                let wide = l.width(ty(whole)) > 32;
                let t = if wide { l.i64 } else { l.i32 };
                let value = l.cast(if signed { "sext" } else { "zext" }, whole, t);
                match c {
                    'c' => ("", c, l.cast("trunc", value, l.i32)),
                    c => (if wide { "ll" } else { "" }, c, value),
                }
            }
        };
        format.push_str(&e.head);
        format.push_str(length);
        format.push(conversion);
        Ok(value)
    }

    fn as_double(&self, op: OpRef<'c>, element: Type<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        let f64 = self.l.f64;
        if element == ty(v) {
            return Ok(self.l.cast("fpext", v, f64));
        }
        self.narrow_cast(op, v, element, f64, nv_tileaa::Rounding::NearestEven)
    }

    /// Calls `vprintf` with 32-bit or 64-bit values at their natural alignment.
    fn vprintf(&self, format: &str, values: &[Val<'c>], buffer: Val<'c>) {
        let l = &self.l;
        let generic = llvm::r#type::pointer(l.context(), 0);
        let mut offset = 0;
        for v in values {
            let bytes = if ty(*v) == l.i32 { 4 } else { 8 };
            offset = (offset + bytes - 1) / bytes * bytes;
            l.store(*v, l.const_offset(buffer, offset), bytes as u64);
            offset += bytes;
        }
        let arguments = if values.is_empty() { l.b.value("llvm.mlir.zero", generic, &[], &[]) } else { buffer };
        self.call("vprintf", l.i32, &[self.text(format), arguments]);
    }

    /// Returns local memory for the arguments of `vprintf`.
    fn print_buffer(&mut self) -> Val<'c> {
        if let Some(v) = self.function.print_buffer {
            return v;
        }
        let l = &self.l;
        let here = l.b.block();
        // Allocate at the function's entry; any other allocation would be dynamic.
        l.b.set_before(defining_op(self.threads.thread).expect("a special register is read"));
        let v = l.variable(llvm::r#type::array(l.i8, MAX_ARGUMENTS as u32 * 8), 8);
        l.b.set_end(here);
        self.function.print_buffer = Some(v);
        v
    }

    /// Executes `body` for 0, 1, ... `count` - 1.
    pub(super) fn repeat(&self, count: u64, body: impl FnOnce(Val<'c>)) {
        let l = &self.l;
        if count == 1 {
            return body(l.i32c(0));
        }
        let here = l.b.block();
        let head = l.new_block(&[l.i32], here);
        let exit = l.new_block(&[], head);
        l.br(head, &[l.i32c(0)]);
        l.b.set_end(head);
        let i = arg(head, 0);
        body(i);
        let next = l.add(i, l.i32c(1));
        let more = l.icmp(Cmp::Ult, next, l.i32c(count as i64));
        l.cond_br(more, (head, &[next]), (exit, &[]));
        l.b.set_end(exit);
    }

    //===-- assertions ------------------------------------------------------===//

    pub(super) fn assert(&mut self, x: nv_tileaa::AssertOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let buffer = self.print_buffer();
        let conditions = self.fragment(op, x.condition())?;
        let (file, line) = location::file_line(op.location()).map_or(("<unknown>".into(), 0), |p| (p.file, p.line));
        let place = format!("{file}:{line}: assertion failed").replace('%', "%%");
        let message = format!(": {}\n", x.message().replace('%', "%%"));
        let l = &self.l;
        let failed = |c: Val<'c>| l.bin("xor", c, l.int(l.i1, 1));
        let Some(tensor) = Tensor::of_value(x.condition()) else {
            l.when(failed(conditions[0]), || {
                l.when(self.first_thread(), || self.vprintf(&(place + &message), &[], buffer));
                self.stop(x.message(), &file, line);
            });
            return Ok(());
        };
        let layout = self.layout(op, x.condition())?;
        let (owned, registers) = layout.owned();
        // One bit for each register whose element is false, in 32-bit words.
        let words: Vec<Val<'c>> = registers
            .chunks(32)
            .map(|chunk| {
                let bits = chunk.iter().enumerate().map(|(i, &r)| {
                    let bit = l.cast("zext", failed(conditions[r as usize]), l.i32);
                    if i == 0 { bit } else { l.bin("shl", bit, l.i32c(i as i64)) }
                });
                bits.reduce(|a, b| l.bin("or", a, b)).expect("chunks have elements")
            })
            .collect();
        let all = words.iter().copied().reduce(|a, b| l.bin("or", a, b)).expect("a tile has registers");
        let bad = l.icmp(Cmp::Ne, all, l.i32c(0));
        let bad = self.both(Some(bad), self.owner(&layout)).expect("one of them");
        let thread = self.linear(&layout.index_expr().thread);
        let fields = tensor.tile_shape().fields();
        let coordinates = vec!["%u"; fields.len()].join(", ");
        let format = format!("{place} at [{coordinates}]{message}");
        let fields: Vec<u64> = fields.into_iter().flat_map(|(low, width)| [low.into(), width.into()]).collect();
        l.when(bad, || {
            let (format, buffer) = (self.integer(self.text(&format)), self.integer(buffer));
            let bases = self.integer(self.table(owned.register(), 32));
            let (rank, fields) = (l.i32c(fields.len() as i64 / 2), self.integer(self.table(&fields, 32)));
            for (w, &word) in words.iter().enumerate() {
                let first = l.i32c(w as i64 * 32);
                self.runtime(Runtime::PrintFailures, &[format, buffer, word, first, thread, bases, fields, rank]);
            }
        });
        let mine = l.cast("zext", bad, l.i32);
        let any = match self.threads.barrier {
            // The threads of an agent use the agent's barrier, since other agents run different code.
            Some(id) => {
                let text = format!(
                    "{{ .reg .pred p; setp.ne.b32 p, $1, 0; bar.red.or.pred p, {id}, {}, p; selp.b32 $0, 1, 0, p; }}",
                    32 * self.threads.warps
                );
                l.asm_value(&text, "=r,r,~{memory}", l.i32, &[mine])
            }
            None => l.intrinsic("llvm.nvvm.barrier0.or", l.i32, &[mine]),
        };
        let any = l.icmp(Cmp::Ne, any, l.i32c(0));
        l.when(any, || self.stop(x.message(), &file, line));
        Ok(())
    }

    /// The first thread stops the kernel; the others wait for it.
    fn stop(&self, message: &str, file: &str, line: u32) {
        self.l.when(self.first_thread(), || self.assertion_failed(message, file, line));
        self.barrier();
    }

    fn assertion_failed(&self, message: &str, file: &str, line: u32) {
        let l = &self.l;
        // The last argument is the size of a character.
        let arguments =
            [self.text(message), self.text(file), l.i32c(line.into()), self.text(self.function.name), l.i64c(1)];
        self.call_void("__assertfail", &arguments);
    }
}
