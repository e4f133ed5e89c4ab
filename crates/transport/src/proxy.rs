//! The proxies that the environment names. The HTTP client passes over those that it cannot use,
//! and would go around them without a word. So it is asked by its own rules what it would do.

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use interleaf::model::Secret;

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
    /// What is secret in the addresses of all of them.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = Secret> {
        let set = [&self.https, &self.http, &self.all].into_iter().flatten();
        set.flat_map(|(_, proxy)| secrets(proxy))
    }

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

/// What is secret in the address of a proxy: who asks and the password, as they stand there, and
/// as the client reads and sends them.
pub(crate) fn secrets(proxy: &str) -> Vec<Secret> {
    let address = proxy.split_once("://").map_or(proxy, |(_, address)| address);
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((who, _)) = host.rsplit_once('@') else { return Vec::new() };
    let (user, password) = who.split_once(':').unwrap_or((who, ""));
    let mut secrets = vec![who.into(), password.into(), user.into()];
    let as_scheme = |scheme: &str| read(&format!("{scheme}://{who}@host"));
    // It hands on the two alone only where no header is made of them.
    if let Some((user, password)) = as_scheme("socks5").as_ref().and_then(Intercept::raw_auth) {
        secrets
            .extend([format!("{user}:{password}"), password.into(), user.into()].map(Secret::from));
    }
    let sent = as_scheme("http");
    let sent = sent.as_ref().and_then(|read| read.basic_auth()?.to_str().ok()?.split_once(' '));
    secrets.extend(sent.map(|(_, base64)| Secret::from(base64)));
    secrets
}

/// What the client makes of the address of a proxy.
fn read(proxy: &str) -> Option<Intercept> {
    Matcher::builder().all(proxy).build().intercept(&"http://host".parse().ok()?)
}

fn usable(proxy: &str) -> Result<(), String> {
    const KNOWN: [&str; 2] = ["http", "https"];
    if read(proxy)
        .is_some_and(|read| read.uri().scheme_str().is_some_and(|own| KNOWN.contains(&own)))
    {
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
    fn what_is_secret_in_an_address_is_known_as_it_stands_there_and_as_it_is_sent() {
        let known = |proxy: &str| {
            let mut known: Vec<String> =
                secrets(proxy).iter().map(|secret| secret.expose().to_owned()).collect();
            known.sort_unstable();
            known.dedup();
            known
        };
        let all = [
            "Aladdin",
            "Aladdin:open%2Fsesame",
            "Aladdin:open/sesame",
            "QWxhZGRpbjpvcGVuL3Nlc2FtZQ==",
            "open%2Fsesame",
            "open/sesame",
        ];
        assert_eq!(known("http://Aladdin:open%2Fsesame@proxy:1/"), all);
        assert_eq!(known("Aladdin:open%2Fsesame@proxy"), all);
        assert_eq!(known("http://proxy:1/@x"), [""; 0]);
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
