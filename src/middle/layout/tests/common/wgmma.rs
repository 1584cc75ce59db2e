//! Dots by `wgmma` on the simulator, generated from the plans of the crate.
//!
//! A kernel gets the image of shared memory and, if A is not in shared memory, the registers of A. It writes all
//! accumulators, register by register. Every claim of a plan (strides, steps, registers of a block) affects the
//! result, and the simulator shares no code with the plans.

use std::fmt::Write as _;

use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions};
use tile_layout::*;

/// Operand types that represent small integers exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F16,
    Bf16,
    Tf32,
    E4m3,
    S8,
}

impl Type {
    pub fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::E4m3 | Self::S8 => 8,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::E4m3 => "e4m3",
            Self::S8 => "s8",
        }
    }

    /// The bits of an integer from -3 to 3.
    pub fn encode(self, value: i32) -> u64 {
        let size = value.unsigned_abs() as usize;
        let sign = u64::from(value < 0);
        match self {
            Self::F16 => [0, 0x3c00, 0x4000, 0x4200][size] | sign << 15,
            Self::Bf16 => [0, 0x3f80, 0x4000, 0x4040][size] | sign << 15,
            Self::Tf32 => u64::from((value as f32).to_bits()),
            Self::E4m3 => [0, 0x38, 0x40, 0x44][size] | sign << 7,
            Self::S8 => u64::from(value as i8 as u8),
        }
    }
}

/// A value for element `i` of matrix `which`.
pub fn value(which: u64, i: u64) -> i32 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ which << 17);
    ((x >> 40) % 7) as i32 - 3
}

/// The bytes of shared memory for a matrix in a layout.
pub fn image(layout: &HardwareLayout, ty: Type, value: impl Fn(u64) -> i32) -> Vec<u8> {
    let shared = layout.shared_layout().expect("a valid layout");
    let bytes = (ty.bits() / 8) as usize;
    let mut image = vec![0; layout.bytes() as usize];
    for element in 0..layout.shape().elements() {
        let at = shared.offset(element) as usize * bytes;
        image[at..at + bytes].copy_from_slice(&ty.encode(value(element)).to_le_bytes()[..bytes]);
    }
    image
}

/// The storage of A.
pub enum Left<'a> {
    Shared(&'a HardwareLayout),
    Registers,
}

/// Runs the dot of A (m x k) and B (k x n), both of type `ty`, and compares every accumulator.
pub fn check_dot(ty: Type, extents: (u32, u32, u32), columns: u32, groups: (u32, u32), a: Left, b: &HardwareLayout) {
    let (m, n, k) = extents;
    let dot = WarpgroupDot::new(extents, ty.bits(), columns, groups).expect("a dot of wgmma");
    let accumulator = dot.accumulator().unwrap();
    // B's tile is k x n.
    let right = b.operand(1, 0, columns).expect("B is an operand");
    let mut shared = image(b, ty, |e| value(2, e));
    let (left, a_words) = match a {
        Left::Shared(layout) => {
            let at = shared.len().next_multiple_of(layout.alignment() as usize);
            shared.resize(at, 0);
            shared.extend(image(layout, ty, |e| value(1, e)));
            (Some((at as u64, layout.operand(0, 1, WARPGROUP_ROWS).expect("A is an operand"))), Vec::new())
        }
        Left::Registers => (None, fragment_words(&dot.a_registers().unwrap(), ty)),
    };
    let threads = 128 * dot.groups();
    shared.resize(shared.len().next_multiple_of(16 * threads as usize), 0);
    let text = kernel(&dot, ty, left.as_ref(), &right, shared.len());
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let registers = accumulator.registers();
    for seed in [None, Some(1)] {
        let mut device = Device::new(Config::default());
        let out = device.alloc(4 * u64::from(threads * registers));
        let args = [Arg::Ptr(out), Arg::Ptr(device.alloc_from(&shared)), Arg::Ptr(device.alloc_from(&a_words))];
        let launch = LaunchConfig { grid: [1, 1, 1], args: &args, ..LaunchConfig::default() };
        let options = RunOptions { adversarial: seed, ..RunOptions::default() };
        device.launch(&module, "k", &launch, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut bytes = vec![0; 4 * (threads * registers) as usize];
        device.read(out, &mut bytes).unwrap();
        for (i, word) in bytes.chunks_exact(4).enumerate() {
            let word = u32::from_le_bytes(word.try_into().unwrap());
            let found = if ty == Type::S8 { word as i32 } else { f32::from_bits(word) as i32 };
            let (thread, register) = (i as u32 / registers, i as u32 % registers);
            let place = Thread { lane: thread % 32, warp: thread / 32, block: 0 };
            let element = accumulator.element(Slot { register, thread: place });
            let (row, column) = (element / u64::from(n), element % u64::from(n));
            let term = |d: u64| value(1, row * u64::from(k) + d) * value(2, d * u64::from(n) + column);
            let wanted: i32 = (0..u64::from(k)).map(term).sum();
            assert_eq!(found, wanted, "{ty:?} {m}x{n}x{k}, row {row}, column {column}, thread {thread}");
        }
    }
}

/// The registers of A of all threads, packed in words.
fn fragment_words(layout: &Layout, ty: Type) -> Vec<u8> {
    let bytes = (ty.bits() / 8) as usize;
    let mut words = Vec::new();
    for thread in layout.all_threads() {
        for element in layout.elements_of(thread) {
            words.extend(&ty.encode(value(1, element)).to_le_bytes()[..bytes]);
        }
    }
    words
}

fn kernel(
    dot: &WarpgroupDot,
    ty: Type,
    left: Option<&(u64, WarpgroupOperand)>,
    right: &WarpgroupOperand,
    bytes: usize,
) -> String {
    let threads = 128 * dot.groups();
    let registers = dot.accumulator().unwrap().registers();
    let a_words = if left.is_none() { dot.a_registers().unwrap().registers() * ty.bits() / 32 } else { 0 };
    let (d, move_zero) = if ty == Type::S8 { ("%d", "mov.b32") } else { ("%f", "mov.b32") };
    let mut text = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 s[{bytes}];
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) .reqntid {threads} {{
.reg .b64 %rd<16>; .reg .b32 %r<16>; .reg .pred %p<8>;
.reg .f32 %f<{registers}>; .reg .b32 %d<{registers}>; .reg .b32 %a<{}>;
ld.param.b64 %rd1, [p0]; ld.param.b64 %rd2, [p1]; ld.param.b64 %rd3, [p2]; mov.u32 %r1, %tid.x; mov.b32 %r2, s;
mul.lo.u32 %r3, %r1, 16;
copy: cvt.u64.u32 %rd4, %r3; add.s64 %rd4, %rd2, %rd4; add.u32 %r4, %r2, %r3;
ld.global.v4.b32 {{%r5, %r6, %r7, %r8}}, [%rd4]; st.shared.v4.b32 [%r4], {{%r5, %r6, %r7, %r8}};
add.u32 %r3, %r3, {}; setp.lt.u32 %p1, %r3, {bytes}; @%p1 bra copy;
fence.proxy.async; bar.sync 0; setp.ne.u32 %p0, %r1, -1;
mul.wide.u32 %rd5, %r1, {}; add.s64 %rd5, %rd3, %rd5; mul.wide.u32 %rd6, %r1, {}; add.s64 %rd6, %rd1, %rd6;\n",
        a_words.max(1),
        16 * threads,
        4 * a_words,
        4 * registers,
    );
    for w in 0..a_words {
        writeln!(text, "ld.global.b32 %a{w}, [%rd5+{}];", 4 * w).unwrap();
    }
    for r in 0..registers {
        writeln!(text, "{move_zero} {d}{r}, 0;").unwrap();
    }
    text += "shr.u32 %r9, %r1, 7;\n";
    for group in 0..dot.groups() {
        writeln!(text, "setp.ne.u32 %p2, %r9, {group}; @%p2 bra after{group}; wgmma.fence.sync.aligned;").unwrap();
        for step in dot.steps(group) {
            writeln!(text, "{}", instruction(dot, ty, d, left, right, &step)).unwrap();
        }
        writeln!(text, "after{group}:").unwrap();
    }
    text += "bar.sync 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
    for r in 0..registers {
        writeln!(text, "st.global.b32 [%rd6+{}], {d}{r};", 4 * r).unwrap();
    }
    text + "ret; }\n"
}

fn instruction(
    dot: &WarpgroupDot,
    ty: Type,
    d: &str,
    left: Option<&(u64, WarpgroupOperand)>,
    right: &WarpgroupOperand,
    step: &WarpgroupStep,
) -> String {
    let (_, columns, depth) = dot.instruction().extents();
    let list = |prefix: &str, from: u32, n: u32| {
        (from..from + n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
    };
    let offset = right.offset(step.n as usize, step.k as usize).expect("a step inside of B");
    // The simulator chooses the shared address of the array; addresses are added at run time.
    let mut text = String::new();
    let mut descriptor = |to: &str, at: u64, constant: u64| {
        assert_eq!(at % 16, 0);
        write!(
            text,
            "cvt.u64.u32 {to}, %r2; add.s64 {to}, {to}, {at}; shr.u64 {to}, {to}, 4; or.b64 {to}, {to}, {constant}; "
        )
        .unwrap();
    };
    descriptor("%rd8", offset, right.descriptor.constant());
    let a = match left {
        Some((base, operand)) => {
            let at = base + operand.offset(step.m as usize, step.k as usize).expect("a step inside of A");
            descriptor("%rd7", at, operand.descriptor.constant());
            "%rd7".to_owned()
        }
        None => format!("{{{}}}", list("%a", step.a * ty.bits() / 32, 4)),
    };
    let (out, flags) = match ty {
        Type::S8 => ("s32", String::new()),
        Type::F16 | Type::Bf16 => {
            let major = |m: Major| u32::from(m == Major::Mn);
            let a_flag = left.map_or(String::new(), |(_, l)| format!(", {}", major(l.major)));
            ("f32", format!(", 1, 1{a_flag}, {}", major(right.major)))
        }
        Type::Tf32 | Type::E4m3 => ("f32", ", 1, 1".to_owned()),
    };
    let name = ty.name();
    write!(
        text,
        "wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{out}.{name}.{name} {{{}}}, {a}, %rd8, %p0{flags};",
        list(d, step.accumulator, columns / 2)
    )
    .unwrap();
    text
}
