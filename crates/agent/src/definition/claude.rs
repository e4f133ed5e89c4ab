//! Files of Claude Code: `.claude/agents/*.md`.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::own::front_matter;
use super::words::Words;
use super::{Definition, Foreign, Format};
use crate::settings::Settings;
use crate::written::{Name, Node, Placed, Source, Value};
use crate::{Fault, Notice};

/// Their tools, and ours that do the same.
const TOOLS: &[(&str, &[&str])] = &[
    ("Read", &["read"]),
    ("Write", &["write"]),
    ("Edit", &["edit"]),
    ("MultiEdit", &["edit"]),
    ("Bash", &["run"]),
    ("Grep", &["search"]),
    ("Glob", &["list"]),
    ("LS", &["list"]),
    ("TodoWrite", &["todo_add", "todo_set", "todo_remove"]),
];

#[derive(Deserialize)]
struct Form {
    name: Option<Placed<String>>,
    description: Option<String>,
    tools: Option<Placed<Words>>,
    #[serde(rename = "disallowedTools")]
    without: Option<Placed<Words>>,
    model: Option<Placed<String>>,
    #[serde(rename = "maxTurns")]
    rounds: Option<Placed<u32>>,
    #[serde(rename = "color")]
    _color: Option<IgnoredAny>,
}

const KNOWN: &[&str] =
    &["name", "description", "tools", "disallowedTools", "model", "maxTurns", "color"];

pub(super) fn read(
    source: &Source,
    settings: &Settings,
) -> Result<(Definition, Vec<Notice>), Fault> {
    let (front, body) = front_matter(source)?;
    let mut file = Foreign::new(Format::ClaudeCode, source, settings);
    let tree = match source.yaml(front.clone()) {
        Ok(tree) => tree,
        // Theirs often have a description with colons in it, which is no YAML.
        Err(fault) => {
            let at = fault.place().map_or(1, |(line, _)| line);
            let text = "this front matter is not YAML, and was read line by line".to_owned();
            file.notices.push(Notice {
                path: source.path().to_owned(),
                line: Some(at),
                text,
                is_wrong: false,
            });
            by_lines(source, front)
        }
    };
    let form: Form = source.read(&tree)?;
    for (name, _) in tree.entries().iter().filter(|(name, _)| !KNOWN.contains(&&*name.text)) {
        file.tell_unknown(name.at.start, &name.text);
    }
    let mut named_at = tree.at.start..tree.at.start;
    if let Some(Placed { at, value }) = form.name {
        (named_at, file.definition.name) = (at, value);
    }
    file.definition.check_name(named_at)?;
    file.definition.description = form.description.unwrap_or_default();
    file.definition.role = Some(body.trim().to_owned()).filter(|role| !role.is_empty());
    if let Some(model) = &form.model {
        file.model(model);
    }
    if let Some(Placed { at, value }) = form.rounds {
        file.rounds(at.start, value);
    }
    file.definition.tools.only = form.tools.map(|words| file.tools(words));
    let without = form.without.map(|words| file.tools(words)).unwrap_or_default();
    file.definition.tools.without = without.into_iter().map(|tool| tool.value).collect();
    Ok((file.definition, file.notices))
}

impl Foreign<'_> {
    /// Our tools for theirs.
    fn tools(&mut self, words: Placed<Words>) -> Vec<Placed<String>> {
        let mut ours = Vec::new();
        for Placed { at, value } in Words::placed(words) {
            let known = TOOLS.iter().find(|(theirs, _)| *theirs == value);
            if let Some((_, names)) = known {
                let placed = |name: &&str| Placed { at: at.clone(), value: (*name).to_owned() };
                ours.extend(names.iter().map(placed));
            } else if let Some(rest) = value.strip_prefix("mcp__") {
                let name = if rest.contains("__") { rest.to_owned() } else { format!("{rest}__*") };
                ours.push(Placed { at, value: name });
            } else {
                let text = format!("no tool of ours does what `{value}` does: it is left out");
                self.tell(at.start, text);
            }
        }
        ours
    }
}

/// Front matter as `key: the rest of the line`.
fn by_lines(source: &Source, part: std::ops::Range<usize>) -> Node {
    let mut entries: Vec<(Name, Node)> = Vec::new();
    let mut start = part.start;
    for line in source.text()[part.clone()].split_inclusive('\n') {
        let at = start;
        start += line.len();
        let is_word = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
        let Some((key, value)) = line.split_once(':').filter(|(key, _)| is_word(key)) else {
            continue;
        };
        if entries.iter().any(|(name, _)| name.text == key) {
            continue;
        }
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        let value = match value.parse() {
            Ok(whole) => Value::Whole(whole),
            Err(_) => Value::Text(value.to_owned()),
        };
        let name = Name { at: at..at + key.len(), text: key.to_owned() };
        entries.push((name, Node { at: at..at + line.trim_end().len(), value }));
    }
    Node { at: part, value: Value::Table(entries) }
}
