//! The tools of an MCP server.

use std::sync::Arc;

use interleaf::model::{self, ToolCall};
use interleaf_mcp::{Answer, Server, ServerTool};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Boxed, Effect, Output, Scene, Tool, ToolError, Toolbox};

/// The most bytes that are shown of what a tool says.
const MOST_TOLD: usize = 100 * 1024;

/// The most letters of a name that every API takes.
const LONGEST: usize = 64;

/// Its tools are called `server__tool`. Those that are gone are still there, and a call of one is
/// told so by the server. One that could not be reached is tried again beside whatever runs.
impl Toolbox for Server {
    fn name(&self) -> String {
        format!("the MCP server {}", Server::name(self))
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.try_again();
        let tool = |tool| Arc::new(Offered { server: self.clone(), tool }) as Arc<dyn Tool>;
        Server::tools(self).into_iter().map(tool).collect()
    }
}

/// A tool of a server.
struct Offered {
    server: Server,
    tool: ServerTool,
}

impl Tool for Offered {
    fn spec(&self) -> model::Tool {
        let (server, tool) = (Server::name(&self.server), &self.tool);
        // Some APIs want a description.
        let what = match tool.description.trim() {
            "" => format!("The tool {} of the server {server}.", tool.name),
            what => what.to_owned(),
        };
        model::Tool::new(named(server, &tool.name), what, tool.schema.clone())
    }

    /// What the server says of it: that is a hint, and no proof.
    fn effect(&self) -> Effect {
        match self.tool.is_read_only {
            true => Effect::Reads,
            false => Effect::Changes,
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        _: &'a Scene,
    ) -> Boxed<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let Answer { text, images, is_error, .. } =
                self.server.call(&self.tool.name, call.arguments.as_str()).await?;
            let text = match text.trim().is_empty() && images.is_empty() {
                true => "(It said nothing.)".to_owned(),
                false => text,
            };
            Ok(Output { images, is_error, ..text.into() }.showing(MOST_TOLD))
        })
    }
}

/// The name of a tool, in letters that every API takes. What had to be changed ends with a mark
/// that keeps it apart from others.
fn named(server: &str, tool: &str) -> String {
    let whole = format!("{server}__{tool}");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = whole.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && whole.chars().all(is_plain) && whole.len() <= LONGEST {
        return whole;
    }
    let mark = format!("_{:08x}", xxh3_64(whole.as_bytes()) >> 32);
    let plain = whole.chars().map(|c| if is_plain(c) { c } else { '_' });
    let first = if starts { "" } else { "_" };
    let room = LONGEST - mark.len() - first.len();
    format!("{first}{}{mark}", plain.take(room).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, named};

    #[test]
    fn names_are_legal_and_stay_apart() {
        assert_eq!(named("git", "git_status"), "git__git_status");
        let long = "a".repeat(80);
        let names = [
            named("git", "log.all"),
            named("git", "log all"),
            named("git", "log_all"),
            named("7zip", "pack"),
            named("git", &long),
            named("git", &format!("{long}b")),
            named("ä", "ö"),
            named("", ""),
        ];
        for (n, name) in names.iter().enumerate() {
            assert!(name.len() <= LONGEST && !names[..n].contains(name), "{name}");
            assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{name}");
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(name.chars().all(is_plain), "{name}");
        }
    }
}
