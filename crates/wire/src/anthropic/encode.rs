//! From a prompt to a request.

mod assistant;
mod blocks;
mod media;
mod parts;
mod results;
mod served;
mod settings;
mod system;
mod tools;
mod user;

use interleaf_model::{Entry, Extra, Json, Role};
use serde_json::value::RawValue;

use self::system::system;
use super::models::Model;
use super::wire::{Block, CacheMark, Content, Head, OutputConfig, RawObject, Rest};
use super::{AUTO_MARK, MARK, OWNER, is_legal_mark, lint};
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::raw::Fields;
use crate::turns::{Turn, Turns};
use crate::{CacheMarks, Effort, Error, Family, Options};

pub(super) use self::parts::IN_MESSAGE;

pub(crate) const WRITER: Writer = Writer { head, turn, tail };

/// Fields of a body that are written from what we know. A field of the same name in
/// the rest would be there twice.
const WRITTEN: [&str; 9] = [
    "model",
    "max_tokens",
    "stream",
    "temperature",
    "stop_sequences",
    "output_config",
    "tools",
    "system",
    "messages",
];

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let options = cx.options;
    let model = Model::named(&options.model);
    let mode = settings::thinking_mode(cx, turns, model);
    let max_tokens = settings::max_tokens(cx, model, mode);
    let thinking = settings::thinking(cx, mode);
    let sampling = settings::sampling(cx, model, mode);
    let stop_sequences = settings::stop_sequences(cx);
    let format = settings::format(cx);
    let output_rest = settings::output_rest(cx);
    let effort = mode.effort.map(Effort::as_str);
    let output_config = (format.is_some() || effort.is_some() || !output_rest.is_empty())
        .then_some(OutputConfig { format, effort, rest: output_rest });
    let (tools, names) = tools::tools(cx);
    let tool_choice = settings::tool_choice(cx, model, mode, &names);
    let mut system = system(cx, turns);
    if options.cache == CacheMarks::On
        && let Some(Block::Text(last)) = system.last_mut()
    {
        last.cache_control = Some(mark(options));
    }
    if options.cache_key.is_some() {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "cache_key");
    }
    let head = Head {
        model: &options.model,
        max_tokens,
        stream: options.stream,
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        stop_sequences,
        thinking,
        output_config,
        tool_choice,
        tools,
        system: (!system.is_empty()).then_some(Content(system, CacheMarks::Off)),
    };
    let mut text = json(&head)?;
    // `max_tokens` is always there, so the object is never empty.
    text.pop();
    text.push_str(r#","messages":["#);
    Ok(text)
}

fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    elements: &mut Elements<'_>,
) -> Result<(), Error> {
    match turn {
        Turn::User { results, said, start } => {
            // The target takes system messages after all that the user says.
            let is_user = |entry: &&Entry| entry.message.role() == Role::User;
            let (said, systems) = said.split_at(said.iter().take_while(is_user).count());
            let mut user = user::turn(cx, results, said);
            let mut systems = system::in_place(cx, systems);
            if let Some(at) = place.breakpoint.map(|at| at - start) {
                let mark = mark(cx.options);
                let after_user = at.checked_sub(results.len() + said.len());
                if !after_user.is_some_and(|at| system::set_mark(&mut systems, at, mark)) {
                    user.set_mark(at, mark);
                }
            }
            elements.push(&user.message("user", cx.options.cache))?;
            systems.iter().try_for_each(|(_, message)| elements.push(message))
        }
        Turn::Assistant { said, start } => {
            let messages = assistant::turn(cx, said, start, place);
            messages.iter().try_for_each(|message| elements.push(message))
        }
    }
}

fn tail(cx: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    let options = cx.options;
    let mut text = String::from("]");
    for (name, value) in options.rest.iter() {
        if !options.rest.is_of(Family::Anthropic) {
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, name);
            continue;
        }
        let is_written = WRITTEN.contains(&name)
            || matches!(name, "top_p" | "top_k")
            || name == "thinking" && value.as_str() != "null"
            || name == "tool_choice" && !settings::is_known_choice(cx, value)
            || name == AUTO_MARK && !is_legal_mark(value.as_str());
        if !lint::is_known(name, cx.vendor) {
            let detail = format!("{name}: the API does not know it");
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        } else if !is_written {
            text.push(',');
            text.push_str(&json(&name)?);
            text.push(':');
            text.push_str(value.as_str());
        }
    }
    text.push('}');
    Ok(text)
}

/// The mark that we set. Where a request marks its own end, ours are of the same
/// kind: a longer life may not follow a shorter one.
fn mark(options: &Options) -> CacheMark<'_> {
    let own = options.rest.get(Family::Anthropic, AUTO_MARK);
    CacheMark(own.and_then(raw).filter(|raw| is_set_mark(raw)))
}

fn is_set_mark(raw: &RawValue) -> bool {
    raw.get() != "null" && is_legal_mark(raw.get())
}

/// What the API attached, but for fields that are written from what we know. Marks
/// that messages carry stand only where we set none ourselves.
fn rest<'a>(extra: &'a Extra, written: &[&str], cache: CacheMarks) -> Rest<'a> {
    let Some(fields) = extra.get(OWNER).and_then(fields) else {
        return Rest::default();
    };
    rest_of(&fields, written, cache)
}

fn rest_of<'a>(fields: &Fields<'a>, written: &[&str], cache: CacheMarks) -> Rest<'a> {
    let mut rest = Rest::of_fields(fields, written);
    rest.retain(|name, value| is_kept(name, value, cache));
    rest
}

fn is_kept(name: &str, value: &RawValue, cache: CacheMarks) -> bool {
    name != MARK || cache == CacheMarks::Off && is_legal_mark(value.get())
}

/// An object of the API's own; its bytes stay as they are, if no field of it is
/// written otherwise.
fn raw_object<'a>(json: &'a Json, unwritten: &[&str], cache: CacheMarks) -> Option<RawObject<'a>> {
    let whole = raw(json)?;
    let fields = Fields::read(whole).ok()?;
    let is_whole = fields
        .iter()
        .all(|(name, value)| !unwritten.contains(&name) && is_kept(name, value, cache));
    Some(match is_whole {
        true => RawObject::Whole(whole),
        false => {
            let rest = rest_of(&fields, unwritten, cache);
            RawObject::Changed { rest, cache_control: None }
        }
    })
}

/// The fields of an object among the rest of a body.
fn rest_object<'a>(options: &'a Options, name: &str) -> Rest<'a> {
    match options.rest.get(Family::Anthropic, name).and_then(fields) {
        Some(fields) => rest_of(&fields, &[], CacheMarks::Off),
        None => Rest::default(),
    }
}

fn fields(json: &Json) -> Option<Fields<'_>> {
    raw(json).and_then(|raw| Fields::read(raw).ok())
}

fn raw(json: &Json) -> Option<&RawValue> {
    serde_json::from_str(json.as_str()).ok()
}
