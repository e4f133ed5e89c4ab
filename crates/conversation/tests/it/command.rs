//! What may be done to a conversation, drawn at random.
//!
//! Places are drawn as fractions and made whole when their time comes, so that most
//! lie inside the conversation as it is then, and a few just outside.

use interleaf_conversation::{
    Clear, Filter, Insert, Operation, Others, Pick, Query, Replace, Scope, Span, Truncate,
};
use interleaf_model::{
    AgentName, Arguments, AssistantPart, Body, CallId, Extra, Message, MessageId, Parts, Role,
    Status, Text, Timestamp, ToolCall, ToolName, Usage,
};
use interleaf_samples::strategy;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::oracle::Oracle;

/// A place in something whose length is not known yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u16);

impl Place {
    /// Any number up to the length and one more.
    pub(crate) fn near(self, len: usize) -> usize {
        usize::from(self.0) * (len + 2) / (usize::from(u16::MAX) + 1)
    }
}

/// One thing to do.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    Append(Message),
    Truncate(Cut),
    Insert { position: Place, messages: Vec<Message>, split_blocks: bool },
    Replace { index: Place, message: Message, split_blocks: bool },
    Clear { keep_system: bool },
    Filter(Filter),
    Mark(Place, &'static str),
    Unmark(Place, &'static str),
    RollBack(Place),
    Reset,
    Fork { goes_on: Branch },
    BeginRequest(Option<AgentName>),
    NoteUsage(Usage, Option<AgentName>),
}

/// Which of two conversations the next commands go to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Branch {
    Original,
    Fork,
}

/// A truncation whose numbers are places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut {
    keep_first: Option<Place>,
    keep_last: Option<Place>,
    remove_first: Option<Place>,
    remove_last: Option<Place>,
    range: Option<(Place, Place)>,
    role: Option<Role>,
    others: Option<Others>,
    keep_system: Option<bool>,
    split_blocks: bool,
}

/// A question whose range is made of places.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    query: Query,
    places: Option<(Place, Place)>,
}

impl Command {
    /// The operation, if it is one, for the conversation as it is now.
    pub(crate) fn operation(&self, oracle: &Oracle) -> Option<Operation> {
        let visible = oracle.view.len();
        Some(match self.clone() {
            Self::Truncate(cut) => Operation::Truncate(cut.truncate(oracle)),
            Self::Insert { position, messages, split_blocks } => {
                let position = position.near(visible);
                Operation::Insert(Insert { position, messages, split_blocks })
            }
            Self::Replace { index, message, split_blocks } => {
                let index = index.near(visible);
                Operation::Replace(Replace { index, message, split_blocks })
            }
            Self::Clear { keep_system } => Operation::Clear(Clear { keep_system }),
            Self::Filter(filter) => Operation::Filter(filter),
            _ => return None,
        })
    }
}

impl Cut {
    fn truncate(&self, oracle: &Oracle) -> Truncate {
        let chosen = |message: &&Message| self.role.is_none_or(|role| message.role() == role);
        let count = oracle.visible().filter(chosen).count();
        let number = |place: Option<Place>| place.map(|place| place.near(count));
        let range = self.range.map(|(a, b)| Span { start: a.near(count), end: b.near(count) });
        Truncate {
            keep_first: number(self.keep_first),
            keep_last: number(self.keep_last),
            remove_first: number(self.remove_first),
            remove_last: number(self.remove_last),
            range,
            role: self.role,
            others: self.others,
            keep_system: self.keep_system,
            split_blocks: self.split_blocks,
        }
    }
}

impl Question {
    /// The query, for the conversation as it is now.
    pub(crate) fn query(&self, oracle: &Oracle) -> Query {
        let mut query = self.query.clone();
        if let Some((start, end)) = self.places {
            query.pick = Pick::All;
            let count = oracle.query(&query).map_or(0, |found| found.len());
            query.pick = Pick::Range(start.near(count), end.near(count));
        }
        query
    }
}

pub(crate) fn place() -> impl Strategy<Value = Place> {
    any::<u16>().prop_map(Place)
}

pub(crate) fn command() -> impl Strategy<Value = Command> {
    let split_blocks = || prop::bool::weighted(0.2);
    let mark = || select(&["pinned", "pinned", "draft", "todo", " "][..]);
    prop_oneof![
        8 => message().prop_map(Command::Append),
        5 => cut().prop_map(Command::Truncate),
        3 => (place(), vec(message(), 0..4), split_blocks()).prop_map(
            |(position, messages, split_blocks)| Command::Insert { position, messages, split_blocks }
        ),
        3 => (place(), message(), split_blocks()).prop_map(
            |(index, message, split_blocks)| Command::Replace { index, message, split_blocks }
        ),
        1 => any::<bool>().prop_map(|keep_system| Command::Clear { keep_system }),
        3 => filter().prop_map(Command::Filter),
        4 => (place(), mark()).prop_map(|(index, mark)| Command::Mark(index, mark)),
        1 => (place(), mark()).prop_map(|(index, mark)| Command::Unmark(index, mark)),
        4 => place().prop_map(Command::RollBack),
        1 => Just(Command::Reset),
        2 => select(&[Branch::Original, Branch::Fork][..])
            .prop_map(|goes_on| Command::Fork { goes_on }),
        2 => agent().prop_map(Command::BeginRequest),
        3 => (usage(), agent()).prop_map(|(usage, agent)| Command::NoteUsage(usage, agent)),
    ]
}

/// The main agent, or a sub-agent.
fn agent() -> impl Strategy<Value = Option<AgentName>> {
    option::weighted(0.3, select(&["scout", "tester"][..]).prop_map(AgentName::new))
}

/// Messages with which a conversation begins.
pub(crate) fn history() -> impl Strategy<Value = Vec<Message>> {
    prop_oneof![
        2 => strategy::conversation(0..30),
        2 => strategy::broken_conversation(0..30),
        2 => vec(message(), 0..20),
    ]
}

/// Mostly small messages that get into each other's way: few call ids, few words.
pub(crate) fn message() -> impl Strategy<Value = Message> {
    let text = || select(&["", " \n", "red", "green", "red green", "blue"][..]);
    let call = || {
        select(&["c1", "c2", "c3", "call_1"][..])
            .prop_filter_map("a call id", |id| CallId::new(id).ok())
    };
    let calling = (text(), vec(call(), 0..4)).prop_map(|(text, calls)| assistant(text, calls));
    let result = (call(), text()).prop_map(|(call, text)| Message::tool(call, Status::Ok, text));
    let small = prop_oneof![
        1 => text().prop_map(Message::system),
        2 => text().prop_map(Message::user),
        3 => calling,
        3 => result,
    ];
    let small = (small, option::of(instant()), select(&["", "", "", "m2", "m9", "named"][..]))
        .prop_map(|(message, at, id)| Message { at, id: MessageId::new(id), ..message });
    prop_oneof![9 => small, 1 => strategy::message()]
}

/// An assistant message of a text and calls.
pub(crate) fn assistant(text: &str, calls: Vec<CallId>) -> Message {
    let call = |id| {
        let (name, arguments) = (ToolName::new("ls"), Arguments::none());
        AssistantPart::Call(ToolCall { id, name, arguments, extra: Extra::NONE })
    };
    let parts = std::iter::once(AssistantPart::Text(Text::new(text)));
    let parts = Parts::new(parts.chain(calls.into_iter().map(call)).collect());
    parts.map_or_else(|_| Message::assistant(text), |parts| Body::Assistant(parts).into())
}

pub(crate) fn question() -> impl Strategy<Value = Question> {
    let scope = select(&[Scope::View, Scope::View, Scope::Log][..]);
    let marks = vec(select(&["pinned", "draft", "todo", "unknown"][..]), 0..3);
    let marks = prop_oneof![2 => Just(vec![]), 1 => marks];
    let pick = prop_oneof![
        1 => Just(Pick::All),
        2 => (0..9_usize).prop_map(Pick::First),
        2 => (0..9_usize).prop_map(Pick::Last),
        1 => Just(Pick::Last(usize::MAX)),
        1 => Just(Pick::Range(0, usize::MAX)),
    ];
    let time = || option::weighted(0.25, instant());
    let places = option::weighted(0.4, (place(), place()));
    let turns = prop_oneof![
        5 => Just(Pick::All),
        1 => (0..4_usize).prop_map(Pick::First),
        1 => (0..4_usize).prop_map(Pick::Last),
        1 => (0..4_usize, 0..9_usize).prop_map(|(start, end)| Pick::Range(start, end)),
    ];
    let tools = option::weighted(0.3, select(&["ls", "cat", "read_file", "none"][..]));
    let contains =
        prop_oneof![3 => Just(vec![]), 1 => vec(select(&["red", "e", "none"][..]), 1..3)];
    let narrowed = (turns, tools, contains);
    (scope, vec(role(), 0..5), time(), time(), marks, pick, places, narrowed).prop_map(
        |(scope, roles, since, until, marks, pick, places, (turns, tools, contains))| Question {
            query: Query {
                scope,
                roles,
                since,
                until,
                marks: marks.into_iter().map(str::to_owned).collect(),
                tools: tools.into_iter().map(ToolName::new).collect(),
                contains: contains.into_iter().map(str::to_owned).collect(),
                turns,
                pick,
            },
            places,
        },
    )
}

fn cut() -> impl Strategy<Value = Cut> {
    let one = |set: fn(&mut Cut, Place)| {
        place().prop_map(move |place| {
            let mut cut = Cut::default();
            set(&mut cut, place);
            cut
        })
    };
    let numbers = prop_oneof![
        3 => one(|cut, place| cut.keep_first = Some(place)),
        4 => one(|cut, place| cut.keep_last = Some(place)),
        3 => one(|cut, place| cut.remove_first = Some(place)),
        3 => one(|cut, place| cut.remove_last = Some(place)),
        3 => (place(), place()).prop_map(|range| Cut { range: Some(range), ..Cut::default() }),
        2 => (place(), place()).prop_map(|(first, last)| Cut {
            keep_first: Some(first),
            keep_last: Some(last),
            ..Cut::default()
        }),
        2 => (place(), place()).prop_map(|(first, last)| Cut {
            remove_first: Some(first),
            remove_last: Some(last),
            ..Cut::default()
        }),
        2 => any_numbers(),
    ];
    let others = option::weighted(0.6, select(&[Others::Hide, Others::Keep][..]));
    let scope = prop_oneof![
        10 => Just((None, None)),
        10 => (role().prop_map(Some), others.clone()),
        1 => others.prop_map(|others| (None, others)),
    ];
    let keep_system = option::weighted(0.3, any::<bool>());
    (numbers, scope, keep_system, prop::bool::weighted(0.2)).prop_map(
        |(cut, (role, others), keep_system, split_blocks)| Cut {
            role,
            others,
            keep_system,
            split_blocks,
            ..cut
        },
    )
}

/// Settings of which few go together.
fn any_numbers() -> impl Strategy<Value = Cut> {
    let number = || option::weighted(0.3, place());
    let range = option::weighted(0.2, (place(), place()));
    (number(), number(), number(), number(), range).prop_map(
        |(keep_first, keep_last, remove_first, remove_last, range)| Cut {
            keep_first,
            keep_last,
            remove_first,
            remove_last,
            range,
            ..Cut::default()
        },
    )
}

fn filter() -> impl Strategy<Value = Filter> {
    let texts = || {
        let text = select(&["red", "green", "blue", "e", "red green"][..]).prop_map(str::to_owned);
        let odd = prop_oneof![Just(vec![]), Just(vec![String::new()])];
        option::weighted(0.4, prop_oneof![8 => vec(text, 1..3), 1 => odd])
    };
    let roles = option::weighted(0.6, vec(role(), 0..5));
    (roles, texts(), texts(), prop::bool::weighted(0.2)).prop_map(
        |(roles, contains, excludes, split_blocks)| Filter {
            roles,
            contains,
            excludes,
            split_blocks,
        },
    )
}

fn role() -> impl Strategy<Value = Role> {
    select(&Role::ALL[..])
}

/// Around the start of the samples' clock, so that it splits their messages.
fn instant() -> impl Strategy<Value = Timestamp> {
    (0..200_i64).prop_filter_map("an instant", |seconds| {
        Timestamp::from_microseconds(1_767_225_600_000_000 + seconds * 1_000_000).ok()
    })
}

fn usage() -> impl Strategy<Value = Usage> {
    let count = || prop_oneof![1 => Just(0), 9 => 0_u64..10_000];
    (count(), count(), count(), count(), count()).prop_map(
        |(prompt, cache_read, cache_write, completion, reasoning)| Usage {
            prompt,
            cache_read,
            cache_write,
            cache_write_hour: cache_write / 3,
            completion,
            reasoning,
        },
    )
}
