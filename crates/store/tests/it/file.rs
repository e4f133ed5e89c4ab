//! What a store leaves on the disk, and for whom.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::Path;

use interleaf_store::open;
use rusqlite::Connection;
use tempfile::tempdir;

use crate::fixture::{child, new_session, say, texts};

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn rights(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o777
}

#[tokio::test]
async fn a_store_that_is_dropped_leaves_one_file_with_everything_in_it() {
    let folder = tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    for _ in 0..20 {
        let store = open(&url).await.unwrap();
        let session = new_session(&*store).await.id;
        say(&*store, session, 0, &["kept"]).await;
        assert_eq!(texts(&*store, session).await, ["kept"]);
        drop(store);
        assert_eq!(files(folder.path()), ["sessions.db"]);
    }
}

#[tokio::test]
async fn a_copy_of_the_file_alone_is_whole_though_another_program_has_it_open() {
    let (folder, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
    let path = folder.path().join("sessions.db");
    let store = open(&format!("sqlite:{}", path.display())).await.unwrap();
    let session = new_session(&*store).await.id;
    let other = Connection::open(&path).unwrap();
    other.query_row("SELECT count(*) FROM sessions", [], |_| Ok(())).unwrap();
    say(&*store, session, 0, &["one", "two"]).await;
    drop(store);

    let copied = elsewhere.path().join("sessions.db");
    std::fs::copy(&path, &copied).unwrap();
    let copy = open(&format!("sqlite:{}", copied.display())).await.unwrap();
    assert_eq!(texts(&*copy, session).await, ["one", "two"]);
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let folder = tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let store = open(&url).await.unwrap();
    let session = new_session(&*store).await.id;
    say(&*store, session, 0, &["for my eyes only"]).await;
    let mut names = files(folder.path());
    names.sort();
    assert_eq!(names, ["sessions.db", "sessions.db-shm", "sessions.db-wal"]);
    for name in names {
        assert_eq!(rights(&folder.path().join(&name)), 0o600, "{name}");
    }
}

#[test]
fn the_default_folder_is_for_its_owner_alone_and_a_file_keeps_the_rights_it_was_given() {
    let data = tempdir().unwrap();
    let open = || {
        let mut command = child::command("open", "sqlite:", "-");
        let output = command.env("XDG_DATA_HOME", data.path()).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        assert!(output.contains("opened"), "{output}");
    };
    open();
    let (folder, file) = (data.path().join("interleaf"), data.path().join("interleaf/sessions.db"));
    assert_eq!((rights(&folder), rights(&file)), (0o700, 0o600));

    let set = |path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
    set(&folder, 0o755).unwrap();
    set(&file, 0o640).unwrap();
    open();
    assert_eq!((rights(&folder), rights(&file)), (0o700, 0o640));
}
