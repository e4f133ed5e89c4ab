//! Of a log that a killed program left beside its file, nothing that was acknowledged is lost
//! without a word.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use interleaf_store::{ErrorKind, Page, SessionId, Store, open};
use tempfile::{TempDir, tempdir};

use crate::fixture::{new_session, say, texts};

const SAID: [&str; 6] = ["one", "two", "three", "four", "five", "six"];
const LOG: &str = "sessions.db-wal";
const INDEX: &str = "sessions.db-shm";

/// What is on the disk when a program is killed that has said six things, one by one.
async fn killed() -> (TempDir, SessionId) {
    let (folder, left) = (tempdir().unwrap(), tempdir().unwrap());
    let store = opened(folder.path()).await.unwrap();
    let session = new_session(&*store).await.id;
    for (seq, text) in (0..).zip(SAID) {
        say(&*store, session, seq, &[text]).await;
    }
    copy(folder.path(), left.path());
    (left, session)
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

async fn opened(folder: &Path) -> Result<std::sync::Arc<dyn Store>, interleaf_store::Error> {
    open(&format!("sqlite:{}", folder.join("sessions.db").display())).await
}

/// How many of the messages a damaged copy has; none if it is refused, and left as it is.
async fn read_damaged(
    left: &Path,
    session: SessionId,
    damage: impl Fn(&mut Vec<u8>),
    keep_index: bool,
) -> Option<usize> {
    let folder = tempdir().unwrap();
    copy(left, folder.path());
    if !keep_index {
        fs::remove_file(folder.path().join(INDEX)).unwrap();
    }
    let mut log = fs::read(left.join(LOG)).unwrap();
    damage(&mut log);
    fs::write(folder.path().join(LOG), &log).unwrap();
    match opened(folder.path()).await {
        Ok(store) => match store.events(session, Page::from(0, 9)).await {
            Ok(events) => Some(events.len()),
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::NotFound, "{e}");
                Some(0)
            }
        },
        Err(e) => {
            assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}");
            assert!(e.to_string().contains("sessions.db-wal, is damaged: "), "{e}");
            assert_eq!(fs::read(folder.path().join(LOG)).unwrap(), log);
            // It is refused the next time as well.
            assert_eq!(opened(folder.path()).await.err().unwrap().kind(), ErrorKind::Corrupt);
            None
        }
    }
}

fn flip(bit: usize) -> impl Fn(&mut Vec<u8>) {
    move |log| log[bit / 8] ^= 1 << (bit % 8)
}

/// Some bits of the header, and of each frame.
fn bits(len: usize) -> Vec<usize> {
    let header = (0..32 * 8).step_by(5);
    let frames = (32..len).step_by(24 + 4096).flat_map(|start| {
        let own = (0..24 * 8).step_by(31);
        let page = [3, 11_111, 32_767].map(|bit| 24 * 8 + bit);
        own.chain(page).map(move |bit| start * 8 + bit)
    });
    header.chain(frames).collect()
}

#[tokio::test]
async fn a_log_that_is_whole_is_taken_with_its_index_or_without() {
    let (left, session) = killed().await;
    for keep_index in [true, false] {
        let read = read_damaged(left.path(), session, |_| (), keep_index).await;
        assert_eq!(read, Some(SAID.len()));
    }
}

#[tokio::test]
async fn a_flipped_bit_in_a_log_that_was_left_loses_nothing_without_a_word() {
    let (left, session) = killed().await;
    let len = fs::read(left.path().join(LOG)).unwrap().len();
    let mut refused = 0;
    for bit in bits(len) {
        match read_damaged(left.path(), session, flip(bit), true).await {
            Some(read) => assert_eq!(read, SAID.len(), "bit {bit} of {}", 8 * len),
            None => refused += 1,
        }
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn without_its_index_only_the_last_transaction_of_a_damaged_log_may_be_missing() {
    let (left, session) = killed().await;
    let len = fs::read(left.path().join(LOG)).unwrap().len();
    for bit in bits(len) {
        if let Some(read) = read_damaged(left.path(), session, flip(bit), false).await {
            assert!(read + 1 >= SAID.len(), "bit {bit} of {}: {read} messages", 8 * len);
        }
    }
}

#[tokio::test]
async fn a_log_that_was_cut_off_or_taken_away_is_refused() {
    let (left, session) = killed().await;
    let len = fs::read(left.path().join(LOG)).unwrap().len();
    for left_over in [0, 20, 32, 100, 5000, len / 2, len - 4120, len - 1] {
        let cut = |log: &mut Vec<u8>| log.truncate(left_over);
        let read = read_damaged(left.path(), session, cut, true).await;
        assert_eq!(read, None, "{left_over} bytes of {len} are left");
    }
    fs::remove_file(left.path().join(LOG)).unwrap();
    let refused = opened(left.path()).await.err().unwrap().to_string();
    assert!(refused.contains("it is gone, with"), "{refused}");
}

#[tokio::test]
async fn a_log_whose_file_is_empty_or_gone_is_refused_and_left_alone() {
    let (left, session) = killed().await;
    let whole = fs::read(left.path().join("sessions.db")).unwrap();
    let damages: [fn(&Path); 2] =
        [|file| fs::write(file, "").unwrap(), |file| fs::remove_file(file).unwrap()];
    for (damage, keep_index) in damages.into_iter().flat_map(|d| [(d, true), (d, false)]) {
        let folder = tempdir().unwrap();
        copy(left.path(), folder.path());
        let file = folder.path().join("sessions.db");
        damage(&file);
        if !keep_index {
            fs::remove_file(folder.path().join(INDEX)).unwrap();
        }
        let before = all_bytes(folder.path());
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink("sessions.db", &link).unwrap();
        for path in [&file, &link] {
            let error = open(&format!("sqlite:{}", path.display())).await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(error.to_string().contains("empty or gone, but the log"), "{error}");
        }
        fs::remove_file(&link).unwrap();
        assert_eq!(all_bytes(folder.path()), before);
        fs::write(&file, &whole).unwrap();
        assert_eq!(texts(&*opened(folder.path()).await.unwrap(), session).await, SAID);
    }
}

/// Every file of a folder, with what is in it.
fn all_bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[tokio::test]
async fn a_log_that_others_write_to_is_never_called_damaged() {
    let folder = tempdir().unwrap();
    let store = opened(folder.path()).await.unwrap();
    let session = new_session(&*store).await.id;
    let writer = async {
        for seq in 0..400 {
            say(&*store, session, seq, &["long enough to fill a page soon".repeat(40).as_str()])
                .await;
        }
    };
    let opener = async {
        for _ in 0..40 {
            let other = opened(folder.path()).await.unwrap();
            other.head(session).await.unwrap();
        }
    };
    tokio::join!(writer, opener);
    assert_eq!(texts(&*store, session).await.len(), 400);
}
