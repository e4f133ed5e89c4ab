//! Breakpoints of the cache, and what is set for all of it.

use serde_json::Value;

use super::{generation, wrong_type, wrong_value};
use crate::asked::{Asked, Role, Ttl, Turn};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::text;

/// A breakpoint is an object, lives as long as the API lets it, and is not on what the assistant
/// said.
pub(crate) fn breakpoint(at: &str, role: &str, point: &Value, lives: &[&str]) -> Verdict {
    if point.is_null() {
        return Ok(());
    }
    let at = format!("{at}.prompt_cache_breakpoint");
    demand(role != "assistant", || {
        let words = format!("Unknown parameter: '{at}'. A breakpoint is on an input part.");
        Refusal::new(words).at(&at).code("unknown_parameter")
    })?;
    demand(point.is_object(), || wrong_type(&at, "an object", point))?;
    lives_known(&at, point, lives)
}

/// The options of the cache.
pub(crate) fn options(body: &Value, lives: &[&str]) -> Verdict {
    let (at, options) = ("prompt_cache_options", &body["prompt_cache_options"]);
    demand(options.is_null() || options.is_object(), || wrong_type(at, "an object", options))?;
    let (mode, known) = (&options["mode"], ["implicit", "explicit"]);
    demand(mode.is_null() || known.contains(&text(mode)), || {
        wrong_type(&format!("{at}.mode"), "'implicit' or 'explicit'", mode)
    })?;
    lives_known(at, options, lives)
}

/// Whether a model caches at breakpoints and nowhere else.
pub(crate) fn caches_at_breakpoints(model: &str) -> bool {
    generation(model) >= 5.55
}

/// For how long the prompt up to the end of a part is to be cached, if it is.
pub(crate) fn mark(model: &str, part: &Value) -> Option<Ttl> {
    let point = &part["prompt_cache_breakpoint"];
    let is_heeded = caches_at_breakpoints(model) && point.is_object();
    is_heeded.then(|| if point["ttl"] == "12h" { Ttl::Hour } else { Ttl::Minutes })
}

/// Unless the options say otherwise, the end of the newest message that was put in is marked too:
/// what the user said, the last result of a run, or the rules before the first turn.
pub(crate) fn mark_newest(asked: &mut Asked, body: &Value) {
    let options = &body["prompt_cache_options"];
    if !caches_at_breakpoints(&asked.model) || options["mode"] == "explicit" {
        return;
    }
    let is_rule = |turn: &Turn| turn.role == Role::System;
    let n_rules = asked.turns.iter().take_while(|turn| is_rule(turn)).count();
    let is_input = |(i, turn): (usize, &Turn)| {
        matches!(turn.role, Role::User | Role::Tool) || is_rule(turn) && i + 1 == n_rules
    };
    let newest = asked.turns.iter().enumerate().rposition(is_input);
    let piece = newest.and_then(|newest| asked.turns[newest].pieces.last_mut());
    if let Some(piece) = piece {
        let lives = if options["ttl"] == "12h" { Ttl::Hour } else { Ttl::Minutes };
        piece.mark = piece.mark.or(Some(lives));
    }
}

fn lives_known(at: &str, value: &Value, lives: &[&str]) -> Verdict {
    let ttl = &value["ttl"];
    demand(ttl.is_null() || ttl.is_string(), || wrong_type(&format!("{at}.ttl"), "a string", ttl))?;
    demand(ttl.is_null() || lives.contains(&text(ttl)), || {
        wrong_value(&format!("{at}.ttl"), text(ttl), lives)
    })
}
