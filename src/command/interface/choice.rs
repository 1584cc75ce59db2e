//! What the compiler chose for the products, loads, stores and loops of a kernel.
//!
//! The final program of a kernel determines a [`Choice`]. The reasons against a better one come from the pass that
//! decided. A choice is the same in all reports: after the name of its remark it is a text ([`std::fmt::Display`]), and
//! files for programs list its [`facts`](Choice::facts).

use std::fmt;

/// The choice for one op of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Product(Product),
    Transfer(Transfer),
    Loop(LoopPlan),
    Order(Order),
}

/// The order in which a reduction or a scan combines elements, if its bits depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// `reduce` or `scan`.
    pub op: &'static str,
    /// The extent of the combined dimension. A scan in slices has the extent of a slice.
    pub extent: i64,
    /// The element types of the operands.
    pub elements: Vec<String>,
    /// The op that combines two elements, if it is one of `addf` and `mulf`.
    pub body: Option<&'static str>,
    /// The order as a formula over the bits of the coordinate: `tree(bits 2 1 0)`. Equal formulas give equal bits.
    pub formula: String,
    /// The places in which the bits are combined, in order: `registers 2 | lanes 1 0`.
    pub places: String,
    /// Whether the formula is the canonical one, which depends on the shape alone.
    pub pinned: bool,
    /// The most roundings between an element and the result, if the body is a single op.
    pub roundings: Option<u64>,
}

/// A product of two tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Rows, columns and depth of the tile, after the batch dimension if there is one.
    pub extents: Vec<i64>,
    /// The element type of each operand, and of the sum.
    pub elements: [String; 3],
    /// The unit: `tcgen05 by pairs of CTAs`, `tcgen05`, `wgmma`, `mma.sync` or `FMA`.
    pub unit: &'static str,
    /// Rows, columns and depth of an instruction; `None` for FMA.
    pub instruction: Option<[u32; 3]>,
    /// The fastest unit of the target, if it is another one, and the reasons against it.
    pub faster: Option<(&'static str, Vec<String>)>,
}

/// A load or a store of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub is_store: bool,
    /// The extents of the tile and its element type.
    pub tile: String,
    /// The instructions. Several if a test at run time decides.
    pub by: Vec<Copying>,
    /// Stages of the ring into which tiles are copied ahead.
    pub stages: Option<u32>,
    /// The reasons against TMA; empty if it is used.
    pub against_tma: Vec<String>,
}

/// How threads move a tile from or to global memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Copying {
    Tma,
    /// An instruction that moves this number of bytes for each thread.
    Threads {
        instruction: &'static str,
        bytes: u64,
    },
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopPlan {
    /// The agents that run the loop; empty if the kernel has none.
    pub agents: Vec<Agent>,
    /// Warps of a CTA.
    pub warps: u32,
    /// Registers of each thread at launch; `None` if ptxas chooses.
    pub registers: Option<u32>,
    /// The stages of each ring that the loop fills or reads.
    pub rings: Vec<u32>,
}

/// A group of warps with its own program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    pub warps: u32,
    /// Registers of each thread, if the agents divide the CTA's registers.
    pub registers: Option<u32>,
}

impl Choice {
    /// Names and values, for programs.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Product(p) => p.facts(),
            Self::Transfer(t) => t.facts(),
            Self::Loop(l) => l.facts(),
            Self::Order(o) => o.facts(),
        }
    }
}

impl Product {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let [lhs, rhs, sum] = self.elements.clone();
        let mut facts = vec![
            ("Tile", joined(&self.extents)),
            ("Lhs", lhs),
            ("Rhs", rhs),
            ("Sum", sum),
            ("Unit", self.unit.to_owned()),
        ];
        facts.extend(self.instruction.map(|shape| ("Instruction", shape_name(shape))));
        if let Some((unit, reasons)) = &self.faster {
            facts.push(("FasterUnit", (*unit).to_owned()));
            facts.extend(reasons.iter().map(|r| ("Against", r.clone())));
        }
        facts
    }
}

impl Transfer {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("Tile", self.tile.clone())];
        facts.extend(self.by.iter().map(|by| ("By", by.to_string())));
        facts.extend(self.stages.map(|n| ("Stages", n.to_string())));
        facts.extend(self.against_tma.iter().map(|r| ("AgainstTMA", r.clone())));
        facts
    }
}

impl Order {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Op", self.op.to_owned()),
            ("Extent", self.extent.to_string()),
            ("Elements", self.elements.join(", ")),
            ("Order", self.formula.clone()),
            ("Places", self.places.clone()),
            ("Pinned", self.pinned.to_string()),
        ];
        facts.extend(self.body.map(|body| ("Body", body.to_owned())));
        facts.extend(self.roundings.map(|n| ("Roundings", n.to_string())));
        facts
    }
}

impl LoopPlan {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts: Vec<_> = self.agents.iter().map(|a| ("Agent", a.to_string())).collect();
        facts.push(("Warps", self.warps.to_string()));
        facts.extend(self.registers.map(|n| ("Registers", n.to_string())));
        facts.extend(self.rings.iter().map(|n| ("Stages", n.to_string())));
        facts
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Product(p) => p.fmt(f),
            Self::Transfer(t) => t.fmt(f),
            Self::Loop(l) => l.fmt(f),
            Self::Order(o) => o.fmt(f),
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lhs, rhs, sum] = &self.elements;
        let operands = if lhs == rhs { lhs.clone() } else { format!("{lhs} and {rhs}") };
        write!(f, "{} of {operands}, summed in {sum}: {}", joined(&self.extents), self.unit)?;
        if let Some(shape) = self.instruction {
            write!(f, " {}", shape_name(shape))?;
        }
        match &self.faster {
            Some((unit, reasons)) if reasons.is_empty() => write!(f, "; not {unit}"),
            Some((unit, reasons)) => write!(f, "; not {unit}: {}", reasons.join("; ")),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by: Vec<String> = self.by.iter().map(Copying::to_string).collect();
        write!(f, "{}: {}", self.tile, by.join(" or "))?;
        if let Some(stages) = self.stages {
            write!(f, ", ring of {}", counted(stages, "stage"))?;
        }
        if !self.against_tma.is_empty() {
            let when = if self.by.contains(&Copying::Tma) { "TMA after a test" } else { "not TMA" };
            write!(f, "; {when}: {}", self.against_tma.join("; "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, extent, formula, places, .. } = self;
        let body = self.body.map(|body| format!(" by {body}")).unwrap_or_default();
        let pinned = if self.pinned { ", pinned" } else { "" };
        write!(f, "{op} of {extent} {}{body}: {formula}{pinned}; {places}", self.elements.join(", "))
    }
}

impl fmt::Display for Copying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tma => f.write_str("TMA"),
            Self::Threads { instruction, bytes } => write!(f, "{instruction} of {}", counted(*bytes, "byte")),
        }
    }
}

impl fmt::Display for LoopPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warps = counted(self.warps, "warp");
        match &self.agents[..] {
            [] => write!(f, "{warps}, no agents")?,
            agents => {
                let agents: Vec<String> = agents.iter().map(Agent::to_string).collect();
                write!(f, "agents {}", agents.join(", "))?;
            }
        }
        match self.registers {
            Some(n) => write!(f, "; {n} registers at launch")?,
            None => f.write_str("; ptxas chooses the registers")?,
        }
        match &self.rings[..] {
            [] => f.write_str("; no ring"),
            [n] => write!(f, "; ring of {}", counted(*n, "stage")),
            rings => write!(f, "; rings of {} stages", listed(rings)),
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.name, counted(self.warps, "warp"))?;
        match self.registers {
            Some(n) => write!(f, ", {n} registers)"),
            None => f.write_str(")"),
        }
    }
}

/// A number with its unit.
fn counted(number: impl Into<u64>, unit: &str) -> String {
    match number.into() {
        1 => format!("1 {unit}"),
        number => format!("{number} {unit}s"),
    }
}

fn joined(extents: &[i64]) -> String {
    extents.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

fn shape_name([m, n, k]: [u32; 3]) -> String {
    format!("m{m}n{n}k{k}")
}

/// Numbers in a sentence: `2, 3 and 4`.
fn listed(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_sentences_and_facts() {
        let product = Product {
            extents: vec![128, 128, 64],
            elements: ["f16".into(), "f16".into(), "f32".into()],
            unit: "mma.sync",
            instruction: Some([16, 8, 16]),
            faster: Some(("wgmma", vec!["lhs is gathered".into()])),
        };
        let choice = Choice::Product(product.clone());
        let text = "128x128x64 of f16, summed in f32: mma.sync m16n8k16; not wgmma: lhs is gathered";
        assert_eq!(choice.to_string(), text);
        assert!(choice.facts().contains(&("Unit", "mma.sync".into())));
        let scalar = Product { unit: "FMA", instruction: None, faster: None, ..product };
        assert_eq!(scalar.to_string(), "128x128x64 of f16, summed in f32: FMA");

        let by = Copying::Threads { instruction: "cp.async", bytes: 16 };
        let load = Transfer {
            is_store: false,
            tile: "128x64xf16".into(),
            by: vec![Copying::Tma, by.clone()],
            stages: Some(4),
            against_tma: vec!["the base may be unaligned".into()],
        };
        let text = "128x64xf16: TMA or cp.async of 16 bytes, ring of 4 stages; TMA after a test: the base may \
                    be unaligned";
        assert_eq!(load.to_string(), text);
        let store = Transfer { is_store: true, by: vec![by], stages: None, ..load };
        assert!(store.to_string().ends_with(": cp.async of 16 bytes; not TMA: the base may be unaligned"));
        assert!(store.facts().contains(&("AgainstTMA", "the base may be unaligned".into())));

        let order = Choice::Order(Order {
            op: "reduce",
            extent: 8,
            elements: vec!["f32".into()],
            body: Some("addf"),
            formula: "tree(bits 2 1 0)".into(),
            places: "registers 2 | lanes 1 0".into(),
            pinned: true,
            roundings: Some(3),
        });
        let text = "reduce of 8 f32 by addf: tree(bits 2 1 0), pinned; registers 2 | lanes 1 0";
        assert_eq!(order.to_string(), text);
        assert!(order.facts().contains(&("Roundings", "3".into())));

        let single = LoopPlan { agents: vec![], warps: 1, registers: None, rings: vec![1] };
        assert_eq!(single.to_string(), "1 warp, no agents; ptxas chooses the registers; ring of 1 stage");
        let plain = LoopPlan { agents: vec![], warps: 4, registers: None, rings: vec![] };
        assert_eq!(plain.to_string(), "4 warps, no agents; ptxas chooses the registers; no ring");
        let agents = vec![
            Agent { name: "consumers".into(), warps: 8, registers: Some(232) },
            Agent { name: "matrix".into(), warps: 1, registers: None },
        ];
        let planned = LoopPlan { agents, warps: 12, registers: Some(168), rings: vec![2, 3, 4] };
        let text = "agents consumers (8 warps, 232 registers), matrix (1 warp); 168 registers at launch; \
                    rings of 2, 3 and 4 stages";
        assert_eq!(planned.to_string(), text);
    }
}
