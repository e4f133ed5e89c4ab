//! `interleaf`: conversations at the command line.
//!
//! ```text
//!   FILE or - ──▶ input ──▶ Conversation ──▶ commands/* ──▶ output ──▶ lines or JSON
//!                   └───────────────────────────┴──▶ Failure ──▶ stderr, exit code 2
//! ```
//!
//! Exit codes: 0 fine; 1 kept for findings; 2 bad input or bad usage; 70 a bug of
//! this program.

mod arguments;
mod commands;

mod input;
mod save;

mod lines;
mod output;

mod failure;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;
use crate::failure::Stop;
use crate::output::Output;

const BAD_INPUT: u8 = 2;
const BUG: u8 = 70;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(failure::print_bug));
    let arguments = Arguments::parse();
    arguments.color.choose();
    let run = || {
        let mut output = Output::stdout();
        commands::run(arguments, &mut output)?;
        Ok(output.finish()?)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(()) | Err(Stop::PipeClosed)) => ExitCode::SUCCESS,
        Ok(Err(Stop::Failure(failure))) => {
            failure.print();
            ExitCode::from(BAD_INPUT)
        }
        Err(_) => ExitCode::from(BUG),
    }
}
