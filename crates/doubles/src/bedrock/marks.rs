//! Rules of cache points.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{list, text};

pub(super) const RULES: &[Rule] =
    rules![points_have_a_form, points_are_few, points_follow_content, long_points_come_first];

/// The lists that may hold cache points, in the order of the prompt.
fn lists<'a>(incoming: &Incoming<'a>) -> Vec<(String, &'a [Value])> {
    let body = incoming.body;
    let mut lists = vec![
        ("toolConfig.tools".to_owned(), list(&body["toolConfig"]["tools"])),
        ("system".to_owned(), list(&body["system"])),
    ];
    let messages = list(&body["messages"]).iter().enumerate();
    lists.extend(messages.map(|(i, m)| (format!("messages.{i}.content"), list(&m["content"]))));
    lists
}

/// The points, and where each stands.
fn points<'a>(incoming: &Incoming<'a>) -> Vec<(String, &'a Value)> {
    let lists = lists(incoming).into_iter();
    let points = lists.flat_map(|(at, blocks)| {
        let blocks = blocks.iter().enumerate();
        blocks.map(move |(i, block)| (format!("{at}.{i}"), &block["cachePoint"]))
    });
    points.filter(|(_, point)| !point.is_null()).collect()
}

fn points_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (at, point) in points(incoming) {
        demand(point["type"] == "default", || {
            Refusal::new(format!(
                "1 validation error detected: Value '{}' at '{at}.cachePoint.type' failed to satisfy constraint: Member must satisfy enum value set: [default]",
                text(&point["type"])
            ))
        })?;
        let ttl = &point["ttl"];
        demand(ttl.is_null() || ["5m", "1h"].contains(&text(ttl)), || {
            Refusal::new(format!(
                "1 validation error detected: Value '{}' at '{at}.cachePoint.ttl' failed to satisfy constraint: Member must satisfy enum value set: [5m, 1h]",
                text(ttl)
            ))
        })?;
    }
    Ok(())
}

fn points_are_few(incoming: &Incoming<'_>) -> Verdict {
    let n = points(incoming).len();
    demand(n <= 4, || {
        Refusal::new(format!(
            "The model returned the following errors: A maximum of 4 blocks with cache_control may be provided. Found {n}."
        ))
    })
}

fn points_follow_content(incoming: &Incoming<'_>) -> Verdict {
    for (at, blocks) in lists(incoming) {
        for (i, _) in
            blocks.iter().enumerate().filter(|(_, block)| block.get("cachePoint").is_some())
        {
            let before = i.checked_sub(1).map(|i| &blocks[i]);
            let after = |kind: &str| before.is_some_and(|block| block.get(kind).is_some());
            let refuse = |what: &str| {
                Refusal::new(format!(
                    "Cache point cannot be inserted {what} at {at}.{i}. Please remove the invalid cache point and try again."
                ))
            };
            demand(before.is_some(), || refuse("before any content"))?;
            demand(!after("cachePoint"), || refuse("after another cache point"))?;
            demand(!after("reasoningContent"), || refuse("after reasoning block"))?;
            demand(!after("document") && !after("video"), || {
                refuse("after a document or a video")
            })?;
        }
    }
    Ok(())
}

fn long_points_come_first(incoming: &Incoming<'_>) -> Verdict {
    let mut has_short = false;
    for (at, point) in points(incoming) {
        let is_long = point["ttl"] == "1h";
        demand(!(is_long && has_short), || {
            let rule = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
            Refusal::new(format!(
                "The model returned the following errors: {at}.cache_control.ttl: {rule}"
            ))
        })?;
        has_short |= !is_long;
    }
    Ok(())
}
