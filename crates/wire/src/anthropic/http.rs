//! Where requests go, and the beta features that their fields need.

use crate::http::Route;
use crate::tree::Value;
use crate::{Family, Options};

pub(super) const ROUTE: Route = Route {
    version: "v1",
    path: |_| "messages".to_owned(),
    names_model: false,
    // Clouds that serve Claude name the model in the address, and the version here.
    model_field: "anthropic_version",
    headers,
};

/// The version whose bodies are written here. The next one refuses sampling settings.
const VERSION: &str = "2023-06-01";

/// Fields of a body that are refused without a beta feature.
const FIELDS: [(&str, &str); 2] =
    [("context_management", "context-management-2025-06-27"), ("mcp_servers", MCP_SERVERS)];

/// Servers that say themselves which of their tools there are.
const MCP_SERVERS: &str = "mcp-client-2025-04-04";

/// Servers whose tools are chosen among the others; it takes the place of the one above.
const MCP_TOOLSETS: &str = "mcp-client-2025-11-20";

/// Tools of the API's that are refused without one, by their type.
const TOOLS: [(&str, &str); 8] = [
    ("computer_20241022", "computer-use-2024-10-22"),
    ("computer_20250124", "computer-use-2025-01-24"),
    ("computer_20251124", "computer-use-2025-11-24"),
    ("code_execution_20250522", "code-execution-2025-05-22"),
    ("code_execution_20250825", "code-execution-2025-08-25"),
    ("memory_20250818", "context-management-2025-06-27"),
    ("web_fetch_20250910", "web-fetch-2025-09-10"),
    ("mcp_toolset", MCP_TOOLSETS),
];

fn headers(options: &Options) -> Vec<(&'static str, String)> {
    let mut headers = vec![("anthropic-version", VERSION.to_owned())];
    let mut betas: Vec<&str> = Vec::new();
    let is_asked = |field: &str| options.rest.get(Family::Anthropic, field).is_some();
    betas.extend(FIELDS.iter().filter(|(field, _)| is_asked(field)).map(|(_, beta)| *beta));
    for tool in options.hosted_tools.iter().filter(|tool| tool.owner.as_str() == super::OWNER) {
        let tool = Value::of(tool.value.as_str());
        let kind = tool.get("type").and_then(Value::as_str).unwrap_or_default();
        betas.extend(TOOLS.iter().filter(|(known, _)| *known == kind).map(|(_, beta)| *beta));
    }
    let thinking = options.rest.get(Family::Anthropic, "thinking");
    if thinking.is_some_and(|own| Value::of(own.as_str()).get("block_binding").is_some()) {
        betas.push("thinking-binding-controls-2026-08-01");
    }
    if betas.contains(&MCP_TOOLSETS) {
        betas.retain(|beta| *beta != MCP_SERVERS);
    }
    betas.sort_unstable();
    betas.dedup();
    if !betas.is_empty() {
        headers.push(("anthropic-beta", betas.join(",")));
    }
    headers
}
