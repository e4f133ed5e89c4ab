//! An agent that sends: it asks, runs the calls of the answer, and asks again.
//!
//! ```text
//! cargo run -p interleaf-transport --example agent              # asks a double on this machine
//! ANTHROPIC_API_KEY=… cargo run -p interleaf-transport --example agent -- \
//!     anthropic claude-sonnet-4-5 "Which files are in src?"
//! ```

use std::io::Write as _;

use interleaf::assemble::Recipe;
use interleaf::model::{Message, Tool, ToolCall};
use interleaf::wire::Delta;
use interleaf::{Session, Target, store};
use interleaf_doubles as doubles;
use interleaf_transport::{ErrorKind, Transport};
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn recipe() -> Recipe {
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    Recipe::new().with_system("You are a careful agent.").with_tools([Tool::new(
        "ls",
        "Lists a folder.",
        path,
    )])
}

fn run_tool(call: &ToolCall) -> Message {
    let arguments = call.arguments.parse::<serde_json::Value>().unwrap_or_default();
    let path = arguments["path"].as_str().unwrap_or(".");
    let names = std::fs::read_dir(path).map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect::<Vec<_>>().join("\n")
    });
    match names {
        Ok(names) => call.result(&names),
        Err(e) => call.failure(&e.to_string()),
    }
}

/// One question, and as many requests as it takes.
async fn ask(transport: &Transport, target: Target, question: &str) -> Result<String> {
    let recipe = recipe();
    let mut session = Session::create(store::open("memory:").await?, "a title").await?;
    session.append(Message::user(question)).await?;

    let mut answer = transport.ask(&mut session, &recipe, &target).await?;
    while answer.reply.message.has_calls() {
        let results: Vec<Message> = session.open_calls().iter().map(run_tool).collect();
        session.results(results).await?;
        answer = transport.ask(&mut session, &recipe, &target).await?;
    }
    println!("{}", answer.reply.message.text());
    stream(transport, &mut session, &recipe, &[target]).await
}

/// The same session, with the pieces while they come, and more than one who may answer.
async fn stream(
    transport: &Transport,
    session: &mut Session,
    recipe: &Recipe,
    targets: &[Target],
) -> Result<String> {
    session.append(Message::user("In one word?")).await?;
    let mut asking = transport.ask_streaming(session, recipe, targets).await?;
    while let Some(piece) = asking.next().await {
        // What fails is told by `finish` too, which keeps what came.
        if let Ok(Delta::Text { text, .. }) = piece {
            print!("{text}");
            std::io::stdout().flush()?;
        }
    }
    println!();
    match asking.finish().await {
        Ok(answer) => Ok(answer.reply.message.text().into_owned()),
        // It broke off: the session has what came, and goes on from there.
        Err(error) if error.kind() == ErrorKind::Cut => {
            let kept = error.kept().map(|message| message.text().into_owned());
            kept.ok_or_else(|| error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Looks once, and then says that it did.
fn brain(asked: &doubles::Asked) -> doubles::Answer {
    match asked.turns.iter().any(|turn| turn.role == doubles::Role::Assistant) {
        false => doubles::Answer::text("I look.").with_call("ls", &json!({"path": "."})),
        true => doubles::Answer::text("I looked."),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [vendor, model, question] = words.as_slice() {
        // Keys are in the vendors' variables, such as ANTHROPIC_API_KEY.
        ask(&Transport::new()?, Target::new(vendor, model)?, question).await?;
        return Ok(());
    }
    let double = doubles::Double::start(doubles::Settings::new().with_brain(brain)).await?;
    let mut target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("any");
    target.vendor = target.vendor.base_url(double.base_url());
    let transport = Transport::builder().no_proxy().build()?;
    let said = ask(&transport, target, "Which files are here?").await?;
    if said != "I looked." {
        return Err(format!("the double said {said:?}").into());
    }
    Ok(())
}
