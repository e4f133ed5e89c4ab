//! An agent with tools, a TODO list, a sub-agent, compaction and a session that survives
//! a kill.
//!
//! `cargo run -p interleaf --example agent_loop`

#[path = "agent_loop/model.rs"]
mod model;

use interleaf::assemble::Recipe;
use interleaf::model::{ContextKind, Message, Tool, ToolCall};
use interleaf::store::{self, SessionId};
use interleaf::{Next, Session, Target};
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
            Tool::new("scout", "Lets someone look.", json!({"type": "object"})),
        ])
}

/// Runs the main agent until it has said all.
async fn run(session: &mut Session, target: &Target) -> Result<String> {
    loop {
        match session.request(&recipe(), target).await? {
            Next::Send(request) => {
                let answer = model::answer(&request.body.to_bytes());
                let said = session.take(request.decoder.whole(200, [], &answer)?).await?;
                if !said.has_calls() {
                    return Ok(said.text().into_owned());
                }
            }
            Next::Wait(calls) => {
                let mut results = Vec::new();
                for open in calls {
                    results.push(run_tool(session, target, &open.call).await?);
                }
                session.results(results).await?;
            }
            _ => return Err("a step that this program does not know".into()),
        }
    }
}

async fn run_tool(session: &mut Session, target: &Target, call: &ToolCall) -> Result<Message> {
    Ok(match call.name.as_str() {
        "read" => match call.arguments.parse::<Read>() {
            Ok(read) => call.result(&format!("{}: 3 lines", read.path)),
            Err(wrong) => call.failure(&wrong.to_string()),
        },
        "scout" => call.result(&scout(session, target, call).await?),
        other => call.failure(&format!("there is no tool {other}")),
    })
}

/// A sub-agent answers one question; the main agent sees only what it returns. It is named
/// after the call, so that a run after a kill finds it where it was.
async fn scout(session: &mut Session, target: &Target, call: &ToolCall) -> Result<String> {
    let mut scout = session.sub_agent(format!("scout-{}", call.id));
    scout.begin("Why does the horn leak?").await?;
    let recipe = Recipe::new().with_context(ContextKind::Role, "You look for causes.");
    let Next::Send(request) = scout.request(&recipe, target).await? else { return Ok("".into()) };
    let answer = model::answer(&request.body.to_bytes());
    Ok(scout.take(request.decoder.whole(200, [], &answer)?).await?.text().into_owned())
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
        let answer = request.decoder.whole(200, [], &model::answer(&request.body.to_bytes()))?;
        session.take(answer).await?;
        session.id()
    };
    // It goes on where it was: the same loop runs the open calls first.
    let mut session = Session::open(store::open(&url).await?, id).await?;
    assert_eq!(run(&mut session, &target).await?, "The valve is tight again.");

    // A summary takes the place of what it covers.
    let last = session.conversation().visible().last().map(|m| m.id.clone()).unwrap_or_default();
    session.summarise_through(&last, "The horn was mended.").await?;
    session.append(Message::user("And now?")).await?;
    assert_eq!(run(&mut session, &target).await?, "Now it is quiet.");
    println!("{}", session.todo().text().await?);
    for (name, counters) in session.conversation().agents() {
        println!("{name}: {:?}", counters.lifetime);
    }
    Ok(())
}
