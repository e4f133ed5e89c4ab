//! Questions to a conversation.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use interleaf_model::{CallId, Message, Role, Timestamp, ToolName};

use crate::role_index::RoleIndex;
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
    /// Said before this time. Messages without a time never match.
    pub until: Option<Timestamp>,
    /// Carrying every one of these marks.
    pub marks: Vec<String>,
    /// Calling one of these tools, or a result of such a call; any, if the list is empty.
    pub tools: Vec<ToolName>,
    /// Whose text contains one of these; any, if the list is empty.
    pub contains: Vec<String>,
    /// In these turns of the scope. A turn is a user message and all that follows, up to
    /// the next; what comes before the first user message is in none.
    pub turns: Pick,
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

    /// Of these, only calls of this tool and their results.
    pub fn tool(mut self, name: impl Into<ToolName>) -> Self {
        self.tools.push(name.into());
        self
    }

    /// Of these, only those whose text contains this.
    pub fn containing(mut self, text: &str) -> Self {
        self.contains.push(text.to_owned());
        self
    }

    /// Of these, only what was said in these turns.
    pub fn turns(self, turns: Pick) -> Self {
        Self { turns, ..self }
    }

    /// The same question to the whole log.
    pub fn in_log(self) -> Self {
        Self { scope: Scope::Log, ..self }
    }

    /// Whether only positions and roles are asked for, so that nothing has to be
    /// looked at one by one.
    fn is_positional(&self) -> bool {
        self.since.is_none()
            && self.until.is_none()
            && self.marks.is_empty()
            && self.tools.is_empty()
            && self.contains.is_empty()
    }
}

/// Answers a query.
pub(crate) fn answer<'a>(
    conversation: &'a Conversation,
    query: &Query,
) -> Result<Vec<Hit<'a>>, Error> {
    check_range("range", query.pick)?;
    check_range("turns", query.turns)?;
    let every = Role::ALL;
    let roles = if query.roles.is_empty() { &every[..] } else { &query.roles };
    let places = match query.scope {
        Scope::View => conversation.view.roles(),
        Scope::Log => &conversation.log_roles,
    };
    let hit = |place: u32| conversation.hit(query.scope, place);
    let within = turn_places(places, query.turns)?;
    if query.is_positional() {
        // A role may be named twice, so their number says nothing.
        if every.iter().all(|role| roles.contains(role)) {
            let count = within.len();
            return pick(within, |range, n| range.start += n as u32, count, query, hit);
        }
        let merged = places.merged(roles).between(&within);
        let count = merged.len();
        return pick(merged, |merged, n| merged.skip_front(n), count, query, hit);
    }
    let calls = calls_of(conversation, &query.tools);
    if let Some(places) = marked_places(conversation, query) {
        let carries_all =
            |hit: &Hit<'_>| query.marks.iter().all(|mark| conversation.marks.has(mark, hit.index));
        let places = places.into_iter().filter(|place| within.contains(place));
        let hits = places.filter_map(hit).filter(carries_all);
        return pick_matching(hits, query, roles, &calls);
    }
    let hits = places.merged(roles).between(&within).filter_map(hit);
    pick_matching(hits, query, roles, &calls)
}

/// The places of these turns.
fn turn_places(places: &RoleIndex, turns: Pick) -> Result<Range<u32>, Error> {
    let count = places.count(Role::User);
    let end = places.len();
    let start_of = |turn: usize| places.nth(Role::User, turn).unwrap_or(end);
    Ok(match turns {
        Pick::All => 0..end,
        Pick::First(n) => start_of(0)..start_of(n),
        Pick::Last(n) => start_of(count.saturating_sub(n))..end,
        Pick::Range(start, stop) => {
            if start > count {
                let rule = format!("they start at {start}, but there are only {count}");
                return Err(Error::out_of_range("turns", rule));
            }
            start_of(start)..start_of(stop)
        }
    })
}

/// The ids of the calls of these tools.
fn calls_of<'a>(conversation: &'a Conversation, tools: &[ToolName]) -> HashSet<&'a CallId> {
    if tools.is_empty() {
        return HashSet::new();
    }
    let assistant = conversation.log_roles.merged(&[Role::Assistant]);
    let messages = assistant.filter_map(|index| conversation.message(index));
    let calls = messages.flat_map(|message| message.calls());
    calls.filter(|call| tools.contains(&call.name)).map(|call| &call.id).collect()
}

/// Whether a message calls one of these tools, or is the result of such a call. A result
/// that does not name its tool is told by the id of its call.
fn concerns(message: &Message, tools: &[ToolName], calls: &HashSet<&CallId>) -> bool {
    match message.as_result() {
        None => message.calls().any(|call| tools.contains(&call.name)),
        Some(result) => match &result.name {
            Some(name) => tools.contains(name),
            None => calls.contains(&result.call),
        },
    }
}

/// Whether the text of a message contains one of these.
pub(crate) fn says_one_of(message: &Message, texts: &[String]) -> bool {
    message.texts().any(|text| texts.iter().any(|wanted| text.contains(wanted.as_str())))
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
    calls: &HashSet<&CallId>,
) -> Result<Vec<Hit<'a>>, Error> {
    let of_tool =
        |message: &Message| query.tools.is_empty() || concerns(message, &query.tools, calls);
    let matches = |hit: &Hit<'_>| {
        let timed = query.since.is_some() || query.until.is_some();
        let in_time = hit.message.at.map_or(!timed, |at| {
            query.since.is_none_or(|since| at >= since)
                && query.until.is_none_or(|until| at < until)
        });
        let says = || query.contains.is_empty() || says_one_of(hit.message, &query.contains);
        in_time && roles.contains(&hit.message.role()) && of_tool(hit.message) && says()
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

fn check_range(field: &str, pick: Pick) -> Result<(), Error> {
    match pick {
        Pick::Range(start, end) if start > end => {
            Err(Error::settings(field, format!("it starts at {start}, after its end {end}")))
        }
        Pick::All | Pick::First(_) | Pick::Last(_) | Pick::Range(..) => Ok(()),
    }
}

fn check_start(start: usize, count: usize) -> Result<(), Error> {
    if start > count {
        let rule = format!("it starts at {start}, but only {count} match");
        return Err(Error::out_of_range("range", rule));
    }
    Ok(())
}

fn reversed<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.reverse();
    items
}
