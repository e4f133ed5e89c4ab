//! The lines that changed between two versions of a text.

use std::borrow::Cow;
use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How many characters are shown of a line that is gone, after its indentation: enough to
/// recognise it.
const KNOWN_BY: usize = 20;

/// A word is not cut in two, such as the number of an item, unless it is longer than this.
const WORD: usize = 40;

/// Texts that differ in more lines are not compared: the work would grow with their square.
const MOST: usize = 1_000;

/// The lines that changed, each hunk under the number of the line that it begins at. Lines
/// are counted from 1 in the old text. Nothing, if the texts are too different.
pub(super) fn changes(old: &str, new: &str) -> Option<String> {
    let changes = hunks(old, new)?;
    // What a reader makes of them is what holds.
    (amended(old, &changes)? == new).then_some(changes)
}

fn hunks(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if old.len() + new.len() > MOST {
        return None;
    }
    let (mut out, mut at) = (String::new(), head);
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        let (gone, come) = (op.old_range(), op.new_range());
        // Where lines repeat, an insertion does not tell the place that it has after the hunks
        // before it: their lengths do.
        let start = at;
        at += gone.len();
        if let DiffOp::Equal { .. } = op {
            continue;
        }
        // Writing into a String cannot fail.
        let _ = writeln!(out, "@@ {}", start + 1);
        for line in &old[gone] {
            let _ = writeln!(out, "- {}", beginning(line));
        }
        for line in &new[come] {
            let _ = writeln!(out, "+ {line}");
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    Some(out)
}

/// The old text after its changes; nothing, if they are not those of that text.
pub(crate) fn amended(old: &str, changes: &str) -> Option<String> {
    let old: Vec<&str> = old.split('\n').collect();
    let (mut new, mut done) = (Vec::with_capacity(old.len()), 0);
    for line in changes.split('\n') {
        if let Some(number) = line.strip_prefix("@@ ") {
            let at = number.parse::<usize>().ok()?.checked_sub(1)?;
            new.extend_from_slice(old.get(done..at)?);
            done = at;
        } else if line.starts_with("- ") {
            done += 1;
        } else {
            new.push(line.strip_prefix("+ ")?);
        }
    }
    new.extend_from_slice(old.get(done..)?);
    Some(new.join("\n"))
}

fn beginning(line: &str) -> Cow<'_, str> {
    let indented = line.len() - line.trim_start().len();
    let mut rest = line[indented..].char_indices().skip(KNOWN_BY);
    let Some((known, _)) = rest.next() else { return Cow::Borrowed(line) };
    let is_in_word = !line[..indented + known].ends_with(char::is_whitespace);
    let mut word = line[indented + known..].char_indices().take(WORD);
    let end = word.find(|(_, c)| c.is_whitespace()).filter(|_| is_in_word).map_or(0, |end| end.0);
    let end = indented + known + end;
    match line.len() > end + '…'.len_utf8() {
        true => Cow::Owned(format!("{}…", line[..end].trim_end())),
        false => Cow::Borrowed(line),
    }
}

#[cfg(test)]
mod tests {
    use super::{amended, changes};
    use proptest::prelude::*;

    #[test]
    fn an_insertion_among_lines_that_repeat_is_told_at_its_place() {
        let (old, new) = ("1\n2\n3\nB\nA\nA", "1\n2\n3\nA\nA\nD\nA");
        let changes = changes(old, new).unwrap();
        assert_eq!(amended(old, &changes).as_deref(), Some(new), "{changes}");
    }

    #[test]
    fn a_line_that_is_gone_keeps_the_number_of_its_item_whole() {
        let line = "            - [ ] 1.1.1.1.1.1.1.1 look at the wheel and at the spring";
        let changes = changes(&format!("a\n{line}"), "a").unwrap();
        assert_eq!(changes, "@@ 2\n-             - [ ] 1.1.1.1.1.1.1.1…");
        assert_eq!(super::beginning("short"), "short");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_text_after_its_changes_is_the_new_one(old in "([AB]\n){0,7}", new in "([ABC]\n){0,7}") {
            prop_assume!(old != new);
            let changes = changes(&old, &new).expect("few lines are always compared");
            prop_assert_eq!(amended(&old, &changes), Some(new));
        }
    }
}
