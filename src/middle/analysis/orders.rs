//! The order in which the reductions and scans of the final program combine elements.
//!
//! A reduction is a sequence of ops: each combines some bits of the coordinate and keeps the others, which the next op
//! combines. All have the same source location. The bits of the first op are numbered, and each further op has those
//! that are left.

use crate::{
    analysis::combiners::{is_order_free, simple_ops},
    dialect::{
        attributes::CANONICAL,
        layouts::Tensor,
        nv_tileaa::{FpKind, FpOp},
        nv_tileas::{CarryOp, ReduceOp, ScanOp},
        remark,
        rt::*,
        upstream::Arith,
    },
};
use tile_diag::Location;
use tile_interface::Order;
use tile_layout::{Input, canonical_bits};

/// An order while the ops of a reduction or scan are collected.
struct Partial<'c> {
    op: OpRef<'c>,
    place: Option<Location>,
    order: Order,
    /// The bits that no op has combined yet.
    left: Vec<u32>,
    /// The bits in the order in which they are combined, by groups in one place.
    groups: Vec<(&'static str, Vec<u32>)>,
    scan: Vec<String>,
}

/// The orders of a function's reductions and scans whose bits depend on it, each with its first op.
pub fn orders_of(function: OpRef<'_>) -> Vec<(OpRef<'_>, Order)> {
    let mut found: Vec<Partial<'_>> = vec![];
    walk(function, &mut |op| {
        if let Some(x) = ReduceOp::cast(op).filter(|_| !is_order_free(op)) {
            reduction(x, &mut found);
        } else if let Some(x) = ScanOp::cast(op).filter(|_| !is_order_free(op)) {
            scan(x, &mut found);
        } else if let Some(x) = CarryOp::cast(op) {
            carry(x, &mut found);
        }
    });
    let mut orders: Vec<(OpRef<'_>, Option<Location>, Order)> = vec![];
    for partial in found {
        let (op, place, order) = partial.finished();
        // Passes copy ops to the programs of agents.
        if !orders.iter().any(|(_, other, same)| *other == place && *same == order) {
            orders.push((op, place, order));
        }
    }
    orders.into_iter().map(|(op, _, order)| (op, order)).collect()
}

impl<'c> Partial<'c> {
    fn new(op: OpRef<'c>, kind: &'static str, width: u32) -> Self {
        let elements = operands(op).filter_map(Tensor::of_value).map(|t| t.element.to_string()).collect();
        let order = Order {
            op: kind,
            extent: 1 << width,
            elements,
            body: body_of(op),
            formula: String::new(),
            places: String::new(),
            pinned: CANONICAL.is_on(op),
            roundings: None,
        };
        Partial { op, place: remark::place_of(op), order, left: (0..width).collect(), groups: vec![], scan: vec![] }
    }

    fn add(&mut self, place: &'static str, bit: u32) {
        match self.groups.last_mut() {
            Some((last, bits)) if *last == place => bits.push(bit),
            _ => self.groups.push((place, vec![bit])),
        }
    }

    fn finished(mut self) -> (OpRef<'c>, Option<Location>, Order) {
        let place = |(place, bits): &(&str, Vec<u32>)| format!("{place} {}", listed(bits)).trim_end().to_owned();
        self.order.places = self.groups.iter().map(place).collect::<Vec<_>>().join(" | ");
        let all: Vec<u32> = self.groups.iter().flat_map(|(_, bits)| bits.iter().copied()).collect();
        let count = all.len() as u64;
        let steps = match (self.order.op, self.order.pinned) {
            ("reduce", _) => {
                self.order.formula = format!("tree(bits {})", listed(&all));
                count
            }
            (_, true) => {
                self.order.formula = format!("sklansky(bits {})", listed(&all));
                count
            }
            _ => {
                self.order.formula = self.scan.join(" then ");
                let of = |(place, bits): &(&str, Vec<u32>)| match *place {
                    "lanes" => bits.len() as u64 + 1,
                    _ => (1u64 << bits.len()) - 1,
                };
                self.groups.iter().map(of).sum()
            }
        };
        self.order.roundings = match self.order.body {
            Some("mulf") => Some(self.order.extent as u64 - 1),
            Some(_) => Some(steps),
            None => None,
        };
        (self.op, self.place, self.order)
    }
}

fn listed(bits: &[u32]) -> String {
    bits.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// The name of a body with a single op on one operand.
fn body_of(op: OpRef<'_>) -> Option<&'static str> {
    let ops = simple_ops(op)?;
    let [only] = ops[..] else { return None };
    match (Arith::of(only), FpOp::cast(only).map(|fp| fp.kind())) {
        (Some(Arith::AddF), _) | (_, Some(FpKind::Add)) => Some("addf"),
        (Some(Arith::MulF), _) | (_, Some(FpKind::Mul)) => Some("mulf"),
        _ => None,
    }
}

/// The place that holds each bit of the coordinate, from the lowest, and the number of its bit there.
fn holders(op: OpRef<'_>, dim: usize) -> Option<Vec<(&'static str, u32)>> {
    let tensor = Tensor::of_value(operand(op, 0))?;
    let held = tensor.layout()?.coordinate_holders(&tensor.tile_shape(), dim).ok()??;
    let name = |(input, bit)| match input {
        Input::Register => ("registers", bit),
        Input::Lane => ("lanes", bit),
        Input::Warp | Input::Block => ("warps", bit),
    };
    Some(held.into_iter().map(name).collect())
}

fn width(op: OpRef<'_>, dim: usize) -> u32 {
    Tensor::of_value(operand(op, 0)).map_or(0, |t| (t.shape[dim] as u64).max(1).ilog2())
}

fn reduction<'c>(x: ReduceOp<'c>, found: &mut Vec<Partial<'c>>) {
    let (op, dim) = (x.op(), x.dim() as usize);
    let (width, place) = (width(op, dim), remark::place_of(op));
    let continued = |p: &Partial<'c>| p.order.op == "reduce" && p.place == place && p.left.len() == width as usize;
    let at = found.iter().rposition(|p| !p.left.is_empty() && !p.groups.is_empty() && continued(p));
    let at = at.unwrap_or_else(|| {
        found.push(Partial::new(op, "reduce", width));
        found.len() - 1
    });
    let kept = x.kept().unwrap_or(0) as u64;
    let partial = &mut found[at];
    let left = std::mem::take(&mut partial.left);
    let mut bits: Vec<u32> = (0..width).filter(|i| kept >> i & 1 == 0).collect();
    let held = holders(op, dim);
    if let Some(held) = &held {
        let place = |bit: &u32| held[*bit as usize];
        if let Some(first) = CANONICAL.get(op) {
            bits = canonical_bits(width, first.clamp(0, 63) as u32);
            bits.retain(|i| kept >> i & 1 == 0);
        } else {
            // Registers in the order of the coordinate, then lanes in the order of their number.
            bits.sort_by_key(|bit| match place(bit) {
                ("registers", _) => (0, *bit),
                (_, number) => (1, number),
            });
        }
    }
    for bit in bits {
        let place = held.as_ref().map_or("registers and lanes", |held| held[bit as usize].0);
        partial.add(place, left[bit as usize]);
    }
    partial.left = left.iter().enumerate().filter(|(i, _)| kept >> i & 1 == 1).map(|(_, bit)| *bit).collect();
    if !partial.left.is_empty() {
        partial.groups.push(("memory", vec![]));
    }
}

fn scan<'c>(x: ScanOp<'c>, found: &mut Vec<Partial<'c>>) {
    let (op, dim) = (x.op(), x.dim() as usize);
    let width = width(op, dim);
    let mut partial = Partial::new(op, "scan", width);
    partial.left.clear();
    for (bit, (place, _)) in (0..).zip(holders(op, dim).unwrap_or_default()) {
        partial.add(place, bit);
    }
    for (place, bits) in &partial.groups {
        let name = if *place == "registers" { "chain" } else { "sklansky" };
        partial.scan.push(format!("{name}(bits {})", listed(bits)));
    }
    found.push(partial);
}

/// Adds the bits that number segments.
fn carry<'c>(x: CarryOp<'c>, found: &mut [Partial<'c>]) {
    let place = remark::place_of(x.op());
    let segments = width(x.op(), x.dim() as usize);
    let Some(partial) = found.iter_mut().rfind(|p| p.order.op == "scan" && p.place == place) else { return };
    let first = partial.order.extent.ilog2();
    let bits: Vec<u32> = (first..first + segments).collect();
    partial.order.extent <<= segments;
    partial.scan.push(format!("chain(bits {})", listed(&bits)));
    partial.groups.push(("segments", bits));
}
