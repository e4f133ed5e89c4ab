//! Files of OpenCode: `.opencode/agent/*.md` and `.opencode/agents/*.md`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::own::front_matter;
use super::{Definition, Foreign, Format};
use crate::settings::Settings;
use crate::written::{Node, Placed, Source, Value};
use crate::{Fault, Notice};

/// Their tools, and ours that do the same.
const TOOLS: &[(&str, &[&str])] = &[
    ("read", &["read"]),
    ("write", &["write"]),
    ("edit", &["edit", "write"]),
    ("patch", &["edit", "write"]),
    ("bash", &["run"]),
    ("grep", &["search"]),
    ("glob", &["list"]),
    ("list", &["list"]),
    ("todowrite", &["todo_add", "todo_set", "todo_remove"]),
];

/// Vendors that have another name there.
const VENDORS: &[(&str, &str)] = &[("amazon-bedrock", "bedrock")];

#[derive(Deserialize)]
struct Form {
    name: Option<Placed<String>>,
    description: Option<String>,
    mode: Option<Placed<String>>,
    model: Option<Placed<String>>,
    prompt: Option<Placed<String>>,
    #[serde(default)]
    tools: BTreeMap<String, Placed<bool>>,
    #[serde(rename = "maxSteps", alias = "steps")]
    rounds: Option<Placed<u32>>,
    #[serde(default, alias = "disabled")]
    disable: bool,
}

const KNOWN: &[&str] = &[
    "name",
    "description",
    "mode",
    "model",
    "prompt",
    "tools",
    "maxSteps",
    "steps",
    "disable",
    "disabled",
    "permission",
    "color",
    "hidden",
];

/// None, if the file says that the agent is switched off.
pub(super) fn read(
    source: &Source,
    settings: &Settings,
) -> Result<(Option<Definition>, Vec<Notice>), Fault> {
    let (front, body) = front_matter(source)?;
    let tree = source.yaml(front)?;
    let form: Form = source.read(&tree)?;
    let mut file = Foreign::new(Format::OpenCode, source, settings);
    for (name, _) in tree.entries().iter().filter(|(name, _)| !KNOWN.contains(&&*name.text)) {
        file.tell_unknown(name.at.start, &name.text);
    }
    if form.disable {
        file.tell(tree.at.start, "this agent is switched off");
        return Ok((None, file.notices));
    }
    let mut named_at = tree.at.start..tree.at.start;
    if let Some(Placed { at, value }) = form.name {
        (named_at, file.definition.name) = (at, value);
    }
    file.definition.check_name(named_at)?;
    file.definition.description = form.description.unwrap_or_default();
    file.definition.is_sent = form.mode.is_none_or(|mode| mode.value != "primary");
    file.definition.role = Some(body.trim().to_owned()).filter(|role| !role.is_empty());
    if let Some(Placed { at, value }) = form.prompt {
        match value.starts_with("{file:") || value.starts_with('@') {
            true => file.tell(at.start, "a prompt in another file is not read"),
            false => file.definition.role = Some(value),
        }
    }
    if let Some(Placed { at, value }) = form.model {
        let ours = VENDORS.iter().find_map(|(theirs, ours)| {
            value.strip_prefix(theirs).map(|rest| format!("{ours}{rest}"))
        });
        file.model(&Placed { at, value: ours.unwrap_or(value) });
    }
    if let Some(Placed { at, value }) = form.rounds {
        file.rounds(at.start, value);
    }
    let off = form.tools.iter().filter(|(_, is_on)| !is_on.value);
    let off: Vec<(String, usize)> = off.map(|(name, flag)| (name.clone(), flag.at.start)).collect();
    for (name, at) in off.into_iter().chain(denied(&tree)) {
        file.switch_off(&name, at);
    }
    Ok((Some(file.definition), file.notices))
}

impl Foreign<'_> {
    fn switch_off(&mut self, theirs: &str, at: usize) {
        let without = &mut self.definition.tools.without;
        match TOOLS.iter().find(|(name, _)| *name == theirs) {
            Some((_, ours)) => without.extend(ours.iter().map(|name| (*name).to_owned())),
            None if theirs == "*" => without.push("*".to_owned()),
            // The tools of a server: theirs have one line between the names.
            None if theirs.ends_with('*') => {
                let server = theirs.trim_end_matches('*').trim_end_matches('_');
                without.push(format!("{server}__*"));
            }
            None => self.tell(at, format!("we have no tool `{theirs}`, so that it is off anyway")),
        }
    }
}

/// What `permission` denies altogether. What it asks for, we ask for as well.
fn denied(tree: &Node) -> Vec<(String, usize)> {
    let permission = tree.entries().iter().find(|(name, _)| name.text == "permission");
    let entries = permission.map_or(&[][..], |(_, node)| node.entries());
    let is_denied = |node: &Node| matches!(&node.value, Value::Text(said) if said == "deny");
    let denied = entries.iter().filter(|(_, node)| is_denied(node));
    denied.map(|(name, _)| (name.text.clone(), name.at.start)).collect()
}
