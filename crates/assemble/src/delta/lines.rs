//! The lines that changed between two versions of a text.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices};

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
        for (sign, lines) in [('-', &old[gone]), ('+', &new[come])] {
            for line in lines {
                let _ = writeln!(out, "{sign} {line}");
            }
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}
