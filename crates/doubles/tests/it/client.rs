//! A client that sees every byte.

use std::time::Duration;

use interleaf_doubles::{Api, Double};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its end.
    pub(crate) is_whole: bool,
    /// The sizes of the chunks.
    pub(crate) chunks: Vec<usize>,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Where a request of an API goes.
pub(crate) fn path(api: Api, model: &str, stream: bool) -> String {
    match api {
        Api::OpenAiChat => "/v1/chat/completions".to_owned(),
        Api::OpenAiResponses => "/v1/responses".to_owned(),
        Api::Anthropic => "/v1/messages".to_owned(),
        Api::Gemini if stream => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        Api::Gemini => format!("/v1beta/models/{model}:generateContent"),
        Api::Bedrock if stream => format!("/model/{model}/converse-stream"),
        Api::Bedrock => format!("/model/{model}/converse"),
    }
}

/// The headers that an API demands.
pub(crate) fn headers(api: Api) -> Vec<(&'static str, &'static str)> {
    match api {
        Api::Anthropic => vec![("x-api-key", "k"), ("anthropic-version", "2023-06-01")],
        Api::Gemini => vec![("x-goog-api-key", "k")],
        _ => vec![("authorization", "Bearer k")],
    }
}

/// Sends a body to an API.
pub(crate) async fn send(double: &Double, api: Api, body: &Value) -> Got {
    send_with(double, api, body, &[]).await
}

/// Sends a body with more headers.
pub(crate) async fn send_with(
    double: &Double,
    api: Api,
    body: &Value,
    more: &[(&str, &str)],
) -> Got {
    let (mut body, mut model, mut stream) = (body.clone(), String::new(), false);
    // Where the address says it, the body does not.
    if matches!(api, Api::Gemini | Api::Bedrock) {
        let fields = body.as_object_mut().unwrap();
        stream = fields.shift_remove("stream").is_some_and(|stream| stream == true);
        let named = fields.shift_remove("model");
        model = named.and_then(|model| model.as_str().map(str::to_owned)).unwrap_or_default();
    }
    let mut headers = headers(api);
    headers.extend(more);
    post(double, &path(api, &model, stream), &headers, &body.to_string()).await
}

pub(crate) async fn post(double: &Double, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
    request(double, "POST", path, headers, body).await
}

pub(crate) async fn get(double: &Double, path: &str, headers: &[(&str, &str)]) -> Got {
    request(double, "GET", path, headers, "").await
}

async fn request(
    double: &Double,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Got {
    let mut socket = TcpStream::connect(double.address()).await.unwrap();
    let lines: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: double\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{lines}\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(body.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // A connection that breaks has still brought what came before.
    let read = tokio::time::timeout(Duration::from_secs(60), socket.read_to_end(&mut bytes));
    drop(read.await.unwrap());
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Got {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &bytes[end + 4..];
    let (body, is_whole, chunks) = match head.contains("transfer-encoding: chunked") {
        true => unchunked(rest),
        false => (rest.to_vec(), true, Vec::new()),
    };
    Got { status, headers: head, body, is_whole, chunks }
}

fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool, Vec<usize>) {
    let (mut body, mut chunks) = (Vec::new(), Vec::new());
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else {
            return (body, false, chunks);
        };
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true, chunks);
        }
        let chunk = &rest[end + 2..];
        let has = size.min(chunk.len());
        body.extend_from_slice(&chunk[..has]);
        chunks.push(has);
        rest = chunk.get(size + 2..).unwrap_or_default();
    }
}
