//! Made-up conversations for tests and benches.
//!
//! - [`strategy`] draws messages, conversations and transcripts at random, for
//!   laws: [`strategy::message`] is any message that the model allows,
//!   [`strategy::conversation`] is a valid agent conversation,
//!   [`strategy::broken_conversation`] is one with everything wrong at once.
//! - [`generate`] makes the same conversation every time, for benches.
//! - [`working_session`] has context that changes from request to request.
//! - [`shape`] makes sessions that mostly consist of one thing, such as giant results.
//! - [`tools`] and [`media`] are what goes with a conversation.
//!
//! ```
//! use interleaf_samples::generate::agent_session;
//!
//! assert_eq!(agent_session(1_000).len(), 1_000);
//! assert_eq!(agent_session(50), agent_session(50));
//! ```

pub mod generate;
mod offered;
pub mod shape;
pub mod strategy;
pub mod working_session;

pub use offered::{media, tools};
