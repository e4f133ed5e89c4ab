//! `interleaf plan check`.

use clap::Args;

use super::PlanFile;
use interleaf::model::plural;

use crate::arguments::ByteCount;
use crate::failure::{Stop, Verdict};
use crate::output::Output;

/// List every fault of a plan, with its place
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf plan check fixtures/plan/logo.json

The exit code is 1 if there are faults.")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    plan: PlanFile,
}

pub(crate) fn run(
    arguments: &CheckArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    match arguments.plan.read(limit)? {
        Ok(plan) => {
            let layers = plan.layers().into_iter().max().map_or(0, |deepest| deepest + 1);
            let steps = plural(plan.steps().len(), "step");
            let layers = plural(layers, "layer");
            let tools = plural(plan.tools().len(), "tool");
            output.line(format_args!("fine: {steps} in {layers}, {tools}"))?;
            Ok(Verdict::Fine)
        }
        Err(faults) => {
            for fault in faults {
                output.line(fault.text())?;
            }
            Ok(Verdict::Findings)
        }
    }
}
