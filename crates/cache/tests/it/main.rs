//! Caches, held against the plainest reading of their rules.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod laws;
mod oracle;
mod warmth;
mod worked;
