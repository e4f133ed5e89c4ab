//! Texts in JSON.

/// One in each of the eight bytes.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each of the eight bytes.
const HIGHS: u64 = ONES << 7;

/// Writes a text, in quotes.
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    while let Some((plain, special, after)) = split(rest) {
        out.extend_from_slice(plain);
        push_special(out, special);
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// What stands before the first byte that cannot stand in a JSON text, that byte, and the
/// rest.
fn split(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (plain, rest) = bytes.split_at(first_special(bytes)?);
    let (&special, after) = rest.split_first()?;
    Some((plain, special, after))
}

/// The place of the first byte that cannot stand in a JSON text.
pub(crate) fn first_special(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = words.len() * 8;
    for (n, word) in words.iter().enumerate() {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            at = n * 8 + (found.trailing_zeros() / 8) as usize;
            break;
        }
    }
    while at < bytes.len() && !is_special(bytes[at]) {
        at += 1;
    }
    (at < bytes.len()).then_some(at)
}

/// The highest bit of each byte that is special. Above the lowest of them there may be some
/// that are not.
fn specials(word: u64) -> u64 {
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = is_zero(word ^ (ONES * b'"' as u64));
    let backslash = is_zero(word ^ (ONES * b'\\' as u64));
    (control | quote | backslash) & HIGHS
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn push_special(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let digit = |n: u8| DIGITS[usize::from(n & 0xf)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
