//! What a prompt cache makes of the requests of a session.
//!
//! Every model API keeps what it has computed of a prompt, by rules of its own: some match any
//! prefix, some only at marks, some in blocks, some keep the last sequence alone. A [`Rules`]
//! value states such rules as data, and a [`Cache`] follows them: request by request it says
//! how many tokens are read from the cache, written to it, and computed anew, and [`Prices`]
//! turn that into a cost.
//!
//! ```
//! use interleaf_cache::{Cache, Prompt, Rules, Stop};
//!
//! let rules = Rules::named("anthropic").unwrap();
//! let mut cache = Cache::new(rules.clone());
//! let mut prompt = Prompt::new();
//! prompt.push(1, 3_000, Stop::Block);
//! prompt.mark(1);
//! assert_eq!(cache.request(&prompt, 0).written, 3_000);
//! prompt.push(2, 500, Stop::Block);
//! prompt.mark(2);
//! let used = cache.request(&prompt, 60);
//! assert_eq!((used.read, used.written, used.computed()), (3_000, 500, 500));
//! assert_eq!(rules.prices.cost(used), 300.0 + 625.0);
//! ```
//!
//! A prompt is a list of pieces, each with a key that stands for its content and the number of
//! its tokens. Pieces may be whole content blocks, or single tokens if these are known; the
//! rules are the same. Following a request takes time in proportion to what is
//! new in it.

mod cache;
mod prompt;
mod rules;
mod trail;
mod usage;
mod warmth;

pub use self::cache::Cache;
pub use self::prompt::{Prompt, Stop};
pub use self::rules::{Certainty, Checkpoints, Match, Renewal, Rules};
pub use self::trail::{SentPrompt, last_used};
pub use self::usage::{Prices, Used};
pub use self::warmth::{KeepAlive, Warmth};
