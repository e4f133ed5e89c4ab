//! Interleaf turns a conversation into the request that a model API gets: every time
//! valid, fresh, inside the budget, cheap on the prompt cache, and with the same
//! effect on every API.
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
//! | [`plan`] | arguments for the steps of a plan |
//! | [`store`] | sessions that last: memory, SQLite, PostgreSQL |
//! | [`Session`] | a conversation that a store keeps, and the requests sent from it |
//! | [`read`] | conversations, requests, tools, summaries and answers, whatever their form |
//! | [`neutral`] | a request in no API's form, and back |
//! | [`copy`] | sessions from store to store, or as JSON lines |
//! | [`Requests`] | a session's requests, one after the other, at the cost of what is new |
//!
//! ```
//! use interleaf::assemble::Recipe;
//! use interleaf::model::{ContextKind, Message};
//! use interleaf::wire::{Family, Options, Vendor};
//! use interleaf::{Next, Requests};
//!
//! let mut requests = Requests::new();
//! requests.append(Message::user("Which files are here?"));
//!
//! let recipe = Recipe::new()
//!     .with_system("You are a careful agent.")
//!     .with_context(ContextKind::Todo, "1. list the files");
//! let options = Options { model: "claude-sonnet-4-5".into(), ..Options::default() };
//!
//! let next = requests.next(&recipe, Vendor::of(Family::Anthropic), &options)?;
//! let Next::Send { body, report } = next else { unreachable!() };
//! assert!(body.to_bytes().starts_with(b"{"));
//! assert_eq!(report.placement.map(|placement| placement.index), Some(2));
//! # Ok::<(), interleaf::Error>(())
//! ```

mod append;
mod error;
mod input_fault;
mod past;
mod requests;
mod session;

pub mod ask;
pub mod chat_form;
pub mod copy;
pub mod neutral;
pub mod read;
pub mod reply_form;

pub use interleaf_assemble as assemble;
pub use interleaf_conversation as conversation;
pub use interleaf_model as model;
pub use interleaf_plan as plan;
pub use interleaf_store as store;
pub use interleaf_wire as wire;

pub use append::{OnConflict, append_said};
pub use error::{Error, ErrorKind};
pub use input_fault::InputFault;
pub use past::{Retold, retell};
pub use requests::{Next, Requests};
pub use session::{KeptSummary, Sent, Session, SummaryState};
