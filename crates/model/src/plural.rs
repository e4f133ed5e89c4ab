//! Counts, for people to read.

/// A count with its noun.
///
/// ```
/// use interleaf_model::plural;
///
/// assert_eq!(plural(1, "request"), "1 request");
/// assert_eq!(plural(2_u64, "request"), "2 requests");
/// ```
pub fn plural(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
