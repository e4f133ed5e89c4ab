//! MCP servers, from the outside.

mod settings;
