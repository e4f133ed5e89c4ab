//! MCP servers as tools.

mod settings;

pub use settings::{Reach, ServerSettings, SettingsError};
