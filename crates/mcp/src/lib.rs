//! MCP servers as tools: started or reached, listed and called.
//!
//! ```text
//!   ServerSettings ──▶ Server ──connect──▶ tools: in the order first seen
//!                        │
//!                        ├─ call ──▶ Answer, or an Error that says whether it may have taken effect
//!                        └─ drop ──▶ its program is ended, with all that it started
//! ```
//!
//! The protocol is the official SDK's. What is here is what an agent needs beyond it: one new
//! connection for all calls that lost theirs, no call made twice in silence, no answer without
//! bounds, no process left behind. It knows nothing of agents.

mod answer;
mod answer_to;
mod child;
mod connect;
mod error;
mod group;
mod http;
mod limit;
mod lines;
mod link;
mod listener;
mod question;
mod secrets;
mod sent;
mod server;
mod settings;
mod tool;
mod variables;

pub use answer::Answer;
pub use error::{Error, ErrorKind};
pub use group::Group;
pub use question::{Boxed, Question, Respondent};
pub use server::Server;
pub use settings::{Reach, ServerSettings, SettingsError};
pub use tool::ServerTool;
