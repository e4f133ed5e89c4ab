//! Connections that nobody listens to, and servers that prove who they are.

use std::path::Path;
use std::process::Command;

use interleaf_store::{ErrorKind, open_with};

use crate::fixture::server::node::Node;
use crate::fixture::{new_session, patient, server};

/// Only who encrypts may come in.
const RULES: &str = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n\
                     hostnossl all all 127.0.0.1/32 reject\n";

/// An authority, another one, and a certificate of the first for `localhost`.
fn certificates(node: &Node) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let openssl = |arguments: &[&str]| {
        let output = node.command(Path::new("openssl")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    for name in ["ours", "other"] {
        let (subject, out) = (format!("/CN={name}"), format!("{name}.crt"));
        let own = ["req", "-x509", "-days", "2", "-keyout", &format!("{name}.key"), "-out", &out];
        openssl(&[&own[..], &key, &["-subj", &subject]].concat());
    }
    let request = ["req", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"];
    openssl(&[&request[..], &key].concat());
    std::fs::write(node.folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let sign = ["x509", "-req", "-days", "2", "-in", "server.csr", "-out", "server.crt"];
    let by = ["-CA", "ours.crt", "-CAkey", "ours.key", "-CAcreateserial", "-extfile", "names"];
    openssl(&[&sign[..], &by].concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_believed_as_far_as_sslmode_says() {
    if Command::new("openssl").arg("version").output().is_err() {
        return eprintln!("skipped: openssl is not installed");
    }
    let Some(mut node) = Node::new() else { return };
    node.init(RULES);
    certificates(&node);
    let [certificate, key] = ["cert_file=../server.crt", "key_file=../server.key"]
        .map(|setting| format!("ssl_{setting}"));
    node.start_on_loopback(&["ssl=on", &certificate, &key, "fsync=off"]);

    let folder = node.folder.display().to_string().replace('/', "%2F");
    let open = async |host: &str, query: &str| {
        let query = query.replace("FOLDER", &folder);
        let url = format!("postgres://interleaf@{host}:{}/postgres{query}", node.port);
        let options = patient().connections(1);
        open_with(&url, options).await
    };
    for (host, query) in [
        ("127.0.0.1", ""),
        ("127.0.0.1", "?sslmode=prefer"),
        ("127.0.0.1", "?sslmode=require"),
        ("127.0.0.1", "?sslmode=require&sslrootcert=FOLDER%2Fours.crt"),
        ("127.0.0.1", "?sslrootcert=FOLDER%2Fours.crt&sslmode=verify-ca&connect_timeout=60"),
        ("localhost", "?sslmode=verify-ca&sslrootcert=FOLDER%2Fours.crt"),
        ("localhost", "?sslmode=verify-full&sslrootcert=FOLDER%2Fours.crt"),
    ] {
        let store = open(host, query).await.unwrap_or_else(|e| panic!("{host}{query}: {e}"));
        new_session(&*store).await;
        store.watch().await.unwrap();
    }
    for (host, query, says) in [
        ("127.0.0.1", "?sslmode=disable", "does not admit"),
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert=FOLDER%2Fours.crt", "prove who it is"),
        ("127.0.0.1", "?sslmode=require&sslrootcert=FOLDER%2Fother.crt", "prove who it is"),
        ("localhost", "?sslmode=verify-ca&sslrootcert=FOLDER%2Fother.crt", "prove who it is"),
        ("localhost", "?sslmode=verify-full&sslrootcert=FOLDER%2Fother.crt", "prove who it is"),
        ("localhost", "?sslmode=verify-full&sslrootcert=system", "prove who it is"),
    ] {
        let error = open(host, query).await.err().unwrap_or_else(|| panic!("{host}{query}"));
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}{query}: {error}");
        assert!(error.to_string().contains(says), "{host}{query}: {error}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    let Some(url) = server::new_database().await else { return };
    for mode in ["require", "verify-full&sslrootcert=system"] {
        let options = patient().connections(1);
        let error = open_with(&format!("{url}?sslmode={mode}"), options).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
}
