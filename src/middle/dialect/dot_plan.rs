//! How a kernel's matrix products are carried out by warpgroups, as an attribute of its function.
//!
//! `tileaa-plan-dots` decides; the passes that give products their layouts, make copies asynchronous and share out
//! warps follow the attribute. Without it products are those of single warps.

use super::{hints::entry, rt::*};
use melior::{
    Context,
    ir::{Attribute, AttributeLike},
};
use mlir_sys::*;

/// Discardable attribute of a function.
const PLAN: &str = "nv_tileas.dot_plan";

/// Warps of a warpgroup.
pub const WARPGROUP: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotPlan {
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: [u32; 2],
    /// Warpgroups of the producer.
    pub producers: u32,
    /// Columns of an instruction.
    pub columns: u32,
    /// Stages of each ring.
    pub stages: u32,
    /// Registers of a thread: at launch, of the producer, of a consumer.
    pub registers: [u32; 3],
    /// Registers of a thread of the warpgroup that changes stages before they are multiplied; where there is none,
    /// consumers change them.
    pub converter: Option<u32>,
    /// Bytes of shared memory that a conversion may take beside the rings.
    pub scratch: u32,
}

impl DotPlan {
    pub fn consumer_warps(&self) -> u32 {
        self.groups[0] * self.groups[1] * WARPGROUP
    }

    pub fn producer_warps(&self) -> u32 {
        self.producers * WARPGROUP
    }

    /// Warps that change stages and do nothing else.
    pub fn converter_warps(&self) -> u32 {
        if self.converter.is_some() { WARPGROUP } else { 0 }
    }

    /// Puts the plan on a function.
    pub fn attach<'c>(&self, function: OpRef<'c>, context: &'c Context) {
        let Self { groups: [m, n], producers, columns, stages, registers, converter, scratch } = self;
        let [launch, producer, consumer] = registers;
        let converter = converter.map_or(String::new(), |registers| format!("converter = {registers} : i64, "));
        // One is the rule.
        let producers = if *producers == 1 { String::new() } else { format!("producers = {producers} : i64, ") };
        let text = format!(
            "{{columns = {columns} : i64, groups = array<i64: {m}, {n}>, {converter}{producers}\
             registers = array<i64: {launch}, {producer}, {consumer}>, scratch = {scratch} : i64, \
             stages = {stages} : i64}}"
        );
        let attribute = Attribute::parse(context, &text).expect("a well-formed attribute");
        set_discardable_attr(function, PLAN, attribute);
    }

    /// None where there is no plan, or none that makes sense.
    pub fn of(function: OpRef<'_>) -> Option<Self> {
        let plan = discardable_attr(function, PLAN)?;
        let number = |a| u32::try_from(int_attr(a)).ok().filter(|n| *n > 0);
        let list = |name| -> Option<Vec<u32>> {
            let values = entry(plan, name).filter(|a| is(*a, mlirAttributeIsADenseI64Array)).map(i64s_attr)?;
            values.into_iter().map(|v| u32::try_from(v).ok().filter(|n| *n > 0)).collect()
        };
        let whole = |name| entry(plan, name).filter(|a| is(*a, mlirAttributeIsAInteger)).and_then(number);
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

    /// The plan of the function around `op`.
    pub fn around(op: OpRef<'_>) -> Option<Self> {
        std::iter::successors(Some(op), |o| parent_op(*o)).find_map(Self::of)
    }
}

fn is(a: Attribute<'_>, kind: unsafe extern "C" fn(MlirAttribute) -> bool) -> bool {
    // SAFETY: the attribute is alive.
    unsafe { kind(a.to_raw()) }
}
