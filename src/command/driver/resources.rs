//! Resource usage of kernels, as reported by `ptxas --verbose`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The resources of one kernel. Sizes are in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelResources {
    pub name: String,
    /// The target as ptxas names it, for example `sm_90a`.
    pub target: String,
    pub registers: u32,
    pub barriers: u32,
    pub shared_memory: u64,
    pub stack_frame: u64,
    pub spill_stores: u64,
    pub spill_loads: u64,
    /// The sum over all constant banks.
    pub constant_memory: u64,
    /// The launch requirements, from the PTX.
    pub launch: Launch,
}

/// The launch requirements of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Threads per CTA along x, y, z. The kernel supports no other size.
    pub block: [u32; 3],
    /// CTAs per cluster along x, y, z.
    pub cluster: [u32; 3],
    /// Number of parameters.
    pub parameters: usize,
    /// Whether the kernel allocates tensor memory.
    pub tensor_memory: bool,
}

/// Adds the launch requirements from the PTX.
pub fn complete(kernels: &mut [KernelResources], ptx: &str) {
    let Ok(module) = tile_targets::scan::scan(ptx) else { return };
    let lines = |e: &tile_targets::scan::Entry| {
        let end = module.entries.iter().map(|o| o.line).filter(|l| *l > e.line).min().unwrap_or(usize::MAX);
        e.line..end
    };
    for kernel in kernels {
        let Some(entry) = module.entries.iter().find(|e| e.name == kernel.name) else { continue };
        let extents = |name: &str| {
            let found = entry.directives.iter().find(|(directive, _)| directive == name)?;
            let axis = |i: usize| found.1.get(i).copied().unwrap_or(1);
            Some([axis(0), axis(1), axis(2)])
        };
        let lines = lines(entry);
        kernel.launch = Launch {
            block: extents(".reqntid").unwrap_or_default(),
            cluster: extents(".reqnctapercluster").unwrap_or([1; 3]),
            parameters: entry.parameters,
            tensor_memory: module
                .instructions
                .iter()
                .any(|i| lines.contains(&i.line) && i.mnemonic.starts_with("tcgen05.alloc")),
        };
    }
}

/// Parses the messages of `ptxas --verbose`. Other lines are ignored.
pub fn parse(messages: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    for line in messages.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let mut parts = rest.split('\'');
            let name = parts.next().unwrap_or_default().to_owned();
            let target = parts.nth(1).unwrap_or_default().to_owned();
            kernels.push(KernelResources { name, target, ..KernelResources::default() });
            continue;
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        let facts = line.split_once(": Used ").map_or(line, |(_, rest)| rest);
        for fact in facts.split(',') {
            read_fact(kernel, fact.trim());
        }
    }
    kernels
}

/// Parses one of `168 registers`, `used 2 barriers`, `1024 bytes smem`, `8 bytes stack frame`, `4 bytes spill
/// stores`, ...
fn read_fact(kernel: &mut KernelResources, fact: &str) {
    let fact = fact.strip_prefix("used ").unwrap_or(fact);
    let Some((number, what)) = fact.split_once(' ') else { return };
    let Ok(number) = number.parse::<u64>() else { return };
    let small = u32::try_from(number).unwrap_or(u32::MAX);
    match what {
        "registers" => kernel.registers = small,
        "barriers" => kernel.barriers = small,
        "bytes smem" => kernel.shared_memory = number,
        "bytes stack frame" => kernel.stack_frame = number,
        "bytes spill stores" => kernel.spill_stores = number,
        "bytes spill loads" => kernel.spill_loads = number,
        _ if what.starts_with("bytes cmem[") => kernel.constant_memory += number,
        _ => {}
    }
}

/// Whether `--verbose` caused this line, as opposed to a warning or advice for the user.
pub fn is_statistics(line: &str) -> bool {
    let Some((_, text)) = line.split_once("ptxas info") else {
        return line.starts_with("    ") && line.contains("bytes stack frame");
    };
    let text = text.trim_start().trim_start_matches(':').trim_start();
    text.starts_with("Compiling entry function")
        || text.starts_with("Function properties for")
        || text.starts_with("Used ")
        || text.starts_with("Compile time")
        || text.contains("bytes gmem")
}

/// The text `{"kernels": [...]}` with one object per kernel.
pub fn json(kernels: &[KernelResources]) -> String {
    let kernels: Vec<Value> = kernels
        .iter()
        .map(|k| {
            json!({
                "name": k.name,
                "target": k.target,
                "registers": k.registers,
                "barriers": k.barriers,
                "shared_memory": k.shared_memory,
                "stack_frame": k.stack_frame,
                "spill_stores": k.spill_stores,
                "spill_loads": k.spill_loads,
                "constant_memory": k.constant_memory,
                "block": k.launch.block,
                "cluster": k.launch.cluster,
                "parameters": k.launch.parameters,
                "tensor_memory": k.launch.tensor_memory,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "kernels": kernels }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers, 1024 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 1.041 ms
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to function calls in 'k'
ptxas info    : Compiling entry function 'two' for 'sm_90a'
ptxas info    : Used 4 registers, used 0 barriers
";

    #[test]
    fn both_kernels_are_read() {
        let kernels = parse(MESSAGES);
        let first = KernelResources {
            name: "k".into(),
            target: "sm_90a".into(),
            registers: 168,
            barriers: 2,
            shared_memory: 1024,
            stack_frame: 8,
            spill_stores: 4,
            spill_loads: 12,
            constant_memory: 368,
            launch: Launch::default(),
        };
        assert_eq!(kernels[0], first);
        assert_eq!((kernels[1].name.as_str(), kernels[1].registers, kernels.len()), ("two", 4, 2));
        assert_eq!(parse("nothing here\nUsed 4 registers"), []);
        let value: Value = serde_json::from_str(&json(&kernels)).unwrap();
        assert_eq!(value["kernels"][0]["spill_loads"], 12);
    }

    #[test]
    fn the_launch_is_in_the_ptx() {
        let ptx = ".version 8.8\n.target sm_100a\n.address_size 64\n\
                   .visible .entry k(.param .u64 a, .param .u32 b)\n.reqntid 128\n.reqnctapercluster 2, 1, 1\n{\n\
                   tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [x], 32;\nret;\n}\n\
                   .visible .entry two()\n.reqntid 64, 2\n{\nret;\n}\n";
        let mut kernels = parse(MESSAGES);
        complete(&mut kernels, ptx);
        let first = Launch { block: [128, 1, 1], cluster: [2, 1, 1], parameters: 2, tensor_memory: true };
        let second = Launch { block: [64, 2, 1], cluster: [1, 1, 1], parameters: 0, tensor_memory: false };
        assert_eq!((&kernels[0].launch, &kernels[1].launch), (&first, &second));
        let value: Value = serde_json::from_str(&json(&kernels)).unwrap();
        assert_eq!(value["kernels"][1]["block"], json!([64, 2, 1]));
    }

    #[test]
    fn only_statistics_are_dropped() {
        let kept: Vec<&str> = MESSAGES.lines().filter(|l| !is_statistics(l)).collect();
        assert_eq!(kept.len(), 1);
        assert!(kept[0].contains("(C7510)"));
        assert!(!is_statistics("ptxas warning : Value of threads per SM"));
    }
}
