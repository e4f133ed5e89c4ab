//! Encrypted connections.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, Version};
use axum::serve::Listener;
use interleaf::Target;
use interleaf::wire::{Family, Vendor};
use interleaf_transport::{Call, ErrorKind};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

use crate::families::{builder, saying};

/// A listener whose connections are encrypted.
struct Encrypted {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    n_connections: Arc<AtomicUsize>,
}

impl Listener for Encrypted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((stream, address)) = self.listener.accept().await else { continue };
            // A client that does not trust the certificate leaves here.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                self.n_connections.fetch_add(1, Ordering::SeqCst);
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

struct Server {
    target: Target,
    /// The certificate that it shows.
    pem: String,
    n_connections: Arc<AtomicUsize>,
    /// The versions of HTTP of the requests that came.
    seen: Arc<Mutex<Vec<Version>>>,
}

/// A server that speaks these protocols.
async fn serve(protocols: &[&str]) -> Server {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let router = Router::new().fallback(async move |request: Request| {
        noted.lock().unwrap().push(request.version());
        Response::new(Body::from(saying(Family::OpenaiChat, "Yes, in secret.")))
    });
    let n_connections = Arc::new(AtomicUsize::new(0));
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let encrypted = Encrypted { listener, acceptor, n_connections: n_connections.clone() };
    tokio::spawn(async move { axum::serve(encrypted, router).await });
    let vendor = Vendor::of(Family::OpenaiChat).clone().base_url(url.as_str());
    let mut target = Target::of(vendor, "gpt-5").with_key("sk-123");
    target.options.stream = true;
    Server { target, pem: made.cert.pem(), n_connections, seen }
}

#[tokio::test]
async fn over_tls_http_2_is_used_where_it_is_offered_and_calls_share_one_connection() {
    for (offered, used) in
        [(["h2", "http/1.1"].as_slice(), Version::HTTP_2), (&["http/1.1"], Version::HTTP_11)]
    {
        let server = serve(offered).await;
        let transport = builder().certificates(&server.pem).build().unwrap();
        let call = Call::new(server.target, r#"{"stream":true}"#);
        for _ in 0..3 {
            let answer = transport.send(&call).await.unwrap();
            assert_eq!(answer.reply.message.text(), "Yes, in secret.");
        }
        assert_eq!(*server.seen.lock().unwrap(), [used; 3]);
        assert_eq!(server.n_connections.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_server_whose_certificate_nobody_vouches_for_gets_no_request() {
    let server = serve(&["h2"]).await;
    let transport = builder().build().unwrap();
    let error = transport.send(&Call::new(server.target, "{}")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
    assert!(server.seen.lock().unwrap().is_empty());
}

#[test]
fn what_is_no_certificate_is_refused() {
    let error = builder().certificates("none").build().unwrap_err();
    assert!(error.to_string().contains("PEM"), "{error}");
}
