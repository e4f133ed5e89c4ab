//! Stores that may only be read: by their file, their folder, or their file system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use interleaf_store::{ErrorKind, ListSessions, NewSession, SessionId, open};
use tempfile::{TempDir, tempdir};

use crate::fixture::server::node::is_root;
use crate::fixture::small_disk::SmallDisk;
use crate::fixture::{at, child, new_session, say, texts};

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What another user says who reads the store and then writes to it: root may write everything.
fn read_by_another(url: &str, session: SessionId) -> Option<String> {
    let mut command = child::command("read", url, &session.to_string());
    if is_root() {
        command.uid(65534).gid(65534);
    }
    match command.output() {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap()),
        Err(e) => {
            eprintln!("skipped: another user may not run this program ({e})");
            None
        }
    }
}

/// A store with a session that says two things; what is open is as a killed program leaves it.
async fn store(is_open: bool) -> (TempDir, SessionId) {
    let (folder, left) = (tempdir().unwrap(), tempdir().unwrap());
    let store = open(&format!("sqlite:{}", folder.path().join("s 1?#%.db").display())).await;
    let store = store.unwrap();
    let session = new_session(&*store).await.id;
    say(&*store, session, 0, &["one", "two"]).await;
    let store = (is_open).then_some(store);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), left.path().join(entry.file_name())).unwrap();
    }
    drop(store);
    (left, session)
}

fn url(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("s 1?#%.db").display())
}

/// Takes the rights to write away, reads as another user, and gives the rights back.
fn shut(folder: &TempDir, session: SessionId, files: u32, own: u32) -> Option<String> {
    for file in fs::read_dir(folder.path()).unwrap() {
        allow(&file.unwrap().path(), files);
    }
    allow(folder.path(), own);
    let said = read_by_another(&url(folder), session);
    allow(folder.path(), 0o755);
    said
}

#[tokio::test]
async fn a_file_or_a_folder_that_may_only_be_read_is_read_and_refuses_to_be_written() {
    for (files, own) in [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)] {
        let (folder, session) = store(false).await;
        let Some(said) = shut(&folder, session, files, own) else { return };
        assert!(said.contains("read 2 events"), "{files:o} {own:o}: {said}");
        assert!(said.contains("Denied") && said.contains("may only be read"), "{said}");
        assert!(said.contains("cannot write to the database"), "{said}");
        let store = open(&url(&folder)).await.unwrap();
        assert_eq!(texts(&*store, session).await, ["one", "two"]);
    }
}

#[tokio::test]
async fn a_log_beside_a_file_that_may_only_be_read_is_read_too_or_the_file_is_not() {
    let (folder, session) = store(true).await;
    let Some(said) = shut(&folder, session, 0o444, 0o555) else { return };
    assert!(said.contains("read 2 events"), "with its index: {said}");

    // Without the index, or without the right to read the log, it would be missing in silence.
    for spoil in [remove_index as fn(&Path), hide_log] {
        let (folder, session) = store(true).await;
        for file in fs::read_dir(folder.path()).unwrap() {
            allow(&file.unwrap().path(), 0o444);
        }
        spoil(folder.path());
        allow(folder.path(), 0o555);
        let said = read_by_another(&url(&folder), session).unwrap();
        allow(folder.path(), 0o755);
        assert!(!said.contains(" events"), "{said}");
        assert!(said.contains("Denied") && said.contains("cannot be read where nothing"), "{said}");
        assert!(said.contains("copy the file and its log"), "{said}");
    }
}

fn remove_index(folder: &Path) {
    fs::remove_file(folder.join("s 1?#%.db-shm")).unwrap();
}

fn hide_log(folder: &Path) {
    allow(&folder.join("s 1?#%.db-wal"), 0o000);
}

#[tokio::test]
async fn a_file_system_that_may_only_be_read_is_read_and_told_as_such_when_written_to() {
    let Some(disk) = SmallDisk::mount() else {
        return eprintln!("skipped: only root mounts a file system");
    };
    let url = |name: &str| format!("sqlite:{}", disk.0.join(name).display());
    let store = open(&url("sessions.db")).await.unwrap();
    let session = new_session(&*store).await.id;
    say(&*store, session, 0, &["one", "two"]).await;
    drop(store);
    disk.remount("ro");
    let told = "its file system may only be read: copy the file to another one";
    let error = open(&url("new.db")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().ends_with(told), "{error}");
    let store = open(&url("sessions.db")).await.unwrap();
    assert_eq!(texts(&*store, session).await, ["one", "two"]);
    let all = store.list(ListSessions { limit: 9, after: None }).await.unwrap();
    assert_eq!(all.len(), 1);
    let error = store.create(NewSession::new("another", at(0))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().ends_with(told), "{error}");
}
