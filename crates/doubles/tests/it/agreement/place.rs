//! Where a refusal says that a body is wrong, as a JSON pointer.

use interleaf_doubles::Refusal;
use serde_json::Value;

/// The steps to the place that a refusal names, as far as they lead anywhere; none if it names
/// none.
pub(super) fn named(refusal: &Refusal, body: &Value) -> Option<String> {
    let text = refusal.param.as_deref().unwrap_or(&refusal.message);
    let words = text.split(|c: char| c.is_whitespace() || "'\"`,(".contains(c));
    let words = words.map(|word| word.trim_start_matches("GenerateContentRequest."));
    let is_place = |word: &&str| {
        let root = word.split(['.', '[', ':']).next().unwrap_or_default();
        let is_there = [root, camel(root).as_str()].iter().any(|root| body.get(root).is_some());
        is_there && (refusal.param.is_some() || word.contains(|c: char| c.is_ascii_digit()))
    };
    let word = words.into_iter().find(is_place)?;
    let steps = word.split(['.', '[', ']', ':']).filter(|step| !step.is_empty());
    let mut at = String::new();
    for step in steps {
        // AWS counts members from 1.
        if let ("member", Some((outer, n))) = (step, at.rsplit_once('/')) {
            at = format!("{outer}/{}", n.parse::<usize>().ok()?.checked_sub(1)?);
            continue;
        }
        // What is not in the body is the name of a type, or of what is missing.
        let here = body.pointer(&at)?;
        let camel = camel(step);
        let known = [step, camel.as_str()];
        let next = known.into_iter().find(|step| body.pointer(&format!("{at}/{step}")).is_some());
        if let Some(step) = next.filter(|step| here["type"] != *step) {
            at = format!("{at}/{step}");
        }
    }
    (!at.is_empty()).then_some(at)
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// Whether one place is inside the other, or in the message next to it: of a call without a
/// result, one names the call and the other where the result is missing.
pub(super) fn meet(one: &str, other: &str) -> bool {
    let inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let message = |at: &str| {
        let mut steps = at.split('/').skip(1);
        let list = steps.next().unwrap_or_default().to_owned();
        Some((list, steps.next()?.parse::<usize>().ok()?))
    };
    let are_near = || {
        let ((list, i), (other, j)) = message(one).zip(message(other))?;
        Some(list == other && i.abs_diff(j) == 1)
    };
    inside(one, other) || inside(other, one) || are_near() == Some(true)
}
