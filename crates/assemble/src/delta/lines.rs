//! The lines that changed between two versions of a text.

use std::borrow::Cow;
use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Of a line that is gone, so many characters are shown: enough to know it by.
const KNOWN_BY: usize = 20;

/// The lines that changed, each hunk under the number of the line that it begins at. Lines
/// are counted from 1 in the old text.
pub(super) fn changes(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut out = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if let DiffOp::Equal { .. } = op {
            continue;
        }
        let (gone, come) = (op.old_range(), op.new_range());
        // Writing into a String cannot fail.
        let _ = writeln!(out, "@@ {}", gone.start + 1);
        for line in &old[gone] {
            let _ = writeln!(out, "- {}", beginning(line));
        }
        for line in &new[come] {
            let _ = writeln!(out, "+ {line}");
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn beginning(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(KNOWN_BY) {
        Some((end, _)) if line.len() > end + '…'.len_utf8() => {
            Cow::Owned(format!("{}…", line[..end].trim_end()))
        }
        _ => Cow::Borrowed(line),
    }
}
