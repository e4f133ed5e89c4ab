//! Interleaf turns a conversation into the request to send to a model API: always valid,
//! up to date, inside the budget, cheap on the prompt cache, and equivalent on every API.
//!
//! ```text
//!   Conversation ──view──▶ assemble ──▶ Prompt ──▶ wire ──▶ bytes
//!        ▲                    └─▶ Report                      │
//!        └───────── append ◀── Reply ◀── decode ◀─────────────┘
//! ```
//!
//! The specialists do not know each other; they meet here.
//!
//! | module | what it is for |
//! |---|---|
//! | [`model`] | the words: messages, transcripts, the notation, prompts |
//! | [`conversation`] | what was said, what of it is visible, and how that changes |
//! | [`assemble`] | from a view to a valid prompt, and a report of what was changed |
//! | [`wire`] | from a prompt to the body of five APIs, and from their answers back |
//! | [`cache`] | what a vendor's prompt cache makes of requests |
//! | [`plan`] | arguments for the steps of a plan |
//! | [`store`] | sessions that last: memory, SQLite, PostgreSQL |
//! | [`Session`] | a conversation that a store keeps; it makes its requests and takes its answers |
//! | [`read`] | conversations, requests, tools, summaries and answers, whatever their form |
//! | [`neutral`] | a request in no API's form, and back |
//! | [`chat_form`], [`reply_form`] | a reply as a chat message, and as JSON of our own |
//! | [`ask`] | the request of a plan's step, on its way to a model |
//! | [`copy`] | sessions from store to store, or as JSON lines |
//!
//! An agent is a loop of two calls: [`Session::request`] makes the next request, and
//! [`Session::take`] takes in the answer.
//!
//! ```
//! use interleaf::assemble::Recipe;
//! use interleaf::model::{ContextKind, Message};
//! use interleaf::{Next, Session, Target, store};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let mut session = Session::create(store::open("memory:").await?, "a title").await?;
//! session.append(Message::user("Which files are here?")).await?;
//! session.todo().add("list the files").await?;
//!
//! let recipe = Recipe::new().with_system("You are a careful agent.");
//! let target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("sk-123");
//! let Next::Send(request) = session.request(&recipe, &target).await? else { unreachable!() };
//! assert!(String::from_utf8(request.body.to_bytes())?.contains("list the files"));
//!
//! let answer = br#"{"type":"message","role":"assistant","stop_reason":"end_turn",
//!     "content":[{"type":"text","text":"None."}],"usage":{"input_tokens":40,"output_tokens":3}}"#;
//! session.take(request.decoder.whole(200, [], answer)?).await?;
//! assert_eq!(session.conversation().usage().current.prompt, 40);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod append;
mod bound;
mod cache_marks;
mod edit;
mod error;
mod hearing;
mod impact;
mod input_fault;
mod made_calls;
mod past;
mod preview;
mod request;
mod session;
mod stored;
mod switch;
mod target;
mod text_form;

pub mod ask;
pub mod chat_form;
pub mod compaction;
pub mod copy;
pub mod neutral;
pub mod read;
pub mod replay;
pub mod reply_form;

pub use interleaf_assemble as assemble;
pub use interleaf_cache as cache;
pub use interleaf_conversation as conversation;
pub use interleaf_model as model;
pub use interleaf_plan as plan;
pub use interleaf_store as store;
pub use interleaf_wire as wire;

pub use append::{AppendedSaid, OnConflict, append_said};
pub use edit::{Edit, Edited, edit};
pub use error::{Error, ErrorKind};
pub use impact::{BreakCause, ContextChange, Cost, Impact, Place, Reported, Verdict};
pub use input_fault::InputFault;
pub use past::{Retold, retell};
pub use preview::{Change, Preview, Rewritten, Single};
pub use request::{Next, Request, waiting_for};
pub use session::{
    DamagedRecord, ExplainedRequest, FolderNote, InfoRange, Information, KeptSummary, LeftOut,
    Notes, Parting, RecordDraft, Sent, SentContext, SentSource, Session, SessionAgent,
    SessionWarmth, SummaryState, Todo, TodoItem, TodoStatus, now,
};
pub use stored::{GoesOn, StoredAnswers, WholeCause};
pub use switch::{BreakEven, Fit, Loss, Losses, LostThinking, Money, PayBack, Price, Side, Switch};
pub use target::Target;
