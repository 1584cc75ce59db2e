//! `tileas-pipeline-dots` software-pipelines dependent dots: the last dot of an iteration overlaps the first dot of
//! the next.
//!
//! In a function with a dot plan (`dialect::dot_plan`), a loop such as attention's,
//!
//! ```text
//! for i (o) { s = dot q, k[i], 0;  p, w = softmax s;  o = dot p, v[i], o * w }
//! ```
//!
//! makes a warpgroup alternate between multiplying and computing. The pass turns it into
//!
//! ```text
//! if there are iterations {
//!   s = dot q, k[first], 0;  p, w = softmax s;  a = o * w
//!   for i in all but the last (p, a) {
//!     s = dot q, k[i + 1], 0;  o = dot p, v[i], a;  p, w = softmax s;  a = o * w
//!   }
//!   o = dot p, v[last], a
//! }
//! ```
//!
//! The results are identical, because each dot is computed from the same values. Once dots are asynchronous, both are
//! in flight together. The *late* dot stays in flight while the warpgroup computes with the scores, since its
//! accumulator is needed only afterward. The pipelined loop does not need more registers: the scores of one
//! iteration have become the left operand before the scores of the next are computed.
//!
//! `analysis::dependent_dots` decides which loops are eligible, and rewrites them. A scheduled loop is
//! pipelined only if its schedule places the late dot after the early dot of the next iteration.
//! `tileas-materialize-schedule` has already done so.

use crate::{
    analysis::dependent_dots::DependentDots,
    dialect::{
        attributes::MATERIALIZED,
        nv_tileaa,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct PipelineDots;

impl RustPass for PipelineDots {
    pass_descriptor!(tileas_pipeline_dots);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_pipeline_dots::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            if !DependentDots::may_be_in_flight(function.op()) {
                continue;
            }
            let loops = collect_ops(function.op(), |o| (Scf::of(o) == Some(Scf::For)).then_some(o));
            let loops = loops.into_iter().filter(|l| !MATERIALIZED.is_on(*l));
            let dots = loops.filter_map(DependentDots::of);
            for dots in dots.filter(|d| d.moves_in_schedule().unwrap_or(true)) {
                dots.pipeline(context)?;
                cx.stat_add(stat::NUM_PIPELINED, 1);
            }
        }
        Ok(())
    }
}
