//! The log that a program left beside its file when it was killed, held against what SQLite
//! makes of it.
//!
//! SQLite takes a log up to its first frame that is damaged, and forgets the rest without a
//! word: one flipped bit, and messages that were acknowledged are gone. So before a file is
//! opened, its log is looked through. It has lost something that was acknowledged if
//!
//! - the index beside it (`-shm`), which is only brought forward after the log is on the disk,
//!   tells of more frames than are whole;
//! - a transaction that is not whole is followed by the end of another one: the log was on the
//!   disk before that began;
//! - its header is damaged, and frames follow;
//! - it is gone, and the index tells of frames that are not in the file yet;
//! - the file that it belongs to is empty or gone: SQLite then deletes the log.
//!
//! A last transaction that is not whole is no loss by itself: the machine may have gone down
//! while it was written, before anyone was told that it was.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::Error;

/// How often a log is read again that others are writing to.
const ATTEMPTS: usize = 3;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const INDEX_HEADER: usize = 48;

/// The magic number of a log; its last bit says in which order its checksums read bytes.
const MAGIC: u32 = 0x377f_0682;

/// What the index says of the log, if it says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Index {
    /// How many frames have been committed.
    frames: u32,
    /// How many of them are in the file as well.
    folded: u32,
    salts: [u32; 2],
}

/// What is in a log.
struct Log {
    salts: [u32; 2],
    /// How many frames are whole, up to the end of a transaction.
    whole: u32,
    /// How many transactions end at the first frame that is not whole, or after it.
    ends_after: usize,
}

/// Whether SQLite will take all of the log beside a file.
///
/// # Errors
/// `Corrupt`, if something that was acknowledged would be lost; the files are left as they are.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let path = &linked(path);
    for _ in 0..ATTEMPTS {
        let before = index(path);
        if is_orphan(path) {
            return Err(Error::corrupt(format!(
                "the file is empty or gone, but the log beside it, {}, is not. Put the file \
                 back, or move the log away to begin anew",
                beside(path, "-wal").display()
            )));
        }
        let Some(fault) = fault(path, before) else { return Ok(()) };
        // Someone has begun the log anew meanwhile, or goes on writing it.
        if index(path) == before {
            let log = beside(path, "-wal");
            return Err(Error::corrupt(format!(
                "the log beside it, {}, is damaged: {fault}. What comes before that can be \
                 kept, without the rest, with: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'",
                log.display()
            )));
        }
    }
    Ok(())
}

/// The file itself: SQLite puts the log beside it, not beside a link to it.
pub(super) fn linked(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match std::fs::read_link(path) {
        // The file is gone, and the link is left.
        Ok(target) => path.with_file_name(target),
        Err(_) => path.to_owned(),
    })
}

pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether there is something in the log, and nothing in the file that it belongs to.
fn is_orphan(path: &Path) -> bool {
    let has_bytes = |path: &Path| std::fs::metadata(path).map(|file| file.len() > 0);
    // Whoever makes a store writes the file before the log, so the log is asked first.
    let has_log = has_bytes(&beside(path, "-wal")).unwrap_or(false);
    has_log && !has_bytes(path).unwrap_or_else(|e| e.kind() != ErrorKind::NotFound)
}

/// What SQLite would lose.
fn fault(path: &Path, index: Option<Index>) -> Option<String> {
    let log = File::open(beside(path, "-wal"));
    let log = match log.and_then(|file| read(BufReader::with_capacity(1 << 16, file))) {
        Ok(log) => log,
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) if e.kind() == ErrorKind::InvalidData => return Some(e.to_string()),
        // What else is wrong is SQLite's to report.
        Err(_) => return None,
    };
    let Some(Log { salts, whole, ends_after }) = log else {
        let lost = index.filter(|index| index.frames > index.folded)?;
        return Some(format!("it is gone, with {} frames that were committed", lost.frames));
    };
    if let Some(index) = index.filter(|index| index.salts == salts && index.frames > whole) {
        let frames = index.frames;
        return Some(format!("{whole} of the {frames} frames that were committed are whole"));
    }
    let lost = ends_after > 1;
    lost.then(|| format!("frame {} is not whole, and more were committed after it", whole + 1))
}

/// Reads a log; none if it is empty, or never was on the disk.
fn read(mut file: impl Read) -> io::Result<Option<Log>> {
    let mut header = [0; HEADER];
    if !fill(&mut file, &mut header)? || header == [0; HEADER] {
        return Ok(None);
    }
    let word = |bytes: &[u8], at: usize| u32::from_be_bytes(four(bytes, at));
    let (magic, page) = (word(&header, 0), word(&header, 8) as usize);
    let order = if magic & 1 == 1 { u32::from_be_bytes } else { u32::from_le_bytes };
    let mut sum = checksum([0, 0], &header[..24], order);
    let page_is_sound = page.is_power_of_two() && (512..=65536).contains(&page);
    if magic & !1 != MAGIC || !page_is_sound || sum != [word(&header, 24), word(&header, 28)] {
        // Without a frame nothing is lost.
        let mut next = [0; FRAME_HEADER];
        return match fill(&mut file, &mut next)? {
            true => Err(io::Error::new(ErrorKind::InvalidData, "its header is not whole")),
            false => Ok(None),
        };
    }
    let salts = [word(&header, 16), word(&header, 20)];
    let mut frame = vec![0; FRAME_HEADER + page];
    let mut log = Log { salts, whole: 0, ends_after: 0 };
    let (mut number, mut chain_holds) = (0, true);
    while fill(&mut file, &mut frame)? {
        number += 1;
        let is_ours = [word(&frame, 8), word(&frame, 12)] == salts;
        let ends = word(&frame, 4) != 0;
        let first_broken = chain_holds;
        if chain_holds {
            sum = checksum(checksum(sum, &frame[..8], order), &frame[FRAME_HEADER..], order);
            chain_holds = is_ours && sum == [word(&frame, 16), word(&frame, 20)];
        }
        match chain_holds {
            true if ends => log.whole = number,
            true => {}
            // The first that is broken may be broken in what says whose it is.
            false => log.ends_after += usize::from(ends && (is_ours || first_broken)),
        }
    }
    Ok(Some(log))
}

/// What the index beside a file says, if both its copies agree and have their checksum.
fn index(path: &Path) -> Option<Index> {
    let mut file = File::open(beside(path, "-shm")).ok()?;
    let mut bytes = [0; 2 * INDEX_HEADER + 4];
    file.read_exact(&mut bytes).ok()?;
    let (copies, folded) = bytes.split_at(2 * INDEX_HEADER);
    let (header, copy) = copies.split_at(INDEX_HEADER);
    let word = |at: usize| u32::from_ne_bytes(four(header, at));
    let sum = checksum([0, 0], &header[..40], u32::from_ne_bytes);
    let is_sound = header == copy && header[12] == 1 && sum == [word(40), word(44)];
    // The salts are copied from the log byte by byte.
    let salts = [32, 36].map(|at| u32::from_be_bytes(four(header, at)));
    let folded = u32::from_ne_bytes(four(folded, 0));
    is_sound.then(|| Index { frames: word(16), folded, salts })
}

/// Whether there was enough to fill a buffer.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

/// SQLite's checksum, going on from another.
fn checksum([mut a, mut b]: [u32; 2], bytes: &[u8], order: fn([u8; 4]) -> u32) -> [u32; 2] {
    for pair in bytes.chunks_exact(8) {
        a = a.wrapping_add(order(four(pair, 0))).wrapping_add(b);
        b = b.wrapping_add(order(four(pair, 4))).wrapping_add(a);
    }
    [a, b]
}

fn four(bytes: &[u8], at: usize) -> [u8; 4] {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    four
}
