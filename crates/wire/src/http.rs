//! How a request is sent: where to, and with which headers. Sending it is the caller's.
//!
//! A vendor's `base_url` may hold `{model}` (a deployment of Azure's) and a query (its
//! `api-version`); the path of the family goes between the two. For Anthropic's API it may
//! end with `/v1` or leave that out, as Anthropic's own SDKs do.

use std::fmt;

use interleaf_model::Secret;
use smol_str::SmolStr;

use crate::stream::Framing;
use crate::vendor::ShownUrl;
use crate::{Auth, Error, ErrorKind, Options, Vendor};

/// Where a request goes, and with which headers.
///
/// ```
/// use interleaf_model::Secret;
/// use interleaf_wire::{Options, Vendor};
///
/// let mut options = Options::default();
/// options.model = "gemini-3-pro".into();
/// options.stream = true;
/// let google = Vendor::named("google").unwrap();
/// let http = google.http(&options, Some(&Secret::new("AIza-123")))?;
/// assert_eq!(
///     http.url,
///     "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"
/// );
/// assert_eq!(http.header("x-goog-api-key"), Some("AIza-123"));
/// assert!(!format!("{http:?}").contains("AIza-123"));
/// # Ok::<(), interleaf_wire::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Http {
    /// Always `POST`.
    pub method: &'static str,
    /// The whole address.
    pub url: String,
    /// The headers, in order, names in lower case.
    pub headers: Vec<(SmolStr, HeaderValue)>,
    /// The transport still has to sign the request (AWS signature version 4): no key was
    /// given that says who sends it.
    pub needs_signature: bool,
}

/// The value of a header.
#[derive(Debug, Clone)]
pub enum HeaderValue {
    /// One that anyone may see.
    Plain(SmolStr),
    /// One that holds a key.
    Secret(Secret),
}

/// Where a vendor's address names the model.
pub(crate) const MODEL: &str = "{model}";

/// What a family says of its requests: its place in the table of contents.
pub(crate) struct Route {
    /// The version that the vendor's own SDK puts before the path, so that its users know the
    /// base URL without it; empty if they know it with the version.
    pub(crate) version: &'static str,
    /// The path below the base URL, with its query if it has one.
    pub(crate) path: fn(&Options) -> String,
    /// Whether the path names the model.
    pub(crate) names_model: bool,
    /// A field of the body that stands in for the model; empty if none does.
    pub(crate) model_field: &'static str,
    /// The headers beside those of content and key.
    pub(crate) headers: fn(&Options) -> Vec<(&'static str, String)>,
}

impl Http {
    /// The value of a header, keys included.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.expose())
    }

    fn push(&mut self, name: &str, value: HeaderValue) {
        self.headers.push((SmolStr::new(name.to_ascii_lowercase()), value));
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, url, headers, needs_signature } = self;
        f.debug_struct("Http")
            .field("method", method)
            .field("url", &ShownUrl(url))
            .field("headers", headers)
            .field("needs_signature", needs_signature)
            .finish()
    }
}

impl HeaderValue {
    /// The value itself, for the place where it is sent.
    pub fn expose(&self) -> &str {
        match self {
            Self::Plain(value) => value,
            Self::Secret(value) => value.expose(),
        }
    }
}

impl fmt::Display for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(value) => f.write_str(value),
            Self::Secret(value) => write!(f, "{value}"),
        }
    }
}

impl Vendor {
    /// How a request with these options is sent to this vendor.
    ///
    /// # Errors
    /// If the vendor has no address or one that nothing can be sent to, or needs a key or a
    /// model and none is given.
    pub fn http(&self, options: &Options, key: Option<&Secret>) -> Result<Http, Error> {
        let route = &self.family.codec().route;
        let url = self.url(route, options)?;
        let (headers, needs_signature) = (Vec::new(), false);
        let mut http = Http { method: "POST", url, headers, needs_signature };
        http.push("content-type", HeaderValue::Plain("application/json".into()));
        let accept = match (options.stream, self.family.codec().framing) {
            (false, _) => "application/json",
            (true, Framing::Sse) => "text/event-stream",
            (true, Framing::EventStream) => "application/vnd.amazon.eventstream",
        };
        http.push("accept", HeaderValue::Plain(accept.into()));
        for (name, value) in (route.headers)(options) {
            http.push(name, HeaderValue::Plain(value.into()));
        }
        self.authorize(&mut http, key)?;
        Ok(http)
    }

    /// Checks that a model is named if this vendor cannot do without.
    ///
    /// # Errors
    /// If none is named: such a request is refused, so it need not be sent.
    pub fn check_model(&self, options: &Options) -> Result<(), Error> {
        let Self { name, family, .. } = self;
        let field = family.codec().route.model_field;
        let stands_in = || !field.is_empty() && options.rest.get(*family, field).is_some();
        let rule = if !options.model.trim().is_empty() {
            return Ok(());
        } else if self.has_model_in_address() {
            format!("the address of the vendor {name:?} contains the model: give one")
        } else if self.asks_for_model() && !stands_in() {
            format!("the vendor {name:?} asks for a model, and none is given")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Rule, rule))
    }

    fn url(&self, route: &Route, options: &Options) -> Result<String, Error> {
        let rule = |text: String| Error::new(ErrorKind::Rule, text);
        let Self { name, base_url, .. } = self;
        if base_url.is_empty() {
            let text = "has no address of its own: set its `base_url`";
            return Err(rule(format!("the vendor {name:?} {text}")));
        }
        self.check().map_err(rule)?;
        self.check_model(options)?;
        let base_url = base_url.replace(MODEL, &escaped(&options.model, ""));
        let (base, base_query) = base_url.split_once('?').unwrap_or((&base_url, ""));
        let base = base.trim_end_matches('/');
        let base = match route.version {
            version if version.is_empty() || is_versioned(base) => base.to_owned(),
            version => format!("{base}/{version}"),
        };
        let path = (route.path)(options);
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        let queries: Vec<&str> =
            [base_query, query].into_iter().filter(|q| !q.is_empty()).collect();
        let mark = if queries.is_empty() { "" } else { "?" };
        Ok(format!("{base}/{path}{mark}{}", queries.join("&")))
    }

    /// Says who sends the request.
    fn authorize(&self, http: &mut Http, key: Option<&Secret>) -> Result<(), Error> {
        let (name, prefix) = match &self.auth {
            Auth::Header(name) => (name.as_str(), ""),
            // A local server that was started with a key wants it as all do.
            Auth::Bearer | Auth::AwsV4 | Auth::None => ("authorization", "Bearer "),
        };
        let Some(key) = key.filter(|key| !key.is_blank()) else {
            return match &self.auth {
                Auth::AwsV4 => {
                    http.needs_signature = true;
                    Ok(())
                }
                Auth::None => Ok(()),
                Auth::Bearer | Auth::Header(_) => {
                    let mut rule = format!(
                        "the vendor {:?} needs a key in the header `{name}`, and none is given",
                        self.name
                    );
                    if !self.key_variable.is_empty() {
                        rule += &format!("; it is usually kept in {}", self.key_variable);
                    } else {
                        rule += "; a vendor that asks for none has the `auth` none";
                    }
                    Err(Error::new(ErrorKind::Rule, rule))
                }
            };
        };
        let text = key.expose().trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let rule = format!(
                "the key for the vendor {:?} holds characters that a header cannot hold",
                self.name
            );
            return Err(Error::new(ErrorKind::Rule, rule));
        }
        http.push(name, HeaderValue::Secret(Secret::new(format!("{prefix}{text}"))));
        Ok(())
    }
}

/// Whether the path of an address ends with a version such as `v1` or `v1beta`.
fn is_versioned(base: &str) -> bool {
    let path = base.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let last = path.and_then(|(_, path)| path.rsplit('/').next()).unwrap_or_default();
    last.strip_prefix('v').is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// A text as part of a path: all but letters, digits, `-._~` and what `kept` names is
/// escaped.
pub(crate) fn escaped(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || kept.contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
