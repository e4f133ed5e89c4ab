//! Base64: which texts are, and what they say.

/// The text whose bytes these are; none if it is no base64 or no text.
pub(crate) fn decode(base64: &str) -> Option<String> {
    let digits = base64.trim_end_matches('=').bytes();
    let mut out = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0_u32);
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\n' | b'\r' | b' ' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push((bits >> n_bits & 255) as u8);
        }
    }
    String::from_utf8(out).ok()
}

/// Whether a text could be base64 at all, of either alphabet.
pub(crate) fn could_be(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    !text.is_empty() && text.chars().all(legal)
}

/// Whether a text is base64 that every reader takes: not empty, padded, without breaks.
pub(crate) fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !data.is_empty()
        && text.len() - data.len() <= 2
        && text.len().is_multiple_of(4)
        && data.bytes().all(legal)
}
