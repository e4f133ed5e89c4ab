//! Sends requests to model APIs and reads their answers.
//!
//! ```text
//!   Session ──record──▶ Call ──▶ try ──▶ try ──▶ first piece ──▶ pieces … ──▶ Answer
//!      ▲                 key, address,   └─ waits, new keys,       └─ a cut keeps what came
//!      │                 headers: wire      the next target             │
//!      └────────────────────────── take ◀───────────────────────────────┘
//! ```
//!
//! [`Transport::ask`] makes a session's next request, sends it and takes in the answer;
//! [`Transport::ask_streaming`] does the same and hands on the pieces while they come.
//! [`Transport::compact`] has a model write the summary that takes the place of a session's
//! oldest part; [`Transport::compacting`] has `ask` do that by itself.
//! [`Transport::send`] and [`Transport::stream`] send a body that was made elsewhere.
//!
//! | module of the library | what it decides |
//! |---|---|
//! | [`Timeouts`], [`Retries`] | how long is waited, and how often it is tried |
//! | [`KeySource`] | where keys come from |
//! | [`Rates`] | what tokens cost; unknown is unknown, not nothing |
//! | [`Attempts`] | what was tried, in every answer and in every error |
//! | [`Setback`] | what goes wrong on the way, told while it happens |
//! | [`Error`] | what failed, at whom, and what to do |
//!
//! No key is ever in an error, in a `Debug` form or in a log.

mod address;
mod answer;
mod attempt;
mod aws;
mod body;
mod call;
mod compact;
mod error;
mod exchange;
mod failed;
mod fall_back;
mod incoming;
mod keep;
mod key;
mod limits;
mod price;
mod proxy;
mod session;
mod setback;
mod stream;
mod transport;
mod tries;

pub use address::{address_variable, by_environment};
pub use answer::Answer;
pub use attempt::{Attempt, Attempts, Because};
pub use call::Call;
pub use compact::{CompactedBecause, Compacting, CompactionDone, SummaryText, WithoutModel};
pub use error::{Error, ErrorKind};
pub use fall_back::FallBack;
pub use key::KeySource;
pub use limits::{Limit, Retries, Timeouts};
pub use price::{Amount, Rates};
pub use session::Asking;
pub use setback::Setback;
pub use stream::Streaming;
pub use transport::{Builder, Transport};
