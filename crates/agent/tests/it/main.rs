//! Agents against the doubles of five APIs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod calls;
mod context;
mod definitions;
#[path = "../../../mcp/tests/it/double.rs"]
mod double;
mod guards;
mod hostile;
mod interrupts;
mod kept;
mod kill;
mod limits;
mod long_session;
mod loops;
mod mcp;
mod plans;
mod recalled;
mod rows;
mod settings;
mod shown;
mod spans;
mod spent;
mod sub_agents;
mod together;
mod tools;
mod two_runs;
mod world;
