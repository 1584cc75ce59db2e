//! Forms of mbarrier operations, asynchronous copies and tensor maps.

use super::error::ParseErrorKind;
use super::form::{FormResult, Kinds, Mods, form as mk, form_opt};
use super::operands::{K, RawArgs};
use crate::ir::*;
use Type::*;

/// Returns the form of an instruction of this group, or `None` if the opcode belongs to another group.
pub(crate) fn form(m: &mut Mods<'_>, raw: &RawArgs) -> Option<FormResult> {
    Some(match m.base {
        "mbarrier" => mbarrier(m, raw),
        "cp" => copy(m, raw),
        "st" if m.has("async") => st_async(m),
        "red" if m.has("async") => red_async(m),
        "tensormap" => tensormap(m, raw),
        "clusterlaunchcontrol" => cluster_control(m),
        _ => return None,
    })
}

fn shared_space(m: &mut Mods<'_>) -> Space {
    m.pick::<Space>().unwrap_or(Space::Generic)
}

fn mbarrier(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    let what = m.next().ok_or_else(|| m.missing("an operation"))?;
    let noinc = m.flag("noComplete");
    let expect_tx = what != "expect_tx" && m.flag("expect_tx");
    let parity = m.flag("parity");
    let sem = m.pick::<Sem>();
    let scope = m.pick::<Scope>().unwrap_or(Scope::Cta);
    let space = shared_space(m);
    m.require("b64")?;
    let u = K::S(U32);
    match what {
        "init" => mk(Op::Mbarrier(MbarrierOp::Init { space }), &[K::Mem, u]),
        "inval" => mk(Op::Mbarrier(MbarrierOp::Inval { space }), &[K::Mem]),
        "expect_tx" => mk(Op::Mbarrier(MbarrierOp::ExpectTx { space }), &[K::Mem, u]),
        "complete_tx" => mk(Op::Mbarrier(MbarrierOp::CompleteTx { space }), &[K::Mem, u]),
        "arrive" | "arrive_drop" => {
            let op = Op::Mbarrier(MbarrierOp::Arrive {
                space,
                drop: what == "arrive_drop",
                expect_tx,
                no_complete: noinc,
                sem: sem.unwrap_or(Sem::Release),
                scope,
            });
            let required: &[K] = &[K::D(B64), K::Mem];
            // A remote arrive may omit the result operand.
            if matches!(raw.first().map(|r| &r.op), Some(Operand::Mem(..))) {
                return form_opt(op, &[K::Mem], &[u]);
            }
            if expect_tx || noinc {
                return mk(op, &[K::D(B64), K::Mem, u]);
            }
            form_opt(op, required, &[u])
        }
        "test_wait" | "try_wait" => {
            let try_wait = what == "try_wait";
            let op =
                Op::Mbarrier(MbarrierOp::Wait { space, try_wait, parity, sem: sem.unwrap_or(Sem::Acquire), scope });
            let state = if parity { u } else { K::S(B64) };
            if try_wait { form_opt(op, &[K::Dp, K::Mem, state], &[u]) } else { mk(op, &[K::Dp, K::Mem, state]) }
        }
        "pending_count" => mk(Op::Mbarrier(MbarrierOp::PendingCount), &[K::D(U32), K::S(B64)]),
        _ => Err(m.unknown()),
    }
}

fn copy(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    let reduce = m.flag("reduce");
    if !m.flag("async") {
        return Err(m.unknown());
    }
    if m.flag("bulk") {
        if m.flag("commit_group") {
            return mk(Op::BulkCommit, &[]);
        }
        if m.flag("wait_group") {
            let read = m.flag("read");
            return mk(Op::BulkWait { read }, &[K::Int]);
        }
        let prefetch = m.flag("prefetch");
        if m.flag("tensor") {
            return tensor_copy(m, reduce, prefetch, raw);
        }
        return bulk_copy(m, reduce, prefetch);
    }
    if reduce {
        return Err(m.unknown());
    }
    if m.flag("commit_group") {
        return mk(Op::CpAsyncCommit, &[]);
    }
    if m.flag("wait_group") {
        return mk(Op::CpAsyncWait { all: false }, &[K::Int]);
    }
    if m.flag("wait_all") {
        return mk(Op::CpAsyncWait { all: true }, &[]);
    }
    if m.flag("mbarrier") {
        m.require("arrive")?;
        let noinc = m.flag("noinc");
        let space = shared_space(m);
        m.require("b64")?;
        return mk(Op::CpAsyncMbarrierArrive { noinc, space }, &[K::Mem]);
    }
    if !m.flag("shared") {
        m.require("shared::cta")?;
    }
    m.require("global")?;
    let policy = m.cache_hints();
    let ignore_src = matches!(raw.get(3).map(|r| &r.op), Some(Operand::NotReg(_)));
    let mut kinds: Kinds = [K::Mem, K::Mem, K::Int].as_slice().into();
    let extra = raw.len().saturating_sub(3 + usize::from(policy));
    if extra > 0 {
        kinds.push(K::SizeOrPred);
    }
    if policy {
        kinds.push(K::S(B64));
    }
    mk(Op::CpAsync { ignore_src }, &kinds)
}

fn reduce_op(m: &mut Mods<'_>) -> std::result::Result<AtomOp, ParseErrorKind> {
    m.pick::<AtomOp>().ok_or_else(|| m.missing("a reduction"))
}

fn bulk_copy(m: &mut Mods<'_>, reduce: bool, prefetch: bool) -> FormResult {
    if prefetch {
        m.require("L2")?;
        m.require("global")?;
        let policy = m.cache_hints();
        let mods = BulkMods {
            dst: Space::Global,
            src: Space::Global,
            prefetch: true,
            mbarrier: false,
            multicast: false,
            byte_mask: false,
            reduce: None,
        };
        let kinds: &[K] = if policy { &[K::Mem, K::S(U32), K::S(B64)] } else { &[K::Mem, K::S(U32)] };
        return mk(Op::CpBulk(mods), kinds);
    }
    let dst = m.pick::<Space>().ok_or_else(|| m.missing("a destination space"))?;
    let src = m.pick::<Space>().ok_or_else(|| m.missing("a source space"))?;
    let mbarrier = m.flag("mbarrier::complete_tx::bytes");
    if !mbarrier {
        m.require("bulk_group")?;
    }
    let multicast = m.flag("multicast::cluster");
    let policy = m.cache_hints();
    let byte_mask = m.flag("cp_mask");
    let reduce = if reduce {
        let op = reduce_op(m)?;
        m.flag("noftz");
        Some((op, m.ty()?))
    } else {
        None
    };
    let mods = BulkMods { dst, src, prefetch: false, mbarrier, multicast, byte_mask, reduce };
    let mut kinds: Kinds = [K::Mem, K::Mem, K::S(U32)].as_slice().into();
    if mbarrier {
        kinds.push(K::Mem);
    }
    if multicast {
        kinds.push(K::S(U16));
    }
    if policy {
        kinds.push(K::S(B64));
    }
    if byte_mask {
        kinds.push(K::S(U16));
    }
    mk(Op::CpBulk(mods), &kinds)
}

fn tensor_copy(m: &mut Mods<'_>, reduce: bool, prefetch: bool, raw: &RawArgs) -> FormResult {
    let rank = m
        .pick_with(|s| match s {
            "1d" => Some(1u8),
            "2d" => Some(2),
            "3d" => Some(3),
            "4d" => Some(4),
            "5d" => Some(5),
            _ => None,
        })
        .ok_or_else(|| m.missing("a rank"))?;
    let mode = m
        .pick_with(|s| match s {
            "tile" => Some(TensorMode::Tile),
            "tile::gather4" => Some(TensorMode::Gather4),
            "tile::scatter4" => Some(TensorMode::Scatter4),
            "im2col" => Some(TensorMode::Im2col),
            "im2col::w" => Some(TensorMode::Im2colW),
            "im2col::w::128" => Some(TensorMode::Im2colW128),
            "im2col_no_offs" => Some(TensorMode::Im2colNoOffs),
            _ => None,
        })
        .unwrap_or(TensorMode::Tile);
    if matches!(mode, TensorMode::Im2colW | TensorMode::Im2colW128) {
        return Err(m.unsupported());
    }
    if prefetch {
        m.require("L2")?;
        m.require("global")?;
        let policy = m.cache_hints();
        let mods = TensorCopyMods {
            kind: TensorCopyKind::Prefetch,
            rank,
            mode,
            dst: Space::Global,
            multicast: false,
            cta_group: 0,
        };
        let mut kinds: Kinds = [K::Tensor].as_slice().into();
        if matches!(raw.get(1).map(|r| &r.op), Some(Operand::Vec(_))) {
            kinds.push(K::Im2col);
        }
        if policy {
            kinds.push(K::S(B64));
        }
        return mk(Op::CpTensor(mods), &kinds);
    }
    let dst = m.pick::<Space>().ok_or_else(|| m.missing("a destination space"))?;
    let src = m.pick::<Space>().ok_or_else(|| m.missing("a source space"))?;
    let cta_group = m
        .pick_with(|s| match s {
            "cta_group::1" => Some(1),
            "cta_group::2" => Some(2),
            _ => None,
        })
        .unwrap_or(0);
    if dst == Space::Global {
        if !matches!(src, Space::SharedCta | Space::Shared) {
            return Err(m.missing("source '.shared::cta'"));
        }
        let kind = if reduce { TensorCopyKind::Reduce(reduce_op(m)?) } else { TensorCopyKind::Store };
        m.require("bulk_group")?;
        let policy = m.cache_hints();
        let mods = TensorCopyMods { kind, rank, mode, dst, multicast: false, cta_group };
        let kinds: &[K] = if policy { &[K::Tensor, K::Mem, K::S(B64)] } else { &[K::Tensor, K::Mem] };
        return mk(Op::CpTensor(mods), kinds);
    }
    if !dst.is_shared() || src != Space::Global || reduce {
        return Err(m.unknown());
    }
    m.require("mbarrier::complete_tx::bytes")?;
    let multicast = m.flag("multicast::cluster");
    let policy = m.cache_hints();
    let mods = TensorCopyMods { kind: TensorCopyKind::Load, rank, mode, dst, multicast, cta_group };
    let mut kinds: Kinds = [K::Mem, K::Tensor, K::Mem].as_slice().into();
    if matches!(raw.get(3).map(|r| &r.op), Some(Operand::Vec(_))) {
        kinds.push(K::Im2col);
    }
    if multicast {
        kinds.push(K::S(U16));
    }
    if policy {
        kinds.push(K::S(B64));
    }
    mk(Op::CpTensor(mods), &kinds)
}

fn st_async(m: &mut Mods<'_>) -> FormResult {
    m.flag("async");
    if m.has("global") {
        return Err(m.unsupported());
    }
    m.flag("weak");
    m.require("shared::cluster")?;
    m.require("mbarrier::complete_tx::bytes")?;
    let vec = m
        .pick_with(|s| match s {
            "v2" => Some(2u8),
            "v4" => Some(4),
            _ => None,
        })
        .unwrap_or(1);
    let ty = m.ty_of(|t| matches!(t, B32 | B64 | U32 | U64 | S32 | S64 | F32 | F64))?;
    let src = if vec > 1 { K::Vs(usize::from(vec), ty) } else { K::S(ty) };
    mk(Op::StAsync { ty, vec }, &[K::Mem, src, K::Mem])
}

fn red_async(m: &mut Mods<'_>) -> FormResult {
    m.flag("async");
    if m.has("global") {
        return Err(m.unsupported());
    }
    m.flag("relaxed");
    m.flag("cluster");
    m.require("shared::cluster")?;
    m.require("mbarrier::complete_tx::bytes")?;
    let op = reduce_op(m)?;
    let ty = m.ty_of(|t| matches!(t, U32 | S32 | B32 | U64))?;
    mk(Op::RedAsync { op, ty }, &[K::Mem, K::S(ty), K::Mem])
}

fn tensormap(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    if m.flag("cp_fenceproxy") {
        m.require("global")?;
        m.require("shared::cta")?;
        m.require("tensormap::generic")?;
        m.require("release")?;
        let scope = m.pick::<Scope>().ok_or_else(|| m.missing("a scope"))?;
        m.require("sync")?;
        m.require("aligned")?;
        return mk(Op::TensormapCpFenceproxy { scope }, &[K::Mem, K::Mem, K::Int]);
    }
    m.require("replace")?;
    m.require("tile")?;
    let field = m.pick::<TensormapField>().ok_or_else(|| m.missing("a field"))?;
    let space = shared_space(m);
    m.require("b1024")?;
    let ty = m.ty_of(|t| matches!(t, B32 | B64))?;
    let op = Op::TensormapReplace { field, space };
    if raw.len() == 3 { mk(op, &[K::Mem, K::Int, K::S(ty)]) } else { mk(op, &[K::Mem, K::S(ty)]) }
}

fn cluster_control(m: &mut Mods<'_>) -> FormResult {
    if m.flag("try_cancel") {
        m.require("async")?;
        m.flag("shared::cta");
        m.require("mbarrier::complete_tx::bytes")?;
        let multicast = m.flag("multicast::cluster::all");
        m.require("b128")?;
        return mk(Op::Cluster(ClusterControl::TryCancel { multicast }), &[K::Mem, K::Mem]);
    }
    if m.flag("query_cancel") {
        if m.flag("is_canceled") {
            m.require("pred")?;
            m.require("b128")?;
            return mk(Op::Cluster(ClusterControl::IsCanceled), &[K::Dp, K::S(B128)]);
        }
        let component = m.pick_with(|s| match s {
            "get_first_ctaid" => Some(4),
            "get_first_ctaid::x" => Some(0u8),
            "get_first_ctaid::y" => Some(1),
            "get_first_ctaid::z" => Some(2),
            _ => None,
        });
        if let Some(component) = component {
            m.flag("v4");
            m.require("b32")?;
            m.require("b128")?;
            let dst = if component == 4 { K::Vd(4, B32) } else { K::D(B32) };
            return mk(Op::Cluster(ClusterControl::FirstCtaid(component)), &[dst, K::S(B128)]);
        }
    }
    Err(m.unknown())
}
