//! What goes wrong is said clearly, and nothing is lost.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use interleaf_store::{
    Commit, ErrorKind, OpenOptions, default_url, hide_passwords, open, open_with,
};
use rusqlite::Connection;
use tokio_postgres::NoTls;

use crate::fixture::small_disk::SmallDisk;
use crate::fixture::{at, new_session, patient, postgres, said, say, server, sqlite, texts};

async fn refusal(url: &str) -> (ErrorKind, String) {
    let options = patient().connections(2);
    let error = open_with(url, options).await.err().unwrap();
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn a_wrong_url_is_an_error_that_says_what_is_right() {
    for (url, kind, says) in [
        ("", ErrorKind::Invalid, "memory:, sqlite:PATH and postgres://… are known"),
        ("sessions.db", ErrorKind::Invalid, "\"sessions.db\" is not a store"),
        ("mysql://me:secret@host/db", ErrorKind::Invalid, "\"mysql\" is not a store"),
        ("memory:name", ErrorKind::Invalid, "has no name"),
        ("postgres:db", ErrorKind::Invalid, "begins with postgres://"),
        ("postgres://", ErrorKind::Invalid, "names no host"),
        ("postgres://me:secret@host:port/db", ErrorKind::Invalid, "is wrong"),
        ("postgres://me:secret@host/db?sslmode=maybe", ErrorKind::Invalid, "verify-full"),
        (
            "postgres://me:secret@host/db?sslmode=verify-ca&sslrootcert=/no/such.crt",
            ErrorKind::Invalid,
            "/no/such.crt",
        ),
        ("postgres://me:secret@host/db?sslrootcert=%zz", ErrorKind::Invalid, "path of a file"),
        ("postgres://me:secret@host/db?sslmode=verify-ca", ErrorKind::Invalid, "name counts"),
        (
            "postgres://me:secret@host/db?sslmode=verify-ca&sslrootcert=system",
            ErrorKind::Invalid,
            "sslmode=verify-full",
        ),
        (
            "postgres://me:secret@host/db?sslmode=require&sslrootcert=system",
            ErrorKind::Invalid,
            "sslmode=verify-full",
        ),
        ("postgres://me:secret@host/db?colour=red", ErrorKind::Invalid, "colour"),
        ("postgres://me:secret@%2Fno%2Fsuch/db", ErrorKind::Unavailable, "db on /no/such"),
        ("sqlite:/no/such/folder/x.db", ErrorKind::NotFound, "/no/such/folder/x.db"),
        ("sqlite:/", ErrorKind::NotFound, "it is a folder"),
    ] {
        let refusal = refusal(url).await;
        assert_eq!(refusal.0, kind, "{url}: {}", refusal.1);
        assert!(refusal.1.contains(says), "{url}: {}", refusal.1);
        assert!(!refusal.1.contains("secret"), "{url}: {}", refusal.1);
    }
}

/// All that an error says, its causes included.
fn everything(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(|error| format!("{error} {error:?}")).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn no_error_names_a_password_however_the_address_is_written() {
    let folder = "%2Fno%2Fsuch";
    for url in [
        "host=127.0.0.1 password=s3cret",
        "host=127.0.0.1 password = 's3 cret' user=me",
        "PASSWORD=s3cret host=::1",
        "password%3Ds3cret",
        "PGPASSWORD=s3cret",
        "me:s3cret@host/db",
        "postgres:host=h password=s3cret",
        "postgres:me:s3cret@host/db",
        "postgres://me:s3cret",
        "postgres://me:s3cret/db",
        "postgres://me:s3cret@",
        "postgres://me:s3cret@host:port/db",
        "postgres://me:p@s3cret@host/db",
        "postgres://me:p/s3cret@host/db",
        "postgres://me:p?s3cret@host/db",
        "postgres://me:p#s3cret@host/db",
        "postgres://me:p s3cret@host/db",
        "postgres://me:%73%33cret%zz@host/db",
        "postgres://me@host/db?pasword=s3cret",
        "postgres://me@host/db?password=s3cret&port=x",
        "postgres://me@host/db password=s3cret",
        &format!("postgres://me:s3cret@{folder}/db"),
        &format!("postgres://me:p%40s3cret@{folder}/db"),
        &format!("postgres://me@{folder}/db?password=s3cret"),
        &format!("postgres://me@{folder}/db password=s3cret"),
        &format!("postgres://me@{folder}/db%20password%3ds3cret"),
        "postgresql://me:s3cret@host:1:2/db",
        "mysql://me:s3cret@host/db",
        "sqlite:postgres://me:s3cret@host/db",
        "sqlite:/no/such/password=s3cret",
        "sqlite:/no/such/host=h password='s3 cret'",
        "memory:password=s3cret",
        "s3cret@host",
        "s3cret@host:5432/db",
        "postgres//s3cret@host",
        "s3c@s3cret@host",
        "sqlite:/no/such/me:a/s3cret@host",
        "sqlite:/no/such/db?api_key=s3cret",
        "sqlite:/no/such/db?key=s3cret",
        "sqlite:/no/such/db?mode=rw&token=s3cret",
        "sqlite:/no/such/db?access_token=s3cret&mode=rw",
        "sqlite:/no/such/Bearer s3cret-of-16-characters",
        "sqlite:/no/such/sk-ant-s3cret-0123",
    ] {
        let Err(error) = open(url).await else { panic!("{url} can be opened") };
        let told = everything(&error);
        assert!(!told.contains("cret"), "{url}: {told}");
        let is_hidden = !hide_passwords(url).contains("cret");
        assert_eq!(is_hidden, !NO_SIGN.contains(&url), "{url}: {}", hide_passwords(url));
    }
}

/// Addresses in which nothing shows that a part is a password. An error of `open` does not
/// quote that part.
const NO_SIGN: [&str; 5] = [
    "postgres://me@host/db?pasword=s3cret",
    "s3cret@host",
    "s3cret@host:5432/db",
    "postgres//s3cret@host",
    "s3c@s3cret@host",
];

#[test]
fn what_is_no_password_is_not_hidden() {
    for text in [
        "the password is wrong",
        "postgres://host:5432,other:5433/db?target_session_attrs=read-write",
        "postgres://[::1]:5432/db",
        "cannot open the database db on /no/such: see https://example.org:80/a@b",
        "sqlite:/home/me@work/sessions.db",
        "sqlite:me@work.db",
        r#"an event {"at":"me@work"} is damaged: me@work"#,
        "--context takes key=value, and no token = 5; see monkey=1&turkey=2",
        "the bearer of this news, sk-1, has a task-0123456789-0123456789",
    ] {
        assert_eq!(hide_passwords(text), text);
    }
}

#[test]
fn the_password_of_an_address_without_its_scheme_is_hidden() {
    for (text, hidden) in [
        ("me:s3cret@host/db: there is no such file", "me:***@host/db: there is no such file"),
        ("//me:s3cret@host/db", "//me:***@host/db"),
        ("postgres:me:s3cret@host", "postgres:***@host"),
        ("'me:s3:c@ret@host' and a:b@c", "'me:***@host' and a:***@c"),
    ] {
        assert_eq!(hide_passwords(text), hidden);
    }
}

#[test]
fn keys_and_tokens_are_hidden() {
    for (text, hidden) in [
        ("https://h/v1?key=AIza&alt=sse", "https://h/v1?key=***&alt=sse"),
        ("/v1?a=b&TOKEN=abc and API_KEY=abc", "/v1?a=b&TOKEN=*** and API_KEY=***"),
        ("client_secret: no; client_secret=abc", "client_secret: no; client_secret=***"),
        ("authorization: Bearer 0123456789abcdef", "authorization: Bearer ***"),
        ("'authorization: bearer 0123456789abcdef', x", "'authorization: bearer ***', x"),
        ("the key \"sk-proj-0123456789\" is wrong", "the key \"***\" is wrong"),
        ("sk-0123456789abc, sk-0123456789ab", "***, sk-0123456789ab"),
        ("'--AKIAIOSFODNN7EXAMPLE' and x=ghp_abcdefghijklmnop.", "'--***' and x=***."),
    ] {
        assert_eq!(hide_passwords(text), hidden);
        assert_eq!(hide_passwords(hidden), hidden);
    }
}

#[test]
fn the_default_is_a_file_in_the_data_folder_of_the_user() {
    let url = default_url().unwrap();
    assert!(url.starts_with("sqlite:/") && url.ends_with("/interleaf/sessions.db"), "{url}");
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_database_are_told_apart() {
    let Some(url) = server::new_database().await else { return };
    server::execute(&url, "CREATE ROLE guarded LOGIN PASSWORD 'right'").await;
    let with = |user: &str| url.replace("interleaf@", &format!("{user}@"));
    let wrong = refusal(&with("guarded:wrong")).await;
    assert_eq!(wrong.0, ErrorKind::Denied, "{}", wrong.1);
    assert!(wrong.1.ends_with("the password is wrong"), "{}", wrong.1);
    let no_rights = refusal(&with("guarded:right")).await;
    assert_eq!(no_rights.0, ErrorKind::Denied, "{}", no_rights.1);
    assert!(no_rights.1.contains("lacks the rights"), "{}", no_rights.1);
    let unknown = refusal(&server::url("nowhere").unwrap()).await;
    assert_eq!(unknown.0, ErrorKind::NotFound, "{}", unknown.1);
}

#[tokio::test]
async fn a_database_that_another_program_holds_is_busy_and_nothing_is_lost() {
    let backend = sqlite().await.unwrap();
    let options = OpenOptions::default().patience(Duration::from_millis(100)).connections(2);
    let store = open_with(&backend.url, options).await.unwrap();
    let session = new_session(&*store).await.id;
    say(&*store, session, 0, &["before"]).await;
    let other = Connection::open(backend.url.strip_prefix("sqlite:").unwrap()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let commit = Commit::new(session, at(1)).append(1, vec![said("during")]);
    let error = store.commit(commit.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("locked by another program"), "{error}");
    // Reading goes on.
    assert_eq!(texts(&*store, session).await, ["before"]);
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(commit).await.unwrap();
    assert_eq!(texts(&*store, session).await, ["before", "during"]);
}

#[tokio::test]
async fn a_row_that_another_program_holds_is_busy_and_nothing_is_lost() {
    let Some(backend) = postgres().await else { return };
    let options = patient().patience(Duration::from_secs(10)).connections(2);
    let store = open_with(&backend.url, options).await.unwrap();
    let session = new_session(&*store).await.id;
    let (other, connection) = tokio_postgres::connect(&backend.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    other.batch_execute("BEGIN; SELECT * FROM interleaf.sessions FOR UPDATE").await.unwrap();
    let commit = Commit::new(session, at(1)).append(0, vec![said("during")]);
    let error = store.commit(commit.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    other.batch_execute("ROLLBACK").await.unwrap();
    store.commit(commit).await.unwrap();
    assert_eq!(texts(&*store, session).await, ["during"]);
}

#[tokio::test]
async fn a_full_disk_is_said_and_nothing_that_was_acknowledged_is_lost() {
    let Some(disk) = SmallDisk::mount() else {
        return eprintln!("skipped: a small file system cannot be mounted (not root)");
    };
    let url = format!("sqlite:{}", disk.0.join("sessions.db").display());
    let store = open(&url).await.unwrap();
    let session = new_session(&*store).await.id;
    let text = "words ".repeat(3000);
    let mut next = 0;
    let error = loop {
        let events = vec![said(&format!("{next} {text}")), said("and")];
        match store.commit(Commit::new(session, at(1)).append(next, events)).await {
            Ok(done) => next = done.next_seq,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Full, "{error}");
    assert!(error.to_string().contains("no room left"), "{error}");
    assert!(next > 4);
    for _ in 0..3 {
        let commit = Commit::new(session, at(1)).append(next, vec![said(&text)]);
        assert_eq!(store.commit(commit).await.unwrap_err().kind(), ErrorKind::Full);
    }
    let kept = texts(&*store, session).await;
    assert_eq!(kept.len() as u64, next);
    for (seq, text) in kept.iter().enumerate().step_by(2) {
        assert!(text.starts_with(&format!("{seq} words")));
    }
    disk.remount("size=8m");
    say(&*store, session, next, &["room again"]).await;
    drop(store);
    assert_eq!(texts(&*open(&url).await.unwrap(), session).await.len() as u64, next + 1);
}

/// Fills a file system up to a number of pages.
fn fill_up_to(ballast: &Path, free_pages: u64) {
    let mut file = std::fs::File::create(ballast).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    file.set_len(file.metadata().unwrap().len() - 4096 * free_pages).unwrap();
}

#[tokio::test]
async fn a_disk_too_full_for_a_new_store_is_said_and_the_store_is_made_once_there_is_room() {
    let Some(disk) = SmallDisk::mount() else {
        return eprintln!("skipped: a small file system cannot be mounted (not root)");
    };
    let ballast = disk.0.join("ballast");
    let mut refused = 0;
    for free_pages in 0..64 {
        let path = disk.0.join(format!("{free_pages}.db"));
        let url = format!("sqlite:{}", path.display());
        fill_up_to(&ballast, free_pages);
        if let Err(error) = open(&url).await {
            assert_eq!(error.kind(), ErrorKind::Full, "{free_pages} pages are free: {error}");
            refused += 1;
        }
        std::fs::remove_file(&ballast).unwrap();
        new_session(&*open(&url).await.unwrap()).await;
        for end in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
    assert!((1..64).contains(&refused), "{refused}");
}
