//! An agent with two tools and a sub-agent.
//!
//! ```text
//! cargo run -p interleaf-agent --example mender                       # asks a double
//! ANTHROPIC_API_KEY=… cargo run -p interleaf-agent --example mender -- \
//!     anthropic claude-sonnet-4-5 "Why does the horn leak?"
//! ```

mod double;

use interleaf::{Session, Target, store};
use interleaf_agent::{Agent, Event, tool};
use interleaf_transport::Transport;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Part {
    /// The part, such as `valve`.
    name: String,
}

fn agent(target: Target) -> Agent {
    let look = tool("look", "Looks at a part of the horn.", |part: Part, _| async move {
        Ok(format!("The {} is worn.", part.name).into())
    });
    let replace = tool("replace", "Replaces a part of the horn.", |part: Part, scene| async move {
        let id = scene.session().await.todo().add(&format!("test the new {}", part.name)).await?;
        Ok(format!("It is new. Item {id} of the TODO list is to test it.").into())
    });
    let scout = Agent::new("scout")
        .described("Looks for the cause of a fault, and reports it.")
        .with_role("You look for causes.")
        .with_tool(look.reads());
    Agent::new("mender")
        .with_target(target)
        .with_role("You mend instruments. Send a scout before you replace anything.")
        .with_tool(replace)
        .with_sub_agent(scout)
}

async fn mend(transport: &Transport, target: Target, task: &str) -> Result<String, double::Error> {
    let mut session = Session::create(store::open("memory:").await?, "the horn").await?;
    session.append(interleaf::model::Message::user(task)).await?;
    let mut run = agent(target).start(transport, session)?;
    while let Some(event) = run.next().await {
        match event {
            Event::Text(_) | Event::Answered(_) => {}
            other => println!("{other}"),
        }
    }
    let ended = run.finish().await?;
    println!("{} ({}, {} tokens)", ended.text, ended.end, ended.used.tokens);
    Ok(ended.text)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), double::Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [vendor, model, task] => {
            mend(&Transport::new()?, Target::new(vendor, model)?, task).await?;
            Ok(())
        }
        _ => double::play(mend).await,
    }
}
