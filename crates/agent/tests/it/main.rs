//! Agents against the doubles of five APIs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod calls;
mod context;
mod kept;
mod limits;
mod loops;
mod sub_agents;
mod tools;
mod world;
