//! A conversation that never loses a message.
//!
//! The **log** is everything that was ever said, append-only; the **view** is the
//! part of it that is visible, an ordered list of log indices. Operations change
//! the view alone, each opens a **batch**, and the view can be rolled back to the
//! end of any batch, exactly.
//!
//! ```text
//!   append ─┐                        ┌─▶ log      every message, for ever
//!   operate ┼─▶ Event ── apply ──────┼─▶ view     indices of what is visible
//!   mark    │   (stored, replayed)   ├─▶ indexes  by role, by mark
//!   roll back                        └─▶ batches, usage
//! ```
//!
//! Every change is an [`Event`] that goes through one function,
//! [`Conversation::apply`]: a conversation rebuilt from its events equals the
//! original. All state is shared structurally, so a clone is a fork and costs the
//! same for ten messages as for a million.
//!
//! ```
//! use interleaf_conversation::{Conversation, Operation, Query, Truncate};
//! use interleaf_model::{Message, Role};
//!
//! let mut conversation = Conversation::new();
//! for text in ["one", "two", "three"] {
//!     conversation.append(Message::user(text))?;
//! }
//! let last = conversation.query(&Query::role(Role::User).last(2))?;
//! assert_eq!(last.len(), 2);
//!
//! let keep_none = Truncate { keep_last: Some(0), ..Truncate::default() };
//! conversation.operate(Operation::Truncate(keep_none))?;
//! assert_eq!(conversation.view_len(), 0);
//! conversation.roll_back(0)?;
//! assert_eq!(conversation.view_len(), 3);
//! # Ok::<(), interleaf_conversation::Error>(())
//! ```

mod error;

mod conversation;
mod event;

mod batch;
mod course;
mod ids;
mod marks;
mod role_index;
mod usage;
mod view;

mod query;

mod operate;
mod operation;

mod snapshot;

pub use batch::Batch;
pub use conversation::{Conversation, PINNED};
pub use error::{Error, ErrorKind};
pub use event::Event;
pub use operate::{Note, Operated, Reason};
pub use operation::{Clear, Filter, Insert, Operation, Others, Replace, Span, Truncate};
pub use query::{Hit, Pick, Query, Scope};
pub use usage::{Counters, Fill};
