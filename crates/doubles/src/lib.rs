//! The APIs of five model vendors on loopback, to test an agent offline.
//!
//! A [`Double`] speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages, Gemini and
//! Bedrock Converse on the addresses that the vendors' own SDKs use. It refuses what the API
//! refuses, answers whole or streamed, counts tokens, keeps a prompt cache, and fails on demand.
//!
//! ```text
//!   request ──▶ route ──▶ rules of the API ──▶ Asked ──▶ Brain ──▶ Answer ──▶ whole or events
//!                │            │ Refusal          └─▶ tokens ──▶ cache ──▶ Usage ──┘     │
//!                └─ Fault ────┴──────────────────────────────────────────────▶ sending ──┴─▶ client
//! ```
//!
//! ```
//! use interleaf_doubles::{Answer, Asked, Double, Settings};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let settings = Settings::new().with_brain(|_: &Asked| Answer::text("Hello."));
//! let double = Double::start(settings).await?;
//! // … point an agent at `double.base_url()`, and then look at what it sent:
//! assert!(double.requests().is_empty());
//! double.stop().await;
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Its rules are written from the vendors' documents and share no code with Interleaf's own
//! encoders and lint: it is the second opinion.

mod answer;
mod api;
mod asked;
mod clock;
mod exchange;
mod fault;
mod refusal;
mod settings;
mod usage;

mod brain;

mod cache;
mod frames;
mod raw;
mod seal;
mod tokens;
mod value;

mod family;
mod place;

mod anthropic;
mod bedrock;
mod claude;
mod gemini;
mod openai;
mod openai_chat;
mod openai_responses;

mod double;
mod keys;
mod limits;
mod models;
mod route;
mod sending;
mod server;

pub use answer::{Answer, Finish, Said};
pub use api::Api;
pub use asked::{Asked, Choice, Part, Piece, Role, Tool, Ttl, Turn};
pub use brain::{Brain, Obliging, Script, Summariser, Truth, fitting};
pub use clock::Clock;
pub use double::{Double, environment};
pub use exchange::{End, Exchange};
pub use family::{rule_names, verdict};
pub use fault::{BadFault, FAULT_HEADER, Fault, Planned};
pub use refusal::Refusal;
pub use settings::{Chunk, Settings};
pub use tokens::{FILE_BYTES_PER_TOKEN, PER_CALL, PER_IMAGE, PER_MESSAGE, count};
pub use usage::Usage;
