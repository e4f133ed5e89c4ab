//! From a request to an answer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::Notify;
use xxhash_rust::xxh3::xxh3_64;

use crate::cache::Cache;
use crate::exchange::{End, Exchange};
use crate::family::{Incoming, Spoken, judge};
use crate::fault::{FAULT_HEADER, Fault};
use crate::refusal::Refusal;
use crate::route::Route;
use crate::tokens::Rendered;
use crate::{
    Answer, Api, Asked, Said, Settings, Usage, gemini, keys, limits, models, openai_responses,
    sending,
};

/// Larger bodies are refused, as Anthropic does.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What the server knows.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) settings: Settings,
    log: Mutex<Vec<Exchange>>,
    cache: Mutex<Cache>,
    /// Responses that were stored: the whole answer, and the input items that led to it.
    stored: Mutex<HashMap<String, (Value, Vec<Value>)>>,
    /// What the next requests meet.
    next_faults: Mutex<VecDeque<Fault>>,
    changed: Notify,
}

/// What is sent back: a body in one piece or as events.
enum Reply {
    Whole(Value),
    Events(Vec<Bytes>, &'static str),
}

impl Inner {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            log: Mutex::default(),
            cache: Mutex::default(),
            stored: Mutex::default(),
            next_faults: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.log).clone()
    }

    pub(crate) async fn ended(&self, n: usize) -> Vec<Exchange> {
        loop {
            let changed = self.changed.notified();
            let exchanges = self.exchanges();
            if exchanges.iter().filter(|exchange| exchange.end != End::Open).count() >= n {
                return exchanges;
            }
            changed.await;
        }
    }

    pub(crate) fn fail_next(&self, fault: Fault) {
        lock(&self.next_faults).push_back(fault);
    }

    pub(crate) fn forget(&self) {
        lock(&self.log).clear();
        *lock(&self.cache) = Cache::default();
        lock(&self.stored).clear();
    }

    /// Changes what is noted of an exchange.
    pub(crate) fn note(&self, number: u64, change: impl FnOnce(&mut Exchange)) {
        let mut log = lock(&self.log);
        if let Some(exchange) = log.iter_mut().find(|exchange| exchange.number == number) {
            change(exchange);
        }
        drop(log);
        self.changed.notify_waiters();
    }

    /// Notes a request, and says its number.
    fn open(&self, line: String, headers: Vec<(String, String)>) -> u64 {
        let mut log = lock(&self.log);
        let number = log.last().map_or(0, |exchange| exchange.number) + 1;
        log.push(Exchange::new(number, line, headers));
        number
    }

    /// What goes wrong with a request. One that a request cannot meet waits for the next, if it has no number.
    fn fault(
        &self,
        number: u64,
        headers: &HeaderMap,
        route: Option<&Route>,
    ) -> Result<Option<Fault>, Refusal> {
        let is_met = |fault: &Fault| match fault {
            Fault::Overflow | Fault::Truncate => matches!(route, Some(Route::Generate { .. })),
            _ => route.is_some(),
        };
        if let Some(header) = headers.get(FAULT_HEADER) {
            let text = header.to_str().unwrap_or_default();
            return text.parse().map(Some).map_err(|error: crate::BadFault| {
                Refusal::new(format!("{FAULT_HEADER}: {error}")).rule("fault_header")
            });
        }
        let mut waiting = lock(&self.next_faults);
        if waiting.front().is_some_and(is_met) {
            return Ok(waiting.pop_front());
        }
        let mut planned = self.settings.faults.iter().filter(|planned| is_met(&planned.fault));
        let planned = planned.find(|planned| planned.nth.is_none_or(|nth| nth == number));
        Ok(planned.map(|planned| planned.fault.clone()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn router(inner: Arc<Inner>) -> Router {
    Router::new().fallback(handle).with_state(inner)
}

async fn handle(State(inner): State<Arc<Inner>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
    let line = format!("{} {path}", parts.method);
    let number = inner.open(line.clone(), keys::shown(&parts.headers));
    let route = Route::of(parts.method.as_str(), path);
    let route = route.map(|route| route.of_client(|name| parts.headers.contains_key(name)));
    let api = route.as_ref().map_or(Api::OpenAiChat, Route::api);
    let fault = match inner.fault(number, &parts.headers, route.as_ref()) {
        Ok(fault) => fault,
        Err(refusal) => return refuse(&inner, number, api, refusal),
    };
    inner.note(number, |exchange| {
        exchange.api = route.as_ref().map(Route::api);
        exchange.fault = fault.clone();
    });
    let leaving = Leaving { inner: &inner, number };
    // A client that leaves is noticed once its request was read.
    let body = to_bytes(body, MOST_BYTES).await;
    if body.as_ref().is_err_and(|error| !is_too_long(error)) {
        // Its connection broke: nobody is there to be answered.
        return Response::new(Body::empty());
    }
    if let Some(Fault::Slow(lasts)) = fault {
        tokio::time::sleep(lasts).await;
    }
    std::mem::forget(leaving);
    let asks =
        Asks { inner: &inner, number, headers: &parts.headers, path, query, fault: fault.as_ref() };
    let reply = match (route, body) {
        (None, _) => {
            Err(Refusal::with_status(404, format!("Unknown request URL: {line}.")).rule("address"))
        }
        (_, Err(_)) => {
            Err(Refusal::with_status(413, "Request exceeds the maximum size").rule("size"))
        }
        (Some(route), Ok(bytes)) => asks.reply(&route, &bytes),
    };
    match reply {
        Ok(reply) => send(&inner, number, api, reply, fault.as_ref()),
        Err(refusal) => refuse(&inner, number, api, refusal),
    }
}

/// Whether a body was refused for its length, and did not break off.
fn is_too_long(error: &axum::Error) -> bool {
    let cause = std::error::Error::source(error);
    cause.is_some_and(|cause| cause.to_string() == "length limit exceeded")
}

/// Notes, when it is dropped, that a client left before its answer began.
struct Leaving<'a> {
    inner: &'a Inner,
    number: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.inner.note(self.number, |exchange| exchange.end = End::Left);
    }
}

/// A request and where it is answered.
struct Asks<'a> {
    inner: &'a Inner,
    number: u64,
    headers: &'a HeaderMap,
    path: &'a str,
    query: &'a str,
    fault: Option<&'a Fault>,
}

impl Asks<'_> {
    fn reply(&self, route: &Route, bytes: &Bytes) -> Result<Reply, Refusal> {
        let api = route.api();
        let key = keys::key_of(api, self.headers, self.query);
        let wanted = self.inner.settings.key.as_deref();
        match &key {
            None if wanted.is_none() && self.path.starts_with(keys::LOCAL) => {}
            None => return Err(api.family().no_key(true).rule("key")),
            Some(key) if wanted.is_some_and(|wanted| wanted != key) => {
                return Err(api.family().no_key(false).rule("key"));
            }
            Some(_) => {}
        }
        if let Some(Fault::Status { status, retry_after }) = self.fault {
            let mut refusal = limits::status(api, *status);
            refusal.retry_after = *retry_after;
            return Err(refusal.rule("fault"));
        }
        match route {
            Route::Models { api, id } => {
                let list = match api {
                    Api::Gemini => models::gemini,
                    Api::Anthropic => models::anthropic,
                    _ => models::openai,
                };
                Ok(Reply::Whole(list(id.as_deref())))
            }
            Route::Stored(id) => {
                let stored = lock(&self.inner.stored).get(id).map(|(answer, _)| answer.clone());
                stored.map(Reply::Whole).ok_or_else(|| unknown_response(id))
            }
            Route::Generate { model, stream, .. } => {
                let scope = key.unwrap_or_default();
                self.generate(api, model.as_deref(), *stream, false, bytes, &scope)
            }
            Route::Count { model, .. } => {
                self.generate(api, model.as_deref(), None, true, bytes, "")
            }
        }
    }

    fn generate(
        &self,
        api: Api,
        model: Option<&str>,
        stream: Option<bool>,
        counts: bool,
        bytes: &Bytes,
        key: &str,
    ) -> Result<Reply, Refusal> {
        let family = api.family();
        let body: Value =
            serde_json::from_slice(bytes).map_err(|error| limits::not_json(api, &error))?;
        self.inner.note(self.number, |exchange| exchange.body = body.clone());
        let version = self.headers.get("anthropic-version").and_then(|v| v.to_str().ok());
        limits::version(api, version)?;
        let body = family.unwrapped(body, counts);
        let body = self.expanded(api, body)?;
        let model = model.or_else(|| body["model"].as_str()).unwrap_or_default().to_owned();
        let stream = stream.unwrap_or(body["stream"] == true);
        let incoming = Incoming {
            api,
            model: &model,
            body: &body,
            counts,
            stream,
            verify: self.inner.settings.verify,
            version: version.unwrap_or_default(),
            is_expanded: true,
        };
        judge(&incoming)?;
        let mut asked = family.read(&incoming);
        asked.stream = stream;
        if let Ok(sent) = std::str::from_utf8(bytes) {
            crate::raw::restore(&mut asked, sent);
        }
        let prompt = Rendered::of(&asked);
        self.inner.note(self.number, |exchange| exchange.asked = Some(asked.clone()));
        if counts {
            return Ok(Reply::Whole(family.counted(prompt.len())));
        }
        let window = self.inner.settings.window;
        if self.fault == Some(&Fault::Overflow)
            || window.is_some_and(|window| prompt.len() > window)
        {
            let window = window.unwrap_or_else(|| prompt.len().saturating_sub(1));
            return Err(family.overflow(prompt.len(), window).rule("overflow"));
        }
        self.answer(&asked, &prompt, &body, key)
    }

    fn answer(
        &self,
        asked: &Asked,
        prompt: &Rendered,
        body: &Value,
        key: &str,
    ) -> Result<Reply, Refusal> {
        let (inner, family) = (self.inner, asked.api.family());
        // Another try would end the same.
        let failed = |message| Refusal::with_status(400, message).rule("brain");
        let mut answer = inner.settings.brain.answer(asked).map_err(failed)?;
        if self.fault == Some(&Fault::Truncate) {
            limits::truncate(&mut answer);
        }
        let (output, reasoning) = limits::cap(&mut answer, asked.max_tokens);
        let hash = xxh3_64(body.to_string().as_bytes()) as u32;
        let id = format!("{hash:08x}{:04x}", self.number);
        give_ids(&mut answer, family.call_prefix(), &id);
        let now = inner.settings.clock.now();
        let scope = format!(
            "{key}\n{}\n{}\n{}",
            asked.api,
            asked.model,
            asked.cache_key.as_deref().unwrap_or_default()
        );
        let rules = (asked.api, asked.model.as_str(), asked.salt.as_str());
        let cached = lock(&inner.cache).request(scope, rules, prompt, now);
        let usage = Usage { output, reasoning, ..cached };
        inner.note(self.number, |exchange| {
            exchange.answer = Some(answer.clone());
            exchange.usage = Some(usage);
        });
        let delta = inner.settings.delta;
        let spoken = Spoken { asked, body, answer: &answer, usage, id: &id, created: now, delta };
        let whole = family.whole(&spoken);
        self.store(asked.api, body, &whole);
        if !asked.stream {
            return Ok(Reply::Whole(whole));
        }
        let events = family.events(&spoken);
        if asked.api == Api::Gemini && !self.query.split('&').any(|pair| pair == "alt=sse") {
            return Ok(Reply::Events(gemini::as_array(&events), "application/json; charset=UTF-8"));
        }
        Ok(Reply::Events(events, family.stream_type()))
    }

    /// A body with the items of the response that it continues before its own, and with stored
    /// items in place of references to them.
    fn expanded(&self, api: Api, mut body: Value) -> Result<Value, Refusal> {
        if api != Api::OpenAiResponses {
            return Ok(body);
        }
        if let Some(id) = body["conversation"].as_str().or(body["conversation"]["id"].as_str()) {
            let refusal =
                Refusal::with_status(404, format!("Conversation with id '{id}' not found."));
            return Err(refusal.at("conversation").rule("conversation"));
        }
        let stored = lock(&self.inner.stored);
        if let Some(id) = body["previous_response_id"].as_str() {
            let (_, before) = stored.get(id).ok_or_else(|| {
                let message = format!("Previous response with id '{id}' not found.");
                let refusal = Refusal::new(message).at("previous_response_id");
                refusal.code("previous_response_not_found").rule("previous_response")
            })?;
            let mut items = before.clone();
            items.extend(openai_responses::items(&body["input"]));
            body["input"] = Value::Array(items);
        }
        let items = body.get_mut("input").and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            if item["type"] == "item_reference" {
                let id = item["id"].as_str().unwrap_or_default();
                let all = stored.values().flat_map(|(_, items)| items);
                let found = all.into_iter().find(|item| item["id"] == id).cloned();
                *item = found.ok_or_else(|| {
                    let rule = "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
                    Refusal::with_status(404, format!("Item with id '{id}' not found. {rule}"))
                        .at("input")
                        .rule("item_reference")
                })?;
            }
        }
        Ok(body)
    }

    fn store(&self, api: Api, body: &Value, whole: &Value) {
        if api != Api::OpenAiResponses || body["store"] == false {
            return;
        }
        let mut items = openai_responses::items(&body["input"]);
        items.extend(crate::value::list(&whole["output"]).iter().cloned());
        let id = whole["id"].as_str().unwrap_or_default().to_owned();
        lock(&self.inner.stored).insert(id, (whole.clone(), items));
    }
}

fn unknown_response(id: &str) -> Refusal {
    Refusal::with_status(404, format!("Response with id '{id}' not found.")).rule("stored")
}

/// Gives an id to each call that has none.
fn give_ids(answer: &mut Answer, prefix: &str, made_of: &str) {
    for (i, part) in answer.parts.iter_mut().enumerate() {
        if let Said::Call { id: id @ None, .. } = part {
            *id = Some(format!("{prefix}{made_of}{i:02}"));
        }
    }
}

fn send(
    inner: &Arc<Inner>,
    number: u64,
    api: Api,
    reply: Reply,
    fault: Option<&Fault>,
) -> Response {
    let (mut pieces, mut kind) = match reply {
        Reply::Whole(value) => (vec![Bytes::from(value.to_string())], "application/json"),
        Reply::Events(events, kind) => (events, kind),
    };
    let (mut stall, mut cut) = (None, None);
    match fault {
        Some(Fault::ContentType) => kind = "text/html; charset=utf-8",
        Some(Fault::Stall { at, lasts }) => stall = Some((*at, *lasts)),
        Some(Fault::Cut { at }) => cut = Some(*at),
        Some(Fault::Malformed { at }) => match pieces.as_mut_slice() {
            [whole] => whole.truncate(whole.len() / 2),
            events => {
                let last = events.len() - 1;
                events[(*at).min(last)] = api.family().malformed();
            }
        },
        _ => {}
    }
    inner.note(number, |exchange| exchange.status = 200);
    let mut response = Response::new(sending::body(inner, number, pieces, stall, cut));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let id = HeaderValue::from_str(&format!("req_double{number:04}"));
    if let Ok(id) = id {
        response.headers_mut().insert(limits::request_id(api), id);
    }
    response
}

fn refuse(inner: &Arc<Inner>, number: u64, api: Api, refusal: Refusal) -> Response {
    let id = format!("req_double{number:04}");
    let (body, headers) = api.family().refused(&refusal, &id);
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() =
        StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let retry = refusal.retry_after.map(|seconds| ("retry-after", seconds.to_string()));
    let kind = ("content-type", "application/json".to_owned());
    for (name, value) in
        headers.into_iter().chain(retry).chain([kind, (limits::request_id(api), id)])
    {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    let sent = body.to_string().len();
    inner.note(number, |exchange| {
        exchange.status = refusal.status;
        exchange.refusal = Some(refusal);
        exchange.sent = sent;
        exchange.end = End::Whole;
    });
    response
}
