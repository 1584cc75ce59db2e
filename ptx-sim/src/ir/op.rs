//! Instruction families with their typed modifiers.
//!
//! Operands are not part of an [`Op`]; they follow in source order in [`crate::ir::Inst::args`]. Where a family has
//! optional operands, its documentation gives the order; an absent destination is [`crate::ir::Operand::Sink`].

use super::types::*;

/// An instruction family and its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// `mov`, including packing and unpacking through a vector operand: dst, src.
    Mov {
        ty: Type,
    },
    /// Integer arithmetic: dst, sources.
    Int {
        op: IntOp,
        ty: Type,
        sat: bool,
    },
    /// `add.cc`, `subc`, `madc.lo.cc`, ...: dst, sources.
    Carry {
        op: CarryOp,
        ty: Type,
        cin: bool,
        cout: bool,
    },
    /// `dp4a`, `dp2a`: dst, a, b, c.
    Dot {
        op: DotOp,
        a_signed: bool,
        b_signed: bool,
    },
    /// Logic, shifts and bit manipulation: dst, sources.
    Bits {
        op: BitOp,
        ty: Type,
    },
    /// Floating-point arithmetic: dst, sources.
    Float {
        op: FloatOp,
        ty: Type,
        m: FloatMods,
    },
    /// `add.f32.bf16` and similar instructions whose first operands are narrower than the result: dst, sources.
    MixedFloat {
        op: FloatOp,
        ty: Type,
        src: Type,
        m: FloatMods,
    },
    /// `testp`: dst predicate, src.
    Testp {
        prop: TestProp,
        ty: Type,
    },
    /// dst, second dst (or sink), a, b, and with `combine` a predicate.
    Setp {
        cmp: Cmp,
        ty: Type,
        ftz: bool,
        combine: Option<BoolOp>,
    },
    /// dst, a, b, and with `combine` a predicate.
    Set {
        cmp: Cmp,
        dty: Type,
        ty: Type,
        ftz: bool,
        combine: Option<BoolOp>,
    },
    /// dst, a, b, predicate.
    Selp {
        ty: Type,
    },
    /// dst, a, b, c.
    Slct {
        ty: Type,
        cty: Type,
        ftz: bool,
    },
    /// dst, one source, or two for the packing forms.
    Cvt(CvtMods),
    /// `cvt.pack.sat`: dst, a, b, and c for types narrower than 16 bits.
    CvtPack {
        dty: Type,
        sty: Type,
        has_c: bool,
    },
    Ld(LoadStoreMods),
    St(LoadStoreMods),
    /// `st.bulk`: address, size, 0.
    StBulk {
        space: Space,
    },
    /// `ldu`: as `ld`.
    Atom(AtomMods),
    Red(AtomMods),
    /// `multimem`: dst, address for loads; address, b for updates and stores.
    Multimem(MultimemMods),
    /// Prefetch, discard, applypriority: the address operands are evaluated, nothing else happens.
    Hint {
        size: bool,
    },
    /// dst.
    Createpolicy,
    /// dst, src.
    Cvta {
        to: bool,
        space: Space,
        ty: Type,
    },
    /// dst predicate, address.
    Isspacep {
        space: Space,
    },
    /// dst, address, cta rank. `shared` is true for 32-bit shared-window addresses, else they are generic.
    Mapa {
        shared: bool,
        ty: Type,
    },
    /// dst, address.
    Getctarank {
        shared: bool,
        ty: Type,
    },
    /// `fence.sem.scope`, `membar`.
    Fence {
        sem: Sem,
        scope: Scope,
    },
    /// `fence.proxy.*` and `fence.mbarrier_init`.
    FenceProxy(ProxyFence),
    Alloca {
        ty: Type,
    },
    Stacksave {
        ty: Type,
    },
    Stackrestore {
        ty: Type,
    },

    /// label.
    Bra {
        uni: bool,
    },
    /// index, table.
    BrxIdx,
    /// results list, callee, arguments list, and for indirect calls the prototype or target table.
    Call,
    Ret,
    Exit,
    Trap,
    Brkpt,
    Nop,

    /// dst, predicate or sink, a, b, c, membermask.
    Shfl {
        mode: ShflMode,
    },
    /// dst, predicate, membermask.
    Vote {
        mode: VoteMode,
    },
    /// dst, predicate or sink, a, membermask.
    Match {
        all: bool,
        ty: Type,
    },
    /// dst.
    Activemask,
    /// dst, src, membermask.
    Redux {
        op: ReduxOp,
        ty: Type,
        abs: bool,
        nan: bool,
    },
    /// dst or sink, predicate, membermask.
    Elect,
    /// membermask.
    BarWarpSync,
    /// `bar` and `barrier`; operands as in the source: for `red` first the result, then the barrier, an optional
    /// count, and for `red` the predicate.
    Bar {
        kind: BarKind,
        aligned: bool,
    },
    /// No operands.
    BarrierCluster {
        arrive: bool,
        sem: Sem,
        aligned: bool,
    },
    /// duration.
    Nanosleep,
    /// register count.
    Setmaxnreg {
        inc: bool,
    },
    Griddepcontrol {
        wait: bool,
    },

    Mbarrier(MbarrierOp),
    /// dst, src, size, and optionally source size or ignore predicate.
    CpAsync {
        ignore_src: bool,
    },
    CpAsyncCommit,
    /// group count, unless `all`.
    CpAsyncWait {
        all: bool,
    },
    /// mbarrier address.
    CpAsyncMbarrierArrive {
        noinc: bool,
        space: Space,
    },
    CpBulk(BulkMods),
    CpTensor(TensorCopyMods),
    BulkCommit,
    /// group count.
    BulkWait {
        read: bool,
    },
    /// address, value or vector, mbarrier address.
    StAsync {
        ty: Type,
        vec: u8,
    },
    /// address, value, mbarrier address.
    RedAsync {
        op: AtomOp,
        ty: Type,
    },
    /// address, optional index, new value.
    TensormapReplace {
        field: TensormapField,
        space: Space,
    },
    /// destination, source, size.
    TensormapCpFenceproxy {
        scope: Scope,
    },

    /// dst vector, address.
    Ldmatrix(MatrixMods),
    /// address, src vector.
    Stmatrix(MatrixMods),
    /// dst, src.
    Movmatrix,
    /// d, a, b, c, and for block-scaled forms: scale a, {byte, thread}, scale b, {byte, thread}.
    Mma(Box<MmaMods>),
    WgmmaFence,
    WgmmaCommit,
    /// group count.
    WgmmaWait,
    /// d, a (registers or descriptor), b descriptor, scale-d, then the immediates.
    Wgmma(Box<WgmmaMods>),
    Tcgen05(Box<Tcgen05Op>),
    Cluster(ClusterControl),
}

/// Integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadWide,
    Mul24Lo,
    Mul24Hi,
    Mad24Lo,
    Mad24Hi,
    Sad,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    MinRelu,
    MaxRelu,
}

/// Extended-precision integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarryOp {
    Add,
    Sub,
    MadLo,
    MadHi,
}

/// Dot products of packed integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotOp {
    Dp4a,
    Dp2aLo,
    Dp2aHi,
}

/// Logic, shifts, bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Shl,
    Shr,
    /// `shf.l`, wrapping or clamping the amount.
    ShfL {
        wrap: bool,
    },
    ShfR {
        wrap: bool,
    },
    /// a, b, c, immediate table.
    Lop3,
    /// `lop3.BoolOp`: dst, predicate dst, a, b, c, table, predicate src.
    Lop3Bool(BoolOp),
    Prmt(Option<PrmtMode>),
    Popc,
    Clz,
    Brev,
    Bfe,
    Bfi,
    Bfind {
        shiftamt: bool,
    },
    Fns,
    Szext {
        wrap: bool,
    },
    Bmsk {
        wrap: bool,
    },
}

/// Floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Abs,
    Neg,
    Min,
    Max,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    Copysign,
}

/// The accuracy of a division, root or transcendental.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accuracy {
    Ieee,
    Approx,
    Full,
}

/// Modifiers of floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatMods {
    pub rnd: Rnd,
    pub accuracy: Accuracy,
    pub ftz: bool,
    pub sat: bool,
    pub relu: bool,
    pub nan: bool,
    pub xorsign_abs: bool,
    /// `.abs` of three-operand min and max.
    pub abs: bool,
}

/// Modifiers of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CvtMods {
    pub dty: Type,
    pub sty: Type,
    pub rnd: Option<Rnd>,
    pub ftz: bool,
    pub sat: bool,
    pub satfinite: bool,
    pub relu: bool,
    /// Two sources packed into one destination (`cvt.rn.f16x2.f32 d, a, b`).
    pub two_sources: bool,
    /// With `.scaled::n2::ue8m0`: a last operand with scale factors.
    pub scaled: bool,
}

/// A load or store: for `ld` dst, address; for `st` address, src. Vectors are vector operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadStoreMods {
    pub space: Space,
    pub ty: Type,
    pub vec: u8,
    pub sem: Sem,
    pub scope: Scope,
    /// `ld.global.nc`: no thread may write the data during the kernel.
    pub nc: bool,
}

/// `atom`: dst, address, b, and c for `cas`; `red`: address, b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomMods {
    pub op: AtomOp,
    pub ty: Type,
    pub space: Space,
    pub sem: Sem,
    pub scope: Scope,
    pub vec: u8,
}

/// `multimem.ld_reduce`, `multimem.red` and `multimem.st`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultimemMods {
    pub kind: MultimemKind,
    pub ty: Type,
    pub space: Space,
    pub sem: Sem,
    pub scope: Scope,
    pub vec: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultimemKind {
    /// With `wide`, halves are summed in f32.
    LdReduce {
        op: AtomOp,
        wide: bool,
    },
    Red(AtomOp),
    St,
}

/// `fence.proxy.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyFence {
    Alias,
    /// `fence.proxy.async`, optionally limited to a space.
    Async(Option<Space>),
    /// Address and size for acquire; no operands for release.
    Tensormap {
        acquire: bool,
        scope: Scope,
    },
    /// `fence.proxy.async::generic.{acquire,release}.sync_restrict...`
    AsyncGeneric {
        acquire: bool,
    },
    MbarrierInit,
    /// `fence.{acquire,release}.sync_restrict::...`.
    SyncRestrict {
        acquire: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarKind {
    Sync,
    Arrive,
    RedPopc,
    RedAnd,
    RedOr,
}

/// Operations on mbarrier objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// address, count.
    Init { space: Space },
    /// address.
    Inval { space: Space },
    /// address, bytes.
    ExpectTx { space: Space },
    /// address, bytes.
    CompleteTx { space: Space },
    /// state or sink, address, and an optional count (bytes for `expect_tx`, with no count).
    Arrive { space: Space, drop: bool, expect_tx: bool, no_complete: bool, sem: Sem, scope: Scope },
    /// predicate, address, state or parity, and for `try_wait` an optional time limit.
    Wait { space: Space, try_wait: bool, parity: bool, sem: Sem, scope: Scope },
    /// dst, state.
    PendingCount,
}

/// Non-tensor bulk copies. Operands: dst, src, size, then mbarrier, multicast mask, byte mask as flagged. A prefetch
/// has only src and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkMods {
    pub dst: Space,
    pub src: Space,
    pub prefetch: bool,
    /// Completion by mbarrier; otherwise by bulk group.
    pub mbarrier: bool,
    pub multicast: bool,
    pub byte_mask: bool,
    /// `cp.reduce`.
    pub reduce: Option<(AtomOp, Type)>,
}

/// Direction and kind of a TMA copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorCopyKind {
    Load,
    Store,
    Reduce(AtomOp),
    Prefetch,
}

/// Traversal of the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMode {
    Tile,
    Gather4,
    Scatter4,
    Im2col,
    Im2colW,
    Im2colW128,
    Im2colNoOffs,
}

/// `cp.async.bulk.tensor`. Load: dst, tensor, mbarrier, then multicast mask as flagged. Store and reduce: tensor,
/// src. Prefetch: tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCopyMods {
    pub kind: TensorCopyKind,
    pub rank: u8,
    pub mode: TensorMode,
    pub dst: Space,
    pub multicast: bool,
    /// 1 or 2 for `.cta_group::N`, else 0.
    pub cta_group: u8,
}

/// `ldmatrix` and `stmatrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixMods {
    /// Rows and columns of one matrix.
    pub shape: (u8, u8),
    pub num: u8,
    pub trans: bool,
    /// `b16`, `b8`, or for the unpacking loads `b6x16_p32`, `b4x16_p64`.
    pub ty: Type,
    pub space: Space,
}

/// `mma.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmaMods {
    pub m: u16,
    pub n: u16,
    pub k: u16,
    pub a_row: bool,
    pub b_col: bool,
    pub dty: Type,
    pub aty: Type,
    pub bty: Type,
    pub cty: Type,
    pub satfinite: bool,
    /// For `.b1`: `xor.popc` or `and.popc`.
    pub bit_op: Option<BoolOp>,
    /// Block scaling: elements of k per scale as `scale_vec` (1, 2, 4) and the scale type.
    pub block_scale: Option<(u8, Type)>,
    pub kind: Option<MmaKind>,
}

/// `wgmma.mma_async`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WgmmaMods {
    pub n: u16,
    pub k: u16,
    pub dty: Type,
    pub aty: Type,
    pub bty: Type,
    pub satfinite: bool,
}

/// The fifth-generation tensor core instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcgen05Op {
    /// address to store to, column count.
    Alloc {
        cta_group: u8,
        space: Space,
    },
    /// tensor-memory address, column count.
    Dealloc {
        cta_group: u8,
    },
    RelinquishAllocPermit {
        cta_group: u8,
    },
    /// dst vector, address, and an immediate offset for 16x32bx2.
    Ld {
        shape: TmemShape,
        num: u8,
        pack16: bool,
    },
    /// address, an immediate offset for 16x32bx2, src vector.
    St {
        shape: TmemShape,
        num: u8,
        unpack16: bool,
    },
    WaitLd,
    WaitSt,
    FenceBefore,
    FenceAfter,
    /// mbarrier, and a mask with `multicast`.
    Commit {
        cta_group: u8,
        space: Space,
        multicast: bool,
    },
    /// address, descriptor.
    Cp {
        cta_group: u8,
        shape: CpShape,
        warpx: u8,
        pairs: Option<bool>,
        src_fmt: Option<Type>,
    },
    /// address.
    Shift {
        cta_group: u8,
    },
    /// d, a (descriptor or tensor-memory address), b descriptor, instruction descriptor, then for block scaling the
    /// addresses of the two scale matrices, an optional vector of output lanes to disable, the enable-input-d
    /// predicate, an optional immediate scale.
    Mma {
        cta_group: u8,
        kind: MmaKind,
        scale_vec: u8,
        a_tmem: bool,
        ws: bool,
    },
}

/// `clusterlaunchcontrol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterControl {
    /// address, mbarrier.
    TryCancel { multicast: bool },
    /// dst predicate, response.
    IsCanceled,
    /// dst, response; the component, or 4 for the whole vector.
    FirstCtaid(u8),
}
