//! The commands, one file each.

mod completions;
mod op;
mod query;
mod show;

use clap::Subcommand;

use crate::arguments::Arguments;
use crate::failure::Stop;
use crate::output::Output;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Show(show::ShowArguments),
    Query(query::QueryArguments),
    Op(Box<op::OpArguments>),
    Completions(completions::CompletionsArguments),
}

/// Runs the command that the user asked for.
pub(crate) fn run(arguments: Arguments, output: &mut Output) -> Result<(), Stop> {
    let limit = arguments.max_input;
    match arguments.command {
        Command::Show(arguments) => show::run(&arguments, limit, output),
        Command::Query(arguments) => query::run(arguments, limit, output),
        Command::Op(arguments) => op::run(*arguments, limit, output),
        Command::Completions(arguments) => completions::run(&arguments, output),
    }
}
