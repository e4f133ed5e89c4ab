//! `interleaf sessions new`.

use clap::Args;
use interleaf::model::AgentName;
use interleaf::store::{NewSession, SessionId};

use super::now;
use crate::failure::Stop;
use crate::open::OpenStore;
use crate::output::Output;

/// Make a session, and print its id
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions new
  interleaf sessions new --title 'the alarm' --agent baker")]
pub(crate) struct NewArguments {
    /// Title
    #[arg(long, default_value = "", hide_default_value = true)]
    title: String,

    /// The agent whose session it is
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Its id, a UUID [default: a new one]
    #[arg(long, value_name = "UUID")]
    id: Option<SessionId>,
}

pub(crate) fn run(
    arguments: NewArguments,
    opened: &OpenStore,
    output: &mut Output,
) -> Result<(), Stop> {
    let mut new = NewSession::new(arguments.title, now()?);
    new.agent = arguments.agent.map(AgentName::new);
    new.id = arguments.id.unwrap_or(new.id);
    let head = opened.ask(opened.store.create(new))?;
    Ok(output.line(head.id)?)
}
