//! What the first byte of an input picks.

/// The one that the digit at the head counts off, and what stands after the digit. The
/// characters that follow `9` count on, and all others go round.
pub(crate) fn pick<'d, 't, T>(data: &'d [u8], list: &'t [T]) -> Option<(&'t T, &'d [u8])> {
    let (&digit, rest) = data.split_first()?;
    Some((&list[usize::from(digit.wrapping_sub(b'0')) % list.len()], rest))
}
