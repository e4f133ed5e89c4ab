//! Where a block goes, worked out in the simplest way: on a string of roles.

use interleaf_assemble::PlacementRule;

/// The position of the context block among the messages after the system head,
/// given as letters u, a and t, whose tool blocks are whole. None for a custom rule.
pub(crate) fn position(rule: &PlacementRule, letters: &str) -> Option<usize> {
    let wanted = match rule {
        PlacementRule::AfterToolResult(n) => match nth_last(letters, 't', *n) {
            Some(at) => at + 1,
            None => after_last_user(letters),
        },
        PlacementRule::BeforeAssistant(n) => match nth_last(letters, 'a', *n) {
            Some(at) => at,
            None => after_last_user(letters),
        },
        PlacementRule::FromEnd(n) if *n > letters.len() => letters.len(),
        PlacementRule::FromEnd(n) => letters.len() - n,
        PlacementRule::AfterSystem => 0,
        PlacementRule::Tail => letters.strip_suffix('u').unwrap_or(letters).len(),
        _ => return None,
    };
    // In front of a result is inside its block; the block begins at the assistant.
    let mut safe = wanted;
    while letters[safe..].starts_with('t') {
        safe -= 1;
    }
    Some(safe)
}

fn nth_last(letters: &str, letter: char, n: usize) -> Option<usize> {
    let mut seen = 0;
    for at in (0..letters.len()).rev() {
        if letters[at..].starts_with(letter) {
            seen += 1;
            if seen == n {
                return Some(at);
            }
        }
    }
    None
}

fn after_last_user(letters: &str) -> usize {
    nth_last(letters, 'u', 1).map_or(letters.len(), |at| at + 1)
}
