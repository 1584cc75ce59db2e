//! Forms of loads, stores, atomics, address arithmetic and fences.

use super::error::ParseErrorKind;
use super::form::{FormResult, Mods, form as mk, form_opt};
use super::operands::K;
use crate::ir::*;
use Type::*;

/// Returns the form of an instruction of this group, or `None` if the opcode belongs to another group.
pub(crate) fn form(m: &mut Mods<'_>) -> Option<FormResult> {
    Some(match m.base {
        "ld" | "ldu" => load(m),
        "st" if m.has("bulk") => store_bulk(m),
        "st" if !m.has("async") => store(m),
        "atom" => atom(m),
        "red" if !m.has("async") => red(m),
        "multimem" => multimem(m),
        "prefetch" | "prefetchu" => prefetch(m),
        "discard" | "applypriority" => hint_with_size(m),
        "createpolicy" => createpolicy(m),
        "cvta" => {
            let to = m.flag("to");
            let space = m.pick::<Space>().ok_or_else(|| m.missing("a state space"));
            space.and_then(|space| {
                let ty = m.ty_of(|t| matches!(t, U32 | U64))?;
                mk(Op::Cvta { to, space, ty }, &[K::D(ty), K::S(ty)])
            })
        }
        "isspacep" => {
            let space = m.pick::<Space>().ok_or_else(|| m.missing("a state space"));
            space.and_then(|space| mk(Op::Isspacep { space }, &[K::Dp, K::S(U64)]))
        }
        "mapa" => mapa(m),
        "getctarank" => {
            let shared = m.flag("shared::cluster");
            m.ty_of(|t| matches!(t, U32 | U64)).and_then(|ty| mk(Op::Getctarank { shared, ty }, &[K::D(U32), K::S(ty)]))
        }
        "fence" => fence(m),
        "membar" => membar(m),
        "alloca" => m
            .ty_of(|t| matches!(t, U32 | U64))
            .and_then(|ty| form_opt(Op::Alloca { ty }, &[K::D(ty), K::S(ty)], &[K::Int])),
        "stacksave" => m.ty_of(|t| matches!(t, U32 | U64)).and_then(|ty| mk(Op::Stacksave { ty }, &[K::D(ty)])),
        "stackrestore" => m.ty_of(|t| matches!(t, U32 | U64)).and_then(|ty| mk(Op::Stackrestore { ty }, &[K::S(ty)])),
        _ => return None,
    })
}

/// Consumes ordering and scope; the scope defaults to `sys`.
fn ordering(m: &mut Mods<'_>) -> (Sem, Scope) {
    let mut sem = m.pick::<Sem>().unwrap_or(Sem::Weak);
    if sem == Sem::Mmio {
        // `.mmio.relaxed.sys`
        sem = m.pick::<Sem>().unwrap_or(Sem::Relaxed);
    } else if m.flag("mmio") {
        sem = Sem::Relaxed;
    }
    let scope = m.pick::<Scope>().unwrap_or(Scope::Sys);
    (sem, scope)
}

fn vector(m: &mut Mods<'_>) -> u8 {
    m.pick_with(|s| match s {
        "v2" => Some(2u8),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    })
    .unwrap_or(1)
}

fn access_type(m: &mut Mods<'_>, vec: u8) -> std::result::Result<Type, ParseErrorKind> {
    let ty = m.ty_of(|t| {
        matches!(t, B8 | B16 | B32 | B64 | B128 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | F32 | F64 | F16 | F16x2)
    })?;
    if ty.bytes() * u32::from(vec) > 32 {
        return Err(m.bad_type(ty));
    }
    Ok(ty)
}

fn load(m: &mut Mods<'_>) -> FormResult {
    let (sem, scope) = ordering(m);
    let nc = m.flag("nc");
    let policy = m.cache_hints();
    let space = m.pick::<Space>().unwrap_or(Space::Generic);
    m.flag("unified");
    let vec = vector(m);
    let ty = access_type(m, vec)?;
    let access = LoadStoreMods { space, ty, vec, sem, scope, nc };
    let dst = if vec > 1 { K::Vdw(usize::from(vec), ty) } else { K::Dw(ty) };
    if policy { mk(Op::Ld(access), &[dst, K::Mem, K::S(B64)]) } else { mk(Op::Ld(access), &[dst, K::Mem]) }
}

fn store(m: &mut Mods<'_>) -> FormResult {
    let (sem, scope) = ordering(m);
    let policy = m.cache_hints();
    let space = m.pick::<Space>().unwrap_or(Space::Generic);
    let vec = vector(m);
    let ty = access_type(m, vec)?;
    if matches!(space, Space::Const) {
        return Err(ParseErrorKind::BadValue("stores to constant memory".into()));
    }
    let access = LoadStoreMods { space, ty, vec, sem, scope, nc: false };
    let src = if vec > 1 { K::Vsw(usize::from(vec), ty) } else { K::Sw(ty) };
    if policy { mk(Op::St(access), &[K::Mem, src, K::S(B64)]) } else { mk(Op::St(access), &[K::Mem, src]) }
}

fn store_bulk(m: &mut Mods<'_>) -> FormResult {
    m.require("bulk")?;
    m.flag("weak");
    let space = if m.flag("shared::cta") { Space::SharedCta } else { Space::Generic };
    mk(Op::StBulk { space }, &[K::Mem, K::S(U64), K::Int])
}

fn atom_mods(m: &mut Mods<'_>) -> std::result::Result<(AtomMods, bool), ParseErrorKind> {
    let sem = m.pick::<Sem>().unwrap_or(Sem::Relaxed);
    let scope = m.pick::<Scope>().unwrap_or(Scope::Gpu);
    let space = m.pick::<Space>().unwrap_or(Space::Generic);
    let op = m.pick::<AtomOp>().ok_or_else(|| m.missing("an operation"))?;
    m.flag("noftz");
    let policy = m.cache_hints();
    let vec = vector(m);
    let ty = m.ty()?;
    use AtomOp::*;
    let ok = match op {
        Add => matches!(ty, U32 | S32 | U64 | S64 | F32 | F64 | F16 | F16x2 | BF16 | BF16x2),
        Min | Max => matches!(ty, U32 | S32 | U64 | S64) || vec > 1 && matches!(ty, F16 | F16x2 | BF16 | BF16x2),
        Inc | Dec => ty == U32,
        And | Or | Xor => matches!(ty, B32 | B64),
        Exch => matches!(ty, B32 | B64 | B128 | U32 | U64 | S32 | S64 | F32 | F64),
        Cas => matches!(ty, B16 | B32 | B64 | B128 | U32 | U64 | S32 | S64 | F32 | F64),
    };
    let vec_ok = vec == 1
        || matches!(ty, F32 | F16 | F16x2 | BF16 | BF16x2)
            && matches!(op, Add | Min | Max)
            && u32::from(vec) * ty.bytes() <= 16;
    if !ok || !vec_ok {
        return Err(m.bad_type(ty));
    }
    Ok((AtomMods { op, ty, space, sem, scope, vec }, policy))
}

fn atom(m: &mut Mods<'_>) -> FormResult {
    let (mods, policy) = atom_mods(m)?;
    let ty = mods.ty;
    let n = usize::from(mods.vec);
    let mut kinds =
        if mods.vec > 1 { vec![K::Vd(n, ty), K::Mem, K::Vs(n, ty)] } else { vec![K::D(ty), K::Mem, K::S(ty)] };
    if mods.op == AtomOp::Cas {
        kinds.push(K::S(ty));
    }
    if policy {
        kinds.push(K::S(B64));
    }
    mk(Op::Atom(mods), &kinds)
}

fn red(m: &mut Mods<'_>) -> FormResult {
    let (mods, policy) = atom_mods(m)?;
    if matches!(mods.op, AtomOp::Cas | AtomOp::Exch) {
        return Err(m.unknown());
    }
    let n = usize::from(mods.vec);
    let src = if mods.vec > 1 { K::Vs(n, mods.ty) } else { K::S(mods.ty) };
    if policy { mk(Op::Red(mods), &[K::Mem, src, K::S(B64)]) } else { mk(Op::Red(mods), &[K::Mem, src]) }
}

fn multimem(m: &mut Mods<'_>) -> FormResult {
    use AtomOp::*;
    let loads = m.flag("ld_reduce");
    let updates = !loads && m.flag("red");
    if !loads && !updates {
        m.require("st")?;
    }
    let given = m.pick::<Sem>();
    let sem = given.unwrap_or(if updates { Sem::Relaxed } else { Sem::Weak });
    let ordered = match sem {
        Sem::Weak => !updates,
        Sem::Relaxed => true,
        Sem::Acquire => loads,
        Sem::Release => !loads,
        _ => false,
    };
    if !ordered {
        return Err(ParseErrorKind::UnknownModifier { instruction: m.full(), modifier: sem.name().into() });
    }
    let scope = m.pick::<Scope>();
    if scope.is_none() && given.is_some_and(|sem| sem != Sem::Weak) {
        return Err(m.missing("a scope"));
    }
    if let Some(scope) = scope.filter(|_| sem == Sem::Weak) {
        return Err(ParseErrorKind::UnknownModifier { instruction: m.full(), modifier: scope.name().into() });
    }
    let space = m.pick::<Space>().unwrap_or(Space::Generic);
    if !matches!(space, Space::Global | Space::Generic) {
        return Err(ParseErrorKind::UnknownModifier { instruction: m.full(), modifier: space.name().into() });
    }
    let op = if loads || updates { Some(m.pick::<AtomOp>().ok_or_else(|| m.missing("an operation"))?) } else { None };
    let wide = loads && m.flag("acc::f32");
    let vec = vector(m);
    let ty = m.ty()?;
    let halves = matches!(ty, F16 | BF16 | F16x2 | BF16x2);
    let integer = matches!(ty, B32 | B64 | U32 | U64 | S32 | S64);
    let combines = match op {
        None => integer || halves || matches!(ty, F32 | F64),
        Some(Add) => matches!(ty, U32 | S32 | U64 | F32 | F64) || halves,
        Some(Min | Max) => matches!(ty, U32 | S32 | U64 | S64) || halves && loads,
        Some(And | Or | Xor) => matches!(ty, B32 | B64),
        Some(Inc | Dec | Exch | Cas) => false,
    };
    // A register, or a vector of floats: 4, 8 or 16 bytes.
    let bytes = u32::from(vec) * ty.bytes();
    let fits = matches!(bytes, 4 | 8 | 16) && (vec == 1 || halves || ty == F32);
    if !combines || !fits || wide && (op != Some(Add) || !halves) {
        return Err(m.bad_type(ty));
    }
    let kind = match op {
        Some(op) if loads => MultimemKind::LdReduce { op, wide },
        Some(op) => MultimemKind::Red(op),
        None => MultimemKind::St,
    };
    let mods = MultimemMods { kind, ty, space, sem, scope: scope.unwrap_or(Scope::Gpu), vec };
    let n = usize::from(vec);
    if loads {
        return mk(Op::Multimem(mods), &[if vec > 1 { K::Vd(n, ty) } else { K::D(ty) }, K::Mem]);
    }
    mk(Op::Multimem(mods), &[K::Mem, if vec > 1 { K::Vs(n, ty) } else { K::S(ty) }])
}

fn prefetch(m: &mut Mods<'_>) -> FormResult {
    m.pick::<Space>();
    if !(m.flag("tensormap") || m.flag("L1") || m.flag("L2")) {
        m.cache_hints();
    }
    mk(Op::Hint { size: false }, &[K::Mem])
}

fn hint_with_size(m: &mut Mods<'_>) -> FormResult {
    m.pick::<Space>();
    m.flag("L2");
    m.cache_hints();
    mk(Op::Hint { size: true }, &[K::Mem, K::Int])
}

fn createpolicy(m: &mut Mods<'_>) -> FormResult {
    let fractional = m.flag("fractional");
    let range = m.flag("range");
    let convert = m.flag("cvt");
    m.flag("L2");
    m.pick::<Space>();
    m.cache_hints();
    m.ty_of(|t| t == B64)?;
    if convert {
        return mk(Op::Createpolicy, &[K::D(B64), K::S(B64)]);
    }
    if range {
        return mk(Op::Createpolicy, &[K::D(B64), K::Mem, K::S(U32), K::S(U32)]);
    }
    if !fractional {
        return Err(m.missing("'.fractional', '.range' or '.cvt'"));
    }
    form_opt(Op::Createpolicy, &[K::D(B64)], &[K::S(F32)])
}

fn mapa(m: &mut Mods<'_>) -> FormResult {
    let shared = m.flag("shared::cluster");
    let ty = m.ty_of(|t| matches!(t, U32 | U64))?;
    mk(Op::Mapa { shared, ty }, &[K::D(ty), K::S(ty), K::S(U32)])
}

fn fence(m: &mut Mods<'_>) -> FormResult {
    if m.flag("mbarrier_init") {
        m.require("release")?;
        m.require("cluster")?;
        return mk(Op::FenceProxy(ProxyFence::MbarrierInit), &[]);
    }
    if m.flag("proxy") {
        if m.flag("alias") {
            return mk(Op::FenceProxy(ProxyFence::Alias), &[]);
        }
        if m.flag("async") {
            let space = m.pick::<Space>();
            return mk(Op::FenceProxy(ProxyFence::Async(space)), &[]);
        }
        let tensormap = m.flag("tensormap::generic");
        let asynchronous = !tensormap && m.flag("async::generic");
        let sem = m.pick::<Sem>();
        let acquire = match sem {
            Some(Sem::Acquire) => true,
            Some(Sem::Release) => false,
            _ => return Err(m.missing("'.acquire' or '.release'")),
        };
        if tensormap {
            let scope = m.pick::<Scope>().ok_or_else(|| m.missing("a scope"))?;
            let op = Op::FenceProxy(ProxyFence::Tensormap { acquire, scope });
            return if acquire { mk(op, &[K::Mem, K::Int]) } else { mk(op, &[]) };
        }
        if asynchronous {
            m.flag("sync_restrict::shared::cta");
            m.flag("sync_restrict::shared::cluster");
            m.flag("cluster");
            return mk(Op::FenceProxy(ProxyFence::AsyncGeneric { acquire }), &[]);
        }
        return Err(m.missing("a proxy kind"));
    }
    let sem = m.pick::<Sem>().unwrap_or(Sem::AcqRel);
    if m.flag("sync_restrict::shared::cta") || m.flag("sync_restrict::shared::cluster") {
        m.require("cluster")?;
        return mk(Op::FenceProxy(ProxyFence::SyncRestrict { acquire: sem == Sem::Acquire }), &[]);
    }
    if !matches!(sem, Sem::AcqRel | Sem::Sc | Sem::Acquire | Sem::Release) {
        return Err(ParseErrorKind::UnknownModifier { instruction: "fence".into(), modifier: sem.name().into() });
    }
    let scope = m.pick::<Scope>().ok_or_else(|| m.missing("a scope"))?;
    mk(Op::Fence { sem, scope }, &[])
}

fn membar(m: &mut Mods<'_>) -> FormResult {
    if m.flag("proxy") {
        m.require("alias")?;
        return mk(Op::FenceProxy(ProxyFence::Alias), &[]);
    }
    let scope = if m.flag("gl") { Scope::Gpu } else { m.pick::<Scope>().ok_or_else(|| m.missing("a scope"))? };
    mk(Op::Fence { sem: Sem::Sc, scope }, &[])
}
