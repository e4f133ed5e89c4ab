//! Files of Codex: `.codex/agents/*.toml`.

use serde::Deserialize;

use super::{Definition, Foreign, Format};
use crate::settings::Settings;
use crate::tools;
use crate::written::{Placed, Source};
use crate::{Fault, Notice};

#[derive(Deserialize)]
struct Form {
    name: Placed<String>,
    #[serde(default)]
    description: String,
    developer_instructions: Option<String>,
    model: Option<Placed<String>>,
    sandbox_mode: Option<Placed<String>>,
}

const KNOWN: &[&str] = &[
    "name",
    "description",
    "developer_instructions",
    "model",
    "sandbox_mode",
    "nickname_candidates",
];

pub(super) fn read(
    source: &Source,
    settings: &Settings,
) -> Result<(Definition, Vec<Notice>), Fault> {
    let tree = source.toml()?;
    let form: Form = source.read(&tree)?;
    let mut file = Foreign::new(Format::Codex, source, settings);
    for (name, _) in tree.entries().iter().filter(|(name, _)| !KNOWN.contains(&&*name.text)) {
        file.tell_unknown(name.at.start, &name.text);
    }
    file.definition.name = form.name.value;
    file.definition.check_name(form.name.at)?;
    file.definition.description = form.description;
    file.definition.role = form.developer_instructions.filter(|role| !role.trim().is_empty());
    if let Some(model) = &form.model {
        file.model(model);
    }
    match form.sandbox_mode {
        Some(mode) if mode.value == "read-only" => {
            let writing = tools::names("writing").into_iter().map(str::to_owned);
            file.definition.tools.without = writing.collect();
        }
        Some(mode) => {
            let text = format!(
                "`sandbox_mode = {:?}`: whatever it changes is asked for, as with any agent",
                mode.value
            );
            file.tell(mode.at.start, text);
        }
        None => {}
    }
    Ok((file.definition, file.notices))
}
