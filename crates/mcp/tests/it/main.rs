//! MCP servers, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod calls;
mod double;
mod http;
mod lost;
mod real;
mod secret;
mod settings;
mod site;
mod world;
