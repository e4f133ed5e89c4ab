//! Instructions per operation, counted by valgrind: the same on a busy machine.
//!
//! Needs valgrind and `cargo install gungraun-runner` of gungraun's version, then
//! `cargo bench -p interleaf-conversation --features instruction-counts --bench instructions`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]
#![expect(missing_docs, reason = "the macros make public items without docs")]

use std::hint::black_box;
use std::sync::Arc;

use gungraun::prelude::*;
use interleaf_conversation::{Conversation, Query, Scope};
use interleaf_model::{Message, Role};
use interleaf_samples::generate::long_session;

/// A conversation and the message to be appended to it.
fn session(n_messages: usize) -> (Conversation, Arc<Message>) {
    let mut conversation = Conversation::new();
    let mut messages = long_session(1_000, n_messages + 1);
    let next = messages.split_off(n_messages).remove(0);
    for message in messages {
        conversation.append(message).unwrap();
    }
    (conversation, next)
}

#[library_benchmark(setup = session)]
#[benches::size(1_000, 100_000)]
fn append((mut conversation, message): (Conversation, Arc<Message>)) -> Conversation {
    conversation.append(black_box(message)).unwrap();
    conversation
}

#[library_benchmark(setup = session)]
#[benches::size(1_000, 100_000)]
fn last_ten_by_role(session: (Conversation, Arc<Message>)) -> (Conversation, Arc<Message>) {
    black_box(session.0.query(&Query::role(black_box(Role::User)).last(10)).unwrap());
    session
}

#[library_benchmark(setup = session)]
#[benches::size(1_000, 100_000)]
fn count_by_role(session: (Conversation, Arc<Message>)) -> (Conversation, Arc<Message>) {
    black_box(session.0.count(Scope::View, black_box(Role::User)));
    session
}

#[library_benchmark(setup = session)]
#[benches::size(1_000, 100_000)]
fn fork(session: (Conversation, Arc<Message>)) -> (Conversation, (Conversation, Arc<Message>)) {
    (black_box(session.0.fork()), session)
}

library_benchmark_group!(
    name = conversation,
    benchmarks = [append, last_ten_by_role, count_by_role, fork]
);
main!(library_benchmark_groups = conversation);
