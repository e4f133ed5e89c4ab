//! Agents against the doubles of five APIs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod calls;
mod context;
#[path = "../../../mcp/tests/it/double.rs"]
mod double;
mod kept;
mod limits;
mod loops;
mod mcp;
mod shown;
mod sub_agents;
mod tools;
mod world;
