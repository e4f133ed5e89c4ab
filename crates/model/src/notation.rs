//! One line per message, to print and to parse.
//!
//! ```text
//! s You are a careful coding agent.
//! u Which files are here?
//! a I will look. [call c1 ls {"path":"."}] [call c2 pwd]
//! t c1= Cargo.toml src
//! t c2! permission denied
//! a{agent=scout} [think the second one failed] Two entries.
//! ```
//!
//! | piece | meaning |
//! |---|---|
//! | `s` `u` `a` `t` | the role |
//! | `{id=… at=… agent=… internal extra={…}}` | the envelope, where it is not the ordinary one |
//! | `t c1=` · `t c1!` · `t c1(ls)=` | result of call c1 · a failed one · with the tool's name |
//! | plain words | text; `\n` `\r` `\t` `\\` `\[` `\]` `\u{1b}` stand for themselves |
//! | `[call ID NAME {…}]` | a tool call; no object means no arguments; a JSON string holds what is no object |
//! | `[think …]` | thinking |
//! | `[+]` · `[empty]` | border between two texts · an empty text |
//! | `[{"type":…}]` | any part in its JSON form: pictures, files, whatever carries vendor fields |
//!
//! Parts are set apart by one space. A number in front of the role (as `show`
//! prints it), blank lines and lines that start with `#` are passed over.
//! [`print_whole`] loses nothing but line breaks between the tokens of raw JSON;
//! [`print_line`] shortens to a width and is for eyes only: it leaves out id, time,
//! seals and vendors' fields, and shows a picture as `[image URL]`, a file as
//! `[file NAME]`.

mod parse;
mod print;

pub use parse::parse;
pub use print::{print_line, print_whole};
