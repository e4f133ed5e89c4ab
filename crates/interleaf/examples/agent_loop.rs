//! An agent with tools, a TODO list, a sub-agent, compaction, errors that are acted on, and
//! a session that survives a kill. `docs/library.md` explains it piece by piece.
//!
//! `cargo run -p interleaf --example agent_loop`

#[path = "agent_loop/model.rs"]
mod model;

use std::time::Duration;

use interleaf::assemble::{Budget, Recipe};
use interleaf::model::{ContextKind, Message, Reply, Tool, ToolCall};
use interleaf::store::{self, SessionId};
use interleaf::{Next, Request, Session, SessionAgent, Target, TodoStatus};
use serde::Deserialize;
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Deserialize)]
struct Read {
    path: String,
}

fn recipe() -> Recipe {
    let path =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    Recipe::new()
        .with_system("You mend programs.")
        .with_context(ContextKind::Role, "You are careful.")
        .with_tools([
            Tool::new("read", "Reads a file.", path),
            Tool::new("scout", "Sends someone to look for a cause.", json!({"type": "object"})),
        ])
}

/// Runs an agent, the main one or a sub-agent, until it has nothing more to do.
async fn run(mut agent: SessionAgent<'_>, recipe: Recipe, target: &Target) -> Result<String> {
    let mut recipe = recipe.with_budget(target.budget());
    let mut tries = 0..3;
    loop {
        // It may have answered already, before the program was killed.
        if let Some(answer) = agent.answer() {
            return Ok(answer.text().into_owned());
        }
        match agent.request(&recipe, target).await? {
            Next::Send(request) => match send(&request).await? {
                Answer::Reply(reply) => {
                    tries = 0..3;
                    agent.take(*reply).await?;
                }
                Answer::TooLong(budget) if tries.next().is_some() => recipe.budget = Some(budget),
                Answer::TooLong(_) => return Err("no request is short enough for the API".into()),
            },
            Next::Wait(calls) => {
                let mut results = Vec::new();
                for open in calls {
                    results.push(run_tool(agent.session(), target, &open.call).await?);
                }
                agent.results(results).await?;
            }
            _ => return Err("this program does not know what to do next".into()),
        }
    }
}

enum Answer {
    Reply(Box<Reply>),
    /// The window is smaller than we thought, or the API counts more tokens than we do.
    TooLong(Budget),
}

/// Sends a request, and acts on what comes back.
async fn send(request: &Request) -> Result<Answer> {
    let http = request.http.as_ref().ok_or("this request was made without an address")?;
    for _ in 0..5 {
        let (status, headers, body) = model::post(http, &request.body.to_bytes());
        let headers = headers.iter().map(|(name, value)| (*name, value.as_str()));
        let error = match request.decoder.whole(status, headers, &body) {
            Ok(reply) => return Ok(Answer::Reply(Box::new(reply))),
            Err(error) => error,
        };
        let Some(refusal) = error.api_error() else { return Err(error.into()) };
        if let Some(budget) = request.shorter(refusal) {
            return Ok(Answer::TooLong(budget));
        }
        if !refusal.is_retryable() {
            return Err(error.into());
        }
        tokio::time::sleep(refusal.retry_after().unwrap_or(Duration::from_secs(1))).await;
    }
    Err("the API is still busy".into())
}

async fn run_tool(session: &mut Session, target: &Target, call: &ToolCall) -> Result<Message> {
    Ok(match call.name.as_str() {
        "read" => match call.arguments.parse::<Read>() {
            Ok(read) => call.result(&model::file(&read.path)),
            Err(wrong) => call.failure(&wrong.to_string()),
        },
        "scout" => call.result(&scout(session, target, call).await?),
        other => call.failure(&format!("there is no tool {other}")),
    })
}

/// A sub-agent answers one question; the main agent sees only what it returns. It is named
/// after the call, so that a run after a kill finds it where it was.
async fn scout(session: &mut Session, target: &Target, call: &ToolCall) -> Result<String> {
    let recipe = Recipe::new().with_context(ContextKind::Role, "You look for causes.");
    let mut scout = session.sub_agent(format!("scout-{}", call.id));
    scout.begin("Why does the horn leak?").await?;
    Box::pin(run(scout, recipe, target)).await
}

/// Says what was done to make the next request, without sending it.
async fn explain(session: &mut Session, target: &Target) -> Result<()> {
    let Next::Send(request) = session.preview(&recipe(), target).await? else { return Ok(()) };
    for (step, finding) in request.report.findings() {
        let (kind, count, first) = (finding.kind, finding.count, &finding.message);
        println!("{step}: {kind} {count}, from {first} on: {}", finding.cause);
    }
    for adjustment in request.adjustments() {
        println!("for this API: {}", adjustment.kind);
    }
    Ok(())
}

/// Replaces everything said so far by a summary.
async fn compact(session: &mut Session, summary: &str) -> Result<()> {
    let last = session.conversation().visible().last().map(|message| message.id.clone());
    if let Some(last) = last {
        session.summarise_through(&last, summary).await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("sk-123");

    // The program is killed after the model has called its tools.
    let id: SessionId = {
        let mut session = Session::create(store::open(&url).await?, "the horn").await?;
        session.todo().add("mend the horn").await?;
        session.append(Message::user("Mend the horn.")).await?;
        let Next::Send(request) = session.request(&recipe(), &target).await? else { return Ok(()) };
        let Answer::Reply(reply) = send(&request).await? else { return Ok(()) };
        session.take(*reply).await?;
        session.id()
    };

    // It goes on where it was: the same loop runs the open calls first.
    let mut session = Session::open(store::open(&url).await?, id).await?;
    let said = run(session.main_agent(), recipe(), &target).await?;
    assert_eq!(said, "The valve is tight again.");
    session.todo().set("1", TodoStatus::Done).await?;

    compact(&mut session, "The horn was mended.").await?;
    session.append(Message::user("And now?")).await?;
    explain(&mut session, &target).await?;
    let said = run(session.main_agent(), recipe(), &target).await?;
    assert_eq!(said, "Now it is quiet.");
    println!("{}", session.todo().text().await?);
    for (name, counters) in session.conversation().agents() {
        println!("{name}: {:?}", counters.lifetime);
    }
    Ok(())
}
