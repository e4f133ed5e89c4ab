//! The made-up session of `docs/cache.md` under four rules, as a picture, and as a file to be
//! played.
//!
//! ```sh
//! cargo run --release -p interleaf --example replay -- plot docs/replay.svg
//! cargo run --release -p interleaf --example replay -- record fixtures/replay-session.jsonl
//! cargo run --release -p interleaf --example replay -- bodies /tmp/bodies.jsonl 1000
//! cargo run --release -p interleaf --example replay -- time /tmp/bodies.jsonl
//! ```

#[path = "caches/script.rs"]
mod script;

use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use interleaf::assemble::{Outcome, Recipe};
use interleaf::conversation::Operation;
use interleaf::model::Message;
use interleaf::replay::{Way, Ways, plot, read_bodies, run};
use interleaf::{Next, Session, Target, copy, store, wire};
use interleaf_samples::working_session::Course;

use self::script::script;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["plot", file] => plot_rules(file),
        ["record", file] => record(file).await,
        ["bodies", file, n] => bodies(file, n.parse()?),
        ["time", file] => time(file),
        _ => Err("plot FILE, record FILE, bodies FILE N or time FILE is expected".into()),
    }
}

/// Four rules, and no context at all.
fn ways() -> Result<Ways, Box<dyn Error>> {
    let mut ways = Ways::default();
    for rule in ["none", "after_tool_result(3)", "tail", "delta", "auto"] {
        ways.rules.push(rule.parse()?);
    }
    ways.vendors.push("anthropic".parse()?);
    Ok(ways)
}

/// How long it takes to read bodies and to play them.
fn time(file: &str) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let start = Instant::now();
    let script = read_bodies(file, &text)?;
    let (n, read) = (script.turns.len(), start.elapsed());
    let start = Instant::now();
    let outcome = run(&[script], &ways()?, &|| {})?;
    let played = start.elapsed();
    println!("{n} requests read in {read:.2?}, played in 5 ways in {played:.2?}");
    for play in &outcome.sessions[0].plays {
        let last = play.requests.last().and_then(|request| request.made());
        let tokens = last.map_or(0, |made| made.tokens);
        println!(
            "{:22} {:5.1} % read, the last prompt has {tokens} tokens",
            play.rule,
            100.0 * play.totals.reuse()
        );
    }
    Ok(())
}

/// The picture of the README.
fn plot_rules(file: &str) -> Result<(), Box<dyn Error>> {
    let mut script = script(Course { n_requests: 60, change_every: 1, results: (1_000, 3_600) });
    script.name = "a session of 60 requests".into();
    let ways = ways()?;
    let outcome = run(&[script], &ways, &|| {})?;
    let plots = plot::all(&outcome, None);
    let picture = plots.iter().find(|plot| plot.name == "computed.svg").ok_or("no picture")?;
    Ok(fs::write(file, &picture.svg)?)
}

/// A shorter one, as `interleaf sessions export` writes it.
async fn record(file: &str) -> Result<(), Box<dyn Error>> {
    let script = script(Course { n_requests: 24, change_every: 2, results: (200, 900) });
    let kept = store::open("memory:").await?;
    let mut session = Session::create(kept.clone(), "mending the engine").await?;
    let target = Target::new("anthropic", "claude-sonnet-4-5")?;
    for (number, turn) in script.turns.iter().enumerate() {
        for message in &turn.said {
            session.append(Message::clone(message)).await?;
        }
        if number == 16 {
            session.operate(Operation::from_json(r#"{"truncate": {"keep_last": 24}}"#)?).await?;
        }
        let mut recipe = Recipe::new().with_rule("delta".parse()?);
        recipe = recipe.with_system("You mend programs with care. ".repeat(60));
        recipe.context.clone_from(&turn.context);
        let Next::Send(_) = session.record(&recipe, &target).await? else { continue };
    }
    let mut reader = copy::Reader::whole(kept, session.id()).await?;
    let mut lines = copy::write_head(&reader.head)? + "\n";
    loop {
        let page = reader.page().await?;
        if page.is_empty() {
            break;
        }
        for item in page {
            lines.push_str(&copy::write_item(item)?);
            lines.push('\n');
        }
    }
    Ok(fs::write(file, lines)?)
}

/// The bodies of `n` requests that grow to about a hundred thousand tokens, one a line.
fn bodies(file: &str, n: usize) -> Result<(), Box<dyn Error>> {
    let length = 400_000 / n.max(1);
    let script = script(Course { n_requests: n, change_every: 3, results: (length / 2, length) });
    let target = Target::new("anthropic", "claude-sonnet-4-5")?;
    let mut out = BufWriter::new(fs::File::create(file)?);
    let mut way = Way::recorded();
    way.rule = "tail".parse()?;
    for made in script.requests(&way)? {
        let Outcome::Ready(prompt) = made?.outcome else { continue };
        let body = wire::encode(&prompt, &target.vendor, &target.options)?;
        out.write_all(&body.to_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
