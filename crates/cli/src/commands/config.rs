//! `interleaf config`.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use interleaf::model::plural;
use interleaf_agent::mcp::{Reach, ServerSettings};
use interleaf_agent::settings::{Origin, Row, Settings};
use interleaf_agent::{Definition, Definitions, Fault};
use serde_json::json;

use crate::failure::{Stop, Verdict, printable};
use crate::output::Output;
use crate::settled::{SettingArguments, Settled};

/// Show what is settled, and by whom
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf config
  interleaf config --agent scout --rounds 20
  interleaf config --json
  interleaf config --check

What holds is said by the flags, else by the agent's file, the environment (INTERLEAF_…), the
project's interleaf.toml, and yours in ~/.config/interleaf. docs/settings.md has all keys. No key
of an API is ever printed. --check also lists what is not in force, and after `#` what of other
programs' files is not used. Its exit codes: 0 all is right, 1 something is wrong or not in force.")]
pub(crate) struct ConfigArguments {
    /// Read all settings and agents' files, and show what is wrong in them
    #[arg(long, conflicts_with = "json")]
    check: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingArguments,
}

pub(crate) fn run(arguments: &ConfigArguments, output: &mut Output) -> Result<Verdict, Stop> {
    if arguments.check {
        return check(&arguments.settings, output);
    }
    let settled = arguments.settings.settle(None)?;
    match arguments.json {
        true => print_json(&settled, output)?,
        false => print(&settled, output)?,
    }
    Ok(Verdict::Fine)
}

fn print(settled: &Settled, output: &mut Output) -> Result<(), Stop> {
    let rows = settled.rows();
    let value = |row: &Row| row.value.clone().unwrap_or_else(|| "-".to_owned());
    let keys = rows.iter().map(|row| row.key.chars().count()).max().unwrap_or(0);
    let values = rows.iter().map(|row| value(row).chars().count()).max().unwrap_or(0).min(40);
    for row in &rows {
        let origin = row.origin.as_ref().map(Origin::to_string).unwrap_or_default();
        let line = format!("{:<keys$}  {:<values$}  {origin}", row.key, value(row));
        output.line(printable(line.trim_end()))?;
    }
    output.remark(format_args!("agents ({} is used)", printable(settled.agent().name())))?;
    let names = settled.definitions.all.iter().map(|agent| agent.name().chars().count());
    let names = names.max().unwrap_or(0);
    for agent in &settled.definitions.all {
        let path = match agent.is_built_in() {
            true => "(built in)".to_owned(),
            false => agent.path().display().to_string(),
        };
        output.line(printable(&format!("{:<names$}  {path}", agent.name())))?;
    }
    for remark in settled.remarks() {
        output.remark(printable(&remark))?;
    }
    Ok(())
}

fn print_json(settled: &Settled, output: &mut Output) -> Result<(), Stop> {
    let row = |row: &Row| {
        json!({
            "key": row.key,
            "value": row.value,
            "origin": row.origin.as_ref().map(origin),
        })
    };
    let agent = |agent: &Definition| {
        json!({
            "name": agent.name(),
            "description": agent.description(),
            "file": agent.path(),
        })
    };
    let mut object = output.json_object();
    object.list("settings", settled.rows().iter().map(row))?;
    object.field("agent", settled.agent().name())?;
    object.list("agents", settled.definitions.all.iter().map(agent))?;
    object.list("files", &settled.files)?;
    object.list("notices", settled.remarks())?;
    Ok(object.end()?)
}

fn origin(origin: &Origin) -> serde_json::Value {
    match origin {
        Origin::File { path, line, column } => {
            json!({"file": path, "line": line, "column": column})
        }
        Origin::Environment(name) => json!({"environment": name}),
        Origin::Flag(name) => json!({"flag": name}),
        _ => json!("default"),
    }
}

/// Shows every fault of every file.
fn check(arguments: &SettingArguments, output: &mut Output) -> Result<Verdict, Stop> {
    let places = arguments.place.places()?;
    let (found, mut faults) = Settings::of_faulty_files(&places);
    let is_read = faults.iter().all(|fault| found.files.iter().any(|file| file == fault.path()));
    let said = Settings::of_environment(|name| std::env::var(name).ok());
    faults.extend(said.err());
    let definitions = Definitions::find(&places, &found.settings);
    // Agents name models of the settings: without them, they cannot be judged.
    if is_read {
        faults.extend(definitions.faults);
    }
    for fault in &faults {
        tell(fault, output)?;
    }
    if !faults.is_empty() {
        return Ok(Verdict::Findings);
    }
    let settled = match arguments.settle(None) {
        Ok(settled) => settled,
        Err(failure) => {
            output.line(failure.text())?;
            return Ok(Verdict::Findings);
        }
    };
    let mut notices = settled.notices.clone();
    let kit = interleaf_agent::Kit::new(settled.settings.clone());
    // One agent may be sent by several others.
    let mut told = BTreeSet::new();
    for agent in &settled.definitions.all {
        let made = settled.definitions.agent(agent, &kit, Vec::new(), &mut notices);
        if let Err(fault) = made
            && told.insert(fault.to_string())
        {
            tell(&fault, output)?;
        }
    }
    for server in settled.settings.mcp.values() {
        match server.value.read::<ServerSettings>() {
            Err(fault) => {
                told.insert(fault.to_string());
                tell(&fault, output)?;
            }
            Ok(ServerSettings { reach: Reach::Command { command, folder: None, .. }, .. }) => {
                if !is_there(&command) {
                    let line = format!("{}: there is no program {command:?}", server.origin);
                    told.insert(line.clone());
                    output.line(printable(&line))?;
                }
            }
            Ok(_) => {}
        }
    }
    let names: Vec<&str> = settled.definitions.all.iter().map(Definition::name).collect();
    let wrong = settled.settings.check(&names).into_iter().map(|wrong| wrong.to_string());
    let (faulty, left_out): (Vec<_>, Vec<_>) = notices.iter().partition(|notice| notice.is_wrong);
    for line in wrong.chain(faulty.iter().map(ToString::to_string)) {
        if told.insert(line.clone()) {
            output.line(printable(&line))?;
        }
    }
    for line in left_out.iter().map(ToString::to_string).collect::<BTreeSet<_>>() {
        output.remark(printable(&line))?;
    }
    if !told.is_empty() {
        return Ok(Verdict::Findings);
    }
    let files = plural(settled.files.len(), "settings file");
    let agents = plural(settled.definitions.all.len(), "agent");
    output.line(format_args!("{files} and {agents}: nothing is wrong"))?;
    Ok(Verdict::Fine)
}

/// Whether a program can be started by this name.
fn is_there(program: &str) -> bool {
    let program = Path::new(program);
    if program.components().count() > 1 {
        return program.is_file();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .any(|path| path.join(program).with_extension(std::env::consts::EXE_EXTENSION).is_file())
}

fn tell(fault: &Fault, output: &mut Output) -> Result<(), Stop> {
    output.line(printable(&fault.to_string()))?;
    let snippet = fault.snippet();
    // The first line of a snippet is the rule, which was told already.
    for line in snippet.lines().skip(1) {
        output.line(printable(line))?;
    }
    Ok(())
}
