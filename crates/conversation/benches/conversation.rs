//! Time per operation at three sizes, against the way without an index: a plain
//! list of messages, scanned and filtered.
//!
//! Criterion keeps the time series; the table at the end has both ways and their
//! ratio from one run. `cargo bench -p interleaf-conversation --bench conversation`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use interleaf_conversation::{Conversation, Operation, Query, Scope, Truncate};
use interleaf_model::{Message, Role};
use interleaf_samples::generate::long_session;

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];

/// Messages that are made; longer conversations say them again.
const N_DISTINCT: usize = 10_000;

/// Appended to a fork: as many as surely fill a leaf of the trees, so that each size pays for
/// the same.
const N_APPENDED: usize = 100;

/// How long, and at least how often, each way of each row is measured for the table.
const TABLE_TIME: Duration = Duration::from_millis(100);
const MIN_ROUNDS: usize = 7;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(250))
        .configure_from_args();
    let sessions: Vec<Session> = SIZES.into_iter().map(Session::new).collect();
    for (name, indexed, scanned) in ROWS {
        let mut group = criterion.benchmark_group(*name);
        for session in &sessions {
            let size = session.list.len();
            let id = BenchmarkId::new("conversation", size);
            group.bench_with_input(id, session, |bencher, session| {
                bencher.iter(|| indexed(session));
            });
            let id = BenchmarkId::new("scan", size);
            group.bench_with_input(id, session, |bencher, session| {
                bencher.iter(|| scanned(session));
            });
        }
        group.finish();
    }
    criterion.final_summary();
    // Without this flag the benches are only tried, not measured.
    if std::env::args().any(|argument| argument == "--bench") {
        print_table(&sessions);
    }
}

/// The same messages in a conversation and in a list.
struct Session {
    conversation: Conversation,
    list: Vec<Arc<Message>>,
    /// The same log with only its last thousand messages visible.
    short: Conversation,
    /// What is appended.
    next: Vec<Arc<Message>>,
}

impl Session {
    fn new(n_messages: usize) -> Self {
        let mut list = long_session(N_DISTINCT, n_messages + N_APPENDED);
        let next = list.split_off(n_messages);
        let mut conversation = Conversation::new();
        for message in &list {
            conversation.append(message.clone()).unwrap();
        }
        let mut short = conversation.fork();
        short.operate(keep_last(1_000)).unwrap();
        Self { conversation, list, short, next }
    }

    fn half(&self) -> usize {
        self.list.len() / 2
    }

    fn of_role(&self, role: Role) -> Vec<&Arc<Message>> {
        self.list.iter().filter(|message| message.role() == role).collect()
    }
}

fn keep_last(n: usize) -> Operation {
    Operation::Truncate(Truncate { keep_last: Some(n), ..Truncate::default() })
}

type Way = fn(&Session);

/// Each row: what is done, with a conversation, with a list.
const ROWS: &[(&str, Way, Way)] = &[
    ("count by role", count, count_by_scan),
    ("last 10 by role", last_ten, last_ten_by_scan),
    ("last 10 of 2 roles", last_ten_of_two, last_ten_of_two_by_scan),
    ("10 in the middle", middle_ten, middle_ten_by_scan),
    ("10 in the middle, 2 roles", middle_ten_of_two, middle_ten_of_two_by_scan),
    ("build by append", build, build_by_scan),
    ("fork", fork, fork_by_scan),
    ("fork + 100 appends", fork_and_append, fork_and_append_by_scan),
    ("keep last 10", keep_ten, keep_ten_by_scan),
    ("keep last half", keep_half, keep_half_by_scan),
    ("keep last 5 of user", keep_five_of_user, keep_five_of_user_by_scan),
    ("keep 500 of 1k visible", keep_of_few, keep_of_few_by_scan),
];

fn count(session: &Session) {
    black_box(session.conversation.count(Scope::View, black_box(Role::User)));
}

fn count_by_scan(session: &Session) {
    let role = black_box(Role::User);
    black_box(session.list.iter().filter(|message| message.role() == role).count());
}

fn last_ten(session: &Session) {
    black_box(session.conversation.query(&Query::role(Role::User).last(10)).unwrap());
}

fn last_ten_by_scan(session: &Session) {
    let found = session.of_role(Role::User);
    black_box(found[found.len() - 10..].to_vec());
}

fn last_ten_of_two(session: &Session) {
    let query = Query::roles([Role::User, Role::Assistant]).last(10);
    black_box(session.conversation.query(&query).unwrap());
}

fn last_ten_of_two_by_scan(session: &Session) {
    let found = two_roles(session);
    black_box(found[found.len() - 10..].to_vec());
}

fn two_roles(session: &Session) -> Vec<&Arc<Message>> {
    let wanted = |message: &&Arc<Message>| matches!(message.role(), Role::User | Role::Assistant);
    session.list.iter().filter(wanted).collect()
}

fn middle_ten(session: &Session) {
    let start = session.conversation.count(Scope::View, Role::Assistant) / 2;
    let query = Query::role(Role::Assistant).range(start, start + 10);
    black_box(session.conversation.query(&query).unwrap());
}

fn middle_ten_by_scan(session: &Session) {
    let found = session.of_role(Role::Assistant);
    let start = found.len() / 2;
    black_box(found[start..start + 10].to_vec());
}

fn middle_ten_of_two(session: &Session) {
    let start = session.half() / 2;
    let query = Query::roles([Role::User, Role::Assistant]).range(start, start + 10);
    black_box(session.conversation.query(&query).unwrap());
}

fn middle_ten_of_two_by_scan(session: &Session) {
    let start = session.half() / 2;
    black_box(two_roles(session)[start..start + 10].to_vec());
}

/// The time is for all messages; the table divides it by their number.
fn build(session: &Session) {
    let mut conversation = Conversation::new();
    for message in &session.list {
        conversation.append(message.clone()).unwrap();
    }
    black_box(conversation);
}

fn build_by_scan(session: &Session) {
    let mut list = Vec::new();
    for message in &session.list {
        list.push(black_box(message.clone()));
    }
    black_box(list);
}

fn fork(session: &Session) {
    black_box(session.conversation.fork());
}

fn fork_by_scan(session: &Session) {
    black_box(session.list.clone());
}

fn fork_and_append(session: &Session) {
    let mut fork = session.conversation.fork();
    for message in &session.next {
        fork.append(message.clone()).unwrap();
    }
    black_box(fork);
}

fn fork_and_append_by_scan(session: &Session) {
    let mut copy = session.list.clone();
    for message in &session.next {
        copy.push(message.clone());
    }
    black_box(copy);
}

fn keep_ten(session: &Session) {
    black_box(session.conversation.fork().operate(keep_last(10)).unwrap());
}

fn keep_ten_by_scan(session: &Session) {
    keep_by_scan(session, |i| i + 10 >= session.list.len());
}

fn keep_half(session: &Session) {
    black_box(session.conversation.fork().operate(keep_last(session.half())).unwrap());
}

fn keep_half_by_scan(session: &Session) {
    keep_by_scan(session, |i| i >= session.half());
}

fn keep_five_of_user(session: &Session) {
    let truncate = Truncate { keep_last: Some(5), role: Some(Role::User), ..Truncate::default() };
    black_box(session.conversation.fork().operate(Operation::Truncate(truncate)).unwrap());
}

fn keep_five_of_user_by_scan(session: &Session) {
    let found = session.of_role(Role::User);
    black_box(found[found.len() - 5..].iter().map(|&message| message.clone()).collect::<Vec<_>>());
}

fn keep_of_few(session: &Session) {
    black_box(session.short.fork().operate(keep_last(500)).unwrap());
}

fn keep_of_few_by_scan(session: &Session) {
    keep_by_scan(session, |i| i + 500 >= session.list.len());
}

fn keep_by_scan(session: &Session, keep: impl Fn(usize) -> bool) {
    let kept = session.list.iter().enumerate().filter(|&(i, _)| keep(i));
    black_box(kept.map(|(_, message)| message.clone()).collect::<Vec<_>>());
}

fn print_table(sessions: &[Session]) {
    println!("\nns per operation, and how many times faster than scan-and-filter\n");
    print!("{:<27}", "");
    for size in SIZES {
        print!("{size:>13}{:>13}{:>10}", "scan", "ratio");
    }
    println!();
    for (name, indexed, scanned) in ROWS {
        print!("{name:<27}");
        for session in sessions {
            let share = if *name == "build by append" { session.list.len() as f64 } else { 1.0 };
            let indexed = nanoseconds(|| indexed(session)) / share;
            let scanned = nanoseconds(|| scanned(session)) / share;
            print!("{indexed:>13.1}{scanned:>13.1}{:>10.2}", scanned / indexed);
        }
        println!();
    }
    println!("\n`build by append` is the time of one append, amortised.");
}

/// The best time of one call.
fn nanoseconds(operation: impl Fn()) -> f64 {
    let begun = Instant::now();
    let mut best = f64::INFINITY;
    let mut n_calls = 1_u32;
    let mut n_rounds = 0;
    while begun.elapsed() < TABLE_TIME || n_rounds < MIN_ROUNDS {
        n_rounds += 1;
        let round = Instant::now();
        for _ in 0..n_calls {
            operation();
        }
        let elapsed = round.elapsed();
        best = best.min(elapsed.as_nanos() as f64 / f64::from(n_calls));
        if elapsed < Duration::from_millis(2) {
            n_calls *= 2;
        }
    }
    best
}
