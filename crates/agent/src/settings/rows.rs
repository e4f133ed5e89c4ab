//! What is in force, as rows for a person. No row holds a key: settings hold none, and of a
//! command that prints one it is only said that there is one.

use std::collections::BTreeMap;
use std::fmt::Display;

use interleaf::store::hide_passwords;
use interleaf::wire::Vendor;
use interleaf_transport::{KeySource, Rates};

use super::{Origin, Setting, Settings};
use crate::written::Length;

/// A setting, for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Its name, as in the file: `limits.rounds`.
    pub key: String,
    /// What it is; none, if nobody said.
    pub value: Option<String>,
    /// Who said so; none, if nobody did.
    pub origin: Option<Origin>,
}

impl Settings {
    /// All settings, those too of which nobody said anything.
    pub fn rows(&self) -> Vec<Row> {
        let Self { limits, compaction, permissions, .. } = self;
        let mut rows = vec![
            row("vendor", &self.vendor, shown),
            row("model", &self.model, shown),
            row("fallback", &self.fallback, listed),
            row("agent", &self.agent, shown),
            row("place", &self.place, shown),
            row("carrier", &self.carrier, shown),
            row("store", &self.store, |url| hide_passwords(url).into_owned()),
            row("limits.rounds", &limits.rounds, shown),
            row("limits.tokens", &limits.tokens, shown),
            row("limits.money", &limits.money, shown),
            row("limits.time", &limits.time, |time| Length(*time).to_string()),
            row("limits.sub_agents", &limits.sub_agents, shown),
            row("limits.at_once", &limits.at_once, shown),
            row("limits.depth", &limits.depth, shown),
            row("budget", &self.budget, |budget| {
                format!("{} tokens, {} of them for the answer", budget.window, budget.reserve)
            }),
            row("shares", &self.shares, |shares| {
                serde_json::to_string(shares).unwrap_or_else(|_| "set".to_owned())
            }),
            row("compaction.at", &compaction.at, shown),
            row("compaction.writer", &compaction.writer, shown),
            row("compaction.policy", &compaction.policy, |_| "set".to_owned()),
            row("permissions.allow", &permissions.allow, listed),
            row("permissions.run", &permissions.run, listed),
            row("permissions.variables", &permissions.variables, listed),
        ];
        rows.extend(named("models", &self.models, shown));
        rows.extend(named("price", &self.price, |rates| {
            let Rates { input, read, write, output, .. } = rates;
            format!("{input}/{read}/{write}/{output}")
        }));
        rows.extend(named("keys", &self.keys, key));
        rows.extend(named("vendors", &self.vendors, |Vendor { family, base_url, .. }| {
            // What comes after a question mark may be a secret.
            format!("{family} at {}", base_url.split('?').next().unwrap_or_default())
        }));
        rows.extend(named("mcp", &self.mcp, |_| "set".to_owned()));
        rows
    }
}

fn row<T>(key: &str, set: &Option<Setting<T>>, show: impl Fn(&T) -> String) -> Row {
    Row {
        key: key.to_owned(),
        value: set.as_ref().map(|set| show(&set.value)),
        origin: set.as_ref().map(|set| set.origin.clone()),
    }
}

fn named<T>(
    table: &str,
    sets: &BTreeMap<String, Setting<T>>,
    show: impl Fn(&T) -> String,
) -> Vec<Row> {
    let row = |(name, set): (&String, &Setting<T>)| Row {
        key: format!("{table}.{name}"),
        value: Some(show(&set.value)),
        origin: Some(set.origin.clone()),
    };
    sets.iter().map(row).collect()
}

fn shown(value: &impl Display) -> String {
    value.to_string()
}

fn listed(values: &impl AsRef<[String]>) -> String {
    values.as_ref().join(", ")
}

fn key(source: &KeySource) -> String {
    match source {
        KeySource::Variable(name) => format!("in ${name}"),
        KeySource::File(path) => format!("in {}", path.display()),
        // Its text may hold what is to be hidden.
        _ => "printed by a command".to_owned(),
    }
}
