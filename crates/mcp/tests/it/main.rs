//! MCP servers, from the outside.

mod calls;
mod double;
mod http;
mod lost;
mod settings;
mod site;
mod world;
