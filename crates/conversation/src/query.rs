//! Questions to a conversation.

use std::sync::Arc;

use interleaf_model::{Message, Role, Timestamp};

use crate::{Conversation, Error};

/// A question: which messages, and how many of them.
///
/// Every criterion that is set must hold; `pick` then takes from what is left, in
/// conversation order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The view, or everything that was ever said.
    pub scope: Scope,
    /// One of these roles; all, if the list is empty.
    pub roles: Vec<Role>,
    /// Said at this instant or later. Messages without a time never match.
    pub since: Option<Timestamp>,
    /// Said before this instant. Messages without a time never match.
    pub until: Option<Timestamp>,
    /// Carrying every one of these marks.
    pub marks: Vec<String>,
    /// How many.
    pub pick: Pick,
}

/// Where a query looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// What is visible.
    #[default]
    View,
    /// All that was ever said.
    Log,
}

/// How many of the matching messages are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    /// All.
    #[default]
    All,
    /// The first n.
    First(usize),
    /// The last n.
    Last(usize),
    /// From the first number up to, but without, the second; counted from 0.
    Range(usize, usize),
}

/// A message that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<'a> {
    /// Its place in the log, for ever.
    pub index: u32,
    /// Its place in the view, when that was searched.
    pub position: Option<usize>,
    /// The message.
    pub message: &'a Arc<Message>,
}

impl Query {
    /// Every visible message.
    pub fn all() -> Self {
        Self::default()
    }

    /// Visible messages of one role.
    pub fn role(role: Role) -> Self {
        Self { roles: vec![role], ..Self::default() }
    }

    /// Visible messages of several roles.
    pub fn roles(roles: impl IntoIterator<Item = Role>) -> Self {
        Self { roles: roles.into_iter().collect(), ..Self::default() }
    }

    /// Of these, the first n.
    pub fn first(self, n: usize) -> Self {
        Self { pick: Pick::First(n), ..self }
    }

    /// Of these, the last n.
    pub fn last(self, n: usize) -> Self {
        Self { pick: Pick::Last(n), ..self }
    }

    /// Of these, from `start` up to, but without, `end`.
    pub fn range(self, start: usize, end: usize) -> Self {
        Self { pick: Pick::Range(start, end), ..self }
    }

    /// Of these, only those that carry the mark.
    pub fn marked(mut self, mark: &str) -> Self {
        self.marks.push(mark.to_owned());
        self
    }

    /// The same question to the whole log.
    pub fn in_log(self) -> Self {
        Self { scope: Scope::Log, ..self }
    }

    /// Whether only positions and roles are asked for, so that nothing has to be
    /// looked at one by one.
    fn is_positional(&self) -> bool {
        self.since.is_none() && self.until.is_none() && self.marks.is_empty()
    }
}

/// Answers a query.
pub(crate) fn answer<'a>(
    conversation: &'a Conversation,
    query: &Query,
) -> Result<Vec<Hit<'a>>, Error> {
    if let Pick::Range(start, end) = query.pick
        && start > end
    {
        return Err(Error::settings(
            "range",
            format!("it starts at {start}, behind its end {end}"),
        ));
    }
    let every = Role::ALL;
    let roles = if query.roles.is_empty() { &every[..] } else { &query.roles };
    let places = match query.scope {
        Scope::View => conversation.view.roles(),
        Scope::Log => &conversation.log_roles,
    };
    let hit = |place: u32| conversation.hit(query.scope, place);
    if query.is_positional() {
        let count = roles_count(conversation, query.scope, roles);
        // A role may be named twice, so their number says nothing.
        if every.iter().all(|role| roles.contains(role)) {
            return pick(0..count as u32, |range, n| range.start += n as u32, count, query, hit);
        }
        let merged = places.merged(roles);
        return pick(merged, |merged, n| merged.skip_front(n), count, query, hit);
    }
    if let Some(places) = marked_places(conversation, query) {
        let carries_all =
            |hit: &Hit<'_>| query.marks.iter().all(|mark| conversation.marks.has(mark, hit.index));
        let hits = places.into_iter().filter_map(hit).filter(carries_all);
        return pick_matching(hits, query, roles);
    }
    pick_matching(places.merged(roles).filter_map(hit), query, roles)
}

fn roles_count(conversation: &Conversation, scope: Scope, roles: &[Role]) -> usize {
    let counted = Role::ALL.into_iter().filter(|role| roles.contains(role));
    counted.map(|role| conversation.count(scope, role)).sum()
}

/// The places that carry the rarest of the marks asked for, in the order of the
/// scope; `None` if no mark is asked for.
fn marked_places(conversation: &Conversation, query: &Query) -> Option<Vec<u32>> {
    let sets = query.marks.iter().map(|mark| conversation.marks.with(mark));
    let rarest = sets.min_by_key(|set| set.map_or(0, |set| set.len()))?;
    let indices = rarest.into_iter().flat_map(|set| set.iter().copied());
    let mut places: Vec<u32> = match query.scope {
        Scope::Log => return Some(indices.collect()),
        Scope::View => {
            let position = |index| conversation.view.position_of(index);
            indices.filter_map(position).map(|position| position as u32).collect()
        }
    };
    places.sort_unstable();
    Some(places)
}

/// Picks from places of which all match.
fn pick<'a, I: DoubleEndedIterator<Item = u32>>(
    mut places: I,
    skip: impl Fn(&mut I, usize),
    count: usize,
    query: &Query,
    hit: impl Fn(u32) -> Option<Hit<'a>>,
) -> Result<Vec<Hit<'a>>, Error> {
    Ok(match query.pick {
        Pick::All => places.filter_map(hit).collect(),
        Pick::First(n) => places.take(n).filter_map(hit).collect(),
        Pick::Last(n) => reversed(places.rev().take(n).filter_map(hit)),
        Pick::Range(start, end) => {
            check_start(start, count)?;
            skip(&mut places, start);
            places.take(end - start).filter_map(hit).collect()
        }
    })
}

/// Picks from messages that must be looked at one by one.
fn pick_matching<'a>(
    hits: impl DoubleEndedIterator<Item = Hit<'a>>,
    query: &Query,
    roles: &[Role],
) -> Result<Vec<Hit<'a>>, Error> {
    let matches = |hit: &Hit<'_>| {
        let timed = query.since.is_some() || query.until.is_some();
        let in_time = hit.message.at.map_or(!timed, |at| {
            query.since.is_none_or(|since| at >= since)
                && query.until.is_none_or(|until| at < until)
        });
        in_time && roles.contains(&hit.message.role())
    };
    let hits = hits.filter(matches);
    Ok(match query.pick {
        Pick::All => hits.collect(),
        Pick::First(n) => hits.take(n).collect(),
        Pick::Last(n) => reversed(hits.rev().take(n)),
        Pick::Range(start, end) => {
            let mut hits: Vec<_> = hits.take(end).collect();
            check_start(start, hits.len())?;
            hits.split_off(start)
        }
    })
}

fn check_start(start: usize, count: usize) -> Result<(), Error> {
    if start > count {
        let rule = format!("it starts at {start}, but only {count} messages match");
        return Err(Error::out_of_range("range", rule));
    }
    Ok(())
}

fn reversed<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.reverse();
    items
}
