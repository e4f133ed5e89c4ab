//! Agents against the doubles of five APIs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod calls;
mod context;
mod definitions;
#[path = "../../../mcp/tests/it/double.rs"]
mod double;
mod guards;
mod kept;
mod limits;
mod loops;
mod mcp;
mod settings;
mod sub_agents;
mod tools;
mod world;
