//! Where a text stands in JSON.

/// This much of a text is looked for.
const LOOKED_FOR: usize = 16;

const ESCAPE: u8 = b'\\';

/// Where a text ends in JSON, if it begins within this many bytes of a place.
pub(super) fn end_of_text(text: &str, bytes: &[u8], at: usize, within: usize) -> Option<usize> {
    let start = joined_at(text, bytes, at).or_else(|| quoted_at(text, bytes, at, within))?;
    if let Some(end) = closed_at(text.as_bytes(), bytes, start) {
        return Some(end);
    }
    let end = start + escaped_len(text.as_bytes());
    let closed = bytes.get(end) == Some(&b'"');
    Some((end + usize::from(closed)).min(bytes.len()))
}

/// Where a text begins that goes on from the one before: some APIs take what one side says as
/// one text, with line breaks between.
fn joined_at(text: &str, bytes: &[u8], at: usize) -> Option<usize> {
    const BREAK: &[u8] = br"\n";
    let mut start = at;
    while bytes.get(start..)?.starts_with(BREAK) {
        start += BREAK.len();
        if begins(text, &bytes[start..]) {
            return Some(start);
        }
    }
    None
}

/// What some APIs put before the text of a result that failed, after its quote.
const FAILED: &[u8] = b"\"Error: ";

/// Where a text begins after a quote, or after [`FAILED`].
fn quoted_at(text: &str, bytes: &[u8], at: usize, within: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let near = &rest[..rest.len().min(within)];
    let first = text.bytes().next().map_or(b'"', |byte| if is_plain(byte) { byte } else { ESCAPE });
    let is_after_quote = |start: usize| {
        let before = &rest[..start];
        before.ends_with(b"\"") || before.ends_with(FAILED)
    };
    let begins_at = |start: &usize| is_after_quote(*start) && begins(text, &rest[*start..]);
    memchr::memchr_iter(first, near).find(begins_at).map(|start| at + start)
}

/// Whether a byte is written as it is.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != ESCAPE
}

/// Whether these bytes begin as a text does in JSON.
fn begins(text: &str, bytes: &[u8]) -> bool {
    let looked_for = &text.as_bytes()[..text.len().min(LOOKED_FOR)];
    // Most texts begin without an escape, and are there as they are.
    if bytes.starts_with(looked_for) && !looked_for.contains(&ESCAPE) {
        return true;
    }
    let mut at = 0;
    looked_for.iter().all(|&byte| {
        if is_plain(byte) {
            at += 1;
            return bytes.get(at - 1) == Some(&byte);
        }
        let escape = match byte {
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            0..0x20 => b'u',
            _ => byte,
        };
        let written = bytes.get(at..at + 2);
        at += if escape == b'u' { 6 } else { 2 };
        written == Some(&[ESCAPE, escape])
    })
}

/// The end of a text that begins here, if a quote ends it and all its escapes are two bytes long:
/// then there are as many more bytes as backslashes. That is nearly always so, and both are found
/// fast. In JSON a text takes no fewer bytes, so that quotes before that are its own.
fn closed_at(text: &[u8], bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let n_before = |quote: usize| rest[..quote].iter().rev().take_while(|&&b| b == ESCAPE).count();
    let mut quotes = memchr::memchr_iter(b'"', rest.get(text.len()..)?).map(|at| text.len() + at);
    let end = quotes.find(|&quote| n_before(quote) % 2 == 0)?;
    let [more, own] = [&rest[..end], text].map(|text| memchr::memchr_iter(ESCAPE, text).count());
    (end + own == text.len() + more).then_some(start + end + 1)
}

/// How many bytes a text takes in JSON. Sums of single bytes, without branches, are what a
/// machine adds up many at a time.
pub(super) fn escaped_len(text: &[u8]) -> usize {
    // No byte takes more than five more, so that the sum of this many is a byte.
    const AT_ONCE: usize = 32;
    let more = |byte: u8| {
        let has_letter = (byte.wrapping_sub(0x08) <= 0x0d - 0x08) & (byte != 0x0b);
        let is_marked = (byte == b'"') | (byte == b'\\');
        5 * u8::from(byte < 0x20) - 4 * u8::from(has_letter) + u8::from(is_marked)
    };
    let (chunks, rest) = text.as_chunks::<AT_ONCE>();
    let sum = |bytes: &[u8]| usize::from(bytes.iter().map(|&byte| more(byte)).sum::<u8>());
    text.len() + chunks.iter().map(|chunk| sum(chunk)).sum::<usize>() + sum(rest)
}

#[cfg(test)]
mod tests {
    use super::{closed_at, escaped_len, quoted_at};
    use interleaf_model::json_text;

    #[test]
    fn a_text_is_found_by_how_it_is_written() {
        for byte in 0..=0x2ff_u32 {
            let text = format!("a{}b", char::from_u32(byte).unwrap());
            let written = json_text(&text).unwrap();
            assert_eq!(quoted_at(&text, written.as_bytes(), 0, usize::MAX), Some(1), "{written}");
            let others = [format!("{text}c"), format!("c{text}")];
            assert!(
                others
                    .iter()
                    .all(|other| quoted_at(other, written.as_bytes(), 0, usize::MAX).is_none())
            );
        }
    }

    #[test]
    fn a_text_without_long_escapes_is_found_to_end_at_its_quote() {
        let all: String =
            "\n\t\r\"\\".chars().chain((0x20..=0x2ff).filter_map(char::from_u32)).collect();
        for (end, _) in all.char_indices() {
            let written = json_text(&all[..end]).unwrap();
            let closed = closed_at(&all.as_bytes()[..end], written.as_bytes(), 1);
            assert_eq!(closed, Some(written.len()), "{written}");
        }
    }

    #[test]
    fn the_length_of_a_text_in_json_is_that_of_what_is_written() {
        let all: String = (0..=0x2ff).filter_map(char::from_u32).collect();
        for end in (0..=all.len()).filter(|&end| all.is_char_boundary(end)) {
            let text = &all[..end];
            let written = json_text(text).unwrap();
            assert_eq!(escaped_len(text.as_bytes()) + 2, written.len());
            let closed = closed_at(text.as_bytes(), written.as_bytes(), 1);
            assert!(closed.is_none_or(|end| end == written.len()), "{written}");
            let joined = json_text(&[text, "\n\n", text].concat()).unwrap();
            assert_eq!(closed_at(text.as_bytes(), joined.as_bytes(), 1), None, "{joined}");
        }
    }
}
