//! `convert-tileas-to-llvm` lowers a tile program to the program of one thread.
//!
//! The pass builds a new function next to the old one and then erases the old one, so no function is ever partly
//! converted. A tensor becomes one SSA value for each register of its layout. A scalar stays one value. Views and
//! tokens have no values at run time; the translation only records facts about them. Structured control flow becomes
//! blocks whose arguments are the flattened values. One match over the ops drives the translation; an op without an
//! arm is an error at its location.

mod agents;
mod array;
mod async_copy;
mod atomic;
mod block_scale;
mod calls;
mod canonical_scan;
mod combine;
mod constant;
mod control;
mod data;
mod dot;
mod exchange;
mod extern_call;
mod global;
mod groups;
mod linear;
mod movement;
mod multimem;
mod nibble;
mod ops;
mod ping_pong;
mod print;
mod reduce;
mod rings;
mod scalar;
mod scale_factors;
mod scan;
mod shape;
mod shared;
mod state;
mod tensor_map;
mod tensor_memory;
mod tile_blocks;
mod tma;
mod transfer;
mod transpose;
mod values;
mod warpgroup;
mod words;

use crate::{
    analysis::{
        choices::remark_on_choices,
        missed_remarks::remark_on_missed,
        portability::remark_on_portability,
        pressure::registers_of_tensors,
        promises,
        rings::{RingPositions, RingUses},
        timing::remark_on_timing,
        warps::warps_of,
    },
    dialect::{
        attributes::{MAX_REGISTERS, MIN_BLOCKS, MULTIPLIES, NUM_CTAS, NUM_WARPS, NVVM_KERNEL, PORTABLE},
        debug_scope,
        dot_plan::DotPlan,
        hints::int_hint,
        llvm_builder::{self as llvm, Llvm},
        llvm_types::element_type,
        location, nv_tileaa,
        pass::{Failed, PassContext, RustPass, context_of, descriptors, fail},
        rt::*,
        target::target,
        types::is_llvm_pointer,
    },
    pass_descriptor,
};
use melior::{
    Context,
    dialect::llvm as ll,
    ir::{Attribute, Region, Type, attribute::ArrayAttribute},
};
use rustc_hash::FxHashMap;
use state::{Function, Lower, Lowered, Module, Symbols, Threads, Values, function_state};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct ConvertTileASToLLVM;

impl RustPass for ConvertTileASToLLVM {
    pass_descriptor!(convert_tileas_to_llvm);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::convert_tileas_to_llvm::Options(cx);
        let target = target(op, options.compute_capability())?;
        let index_bits = match options.index_bitwidth() {
            0 => None,
            bits @ (32 | 64) => Some(bits),
            bits => return Err(fail(op, format!("index-bitwidth must be 32 or 64, or 0 to choose, got {bits}"))),
        };
        let functions = collect_ops(op, nv_tileaa::FuncOp::cast);
        let mut declared: FxHashMap<usize, Symbols> = FxHashMap::default();
        for function in functions {
            let module = parent_op(function.op()).ok_or_else(|| fail(function.op(), "function is not in a module"))?;
            let known = declared.entry(op_key(module)).or_default();
            Lower::function(function, module, (target, index_bits), known)?;
            erase(function.op());
        }
        let globals = collect_ops(op, nv_tileaa::GlobalOp::cast);
        globals.into_iter().try_for_each(|g| data::global(g, context))
    }
}

impl<'c, 'm> Lower<'c, 'm> {
    fn function(
        f: nv_tileaa::FuncOp<'c>,
        module: OpRef<'c>,
        (target, index_bits): (&'static Target, Option<i64>),
        symbols: &'m mut Symbols,
    ) -> Result<(), Failed> {
        let context = context_of(f.op());
        let warps = warps_of(f)?;
        let source = entry_block(f.body()).ok_or_else(|| fail(f.op(), "function has no body"))?;
        let location = location::leaf(f.op().location());
        let types: Vec<Type<'c>> = args(source)
            .map(|a| {
                element_type(context, ty(a))
                    .ok_or_else(|| fail(f.op(), format!("argument type {} has no LLVM form", ty(a))))
            })
            .collect::<Result<_, _>>()?;
        let region = Region::new();
        let entry = append_block(&region, &types, location);

        let b = Builder::before(context, f.op());
        b.set_location(debug_scope::scoped_leaf(f.op()));
        let void = ll::r#type::void(context);
        let function_type = ll::r#type::function(void, &types, false);
        let mut s = function_state(&b, f.sym_name(), function_type);
        NVVM_KERNEL.add(&mut s, ());
        // Launch parameters; `tileir-gpu-module-prepare` translates them to NVVM attributes.
        NUM_WARPS.add(&mut s, warps as i64);
        if let Some(registers) = MAX_REGISTERS.get(f.op()) {
            MAX_REGISTERS.add(&mut s, registers);
        }
        if let Some(blocks) = NUM_CTAS.get(f.op()) {
            NUM_CTAS.add(&mut s, blocks);
        }
        // Ignore an occupancy hint that the SM's thread limit rules out.
        let most = i64::from(target.limits.threads_per_sm) / (32 * warps as i64);
        let wish = f.hints().and_then(|h| int_hint(h, target.name, "min_ctas_per_sm", |n| (1..=most).contains(&n)));
        // If the tensors do not fit the registers in any case, ptxas spills even more of them to fit several CTAs on an
        // SM, unless one is enough.
        let threads = 32 * warps as u32;
        let most = (target.limits.registers_per_sm / threads).min(target.limits.registers_per_thread);
        let spills = || registers_of_tensors(f.op()) > most;
        if let Some(blocks) = wish.or_else(|| spills().then_some(1)) {
            MIN_BLOCKS.add(&mut s, blocks);
        }
        if let Some(attrs) = argument_attributes(context, source, &types) {
            s.attr("arg_attrs", attrs);
        }
        s.region(region);
        let function = b.insert(s).map_err(|e| fail(f.op(), e.to_string()))?;

        let l = Llvm::new(Builder::at_end(context, entry, location));
        let thread = l.sreg("tid.x");
        let lane = l.bin("and", thread, l.i32c(31));
        let warp = l.bin("lshr", thread, l.i32c(5));
        let mut lower = Lower {
            l,
            module: Module::new(module, symbols),
            function: Function {
                name: f.sym_name(),
                target,
                portable: PORTABLE.is_on(f.op()),
                index_bits,
                clustered: NUM_CTAS.is_on(f.op()),
                ctas: NUM_CTAS.get(f.op()).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1),
                launched_registers: MAX_REGISTERS.get(f.op()),
                ring_positions: RingPositions::of(f.op()),
                ring_uses: RingUses::of(f.op()),
                entry,
                barriers_used: 0,
                multiplies: false,
                shared: None,
                print_buffer: None,
                tensor_memory: None,
                borrowed: None,
                borrows_in_memory: DotPlan::of(f.op())
                    .is_some_and(|plan| plan.divides() && (plan.reads_fragments() || plan.whole_rows)),
            },
            threads: Threads { lane, warp, thread, warps, warp_bits: warps.ilog2(), barrier: None },
            values: Values { slots: array::slots(f.op()), ..Values::default() },
        };
        for (i, a) in args(source).enumerate() {
            lower.set_scalar(a, arg(entry, i));
        }
        remark_on_choices(f.op(), target, warps);
        remark_on_missed(f.op(), target, index_bits);
        remark_on_timing(f.op());
        remark_on_portability(f.op());
        let done = lower.block(source);
        match done {
            Ok(()) if lower.function.multiplies => {
                MULTIPLIES.mark(function);
            }
            Ok(()) => {}
            Err(_) => erase(function),
        }
        done
    }
}

fn parse<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    Attribute::parse(context, text).expect("a well-formed attribute")
}

/// Returns the attributes of pointer arguments with the alignment promised by `assume`, which becomes part of the
/// kernel's signature.
fn argument_attributes<'c>(context: &'c Context, entry: Blk<'c>, types: &[Type<'c>]) -> Option<Attribute<'c>> {
    let mut any = false;
    let list: Vec<Attribute<'c>> = args(entry)
        .zip(types)
        .map(|(a, t)| {
            let pointer = is_llvm_pointer(*t);
            let align = if pointer { promised_alignment(a) } else { 1 };
            if align > 1 {
                any = true;
                parse(context, &format!("{{llvm.align = {align} : i64}}"))
            } else {
                parse(context, "{}")
            }
        })
        .collect();
    any.then(|| ArrayAttribute::new(context, &list).into())
}

fn promised_alignment(a: Val<'_>) -> u64 {
    let promises = uses(a).into_iter().flat_map(|(op, _)| promises::of_op(op));
    promises.filter_map(promises::divisor_of).max().unwrap_or(1).min(128)
}
