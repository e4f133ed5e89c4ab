//! What holds where the specialists meet.
//!
//! - `replay`: a recorded session is played again as it was
//! - `requests`: a session's requests are those made from scratch
//! - `answers`: what a model said goes back to it in order, and is known later
//! - `agents`: sub-agents, records, rollback, and what is left after a conflict
//! - `auto`: the rule `auto` against every other rule and cache
//! - `bound`: thinking goes back only after what it was made after
//! - `compaction`: what gives way to a summary, and what it must keep
//! - `copies`: sessions on their way between stores
//! - `fence`: no text that was said passes for the engine's own
//! - `forks`: a fork begins as its session does, and finds what that has in the cache
//! - `impact`: what a request has in common with the one before, and what broke it
//! - `library_page`: the code on the library's page is the code that runs
//! - `made_calls`: calls that came without an id
//! - `objects`: no type is read from a list of its fields' values
//! - `parallel`: calls that were made side by side stay together
//! - `records`: what is kept beside the conversation, whoever writes it
//! - `remembered`: rules that go by what was shown before
//! - `repeated`: what of a request stood in the body before it
//! - `session`: a session is its events
//! - `switch`: what another model changes, and when it pays back
//! - `tool_order`: tools stay in the order in which they were first sent
//! - `unseen`: a request that was not sent, or was refused, filled no cache

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod agents;
mod answers;
mod auto;
mod bound;
mod carrier;
mod compaction;
mod compaction_facts;
mod compaction_figures;
mod compaction_policy;
mod compaction_stays;
mod copies;
mod expiry;
mod fence;
mod forks;
mod impact;
mod impact_context;
mod impact_counts;
mod impact_marks;
mod impact_window;
mod left_out;
mod library_page;
mod made_calls;
mod meanwhile;
mod objects;
mod parallel;
mod records;
mod remembered;
mod repeated;
mod replay;
mod replay_bodies;
mod replay_figures;
mod requests;
mod session;
mod switch;
mod text_tools;
mod tool_order;
mod unseen;
mod warm;

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use interleaf::Target;
use interleaf::conversation::{Conversation, PINNED};
use interleaf::model::MessageId;
use interleaf::store::{self, Store};
use interleaf::wire::Vendor;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn memory() -> Arc<dyn Store> {
    store::open("memory:").await.unwrap()
}

fn pinned(conversation: &Conversation) -> BTreeSet<MessageId> {
    let marks = conversation.marks().filter(|(mark, _)| *mark == PINNED);
    let indices = marks.flat_map(|(_, indices)| indices);
    indices.map(|index| conversation.message(index).unwrap().id.clone()).collect()
}

/// A model of a vendor, at some address and with some key. Its cache is told no name, so that
/// the requests of a session are those that another makes, or that are made from scratch.
fn target_of(vendor: &Vendor, model: &str) -> Target {
    let mut vendor = vendor.clone();
    if vendor.base_url.is_empty() {
        vendor.base_url = "https://example.org".into();
    }
    let mut target = Target::of(vendor, model).with_key("k");
    target.session_cache_key = false;
    target
}
