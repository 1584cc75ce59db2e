//! The plan of a kernel's warp-specialized dots, an attribute of its function.
//!
//! `tileaa-plan-dots` chooses the plan (crate `tile_plan`). The passes that assign layouts to dots, make copies
//! asynchronous, and divide the work among agents follow it. In a function without the attribute, dots use
//! instructions of single warps.

use super::{attributes::DOT_PLAN, elements, hints::entry, rt::*};
use melior::{Context, ir::Attribute};

/// Warps per warpgroup.
pub const WARPGROUP: u32 = 4;

/// The plan. All numbers are positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotPlan {
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: [u32; 2],
    /// Warpgroups of the producer.
    pub producers: u32,
    /// Maximum columns of an instruction.
    pub columns: u32,
    /// Stages of each ring.
    pub stages: u32,
    /// Registers per thread: at launch, of the producer, of a consumer.
    pub registers: [u32; 3],
    /// Registers per thread of the converter warpgroup. Without it, consumers convert operands in their stages.
    pub converter: Option<u32>,
    /// Bytes of shared memory that a layout conversion may use in addition to the rings.
    pub scratch: u32,
}

impl DotPlan {
    /// Warps of all consumer warpgroups.
    pub fn consumer_warps(&self) -> u32 {
        self.groups[0] * self.groups[1] * WARPGROUP
    }

    /// Warps of all producer warpgroups.
    pub fn producer_warps(&self) -> u32 {
        self.producers * WARPGROUP
    }

    /// Warps of the converter warpgroup; 0 without one.
    pub fn converter_warps(&self) -> u32 {
        if self.converter.is_some() { WARPGROUP } else { 0 }
    }

    /// Sets the plan's attribute on a function.
    pub fn attach<'c>(&self, function: OpRef<'c>, context: &'c Context) {
        let Self { groups: [m, n], producers, columns, stages, registers, converter, scratch } = self;
        let [launch, producer, consumer] = registers;
        let converter = converter.map_or(String::new(), |registers| format!("converter = {registers} : i64, "));
        // One producer warpgroup is the default, which is not printed.
        let producers = if *producers == 1 { String::new() } else { format!("producers = {producers} : i64, ") };
        let text = format!(
            "{{columns = {columns} : i64, groups = array<i64: {m}, {n}>, {converter}{producers}\
             registers = array<i64: {launch}, {producer}, {consumer}>, scratch = {scratch} : i64, \
             stages = {stages} : i64}}"
        );
        let attribute = Attribute::parse(context, &text).expect("a well-formed attribute");
        DOT_PLAN.set(function, attribute);
    }

    /// The plan of a function, or `None` if the attribute is missing or malformed.
    pub fn of(function: OpRef<'_>) -> Option<Self> {
        let plan = DOT_PLAN.get(function)?;
        let number = |a| u32::try_from(elements::integer(a)?).ok().filter(|n| *n > 0);
        let list = |name| -> Option<Vec<u32>> {
            let values = entry(plan, name).and_then(elements::integers)?;
            values.into_iter().map(|v| u32::try_from(v).ok().filter(|n| *n > 0)).collect()
        };
        let whole = |name| entry(plan, name).and_then(number);
        Some(Self {
            groups: list("groups")?.try_into().ok()?,
            producers: entry(plan, "producers").map_or(Some(1), |_| whole("producers"))?,
            columns: whole("columns")?,
            stages: whole("stages")?,
            registers: list("registers")?.try_into().ok()?,
            converter: match entry(plan, "converter") {
                Some(_) => Some(whole("converter")?),
                None => None,
            },
            scratch: whole("scratch")?,
        })
    }

    /// The plan of the function that contains `op`.
    pub fn around(op: OpRef<'_>) -> Option<Self> {
        std::iter::successors(Some(op), |o| parent_op(*o)).find_map(Self::of)
    }
}
