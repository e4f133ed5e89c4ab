//! Bytes of bookkeeping per message, text aside, as the allocator counts them.
//!
//! `cargo bench -p interleaf-conversation --bench memory`

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::sync::Arc;

use interleaf_conversation::{Conversation, Insert, Operation, Truncate};
use interleaf_model::{AssistantPart, ContentPart, Message, SystemPart};
use interleaf_samples::generate::long_session;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const SIZES: [usize; 2] = [100_000, 1_000_000];

/// Messages that are made; longer conversations say them again, so that what is
/// measured is the conversation's own.
const N_DISTINCT: usize = 1_000;

/// How many operations share the cost that is shown for one.
const N_OPERATIONS: usize = 100;

/// Appended to each fork: as many as surely fill a leaf of the trees.
const N_APPENDED: usize = 100;

fn main() {
    println!("bytes of bookkeeping, text aside\n");
    println!("{:<48}{:>14}{:>14}", "", SIZES[0], SIZES[1]);
    let measured = SIZES.map(|size| measure(&long_session(N_DISTINCT, size + N_APPENDED), size));
    for (row, name) in ROWS.iter().enumerate() {
        println!("{name:<48}{:>14.1}{:>14.1}", measured[0][row], measured[1][row]);
    }
    println!("\nthe envelope of a message, made once and shared by all forks\n");
    for (name, bytes) in [
        ("message (id, time, origin, role, extra)", size_of::<Message>()),
        ("reference counts of its allocation", 2 * size_of::<usize>()),
        ("each part: of a system message", size_of::<SystemPart>()),
        ("each part: of a user message or tool result", size_of::<ContentPart>()),
        ("each part: of an assistant message", size_of::<AssistantPart>()),
    ] {
        println!("{name:<48}{bytes:>14}");
    }
}

const ROWS: [&str; 5] = [
    "per message: log, view, role indexes",
    "per message: the same, after an insert at 0",
    "per fork",
    "per fork with 100 messages appended",
    "per operation that hides the first message",
];

/// The figures of the rows.
fn measure(messages: &[Arc<Message>], n_messages: usize) -> [f64; 5] {
    let mut conversation = Conversation::new();
    let plain = grown(|| {
        for message in &messages[..n_messages] {
            conversation.append(message.clone()).unwrap();
        }
    });
    let mut forks = Vec::with_capacity(2 * N_OPERATIONS);
    let fork = grown(|| forks.extend((0..N_OPERATIONS).map(|_| conversation.fork())));
    let fork = fork + size_of::<Conversation>() * N_OPERATIONS;
    let appended = grown(|| {
        for fork in &mut forks {
            for message in &messages[n_messages..] {
                fork.append(message.clone()).unwrap();
            }
        }
    });
    drop(forks);
    let mut reordered = conversation.fork();
    let insert =
        Insert { position: 0, messages: vec![Message::user("first")], split_blocks: false };
    let reorder = grown(|| {
        reordered.operate(Operation::Insert(insert)).unwrap();
    });
    drop(reordered);
    let remove = || {
        Operation::Truncate(Truncate {
            remove_first: Some(1),
            keep_system: Some(false),
            split_blocks: true,
            ..Truncate::default()
        })
    };
    let removed = grown(|| {
        for _ in 0..N_OPERATIONS {
            conversation.operate(remove()).unwrap();
        }
    });
    let per = |bytes: usize, n: usize| bytes as f64 / n as f64;
    [
        per(plain, n_messages),
        per(plain + reorder, n_messages),
        per(fork, N_OPERATIONS),
        per(fork + appended, N_OPERATIONS),
        per(removed, N_OPERATIONS),
    ]
}

/// By how much the memory in use grows.
fn grown(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    work();
    ALLOCATOR.current_usage().saturating_sub(before)
}
