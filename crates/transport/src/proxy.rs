//! The proxies that the environment names. The HTTP client passes over those that it cannot use,
//! and would go around them without a word.

/// The variables of a proxy, by what it is for. The first that is set counts, and those for all
/// only if the others are not set.
const VARIABLES: [[&str; 4]; 2] = [
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
    ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
];

/// Refuses a proxy that cannot be used. Its address may hold a password and is not shown.
pub(crate) fn check(variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let none = set("NO_PROXY").or_else(|| set("no_proxy"));
    if none.is_some_and(|hosts| hosts.split(',').any(|host| host.trim() == "*")) {
        return Ok(());
    }
    for names in VARIABLES {
        let first = names.iter().find_map(|name| Some((name, set(name)?)));
        if let Some((name, Err(why))) = first.map(|(name, url)| (name, usable(&url))) {
            return Err(format!("the proxy in {name} cannot be used: {why}"));
        }
    }
    Ok(())
}

fn usable(url: &str) -> Result<(), String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        let is_name = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        let shown = if is_name { scheme } else { "none" };
        return Err(format!("its scheme is {shown}, and those that can be are http and https"));
    }
    match reqwest::Proxy::all(format!("http://{rest}")) {
        Ok(_) if !rest.is_empty() && !rest.contains(char::is_whitespace) => Ok(()),
        _ => Err("it is no address".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(set: &[(&str, &str)]) -> Result<(), String> {
        let value = |name: &str| set.iter().find(|(known, _)| *known == name);
        check(|name| value(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_refused_and_its_password_not_shown() {
        let error = told(&[("HTTP_PROXY", "ftp://me:hunter22@proxy:1")]).unwrap_err();
        let expected = "the proxy in HTTP_PROXY cannot be used: its scheme is ftp, and those that \
                        can be are http and https";
        assert_eq!(error, expected);
        for bad in ["socks5://proxy:1", "http://", "http://a b", "me:hunter22@proxy:x://"] {
            let error = told(&[("all_proxy", bad)]).unwrap_err();
            assert!(error.contains("all_proxy") && !error.contains("hunter22"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_proxy_that_can_be_used_or_is_never_used_is_fine() {
        for good in ["http://proxy:1", "https://me:pw@proxy", "proxy:3128", "HTTP://[::1]:1/"] {
            assert_eq!(told(&[("HTTPS_PROXY", good)]), Ok(()), "{good}");
        }
        assert_eq!(told(&[("HTTP_PROXY", ""), ("NO_PROXY", "")]), Ok(()));
        assert_eq!(told(&[("HTTP_PROXY", "ftp://proxy"), ("NO_PROXY", "a, *")]), Ok(()));
        let own = [("HTTP_PROXY", "proxy"), ("HTTPS_PROXY", "proxy"), ("ALL_PROXY", "socks5://p")];
        assert_eq!(told(&own), Ok(()), "it is for none");
    }
}
