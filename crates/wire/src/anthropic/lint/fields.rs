//! The fields at the top of a body. The API refuses those that it does not know.

use super::Parsed;
use super::rules::KNOWN_FIELDS;
use crate::Vendor;
use crate::lint::Faults;
use crate::tree::{Value, step};

/// Those of the Messages API with all of its betas, as its reference lists them
/// (<https://platform.claude.com/docs/en/api/beta/messages/create>), and the two that clouds
/// have in the place of headers.
const KNOWN: [&str; 28] = [
    "anthropic_beta",
    "anthropic_version",
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "fallback_credit_token",
    "fallbacks",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
    "user_profile_id",
];

/// Whether a vendor takes a field of this name at the top of a body.
pub(in crate::anthropic) fn is_known(name: &str, vendor: &Vendor) -> bool {
    !vendor.quirks.known_fields || KNOWN.contains(&name)
}

pub(super) fn check(parsed: &Parsed<'_>, vendor: &Vendor, faults: &mut Faults) {
    let Value::Object(fields) = parsed.body else { return };
    for (name, _) in fields.iter().filter(|(name, _)| !is_known(name, vendor)) {
        faults.add(&KNOWN_FIELDS, format!("/{}", step(name)), "");
    }
}
