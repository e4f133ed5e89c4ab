//! What assembling promises: the worked example of the mission (B7), the table of
//! placements, examples for each step and each cause, and laws over conversations
//! with everything wrong at once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod scene;

mod delta;
mod fence;
mod golden;
mod placement;
mod steps;

mod carrier;
mod case;
mod laws;
mod oracle;
mod process;
mod running;
mod shares;
mod told;
