//! A text of a server's, as a terminal or a log may show it.

use std::fmt::{self, Write};

/// A text whose control characters, line breaks and marks of direction are escaped: a
/// server must not move the cursor, add a line to a log, or turn the words around.
pub(crate) struct Printed<'a>(pub(crate) &'a str);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if is_hidden(c) {
                write!(f, "{}", c.escape_default())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

fn is_hidden(c: char) -> bool {
    let is_mark = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    );
    is_mark || c.is_control()
}
