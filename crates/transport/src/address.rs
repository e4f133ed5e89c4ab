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

/// The vendor at the address that its own SDK would go to: that of its variable, such as
/// `OPENAI_BASE_URL`, if that is set.
pub fn by_environment(vendor: Vendor) -> Vendor {
    addressed(vendor, |name| std::env::var(name).ok())
}

fn addressed(vendor: Vendor, variable: impl Fn(&str) -> Option<String>) -> Vendor {
    let known = VARIABLES.iter().find(|(name, ..)| vendor.name == *name);
    let Some((_, name, added)) = known else { return vendor };
    let Some(url) = variable(name).filter(|url| !url.trim().is_empty()) else { return vendor };
    let url = url.trim().trim_end_matches('/');
    match url.ends_with(added) {
        true => vendor.base_url(url),
        false => vendor.base_url(format!("{url}{added}").as_str()),
    }
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
        let own = Vendor::named("groq").unwrap().base_url.to_string();
        assert_eq!(at("groq", "http://127.0.0.1:1/v1"), own, "no variable of its own");
        let unset = Vendor::named("openai").unwrap().clone();
        assert_eq!(addressed(unset.clone(), |_| Some(" ".into())).base_url, unset.base_url);
    }
}
