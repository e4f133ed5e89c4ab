//! What the transport adds to a bare HTTP client, and how fast it reads a stream.
//!
//! Both sides of a ratio run in turns in the same process, against the same server.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::Response;
use interleaf::Target;
use interleaf::wire::{AnswerHead, Delta, Family, StreamWriter, Vendor};
use interleaf_transport::{Call, Transport};
use tokio::net::TcpListener;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A server that answers every request with these bytes.
async fn serve(bytes: Bytes) -> Outcome<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let router = Router::new().fallback(move |_: axum::extract::Request| {
        let bytes = bytes.clone();
        async move { Ok::<_, Infallible>(Response::new(Body::from(bytes))) }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

fn events(n: usize) -> Bytes {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::new(Family::OpenaiChat, AnswerHead::default().id("a"));
    for _ in 0..n {
        let text = "a few words of an answer, as they come ".to_owned();
        writer.push(&Delta::Text { part: 0, text }, &mut bytes);
    }
    writer.push(&Delta::Finish(interleaf::model::Finish::Stop), &mut bytes);
    writer.finish(&mut bytes);
    bytes.into()
}

fn target(url: &str) -> Target {
    let vendor = Vendor::of(Family::OpenaiChat).clone().base_url(url);
    let mut target = Target::of(vendor, "gpt-5").with_key("sk-123");
    target.options.stream = true;
    target
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The time to the first piece of an answer, beside a bare client's to the first chunk.
async fn first_byte() -> Outcome<()> {
    const ROUNDS: usize = 2000;
    let url = serve(events(3)).await?;
    let body: Bytes = format!(
        r#"{{"model":"gpt-5","stream":true,"messages":[{{"role":"user","content":"{}"}}]}}"#,
        "word ".repeat(4000)
    )
    .into();
    // The first to be built, as it brings what TLS needs.
    let transport = Transport::builder().no_proxy().build()?;
    let bare = reqwest::Client::builder().no_proxy().build()?;
    let call = Call::new(target(&url), body.clone());
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 200 {
        let began = Instant::now();
        let request = bare.post(format!("{url}/chat/completions")).bearer_auth("sk-123");
        let mut response = request.body(body.clone()).send().await?;
        response.chunk().await?;
        let bare_time = began.elapsed();
        while response.chunk().await?.is_some() {}

        let began = Instant::now();
        let mut streaming = transport.stream(&call).await?;
        streaming.next().await.ok_or("no piece")??;
        let own_time = began.elapsed();
        streaming.finish().await?;
        if round >= 200 {
            theirs.push(bare_time);
            ours.push(own_time);
        }
    }
    let (theirs, ours) = (median(theirs), median(ours));
    println!(
        "first byte, body of {} kB: bare reqwest {theirs:?}, transport {ours:?}, added {:?}",
        body.len() / 1000,
        ours.saturating_sub(theirs),
    );
    Ok(())
}

/// Fifty megabytes of events, beside a reader that only finds the ends of lines.
async fn throughput() -> Outcome<()> {
    let one = events(1000);
    let n = 50_000_000 / (one.len() / 1000);
    let bytes = events(n);
    let url = serve(bytes.clone()).await?;
    // The first to be built, as it brings what TLS needs.
    let transport = Transport::builder().no_proxy().build()?;
    let bare = reqwest::Client::builder().no_proxy().build()?;
    let call = Call::new(target(&url), "{}");
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let began = Instant::now();
        let request = bare.post(format!("{url}/chat/completions")).body("{}");
        let mut response = request.send().await?;
        let (mut n_lines, mut rest) = (0_usize, Vec::new());
        while let Some(chunk) = response.chunk().await? {
            rest.extend_from_slice(&chunk);
            let mut start = 0;
            while let Some(end) = rest[start..].iter().position(|byte| *byte == b'\n') {
                n_lines += usize::from(end > 0);
                start += end + 1;
            }
            rest.drain(..start);
        }
        theirs.push(began.elapsed());

        let began = Instant::now();
        let mut streaming = transport.stream(&call).await?;
        let mut n_pieces = 0_usize;
        while let Some(piece) = streaming.next().await {
            n_pieces += usize::from(matches!(piece?, Delta::Text { .. }));
        }
        streaming.finish().await?;
        ours.push(began.elapsed());
        assert!(n_pieces == n && n_lines >= n, "{n_pieces} pieces, {n_lines} lines");
    }
    let (theirs, ours) = (median(theirs), median(ours));
    let speed = |time: Duration| bytes.len() as f64 / 1e6 / time.as_secs_f64();
    println!(
        "stream of {} MB: lines alone {:.0} MB/s, transport {:.0} MB/s, ratio {:.2}",
        bytes.len() / 1_000_000,
        speed(theirs),
        speed(ours),
        ours.as_secs_f64() / theirs.as_secs_f64(),
    );
    Ok(())
}

fn main() -> Outcome<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        first_byte().await?;
        throughput().await
    })
}
