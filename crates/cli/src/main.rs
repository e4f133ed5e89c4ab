//! `interleaf`: conversations at the command line.
//!
//! ```text
//!   FILE or - ──▶ input ──▶ Conversation ──▶ commands/* ──▶ output ──▶ lines or JSON
//!                   │            └──▶ assembly ──▶ destination ──▶ api ─────┤
//!                   │                     └──▶ report_table ────────────────┘
//!                   └───────────────────────────┴──▶ Failure ──▶ stderr, exit code
//! ```
//!
//! Exit codes: 0 fine; 1 there are findings, or nothing to send yet; 2 to 8 a [`failure::Fault`];
//! 10 a plan goes on; 130 interrupted; 70 a bug of this program.

mod arguments;
mod commands;

mod input;
mod open;
mod save;
mod stopped;
mod until;

mod assembly;
mod destination;

mod api;
mod batch;
mod compacting;
mod plain;
mod price_list;
mod reach;
mod settled;
mod working;

mod ink;
mod lines;
mod output;
mod report_table;

mod failure;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;
use crate::failure::{Stop, Verdict};
use crate::output::Output;

const FINDINGS: u8 = 1;
const UNFINISHED: u8 = 10;
const INTERRUPTED: u8 = 130;
const BUG: u8 = 70;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(failure::print_bug));
    let arguments = Arguments::try_parse().unwrap_or_else(|error| failure::refuse(&error));
    arguments.color.choose();
    let run = || {
        let mut output = Output::stdout();
        let verdict = commands::run(arguments, &mut output)?;
        output.finish()?;
        Ok(verdict)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(Verdict::Fine) | Err(Stop::PipeClosed)) => ExitCode::SUCCESS,
        Ok(Ok(Verdict::Findings)) => ExitCode::from(FINDINGS),
        Ok(Ok(Verdict::Unfinished)) => ExitCode::from(UNFINISHED),
        Ok(Ok(Verdict::Interrupted)) => ExitCode::from(INTERRUPTED),
        Ok(Ok(Verdict::Command(code))) => ExitCode::from(code),
        Ok(Err(Stop::Failure(failure))) => {
            failure.print();
            ExitCode::from(failure.fault as u8)
        }
        Err(_) => ExitCode::from(BUG),
    }
}
