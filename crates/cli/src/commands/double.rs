//! `interleaf double`.

mod child;

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use interleaf::wire::{Auth, VENDORS};
use interleaf_doubles::{
    Chunk, Double, End, Obliging, Planned, Script, Settings, Summariser, Truth, environment,
};
use interleaf_transport::address_variable;
use tokio::process::Command;
use tokio::runtime::{Builder, Runtime};

use crate::arguments::{ByteCount, parse_tokens};
use crate::failure::{Failure, Stop, Verdict};
use crate::input::read_bytes;
use crate::output::{Output, say};

/// Serve the five vendors' APIs on this machine, to test an agent offline
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf double -- sh -c 'echo \"$OPENAI_BASE_URL $ANTHROPIC_BASE_URL\"'
  interleaf double --brain summariser --fault 1=429:retry-after=2 -- env

It refuses what the API refuses, in the API's words, answers whole or streamed, counts tokens
and keeps a prompt cache. With a command it sets the variables by which the vendors' SDKs find
it, and ends with the command and its exit code. Ctrl-C, SIGTERM and SIGHUP are handed on to
the command; after the last two it has 5 seconds to end. Without a command it prints the
variables and runs until Ctrl-C. `interleaf send` finds it with every --vendor: those that imitate an API are served
as that API, at DEEPSEEK_BASE_URL and the like. What only such a vendor takes is refused, and
vertex wants a key of its own: --key-env OPENAI_API_KEY.

A BRAIN is `obliging` (calls the tools it is offered), `summariser`, a file of replies, or
`truth:FILE`, the right calls of tasks. A FAULT is a status (`429`, `429:retry-after=2`),
`overflow`, `slow:ms=N`, `stall:at=BYTES:ms=N`, `cut:at=BYTES`, `malformed:at=EVENT`,
`content-type` or `truncate`; `3=…` is for the third request only. docs/doubles.md has more.")]
pub(crate) struct DoubleArguments {
    /// The port; 0 is any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,

    /// What answers
    #[arg(long, value_name = "BRAIN", default_value = "obliging")]
    brain: String,

    /// What goes wrong; may be given several times
    #[arg(long, value_name = "FAULT")]
    fault: Vec<Planned>,

    /// Cut answers into chunks of this many bytes [default: one for each event]
    #[arg(long, value_name = "BYTES", value_parser = parse_chunk)]
    chunk: Option<usize>,

    /// Refuse a prompt that has more tokens, as the API does
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    window: Option<u64>,

    /// Take thoughts with any signature, not only with those that the double gave
    #[arg(long)]
    any_signature: bool,

    /// Say each request on standard error, and what became of it
    #[arg(long)]
    log: bool,

    /// A command to run with the variables set
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(
    arguments: &DoubleArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let settings = settings(arguments, limit)?;
    let failed = |error: std::io::Error| {
        let rule = format!("cannot serve: {error}");
        Failure::new(format!("--port {}", arguments.port), rule)
    };
    let runtime: Runtime =
        Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    let double = runtime.block_on(Double::start(settings)).map_err(failed)?;
    let variables = variables(&double.base_url());
    let mut told = HashSet::new();
    if arguments.command.is_empty() {
        output.line(format_args!("# the double serves {}; Ctrl-C ends it", double.base_url()))?;
        for (name, value) in &variables {
            output.line(format_args!("export {name}={value}"))?;
        }
        output.flush()?;
        let ended = runtime.block_on(async {
            tokio::select! {
                ended = tokio::signal::ctrl_c() => ended,
                () = log(&double, arguments.log, &mut told) => Ok(()),
            }
        });
        ended.map_err(failed)?;
        return Ok(Verdict::Fine);
    }
    let mut command = Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]).envs(variables);
    let ended = runtime.block_on(async {
        let ended = tokio::select! {
            ended = child::run(&mut command) => ended,
            () = log(&double, arguments.log, &mut told) => std::future::pending().await,
        };
        if arguments.log {
            log_rest(&double, &mut told).await;
        }
        ended
    });
    Ok(Verdict::Command(ended.unwrap_or_else(|error| not_run(&arguments.command[0], &error))))
}

/// Says why a command could not be run, with the exit code that a shell has for it.
fn not_run(command: &str, error: &std::io::Error) -> u8 {
    let (rule, code) = match error.kind() {
        ErrorKind::NotFound => ("there is no such command".to_owned(), 127),
        ErrorKind::PermissionDenied => ("this is no program that may be run".to_owned(), 126),
        _ => (error.to_string(), 126),
    };
    Failure::new(command, rule).print();
    code
}

/// The variables by which the vendors' SDKs find it, and those of all other vendors.
fn variables(base_url: &str) -> Vec<(String, String)> {
    let sdks = environment(base_url).into_iter();
    let mut all: Vec<(String, String)> = sdks.map(|(name, value)| (name.into(), value)).collect();
    for vendor in VENDORS {
        let path = if vendor.auth == Auth::None { "local/v1" } else { "v1" };
        let own = [
            (address_variable(vendor), format!("{base_url}/{path}")),
            (vendor.key_variable.to_string(), "double".to_owned()),
        ];
        let is_new = |name: &str| !name.is_empty() && all.iter().all(|(known, _)| known != name);
        if is_new(&own[0].0) {
            let own: Vec<_> = own.into_iter().filter(|(name, _)| is_new(name)).collect();
            all.extend(own);
        }
    }
    all
}

/// Says what comes, for as long as something may come.
async fn log(double: &Double, is_wanted: bool, told: &mut HashSet<u64>) {
    if !is_wanted {
        return std::future::pending().await;
    }
    loop {
        // Those that are under way are among them.
        for exchange in double.ended(told.len() + 1).await {
            if exchange.end != End::Open && told.insert(exchange.number) {
                say(format_args!("note: {exchange}"));
            }
        }
    }
}

/// Says what became of the last requests, though who made them is gone.
async fn log_rest(double: &Double, told: &mut HashSet<u64>) {
    let ended = double.ended(double.requests().len());
    let _ = tokio::time::timeout(Duration::from_secs(2), ended).await;
    for exchange in double.requests() {
        if told.insert(exchange.number) {
            say(format_args!("note: {exchange}"));
        }
    }
}

/// A request meets one fault: one that no request can meet is a slip.
fn check(faults: &[Planned]) -> Result<(), Failure> {
    let mut met = HashSet::new();
    for Planned { nth, .. } in faults {
        if met.contains(&None) {
            let rule = "none can follow one that is for every request: put it first, as in `2=429`";
            return Err(Failure::new("--fault", rule));
        }
        if !met.insert(*nth) {
            let nth = nth.unwrap_or_default();
            return Err(Failure::new("--fault", format!("request {nth} meets two of them")));
        }
    }
    Ok(())
}

fn parse_chunk(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| "a number of bytes is expected, at least 1".into())
}

fn settings(arguments: &DoubleArguments, limit: ByteCount) -> Result<Settings, Failure> {
    let mut settings = Settings::new().with_port(arguments.port);
    let read = |file: &str| -> Result<String, Failure> {
        let known = "a brain is obliging, summariser, a file of replies, or truth:FILE";
        let (name, bytes) = read_bytes(Path::new(file), limit).map_err(|f| f.hint(known))?;
        String::from_utf8(bytes).map_err(|_| Failure::new(name, "this is not UTF-8"))
    };
    let named = |file: &str| {
        let file = file.to_owned();
        move |rule: String| Failure::new(file, rule)
    };
    settings = match arguments.brain.as_str() {
        "obliging" => settings.with_brain(Obliging::new()),
        "summariser" => settings.with_brain(Summariser::new()),
        other => match other.strip_prefix("truth:") {
            Some(file) => settings.with_brain(Truth::read(&read(file)?).map_err(named(file))?),
            None => settings.with_brain(Script::read(&read(other)?).map_err(named(other))?),
        },
    };
    check(&arguments.fault)?;
    settings.faults.clone_from(&arguments.fault);
    settings.window = arguments.window;
    settings.verify = !arguments.any_signature;
    settings.chunk = arguments.chunk.map_or(Chunk::Events, Chunk::Bytes);
    Ok(settings)
}
