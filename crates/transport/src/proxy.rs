//! The proxies that the environment names. The HTTP client passes over those that it cannot use,
//! and would go around them without a word. So it is asked by its own rules what it would do.

use hyper_util::client::proxy::matcher::Matcher;

/// A variable that is set, and what it says.
type Set = Option<(&'static str, String)>;

/// What the environment says of proxies.
pub(crate) struct Environment {
    https: Set,
    http: Set,
    /// The one of those that have none of their own.
    all: Set,
    /// Knows which hosts are reached by a proxy.
    hosts: Matcher,
}

impl Environment {
    /// Reads the variables. Of two spellings the first that is set counts, also if it is empty.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        // The client knows by this one that a web server runs it: others could set the rest.
        let is_of_server = variable("REQUEST_METHOD").is_some();
        let first = |names: [&'static str; 2]| {
            let set = names.into_iter().find_map(|name| Some((name, variable(name)?)));
            set.filter(|(_, value)| !is_of_server && !value.is_empty())
        };
        let none = first(["NO_PROXY", "no_proxy"]).map(|(_, hosts)| hosts).unwrap_or_default();
        Self {
            https: first(["HTTPS_PROXY", "https_proxy"]),
            http: first(["HTTP_PROXY", "http_proxy"]),
            all: first(["ALL_PROXY", "all_proxy"]),
            hosts: Matcher::builder().all("http://proxy").no(none).build(),
        }
    }

    /// Refuses an address whose proxy cannot be used. The address of the proxy may hold a
    /// password and is not shown.
    pub(crate) fn check(&self, url: &str) -> Result<(), String> {
        // What is no address is told by whoever sends to it.
        let Ok(address) = url.parse() else { return Ok(()) };
        if self.hosts.intercept(&address).is_none() {
            return Ok(());
        }
        let own = if address.scheme_str() == Some("https") { &self.https } else { &self.http };
        match own.as_ref().or(self.all.as_ref()) {
            Some((name, proxy)) => {
                usable(proxy).map_err(|why| format!("the proxy in {name} cannot be used: {why}"))
            }
            None => Ok(()),
        }
    }
}

fn usable(proxy: &str) -> Result<(), String> {
    const KNOWN: [&str; 2] = ["http", "https"];
    let read = Matcher::builder().all(proxy).build();
    let read = "http://host".parse().ok().and_then(|any| read.intercept(&any));
    if read.is_some_and(|read| read.uri().scheme_str().is_some_and(|own| KNOWN.contains(&own))) {
        return Ok(());
    }
    match proxy.split_once("://") {
        Some((scheme, _)) if !KNOWN.iter().any(|known| scheme.eq_ignore_ascii_case(known)) => {
            let is_name = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
            let shown = if is_name { scheme } else { "none" };
            Err(format!("its scheme is {shown}; only http and https are supported"))
        }
        _ => Err("it is no address, such as http://host:3128".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_of(url: &str, set: &[(&str, &str)]) -> Result<(), String> {
        let value = |name: &str| set.iter().find(|(known, _)| *known == name);
        Environment::read(|name| value(name).map(|(_, value)| (*value).to_owned())).check(url)
    }

    fn told(set: &[(&str, &str)]) -> Result<(), String> {
        told_of("http://api.test/v1", set).and_then(|()| told_of("https://api.test/v1", set))
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_refused_and_its_password_not_shown() {
        let error = told(&[("HTTP_PROXY", "ftp://me:hunter22@proxy:1")]).unwrap_err();
        let expected = "the proxy in HTTP_PROXY cannot be used: its scheme is ftp; only http and \
                        https are supported";
        assert_eq!(error, expected);
        for bad in
            ["socks5://proxy:1", "http://", "http://a b", "me:hunter22@proxy:x://", "p:3128/"]
        {
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
    #[test]
    fn the_proxy_that_the_client_would_use_for_an_address_counts() {
        let socks = ("ALL_PROXY", "socks5://proxy");
        assert_eq!(told(&[("HTTPS_PROXY", ""), ("https_proxy", "ftp://proxy")]), Ok(()));
        assert!(told(&[("HTTPS_PROXY", ""), socks]).is_err());
        assert_eq!(told(&[("HTTP_PROXY", "ftp://proxy"), ("REQUEST_METHOD", "GET")]), Ok(()));
        let none = ("NO_PROXY", "127.0.0.1, .local.test");
        for own in ["http://127.0.0.1:1/v1", "https://a.local.test"] {
            assert_eq!(told_of(own, &[socks, none]), Ok(()), "{own}");
        }
        assert!(told_of("https://api.test", &[socks, none]).is_err());
        let own = [("HTTPS_PROXY", "ftp://proxy")];
        assert_eq!(told_of("http://api.test", &own), Ok(()), "it is for https");
    }
}
