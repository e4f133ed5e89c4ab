//! One try: a request goes out, and an answer begins.

use std::time::Duration;

use bytes::Bytes;
use interleaf::Target;
use interleaf::model::{Reply, Secret};
use interleaf::wire::{Auth, Decoder, Http};

use crate::body::Fragments;
use crate::failed::Failed;
use crate::incoming::{Deadline, Incoming};
use crate::key::suited;
use crate::stream::{Pump, is_empty};
use crate::transport::Inner;
use crate::{Call, ErrorKind, Limit, aws};

/// What came of a try.
pub(crate) enum Begun {
    /// The whole answer, and how its stream ended, if that was early.
    Whole(Box<Reply>, Option<String>),
    /// The beginning of a stream.
    Stream(Box<Pump>),
}

/// A try that failed, and the key that it was made with.
pub(crate) struct Missed {
    pub(crate) failed: Failed,
    pub(crate) key: Option<Secret>,
}

/// The head of an answer.
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
    incoming: Incoming,
}

impl Inner {
    /// Sends a call once. A stream is read up to its first piece of content, so that what
    /// fails before is known for a failure of this try.
    pub(crate) async fn once(
        &self,
        call: &Call,
        streams: bool,
        total: Option<Deadline>,
    ) -> Result<Begun, Missed> {
        let miss = |failed| Missed { failed, key: None };
        let key = self.key(&call.target, total).await.map_err(miss)?;
        let decoder = self.hiding(call, key.as_ref());
        let begun = self.sent(call, key.as_ref(), &decoder, streams, total).await;
        begun.map_err(|mut failed| {
            failed.hide(&decoder);
            Missed { failed, key }
        })
    }

    /// The key for a target, if there is one.
    async fn key(
        &self,
        target: &Target,
        total: Option<Deadline>,
    ) -> Result<Option<Secret>, Failed> {
        if let Some(key) = &target.key {
            return Ok(Some(key.clone()));
        }
        let key = self.keys.key(&target.vendor);
        Deadline::wait_for(total, "the key did not come", key).await?
    }

    /// Refuses a target that nothing can be sent to: there is no key, or no address.
    pub(crate) async fn check(
        &self,
        target: &Target,
        total: Option<Deadline>,
    ) -> Result<(), Failed> {
        self.check_proxy(&target.vendor.base_url)?;
        let key = self.key(target, total).await?;
        self.http(target, key.as_ref()).map(drop)
    }

    /// What reads the answer, and knows all that is secret in the request.
    fn hiding(&self, call: &Call, key: Option<&Secret>) -> Decoder {
        // Of what AWS signs with, only the token of a session is sent.
        let signs = || key.is_none() && call.target.vendor.auth == Auth::AwsV4;
        let token = signs().then(aws::session_token).flatten();
        let own = key.or(token.as_ref()).into_iter();
        own.chain(&self.proxy_secrets).fold(call.decoder.clone(), Decoder::hiding)
    }

    async fn sent(
        &self,
        call: &Call,
        key: Option<&Secret>,
        decoder: &Decoder,
        streams: bool,
        total: Option<Deadline>,
    ) -> Result<Begun, Failed> {
        let http = self.http(&call.target, key)?;
        let head = self.head(call, &http, total).await?;
        let Head { status, headers, mut incoming } = head;
        if !(200..300).contains(&status) {
            let failed = refused(decoder, status, &headers, &mut incoming).await;
            return Err(Failed { is_refused: REFUSALS.contains(&status), ..failed });
        }
        if let Some(how) = compression(&headers) {
            return Err(Failed::new(ErrorKind::Unreadable, how));
        }
        // Some servers send line breaks while they wait for the model.
        let first = loop {
            match incoming.next().await.transpose()? {
                Some(piece) if piece.trim_ascii().is_empty() => {}
                Some(piece) => break piece,
                None => return Err(Failed::new(ErrorKind::Cut, "the answer is empty")),
            }
        };
        if !is_streamed(&first) {
            return whole(decoder, status, &headers, incoming.rest(first.to_vec()).await);
        }
        let mut pump = Pump::new(incoming, decoder);
        let came = match pump.begin(&first).await {
            Err(failed) => Err(typed(failed, &headers)),
            Ok(()) if streams => return Ok(Begun::Stream(Box::new(pump))),
            Ok(()) => pump.whole().await,
        };
        match came {
            Ok(reply) => Ok(Begun::Whole(Box::new(reply), pump.ended_early.take())),
            Err(failed) => {
                // One that says nothing may have told what it cost.
                let tells = |reply: &Reply| reply.usage.is_some() || !is_empty(reply);
                let partial = pump.partial().filter(tells).map(Box::new);
                Err(Failed { partial, ..failed })
            }
        }
    }

    /// Where the call goes, with which headers.
    fn http(&self, target: &Target, key: Option<&Secret>) -> Result<Http, Failed> {
        let mut vendor = suited(&target.vendor, key);
        if vendor.auth == Auth::AwsV4 && vendor.base_url.is_empty() {
            vendor = vendor.base_url(aws::address()?);
        }
        vendor.http(&target.options, key).map_err(|e| {
            let is_keyless = key.is_none() && e.message().contains("key");
            let kind = if is_keyless { ErrorKind::Key } else { ErrorKind::Request };
            Failed::new(kind, e.to_string())
        })
    }

    /// Refuses an address that is reached by a proxy which cannot be used.
    fn check_proxy(&self, url: &str) -> Result<(), Failed> {
        let checked = self.proxies.as_ref().map_or(Ok(()), |proxies| proxies.check(url));
        checked.map_err(|why| Failed::new(ErrorKind::Request, why))
    }

    async fn head(
        &self,
        call: &Call,
        http: &Http,
        total: Option<Deadline>,
    ) -> Result<Head, Failed> {
        let connect = self.timeouts.connect;
        self.check_proxy(&http.url)?;
        let mut request = self.client.post(&http.url);
        for (name, value) in &http.headers {
            let mut sent =
                reqwest::header::HeaderValue::from_str(value.expose()).map_err(|_| {
                    Failed::new(ErrorKind::Request, format!("the header {name} cannot be sent"))
                })?;
            sent.set_sensitive(matches!(value, interleaf::wire::HeaderValue::Secret(_)));
            request = request.header(name.as_str(), sent);
        }
        if http.needs_signature {
            for (name, value) in aws::signature(http, &call.body)? {
                request = request.header(name, value);
            }
        }
        let request = request.body(reqwest::Body::wrap(Fragments::new(call.body.clone())));
        let first = Deadline::from_now(Limit::FirstByte, self.timeouts.first_byte);
        let answered = Deadline::wait(Deadline::first(first, total), request.send()).await?;
        let response = answered.map_err(|e| Failed::http(e, connect).at(&http.url))?;
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers.filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let headers = headers.collect();
        let body = reqwest::Body::from(response);
        let incoming = Incoming::new(body, first, self.timeouts.idle, total, self.most_bytes);
        Ok(Head { status, headers, incoming })
    }
}

/// The statuses with which an API answers before a model is asked.
const REFUSALS: [u16; 10] = [400, 401, 402, 403, 404, 405, 413, 415, 422, 429];

/// How much of the body of an error is read, and how long that may take.
const MOST_OF_ERROR: usize = 256 * 1024;
const ERROR_TIME: Duration = Duration::from_secs(10);

/// What an answer says whose status is not one of success.
async fn refused(
    decoder: &Decoder,
    status: u16,
    headers: &[(String, String)],
    incoming: &mut Incoming,
) -> Failed {
    if (300..400).contains(&status) {
        let place = header(headers, "location").unwrap_or("an address that it does not name");
        let place = place.split(['?', '#']).next().unwrap_or_default();
        let text = format!("the vendor sends the request on to {place}, which is not followed");
        return Failed { status: Some(status), ..Failed::new(ErrorKind::Redirect, text) };
    }
    let mut body = Vec::new();
    let all = async {
        while let Some(Ok(piece)) = incoming.next().await {
            body.extend_from_slice(&piece);
            if body.len() > MOST_OF_ERROR {
                break;
            }
        }
    };
    // What came of it says enough.
    let _ = tokio::time::timeout(ERROR_TIME, all).await;
    let compression = compression(headers);
    if compression.is_some() {
        body.clear();
    }
    match read_whole(decoder, status, headers, &body) {
        Err(mut failed) => {
            if let Some(how) = compression {
                failed.text += &format!(" ({how})");
            }
            failed
        }
        Ok(_) => Failed::new(ErrorKind::Unreadable, format!("an answer with the status {status}")),
    }
}

/// An answer in one piece, and what broke off after it: JSON shows by itself that it is whole.
fn whole(
    decoder: &Decoder,
    status: u16,
    headers: &[(String, String)],
    (body, broken): (Vec<u8>, Option<Failed>),
) -> Result<Begun, Failed> {
    let ends = |kind| matches!(kind, ErrorKind::Cut | ErrorKind::Timeout(_));
    match (read_whole(decoder, status, headers, &body), broken) {
        (Ok(reply), None) => Ok(Begun::Whole(Box::new(reply), None)),
        (Ok(reply), Some(broken)) if ends(broken.kind) => {
            Ok(Begun::Whole(Box::new(reply), Some(broken.text)))
        }
        (Err(told), broken) if told.api.is_some() => {
            Err(broken.filter(|b| !ends(b.kind)).unwrap_or(told))
        }
        (_, Some(broken)) => Err(broken),
        (Err(failed), None) => Err(failed),
    }
}

fn read_whole(
    decoder: &Decoder,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Reply, Failed> {
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let success = (200..300).contains(&status);
    decoder.whole(status, pairs, body).map_err(|e| {
        let failed = Failed::wire(&e, Some(status).filter(|_| !success));
        if success { typed(failed, headers) } else { failed }
    })
}

/// Says of what cannot be read what it is said to be.
fn typed(mut failed: Failed, headers: &[(String, String)]) -> Failed {
    if failed.kind == ErrorKind::Unreadable {
        let kind = header(headers, "content-type").unwrap_or("of no type");
        failed.text = format!("what came ({kind}) is no answer of this API: {}", failed.text);
    }
    failed
}

/// How an answer is compressed, which nobody asked for.
fn compression(headers: &[(String, String)]) -> Option<String> {
    let how = header(headers, "content-encoding")?.trim();
    let is_plain = how.is_empty() || how.eq_ignore_ascii_case("identity");
    let text = || {
        format!(
            "the answer is compressed (content-encoding: {how}), although no compression was \
             requested; check the proxy or gateway in front of the API"
        )
    };
    (!is_plain).then(text)
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// Whether these are the first bytes of a stream. Servers do not always do what was asked, nor
/// say what they do; a whole answer is an object, or a list of Gemini's.
fn is_streamed(first: &Bytes) -> bool {
    let first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
    let first = first.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(|byte| !matches!(byte, b'{' | b'[' | b'<'))
}
