//! Forms of the matrix instructions: `ldmatrix`, `mma`, `wgmma`, `tcgen05`.

use super::error::ParseErrorKind;
use super::form::{FormResult, Kinds, Mods, form as mk, form_opt};
use super::operands::{K, RawArgs};
use crate::ir::*;
use Type::*;

/// Returns the form of an instruction of this group, or `None` if the opcode belongs to another group.
pub(crate) fn form(m: &mut Mods<'_>, raw: &RawArgs) -> Option<FormResult> {
    Some(match m.base {
        "ldmatrix" | "stmatrix" => matrix(m),
        "movmatrix" => {
            m.flag("sync");
            m.flag("aligned");
            m.require("m8n8")
                .and_then(|()| m.require("trans"))
                .and_then(|()| m.require("b16"))
                .and_then(|()| mk(Op::Movmatrix, &[K::D(B32), K::S(B32)]))
        }
        "mma" => mma(m),
        "wgmma" => wgmma(m, raw),
        "tcgen05" => tcgen05(m, raw),
        _ => return None,
    })
}

fn matrix(m: &mut Mods<'_>) -> FormResult {
    m.require("sync")?;
    m.require("aligned")?;
    let shape = m
        .pick_with(|s| match s {
            "m8n8" => Some((8u8, 8u8)),
            "m16n16" => Some((16, 16)),
            "m8n16" => Some((8, 16)),
            "m16n8" => Some((16, 8)),
            _ => None,
        })
        .ok_or_else(|| m.missing("a shape"))?;
    let num = m
        .pick_with(|s| match s {
            "x1" => Some(1u8),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })
        .ok_or_else(|| m.missing("a matrix count"))?;
    let trans = m.flag("trans");
    let space = m.pick::<Space>().unwrap_or(Space::Generic);
    if !(space.is_shared() || space == Space::Generic) {
        return Err(ParseErrorKind::BadValue(format!("state space .{space} for a matrix")));
    }
    let mut ty = m.ty()?;
    let load = m.base == "ldmatrix";
    if ty == B8x16 {
        ty = m.ty_of(|t| matches!(t, B6x16P32 | B4x16P64))?;
    }
    let ok = match (shape, ty) {
        ((8, 8), B16) => true,
        ((16, 16), B8 | B6x16P32 | B4x16P64) => load && trans && num <= 2,
        ((8, 16), B6x16P32 | B4x16P64) => load && !trans,
        ((16, 8), B8) => !load && trans,
        _ => false,
    };
    if !ok {
        return Err(m.bad_type(ty));
    }
    let mods = MatrixMods { shape, num, trans, ty, space };
    // A 16x16 byte matrix is twice as large as the others.
    let regs = usize::from(num) * if shape == (16, 16) { 2 } else { 1 };
    if load {
        mk(Op::Ldmatrix(mods), &[K::Vd(regs, B32), K::Mem])
    } else {
        mk(Op::Stmatrix(mods), &[K::Mem, K::Vs(regs, B32)])
    }
}

/// Parses `m16n8k32` as three numbers.
fn parse_shape(s: &str) -> Option<(u16, u16, u16)> {
    let rest = s.strip_prefix('m')?;
    let (rows, rest) = rest.split_once('n')?;
    let (cols, depth) = rest.split_once('k')?;
    Some((rows.parse().ok()?, cols.parse().ok()?, depth.parse().ok()?))
}

/// Bits that an element of an `mma.sync` operand occupies in a register.
fn container_bits(ty: Type, kind: Option<MmaKind>) -> u32 {
    match ty {
        TF32 => 32,
        E3M2 | E2M3 => 8,
        E2M1 if !matches!(kind, Some(MmaKind::Mxf4 | MmaKind::Mxf4nvf4)) => 8,
        _ => ty.bits(),
    }
}

fn mma(m: &mut Mods<'_>) -> FormResult {
    if m.flag("sp") || m.flag("sp::ordered_metadata") {
        return Err(m.unsupported());
    }
    m.require("sync")?;
    m.require("aligned")?;
    let (rows, cols, depth) = m.pick_with(parse_shape).ok_or_else(|| m.missing("a shape"))?;
    let a_layout = m.pick::<MatLayout>().ok_or_else(|| m.missing("a layout of A"))?;
    let b_layout = m.pick::<MatLayout>().ok_or_else(|| m.missing("a layout of B"))?;
    let kind = m.pick::<MmaKind>();
    let satfinite = m.flag("satfinite");
    let block = m.flag("block_scale");
    let scale_vec = m.pick_with(|s| match s {
        "scale_vec::1X" => Some(1u8),
        "scale_vec::2X" => Some(2),
        "scale_vec::4X" => Some(4),
        _ => None,
    });
    let bit_op = m.pick::<BoolOp>();
    if bit_op.is_some() {
        m.require("popc")?;
    }
    let dty = m.ty_of(|t| matches!(t, F16 | F32 | S32 | F64))?;
    let aty = m.ty()?;
    let bty = m.ty()?;
    let cty = m.ty_of(|t| matches!(t, F16 | F32 | S32 | F64))?;
    let block_scale = if block {
        let scale = m.ty_of(|t| matches!(t, UE8M0 | UE4M3))?;
        let default = if kind == Some(MmaKind::Mxf8f6f4) { 1 } else { 2 };
        Some((scale_vec.unwrap_or(default), scale))
    } else {
        None
    };
    let (a_row, b_col) = (a_layout == MatLayout::Row, b_layout == MatLayout::Col);
    let fp8 = |t: Type| matches!(t, E4M3 | E5M2 | E3M2 | E2M3 | E2M1);
    let int8 = |t: Type| matches!(t, S8 | U8);
    let int4 = |t: Type| matches!(t, S4 | U4);
    let ok = match (rows, cols, depth) {
        (16, 8, 4 | 8) if aty == TF32 => bty == TF32 && dty == F32,
        (16, 8, 8 | 16) if aty == F16 => bty == F16 && matches!(dty, F16 | F32),
        (16, 8, 8 | 16) if aty == BF16 => bty == BF16 && dty == F32,
        (8, 8, 4) | (16, 8, 4 | 8 | 16) if aty == F64 => bty == F64 && dty == F64,
        (8, 8, 16) | (16, 8, 16 | 32) if int8(aty) => int8(bty) && dty == S32,
        (8, 8, 32) | (16, 8, 32 | 64) if int4(aty) => int4(bty) && dty == S32,
        (8, 8, 128) | (16, 8, 128 | 256) if aty == B1 => bty == B1 && dty == S32 && bit_op.is_some(),
        (16, 8, 16 | 32) if fp8(aty) => fp8(bty) && matches!(dty, F16 | F32),
        (16, 8, 64) if aty == E2M1 => bty == E2M1 && dty == F32 && block,
        _ => false,
    };
    if !ok || !a_row || !b_col || cty != dty {
        return Err(m.unsupported());
    }
    let element = container_bits(aty, kind);
    let frag = |count: u32, bits: u32| (count * bits).div_ceil(32 * 32) as usize;
    let (d_kind, s_kind, a, b) = if dty == F64 {
        let regs = |r: u16, c: u16| (u32::from(r) * u32::from(c) / 32) as usize;
        let n = regs(rows, cols);
        (K::Vd(n, F64), K::Vs(n, F64), K::Vs(regs(rows, depth), F64), K::Vs(regs(depth, cols), F64))
    } else {
        let n = frag(u32::from(rows) * u32::from(cols), dty.bits());
        let a = frag(u32::from(rows) * u32::from(depth), element);
        let b = frag(u32::from(depth) * u32::from(cols), container_bits(bty, kind));
        (K::Vd(n, B32), K::Vs(n, B32), K::Vs(a, B32), K::Vs(b, B32))
    };
    let mods =
        MmaMods { m: rows, n: cols, k: depth, a_row, b_col, dty, aty, bty, cty, satfinite, bit_op, block_scale, kind };
    let mut kinds: Kinds = [d_kind, a, b, s_kind].as_slice().into();
    if block {
        for _ in 0..2 {
            // The scale is one register, with or without braces.
            kinds.push(K::Vs(1, B32));
            kinds.push(K::Vs(2, U16));
        }
    }
    mk(Op::Mma(Box::new(mods)), &kinds)
}

fn wgmma(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    let what = m.next().ok_or_else(|| m.missing("an operation"))?;
    m.require("sync")?;
    m.require("aligned")?;
    match what {
        "fence" => return mk(Op::WgmmaFence, &[]),
        "commit_group" => return mk(Op::WgmmaCommit, &[]),
        "wait_group" => return mk(Op::WgmmaWait, &[K::Int]),
        "mma_async" => {}
        _ => return Err(m.unknown()),
    }
    if m.flag("sp") {
        return Err(m.unsupported());
    }
    let (rows, n, k) = m.pick_with(parse_shape).ok_or_else(|| m.missing("a shape"))?;
    let satfinite = m.flag("satfinite");
    let dty = m.ty_of(|t| matches!(t, F16 | F32 | S32))?;
    let aty = m.ty()?;
    let bty = m.ty()?;
    let sixteen = matches!(aty, F16 | BF16);
    let ok = match aty {
        F16 => bty == F16 && k == 16 && matches!(dty, F16 | F32),
        BF16 => bty == BF16 && k == 16 && dty == F32,
        TF32 => bty == TF32 && k == 8 && dty == F32,
        E4M3 | E5M2 => matches!(bty, E4M3 | E5M2) && k == 32 && matches!(dty, F16 | F32),
        S8 | U8 => matches!(bty, S8 | U8) && k == 32 && dty == S32,
        _ => false,
    };
    if !ok || rows != 64 || !(8..=256).contains(&n) || n % 8 != 0 {
        return Err(m.unsupported());
    }
    let regs = usize::from(n) / if dty == F16 { 4 } else { 2 };
    let a_regs = matches!(raw.get(1).map(|r| &r.op), Some(Operand::Vec(_)));
    let mut kinds: Kinds = [K::Vd(regs, B32)].as_slice().into();
    kinds.push(if a_regs { K::Vs(4, B32) } else { K::S(B64) });
    kinds.extend([K::S(B64), K::Sp]);
    // Only floating-point types have scale signs, and only 16-bit elements in shared memory can be transposed.
    if aty != S8 && aty != U8 {
        kinds.extend([K::Int, K::Int]);
    }
    if sixteen {
        kinds.push(K::Int);
        if !a_regs {
            kinds.push(K::Int);
        }
    }
    mk(Op::Wgmma(Box::new(WgmmaMods { n, k, dty, aty, bty, satfinite })), &kinds)
}

fn tcgen05(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    let what = m.next().ok_or_else(|| m.missing("an operation"))?;
    let cta_group = m
        .pick_with(|s| match s {
            "cta_group::1" => Some(1u8),
            "cta_group::2" => Some(2),
            _ => None,
        })
        .unwrap_or(0);
    let grouped = matches!(what, "alloc" | "dealloc" | "relinquish_alloc_permit" | "commit" | "cp" | "shift" | "mma");
    if grouped && cta_group == 0 {
        return Err(m.missing("'.cta_group::1' or '.cta_group::2'"));
    }
    let op = |op| Op::Tcgen05(Box::new(op));
    match what {
        "alloc" | "dealloc" | "relinquish_alloc_permit" => {
            m.require("sync")?;
            m.require("aligned")?;
            if what == "relinquish_alloc_permit" {
                return mk(op(Tcgen05Op::RelinquishAllocPermit { cta_group }), &[]);
            }
            let space = m.pick::<Space>().unwrap_or(Space::Generic);
            m.require("b32")?;
            if what == "alloc" {
                mk(op(Tcgen05Op::Alloc { cta_group, space }), &[K::Mem, K::S(U32)])
            } else {
                mk(op(Tcgen05Op::Dealloc { cta_group }), &[K::S(U32), K::S(U32)])
            }
        }
        "ld" | "st" => {
            if m.has("red") {
                return Err(m.unsupported());
            }
            m.require("sync")?;
            m.require("aligned")?;
            let shape = m.pick::<TmemShape>().ok_or_else(|| m.missing("a shape"))?;
            let num = m
                .pick_with(|s| s.strip_prefix('x').and_then(|n| n.parse::<u8>().ok()).filter(|n| n.is_power_of_two()))
                .ok_or_else(|| m.missing("a repetition"))?;
            let regs = usize::from(num) * shape.words();
            if regs > 128 {
                return Err(m.unsupported());
            }
            let offset = shape == TmemShape::S16x32bx2;
            let load = what == "ld";
            let packed = m.flag(if load { "pack::16b" } else { "unpack::16b" });
            m.require("b32")?;
            let mut kinds: Kinds = Kinds::new();
            if load {
                kinds.push(K::Vd(regs, B32));
            }
            kinds.push(K::Mem);
            if offset {
                kinds.push(K::Int);
            }
            if load {
                mk(op(Tcgen05Op::Ld { shape, num, pack16: packed }), &kinds)
            } else {
                kinds.push(K::Vs(regs, B32));
                mk(op(Tcgen05Op::St { shape, num, unpack16: packed }), &kinds)
            }
        }
        "wait::ld" | "wait::st" => {
            m.require("sync")?;
            m.require("aligned")?;
            mk(op(if what == "wait::ld" { Tcgen05Op::WaitLd } else { Tcgen05Op::WaitSt }), &[])
        }
        "fence::before_thread_sync" => mk(op(Tcgen05Op::FenceBefore), &[]),
        "fence::after_thread_sync" => mk(op(Tcgen05Op::FenceAfter), &[]),
        "commit" => {
            m.require("mbarrier::arrive::one")?;
            let space = m.pick::<Space>().unwrap_or(Space::Generic);
            let multicast = m.flag("multicast::cluster");
            m.require("b64")?;
            let op = op(Tcgen05Op::Commit { cta_group, space, multicast });
            // The mbarrier may be written with or without brackets.
            let bar = match raw.first().map(|r| &r.op) {
                Some(Operand::Mem(..)) => K::Mem,
                _ => K::S(if space == Space::Generic { U64 } else { U32 }),
            };
            if multicast { mk(op, &[bar, K::S(U16)]) } else { mk(op, &[bar]) }
        }
        "cp" => {
            let shape = m.pick::<CpShape>().ok_or_else(|| m.missing("a shape"))?;
            let (warpx, pairs) = m
                .pick_with(|s| match s {
                    "warpx4" => Some((4u8, None)),
                    "warpx2::02_13" => Some((2, Some(true))),
                    "warpx2::01_23" => Some((2, Some(false))),
                    _ => None,
                })
                .unwrap_or((1, None));
            let src_fmt = if m.flag("b8x16") { Some(m.ty_of(|t| matches!(t, B6x16P32 | B4x16P64))?) } else { None };
            mk(op(Tcgen05Op::Cp { cta_group, shape, warpx, pairs, src_fmt }), &[K::Mem, K::S(B64)])
        }
        "shift" => {
            m.require("down")?;
            mk(op(Tcgen05Op::Shift { cta_group }), &[K::Mem])
        }
        "mma" => {
            if m.flag("sp") {
                return Err(m.unsupported());
            }
            let ws = m.flag("ws");
            let kind = m.pick::<MmaKind>().ok_or_else(|| m.missing("a kind"))?;
            let block = m.flag("block_scale");
            let scale = m.pick_with(|s| match s {
                "scale_vec::1X" => Some(1u8),
                "scale_vec::2X" => Some(2),
                "scale_vec::4X" => Some(4),
                "block16" => Some(4),
                "block32" => Some(if kind == MmaKind::Mxf8f6f4 { 1 } else { 2 }),
                _ => None,
            });
            // The collector buffers operand A or B, which affects only speed.
            m.pick_with(|s| s.starts_with("collector::").then_some(()));
            if m.flag("ashift") {
                return Err(m.unsupported());
            }
            let default = if kind == MmaKind::Mxf8f6f4 { 1 } else { 2 };
            let scale_vec = if block { scale.unwrap_or(default) } else { 0 };
            let a_tmem = matches!(raw.get(1).map(|r| &r.op), Some(Operand::Mem(..)));
            let mut kinds: Kinds =
                [K::Mem, if a_tmem { K::Mem } else { K::S(B64) }, K::S(B64), K::S(B32)].as_slice().into();
            if block {
                kinds.extend([K::Mem, K::Mem]);
            }
            if let Some(Operand::Vec(lanes)) = raw.get(kinds.len()).map(|r| &r.op) {
                kinds.push(K::Vs(lanes.len(), B32));
            }
            kinds.push(K::Sp);
            // The factor of D, or the descriptor of the columns of B that are zero.
            let last = if ws { K::S(B64) } else { K::Int };
            form_opt(op(Tcgen05Op::Mma { cta_group, kind, scale_vec, a_tmem, ws }), &kinds, &[last])
        }
        _ => Err(m.unknown()),
    }
}
