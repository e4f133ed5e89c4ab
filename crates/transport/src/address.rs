//! Where a vendor is reached, by the variables that its own SDK goes by.

use interleaf::wire::Vendor;

/// A vendor, the variable in which its SDK finds an address, and what the SDK adds to it.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("openai", "OPENAI_BASE_URL", ""),
    ("openai-responses", "OPENAI_BASE_URL", ""),
    ("anthropic", "ANTHROPIC_BASE_URL", "/v1"),
    ("google", "GOOGLE_GEMINI_BASE_URL", "/v1beta"),
    ("bedrock", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""),
];

/// What the vendor's own SDK goes by: its variable, and what it adds.
fn of_sdk(vendor: &Vendor) -> Option<(&'static str, &'static str)> {
    let known = VARIABLES.iter().find(|(name, ..)| vendor.name == *name);
    known.map(|&(_, variable, added)| (variable, added))
}

/// The variable in which a vendor's address is looked for: that of its own SDK, or else its
/// name, such as `DEEPSEEK_BASE_URL` and `LLAMA_CPP_BASE_URL`.
pub fn address_variable(vendor: &Vendor) -> String {
    of_sdk(vendor).map_or_else(
        || format!("{}_BASE_URL", vendor.name.to_ascii_uppercase().replace('-', "_")),
        |(variable, _)| variable.to_owned(),
    )
}

/// The vendor at the address that is in its [variable](address_variable), if that is set. An
/// address without a path gets that of the vendor's own.
pub fn by_environment(vendor: Vendor) -> Vendor {
    addressed(vendor, |name| std::env::var(name).ok())
}

fn addressed(vendor: Vendor, variable: impl Fn(&str) -> Option<String>) -> Vendor {
    let url = variable(&address_variable(&vendor)).unwrap_or_default();
    let url = url.trim();
    if url.is_empty() {
        return vendor;
    }
    // A query stays at the end.
    let (place, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let place = place.trim_end_matches('/');
    let added = match of_sdk(&vendor) {
        Some((_, added)) if place.ends_with(added) => "",
        Some((_, added)) => added,
        None if path(place).is_empty() => path(&vendor.base_url),
        None => "",
    };
    let url = format!("{place}{added}{query}");
    vendor.base_url(url.as_str())
}

/// The path of an address; empty if it has none.
fn path(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url.get(host..).and_then(|rest| rest.find('/').map(|at| &rest[at..])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendor_is_reached_where_its_sdk_would_go() {
        let at = |name: &str, set: &'static str| {
            let vendor = Vendor::named(name).unwrap().clone();
            addressed(vendor, |_| Some(set.to_owned())).base_url.to_string()
        };
        assert_eq!(at("openai", "http://127.0.0.1:1/v1"), "http://127.0.0.1:1/v1");
        assert_eq!(at("anthropic", "http://127.0.0.1:1/"), "http://127.0.0.1:1/v1");
        assert_eq!(at("anthropic", "http://127.0.0.1:1/v1"), "http://127.0.0.1:1/v1");
        assert_eq!(at("google", "http://127.0.0.1:1"), "http://127.0.0.1:1/v1beta");
        assert_eq!(at("bedrock", "http://127.0.0.1:1"), "http://127.0.0.1:1");
        assert_eq!(at("groq", "http://127.0.0.1:1/v1"), "http://127.0.0.1:1/v1");
        assert_eq!(at("groq", "http://127.0.0.1:1/"), "http://127.0.0.1:1/openai/v1");
        assert_eq!(at("groq", "http://127.0.0.1:1?code=1"), "http://127.0.0.1:1/openai/v1?code=1");
        assert_eq!(at("anthropic", "http://127.0.0.1:1/?a=/v1"), "http://127.0.0.1:1/v1?a=/v1");
        assert_eq!(at("azure", "http://127.0.0.1:1"), "http://127.0.0.1:1");
        let variable = |name| address_variable(Vendor::named(name).unwrap());
        assert_eq!(variable("openai-responses"), "OPENAI_BASE_URL");
        assert_eq!(variable("llama-cpp"), "LLAMA_CPP_BASE_URL");
        let unset = Vendor::named("openai").unwrap().clone();
        assert_eq!(addressed(unset.clone(), |_| Some(" ".into())).base_url, unset.base_url);
    }
}
