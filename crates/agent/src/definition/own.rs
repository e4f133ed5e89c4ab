//! Our own files: Markdown whose front matter says what an agent is and whose body is its role,
//! or TOML that says all of it.

use std::ops::Range;

use interleaf::assemble::{Carrier, PlacementRule, Shares};
use serde::Deserialize;

use super::words::Words;
use super::{Definition, Format};
use crate::Fault;
use crate::settings::{BudgetForm, LimitForm, Setting, Settings};
use crate::written::{Node, Parsed, Placed, Source};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Form {
    name: Option<Placed<String>>,
    description: Option<String>,
    role: Option<Placed<String>>,
    system: Option<String>,
    model: Option<Placed<String>>,
    fallback: Option<Placed<Words>>,
    tools: Option<Placed<Words>>,
    agents: Option<Placed<Words>>,
    place: Option<Placed<Parsed<PlacementRule>>>,
    carrier: Option<Placed<Parsed<Carrier>>>,
    limits: LimitForm,
    budget: Option<Placed<BudgetForm>>,
    shares: Option<Placed<Shares>>,
}

/// A Markdown file in two: its front matter, and its body. Without front matter, the whole file
/// is its body.
pub(super) fn front_matter(source: &Source) -> Result<(Range<usize>, &str), Fault> {
    let text = source.text();
    let skipped = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = text[skipped..].split_inclusive('\n');
    let opening = lines.next().unwrap_or_default();
    if opening.trim_end() != "---" {
        return Ok((skipped..skipped, &text[skipped..]));
    }
    let start = skipped + opening.len();
    let mut end = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((start..end, &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(Fault::new(source, skipped..start, "this front matter has no end: a line of `---`"))
}

/// A Markdown file.
pub(super) fn markdown(source: &Source, settings: &Settings) -> Result<Definition, Fault> {
    let (front, body) = front_matter(source)?;
    let tree = source.yaml(front)?;
    let form: Form = source.read(&tree)?;
    if let (Some(role), false) = (&form.role, body.trim().is_empty()) {
        let rule = "the role is the text after the front matter, or `role`, not both";
        return Err(Fault::new(source, role.at.clone(), rule));
    }
    let mut definition = made(source, &tree, form, settings)?;
    if !body.trim().is_empty() {
        definition.role = Some(body.trim().to_owned());
    }
    Ok(definition)
}

/// A TOML file.
pub(super) fn toml(source: &Source, settings: &Settings) -> Result<Definition, Fault> {
    let tree = source.toml()?;
    made(source, &tree, source.read(&tree)?, settings)
}

fn made(
    source: &Source,
    tree: &Node,
    form: Form,
    settings: &Settings,
) -> Result<Definition, Fault> {
    let mut definition = Definition::new(Format::Own, source);
    let mut named_at = tree.at.start..tree.at.start;
    if let Some(Placed { at, value }) = form.name {
        (named_at, definition.name) = (at, value);
    }
    definition.check_name(named_at)?;
    definition.description = form.description.unwrap_or_default();
    definition.role = form.role.map(|role| role.value).filter(|role| !role.trim().is_empty());
    definition.system = form.system;
    if let Some(model) = &form.model {
        let set = definition.set_model(model, settings);
        set.map_err(|rule| definition.fault(model.at.clone(), rule))?;
    }
    if let Some(fallback) = form.fallback {
        let origin = definition.origin(fallback.at.start);
        let (held, words): (Vec<_>, Vec<_>) = Words::placed(fallback)
            .into_iter()
            .partition(|word| settings.held_models.contains(&word.value));
        for word in &words {
            let known = settings.target(&word.value);
            known.map_err(|rule| definition.fault(word.at.clone(), rule))?;
        }
        if held.is_empty() || !words.is_empty() {
            let value = words.into_iter().map(|word| word.value).collect();
            definition.layer.fallback = Some(Setting { value, origin });
        }
    }
    if let Some(Placed { at, value: Parsed(value) }) = form.place {
        let origin = definition.origin(at.start);
        definition.layer.place = Some(Setting { value, origin });
    }
    if let Some(Placed { at, value: Parsed(value) }) = form.carrier {
        let origin = definition.origin(at.start);
        definition.layer.carrier = Some(Setting { value, origin });
    }
    definition.layer.limits = form.limits.settings(source);
    if let Some(budget) = form.budget {
        definition.layer.budget = Some(BudgetForm::setting(budget, source)?);
    }
    if let Some(Placed { at, value }) = form.shares {
        let origin = definition.origin(at.start);
        definition.layer.shares = Some(Setting { value, origin });
    }
    definition.tools.only = form.tools.map(Words::placed);
    definition.agents = form.agents.map(Words::placed).unwrap_or_default();
    Ok(definition)
}
