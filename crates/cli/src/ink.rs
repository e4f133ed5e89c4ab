//! The colors of the lines for people, told apart from those that somebody put into the data.
//!
//! Lines are laid out as texts in which styles and data are mixed. A style stands there between
//! two marks, which are drawn at random in each run, so that no data can hold one. At the end,
//! [`screened`] takes the marks away and escapes all that stands outside of them.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use anstyle::Style;
use interleaf::model::shown_lines;

static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}{:016x}", RandomState::new().hash_one("ink")));

/// A style of ours; `{ink}` begins it, and `{ink:#}` ends it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ink(Style);

impl From<Style> for Ink {
    fn from(style: Style) -> Self {
        Self(style)
    }
}

impl fmt::Display for Ink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_plain() {
            return Ok(());
        }
        f.write_str(&MARK)?;
        self.0.fmt(f)?;
        f.write_str(&MARK)
    }
}

/// Lines as a terminal may get them: with our styles and line breaks, and with nothing else that
/// does something to the screen.
pub(crate) fn screened(lines: &str) -> String {
    let pieces = lines.split(MARK.as_str()).enumerate();
    let pieces = pieces.map(|(i, piece)| match i % 2 {
        0 => shown_lines(piece),
        _ => piece.into(),
    });
    pieces.collect()
}
