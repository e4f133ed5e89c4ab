//! `interleaf plan show`.

use clap::Args;
use interleaf::plan::Plan;

use super::PlanFile;
use crate::arguments::ByteCount;
use crate::failure::{Stop, Verdict, printable};
use crate::output::Output;

/// Show the steps of a plan and what they wait for
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf plan show fixtures/plan/logo.json
  interleaf plan show fixtures/plan/logo.json --mermaid")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    plan: PlanFile,

    /// Print the graph for Mermaid
    #[arg(long, conflicts_with = "svg")]
    mermaid: bool,

    /// Print the graph as a picture
    #[arg(long)]
    svg: bool,
}

pub(crate) fn run(
    arguments: &ShowArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let plan = arguments.plan.read_right(limit)?;
    if arguments.mermaid {
        output.bytes(plan.to_mermaid().as_bytes())?;
    } else if arguments.svg {
        output.bytes(plan.to_svg().as_bytes())?;
    } else {
        table(&plan, output)?;
    }
    Ok(Verdict::Fine)
}

fn table(plan: &Plan, output: &mut Output) -> Result<(), Stop> {
    let width = output.width(None);
    output.remark(printable(plan.objective()))?;
    let layers = plan.layers();
    let waits = |at: usize| {
        let steps = plan.steps();
        let ids = steps[at].depends_on.iter().map(|&needed| steps[needed].id.to_string());
        match ids.collect::<Vec<_>>() {
            ids if ids.is_empty() => "–".to_owned(),
            ids => ids.join(", "),
        }
    };
    let rows: Vec<[String; 5]> = (0..plan.steps().len())
        .map(|at| {
            let step = &plan.steps()[at];
            [
                step.id.to_string(),
                layers[at].to_string(),
                step.tool.to_string(),
                waits(at),
                printable(&step.reason).into_owned(),
            ]
        })
        .collect();
    let heads = ["step", "layer", "tool", "waits for", "reason"].map(str::to_owned);
    let wide = |column: usize| {
        let cells = rows.iter().chain([&heads]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).min(40)
    };
    let widths = [wide(0), wide(1), wide(2), wide(3)];
    for row in [&heads].into_iter().chain(&rows) {
        let cells = widths.iter().zip(row).map(|(&width, cell)| format!("{cell:<width$}"));
        let line = cells.chain([row[4].clone()]).collect::<Vec<_>>().join("  ");
        let cut: String = line.trim_end().chars().take(width).collect();
        output.line(cut)?;
    }
    Ok(())
}
