//! The tools.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;

use interleaf_model::{Extra, Tool};

use super::{fields, mark, raw_object, rest, rest_of};
use crate::CacheMarks;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::schema::{Tally, faults_of_subset, object_schema};
use crate::anthropic::wire::{Declared, RawObject, Rest, ToolForm};
use crate::anthropic::{DEFER, MARK, MOST_STRICT_TOOLS, OWNER};
use crate::encode::{Context, GIVES_WAY, gives_way};
use crate::raw::{Fields, text};
use crate::tree::Value;

/// Those that the API runs itself, then those of the caller; and all their names.
pub(super) fn tools<'a>(cx: &mut Context<'a>) -> (Vec<Declared<'a>>, HashSet<String>) {
    let mut names = HashSet::new();
    let mut declared = hosted(cx, &mut names);
    let mut strict = Strict::default();
    for tool in cx.prompt.tools() {
        if tool.extra.get(OWNER).is_some_and(|own| gives_way(cx, own)) {
            report_mark(cx, &tool.name);
        }
        let form = tool_form(cx, tool, &mut strict);
        if names.insert(form.name.to_string()) {
            declared.push(Declared::Tool(form));
        } else {
            let detail = format!("{}: an earlier tool has this name", tool.name);
            cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
        }
    }
    undefer(cx, &mut declared);
    if cx.options.cache == CacheMarks::On {
        let last = declared.iter_mut().rev().find(|tool| !is_deferred(tool));
        match last {
            Some(Declared::Tool(form)) => form.cache_control = Some(mark(cx.options)),
            Some(Declared::Hosted(raw)) => {
                let cache_control = Some(mark(cx.options));
                *raw = RawObject::Changed { rest: changed(raw), cache_control };
            }
            None => {}
        }
    }
    (declared, names)
}

fn hosted<'a>(cx: &mut Context<'a>, names: &mut HashSet<String>) -> Vec<Declared<'a>> {
    let mut declared = Vec::new();
    for opaque in &cx.options.hosted_tools {
        match fields(&opaque.value).filter(|_| opaque.owner.as_str() == OWNER) {
            Some(own) => {
                let name = own.peek("name").and_then(|name| text(name).ok());
                if gives_way(cx, &opaque.value) {
                    report_mark(cx, &name.as_deref().unwrap_or("a tool"));
                }
                names.extend(name.map(Cow::into_owned));
                let raw = raw_object(&opaque.value, &[], cx.options.cache);
                declared.extend(raw.map(Declared::Hosted));
            }
            None => {
                let detail = format!("a tool of {}", opaque.owner);
                cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            }
        }
    }
    declared
}

fn report_mark(cx: &mut Context<'_>, tool: &dyn Display) {
    let detail = format!("{MARK} of {tool} {GIVES_WAY}");
    cx.adjustments.add_general(AdjustmentKind::FieldsDropped, detail);
}

/// What is counted over all strict tools.
#[derive(Default)]
struct Strict {
    tally: Tally,
    n_tools: usize,
}

fn tool_form<'a>(cx: &mut Context<'a>, tool: &'a Tool, strict: &mut Strict) -> ToolForm<'a> {
    let name = cx.tool_name(&tool.name);
    if let Cow::Owned(name) = &name {
        let detail = format!("{} to {name}", tool.name);
        cx.adjustments.add_general(AdjustmentKind::ToolNameRewritten, detail);
    }
    let input_schema = object_schema(tool.parameters.as_ref());
    if let (Cow::Owned(_), Some(_)) = (&input_schema, &tool.parameters) {
        let detail = format!("{}: its top level is one object", tool.name);
        cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
    }
    let is_strict = match tool.strict {
        Some(true) if !is_held(&input_schema, strict) => {
            let detail = format!("{}: the model cannot be held to its schema", tool.name);
            cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
            None
        }
        said => said,
    };
    let mut written = vec!["name", "description", "input_schema", "strict"];
    if is_set(&tool.extra, DEFER) {
        written.push(MARK);
    }
    let rest = rest(&tool.extra, &written, cx.options.cache);
    let description = tool.description.as_deref();
    ToolForm { name, description, input_schema, strict: is_strict, cache_control: None, rest }
}

/// Whether a model can be held to a schema, and to all before it.
fn is_held(schema: &serde_json::value::RawValue, strict: &mut Strict) -> bool {
    let value = Value::of(schema.get());
    let mut tally = strict.tally;
    let is_held = faults_of_subset(&value, "", &mut tally).is_empty()
        && tally.is_allowed()
        && strict.n_tools < MOST_STRICT_TOOLS;
    if is_held {
        *strict = Strict { tally, n_tools: strict.n_tools + 1 };
    }
    is_held
}

fn is_set(extra: &Extra, name: &str) -> bool {
    let own = extra.get(OWNER).and_then(fields);
    own.and_then(|own| own.peek(name)).is_some_and(|value| value.get() == "true")
}

fn is_deferred(tool: &Declared<'_>) -> bool {
    let is_deferring = |rest: &Rest<'_>| rest.get(DEFER).is_some_and(|value| value.get() == "true");
    match tool {
        Declared::Tool(form) => is_deferring(&form.rest),
        Declared::Hosted(raw) => is_deferring(&changed(raw)),
    }
}

/// The fields of a tool that the API runs itself.
fn changed<'a>(raw: &RawObject<'a>) -> Rest<'a> {
    match raw {
        RawObject::Whole(raw) => match Fields::read(raw) {
            Ok(fields) => rest_of(&fields, &[], CacheMarks::Off),
            Err(_) => Rest::default(),
        },
        RawObject::Changed { rest, .. } => rest.clone(),
    }
}

/// Not every tool may be deferred.
fn undefer(cx: &mut Context<'_>, tools: &mut [Declared<'_>]) {
    if !tools.is_empty() && tools.iter().all(is_deferred) {
        for tool in tools.iter_mut() {
            match tool {
                Declared::Tool(form) => {
                    form.rest.take(DEFER);
                }
                Declared::Hosted(raw) => {
                    let mut rest = changed(raw);
                    rest.take(DEFER);
                    *raw = RawObject::Changed { rest, cache_control: None };
                }
            }
        }
        cx.adjustments
            .add_general(AdjustmentKind::OptionDropped, "defer_loading: no tool would be left");
    }
}
