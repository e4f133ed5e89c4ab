//! Rules of cache marks.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] =
    rules![marks_have_a_form, marks_are_few, thoughts_are_not_marked, long_marks_come_first];

/// The marks of a request, in the order of the prompt: where each stands, on what, and the mark.
fn marks<'a>(incoming: &Incoming<'a>) -> Vec<(String, &'a Value, &'a Value)> {
    let body = incoming.body;
    let mut marks = Vec::new();
    let mut add = |at: String, block: &'a Value| {
        if !block["cache_control"].is_null() {
            marks.push((at, block, &block["cache_control"]));
        }
    };
    for (i, tool) in list(&body["tools"]).iter().enumerate() {
        add(format!("tools.{i}"), tool);
    }
    for (i, block) in list(&body["system"]).iter().enumerate() {
        add(format!("system.{i}"), block);
    }
    for (i, message) in list(&body["messages"]).iter().enumerate() {
        for (j, block) in list(&message["content"]).iter().enumerate() {
            for (k, inner) in list(&block["content"]).iter().enumerate() {
                add(format!("messages.{i}.content.{j}.content.{k}"), inner);
            }
            add(format!("messages.{i}.content.{j}"), block);
        }
    }
    add(String::new(), body);
    marks
}

fn marks_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (at, _, mark) in marks(incoming) {
        let at =
            if at.is_empty() { "cache_control".to_owned() } else { format!("{at}.cache_control") };
        demand(mark["type"] == "ephemeral", || {
            Refusal::new(format!("{at}.type: Input should be 'ephemeral'"))
        })?;
        let ttl = &mark["ttl"];
        demand(ttl.is_null() || ["5m", "1h"].contains(&text(ttl)), || {
            Refusal::new(format!("{at}.ephemeral.ttl: Input should be '5m' or '1h'"))
        })?;
    }
    Ok(())
}

fn marks_are_few(incoming: &Incoming<'_>) -> Verdict {
    let n = marks(incoming).len();
    let last = list(&incoming.body["messages"]).last().map_or(&Value::Null, |m| &m["content"]);
    let (last, own) = (list(last).last(), &incoming.body["cache_control"]);
    let last = last.map_or(&Value::Null, |last| &last["cache_control"]);
    demand(
        own.is_null() || last.is_null() || (last["ttl"] == "1h") == (own["ttl"] == "1h"),
        || Refusal::new("cache_control: the last block has a cache_control with another ttl"),
    )?;
    demand(n <= 4, || {
        let words = "A maximum of 4 blocks with cache_control may be provided.";
        Refusal::new(format!("{words} Found {n}."))
    })
}

fn thoughts_are_not_marked(incoming: &Incoming<'_>) -> Verdict {
    for (at, block, _) in marks(incoming) {
        let is_thought = ["thinking", "redacted_thinking"].contains(&text(&block["type"]));
        demand(!is_thought, || {
            let kind = text(&block["type"]);
            Refusal::new(format!("{at}.{kind}.cache_control: Extra inputs are not permitted"))
        })?;
    }
    Ok(())
}

fn long_marks_come_first(incoming: &Incoming<'_>) -> Verdict {
    let mut has_short = false;
    for (at, _, mark) in &marks(incoming) {
        let is_long = mark["ttl"] == "1h";
        demand(!(is_long && has_short), || {
            let rule = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
            let at = if at.is_empty() { String::new() } else { format!("{at}.") };
            Refusal::new(format!("{at}cache_control.ttl: {rule}"))
        })?;
        has_short |= !is_long;
    }
    Ok(())
}
