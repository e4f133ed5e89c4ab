//! Where a vendor is, and in which header it takes its key: what can be sent, and shown.

use std::fmt;

use crate::{Auth, Vendor};

impl Vendor {
    /// Checks what becomes part of the address and the headers.
    pub(crate) fn check(&self) -> Result<(), String> {
        let told = |field: &str, rule: String| {
            format!("the `{field}` of the vendor {:?} {rule}", self.name)
        };
        if !self.base_url.is_empty() {
            check_url(&self.base_url).map_err(|rule| told("base_url", rule))?;
        }
        if let Auth::Header(name) = &self.auth {
            check_header(name).map_err(|rule| told("auth.header", rule))?;
        }
        Ok(())
    }
}

fn check_url(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(rest) = rest else {
        let shown = ShownUrl(url).to_string();
        return Err(format!("must begin with http:// or https://, and is {shown:?}"));
    };
    let (authority, _) = rest.split_at(authority_end(rest));
    let rule = if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        "must not hold blanks or control characters"
    } else if url.contains('#') {
        "must not hold a fragment (`#`)"
    } else if authority.contains('@') {
        "must not hold a user or a password: the key is given separately"
    } else if authority.is_empty() || authority.starts_with(':') {
        "must name a host"
    } else {
        return Ok(());
    };
    Err(rule.to_owned())
}

fn check_header(name: &str) -> Result<(), String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if !name.is_empty() && name.chars().all(is_letter) {
        return Ok(());
    }
    Err(format!("must be the name of a header (letters, digits, `-`), and is {name:?}"))
}

fn authority_end(rest: &str) -> usize {
    rest.find(['/', '?', '#']).unwrap_or(rest.len())
}

/// An address without what may be secret in it: users, passwords, values of the query.
pub(crate) struct ShownUrl<'a>(pub(crate) &'a str);

impl fmt::Display for ShownUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", self.0));
        let (authority, path) = rest.split_at(authority_end(rest));
        if rest.len() < self.0.len() {
            write!(f, "{scheme}://")?;
        }
        match authority.rsplit_once('@') {
            Some((_, host)) => write!(f, "***@{host}")?,
            None => f.write_str(authority)?,
        }
        let Some((path, query)) = path.split_once('?') else { return f.write_str(path) };
        write!(f, "{path}?")?;
        for (i, field) in query.split('&').enumerate() {
            let and = if i == 0 { "" } else { "&" };
            match field.split_once('=') {
                Some((name, _)) => write!(f, "{and}{name}=***")?,
                None => write!(f, "{and}***")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ShownUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl fmt::Debug for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, family, base_url, auth, key_variable, window, quirks } = self;
        f.debug_struct("Vendor")
            .field("name", name)
            .field("family", family)
            .field("base_url", &ShownUrl(base_url))
            .field("auth", auth)
            .field("key_variable", key_variable)
            .field("window", window)
            .field("quirks", quirks)
            .finish()
    }
}
