//! Gemini.

use bytes::Bytes;

/// The events of a stream as the elements of one JSON list.
pub(crate) fn as_array(events: &[Bytes]) -> Vec<Bytes> {
    let n_events = events.len();
    let element = |(i, event): (usize, &Bytes)| {
        let text = String::from_utf8_lossy(event);
        let text = text.trim_start_matches("data: ").trim_end();
        let begin = if i == 0 { "[" } else { ",\r\n" };
        let end = if i + 1 == n_events { "]" } else { "" };
        Bytes::from(format!("{begin}{text}{end}"))
    };
    events.iter().enumerate().map(element).collect()
}
