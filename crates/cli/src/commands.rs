//! The commands, one file each.

mod build;
mod chat;
mod compact;
mod completions;
mod config;
mod convert;
mod decode;
mod demo;
mod double;
mod explain;
mod kept;
mod lint;
mod op;
mod plan;
mod query;
mod replay;
mod resume;
mod run;
mod send;
mod sessions;
mod show;
mod switch;

use clap::Subcommand;

use crate::arguments::Arguments;
use crate::failure::{Stop, Verdict};
use crate::output::Output;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArguments),
    Chat(Box<chat::ChatArguments>),
    Show(show::ShowArguments),
    Query(query::QueryArguments),
    Op(Box<op::OpArguments>),
    Build(Box<build::BuildArguments>),
    Explain(Box<explain::ExplainArguments>),
    Send(Box<send::SendArguments>),
    Run(Box<run::RunArguments>),
    Resume(Box<resume::ResumeArguments>),
    Config(Box<config::ConfigArguments>),
    #[command(flatten)]
    Kept(kept::KeptCommand),
    Compact(Box<compact::CompactArguments>),
    Switch(Box<switch::SwitchArguments>),
    Replay(replay::ReplayArguments),
    Sessions(Box<sessions::SessionsArguments>),
    Convert(Box<convert::ConvertArguments>),
    Lint(lint::LintArguments),
    Decode(decode::DecodeArguments),
    Plan(plan::PlanArguments),
    Double(double::DoubleArguments),
    Completions(completions::CompletionsArguments),
}

/// Runs the command that the user asked for.
pub(crate) fn run(arguments: Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let limit = arguments.max_input;
    match arguments.command {
        Command::Chat(arguments) => return chat::run(&arguments, output),
        Command::Demo(arguments) => return demo::run(&arguments, output),
        Command::Show(arguments) => show::run(&arguments, limit, output)?,
        Command::Query(arguments) => query::run(arguments, limit, output)?,
        Command::Op(arguments) => op::run(*arguments, limit, output)?,
        Command::Build(arguments) => return build::run(&arguments, limit, output),
        Command::Explain(arguments) => return explain::run(&arguments, limit, output),
        Command::Send(arguments) => return send::run(&arguments, limit, output),
        Command::Run(arguments) => return run::run(&arguments, output),
        Command::Resume(arguments) => return resume::run(&arguments, output),
        Command::Config(arguments) => return config::run(&arguments, output),
        Command::Kept(command) => kept::run(command, output)?,
        Command::Compact(arguments) => return compact::run(&arguments, limit, output),
        Command::Switch(arguments) => return switch::run(&arguments, limit, output),
        Command::Replay(arguments) => return replay::run(&arguments, limit, output),
        Command::Sessions(arguments) => sessions::run(*arguments, limit, output)?,
        Command::Convert(arguments) => return convert::run(&arguments, limit, output),
        Command::Lint(arguments) => return lint::run(&arguments, limit, output),
        Command::Decode(arguments) => return decode::run(&arguments, limit, output),
        Command::Plan(arguments) => return plan::run(&arguments, limit, output),
        Command::Double(arguments) => return double::run(&arguments, limit, output),
        Command::Completions(arguments) => completions::run(&arguments, output)?,
    }
    Ok(Verdict::Fine)
}
