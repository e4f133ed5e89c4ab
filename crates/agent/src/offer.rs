//! Which tools are offered to the model: all, as far as the API takes them.
//!
//! The agent's own never give way. Of toolboxes, what the session's requests had comes first, so
//! that the prompt begins the same; then the others, in the order in which they were first seen.

use std::collections::BTreeMap;

use interleaf::Target;
use interleaf::model::Tool;

/// The tools of an agent, as they may be offered.
pub(crate) struct Offer<'a> {
    /// The agent's own.
    pub(crate) own: &'a [Tool],
    /// Those of toolboxes.
    pub(crate) boxed: &'a [Tool],
    /// The toolbox of each of them.
    pub(crate) boxes: &'a [usize],
    /// Those that the session's requests had.
    pub(crate) had: &'a [Tool],
}

impl Offer<'_> {
    /// The tools that are offered, and how many of each toolbox are not.
    pub(crate) fn within(&self, most: Option<usize>) -> (Vec<Tool>, BTreeMap<usize, usize>) {
        let Self { own, boxed, boxes, had } = *self;
        let is_in = |tools: &[Tool], tool: &Tool| tools.iter().any(|it| it.name == tool.name);
        // One that was gone may have come back.
        let gone: Vec<&Tool> =
            had.iter().filter(|tool| !is_in(own, tool) && !is_in(boxed, tool)).collect();
        let n_all = own.len() + boxed.len() + gone.len();
        let mut room = most.unwrap_or(n_all).saturating_sub(own.len());
        let had_before: Vec<bool> = match room < n_all - own.len() {
            true => boxed.iter().map(|tool| is_in(had, tool)).collect(),
            false => vec![true; boxed.len()],
        };
        let mut take = |is_wanted: bool| {
            let is_taken = is_wanted && room > 0;
            room -= usize::from(is_taken);
            is_taken
        };
        let mut is_offered: Vec<bool> = had_before.iter().map(|&was_had| take(was_had)).collect();
        let gone: Vec<&Tool> = gone.into_iter().filter(|_| take(true)).collect();
        for (is_offered, was_had) in is_offered.iter_mut().zip(&had_before) {
            *is_offered |= take(!was_had);
        }
        let mut left_out = BTreeMap::new();
        for (toolbox, _) in boxes.iter().zip(&is_offered).filter(|(_, is_offered)| !**is_offered) {
            *left_out.entry(*toolbox).or_default() += 1;
        }
        let offered = boxed.iter().zip(&is_offered).filter(|(_, is_offered)| **is_offered);
        let offered = own.iter().chain(offered.map(|(tool, _)| tool)).chain(gone);
        (offered.cloned().collect(), left_out)
    }
}

/// The most tools that all of these take.
pub(crate) fn most_tools(targets: &[Target]) -> Option<usize> {
    targets.iter().filter_map(Target::most_tools).min()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use interleaf::model::Tool;
    use serde_json::json;

    use super::Offer;

    fn tools(names: &str) -> Vec<Tool> {
        names.split_whitespace().map(|name| Tool::new(name, "", json!({}))).collect()
    }

    fn offered(had: &str, most: Option<usize>) -> (String, BTreeMap<usize, usize>) {
        let (own, boxed, had) = (tools("a b"), tools("c d e f"), tools(had));
        let offer = Offer { own: &own, boxed: &boxed, boxes: &[0, 0, 1, 1], had: &had };
        let (offered, left_out) = offer.within(most);
        let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
        (names.join(" "), left_out)
    }

    #[test]
    fn what_an_api_does_not_take_is_left_out_from_the_end() {
        assert_eq!(offered("", None).0, "a b c d e f");
        assert_eq!(offered("", Some(6)).0, "a b c d e f");
        assert_eq!(offered("", Some(3)), ("a b c".to_owned(), [(0, 1), (1, 2)].into()));
    }

    #[test]
    fn own_tools_never_give_way() {
        assert_eq!(offered("c", Some(1)), ("a b".to_owned(), [(0, 2), (1, 2)].into()));
    }

    #[test]
    fn what_was_sent_before_stays_and_comes_first() {
        assert_eq!(offered("a b f x", None).0, "a b c d e f x");
        assert_eq!(offered("a b f x", Some(5)), ("a b c f x".to_owned(), [(0, 1), (1, 1)].into()));
    }
}
