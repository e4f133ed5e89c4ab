//! From flags to changes of a conversation.

use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::Edit;
use interleaf::conversation::{Clear, Filter, Insert, Operation, Others, Replace, Span, Truncate};
use interleaf::model::{Message, Role};
use interleaf::read;

use crate::arguments::{ByteCount, Positions, role_parser};
use crate::failure::Failure;
use crate::input::Input;

const TRUNCATE: &str = "Hide by position (truncate)";
const FILTER: &str = "Hide by content (filter)";
const OTHER: &str = "Other changes";

/// The changes as the user wrote them.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// The operation as JSON, such as '{"truncate":{"keep_last":5}}'
    operation: Option<String>,
    /// A file with the operation
    #[arg(long, value_name = "PATH", value_hint = FilePath, conflicts_with = "operation")]
    operation_file: Option<PathBuf>,

    /// Keep this many at the start
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = TRUNCATE)]
    keep_first: Option<usize>,
    /// Keep this many at the end; 0 keeps none
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = TRUNCATE)]
    keep_last: Option<usize>,
    /// Hide this many at the start
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = TRUNCATE)]
    remove_first: Option<usize>,
    /// Hide this many at the end; 0 hides none
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = TRUNCATE)]
    remove_last: Option<usize>,
    /// Keep the positions from A up to, but not including, B
    #[arg(long, value_name = "A..B", help_heading = TRUNCATE)]
    keep_range: Option<Positions>,
    /// Count only messages of this role
    #[arg(long, value_parser = role_parser(), help_heading = TRUNCATE)]
    role: Option<Role>,
    /// What happens to the other roles [default: hide]
    #[arg(long, value_name = "WHAT", value_parser = ["keep", "hide"], help_heading = TRUNCATE)]
    others: Option<String>,

    /// Keep messages of this role; may be repeated for more roles
    #[arg(long, value_name = "ROLE", value_parser = role_parser(), help_heading = FILTER)]
    filter_role: Vec<Role>,
    /// Keep messages whose text contains this; may be repeated; one must match
    #[arg(long, value_name = "TEXT", help_heading = FILTER)]
    contains: Vec<String>,
    /// Hide messages whose text contains this; may be repeated
    #[arg(long, value_name = "TEXT", help_heading = FILTER)]
    excludes: Vec<String>,

    /// Hide everything but system messages
    #[arg(long, help_heading = OTHER)]
    clear: bool,
    /// Hide system messages too, with --clear or a truncation without --role
    #[arg(long, conflicts_with = "role", help_heading = OTHER)]
    drop_system: bool,
    /// Show new messages before the one at this position; give the view's length to append
    #[arg(long, value_name = "POS", allow_negative_numbers = true, help_heading = OTHER)]
    insert: Option<usize>,
    /// Show a new message instead of the one at this position
    #[arg(long, value_name = "POS", allow_negative_numbers = true, help_heading = OTHER)]
    replace: Option<usize>,
    /// A new message as in a transcript or as a chat message, for --insert (may be repeated)
    /// or --replace
    #[arg(long, value_name = "JSON", help_heading = OTHER)]
    message: Vec<String>,
    /// A file with a new message, which comes after those given as JSON; may be repeated
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = OTHER)]
    message_file: Vec<PathBuf>,
    /// Allow part of a tool block to stay visible
    #[arg(long, help_heading = OTHER)]
    split_blocks: bool,
    /// Put a mark on a message, before any operation; may be repeated
    #[arg(long, value_name = "INDEX=NAME", value_parser = parse_mark, help_heading = OTHER)]
    mark: Vec<(u32, String)>,
    /// Take a mark off a message, before any operation; may be repeated
    #[arg(long, value_name = "INDEX=NAME", value_parser = parse_mark, help_heading = OTHER)]
    unmark: Vec<(u32, String)>,
    /// Take the view back to the end of this batch (`show` lists them)
    #[arg(long, value_name = "BATCH", allow_negative_numbers = true, help_heading = OTHER)]
    roll_back: Option<u32>,
}

impl Changes {
    /// The changes in the order in which they are made: marks, then the operation.
    pub(crate) fn read(self, limit: ByteCount) -> Result<Vec<Edit>, Failure> {
        let marks = self.mark.iter().map(|(index, mark)| Edit::Mark(*index, mark.clone()));
        let unmarks = self.unmark.iter().map(|(index, mark)| Edit::Unmark(*index, mark.clone()));
        let mut changes: Vec<Edit> = marks.chain(unmarks).collect();
        changes.extend(self.operation(limit)?);
        if changes.is_empty() {
            return Err(Failure::new("OPERATION", "nothing says what to change").hint(
                "give it as JSON or as flags, such as --keep-last 10; see interleaf op --help",
            ));
        }
        Ok(changes)
    }

    fn operation(self, limit: ByteCount) -> Result<Option<Edit>, Failure> {
        let kind = self.kind()?;
        let split_blocks = self.split_blocks;
        let operation = match kind {
            None => return Ok(None),
            Some(Kind::RollBack(batch)) => return Ok(Some(Edit::RollBack(batch))),
            Some(Kind::Json) => {
                let file = self.operation_file.as_ref().map(|path| Input::read(path, limit));
                let json = || argument("OPERATION", self.operation.as_deref().unwrap_or_default());
                let input = file.unwrap_or_else(|| Ok(json()))?;
                read::operation(&input.text).map_err(|e| input.fault(&e))?
            }
            Some(Kind::Truncate) => return Ok(Some(self.truncation())),
            Some(Kind::Filter) => {
                let some = |texts: Vec<String>| Some(texts).filter(|texts| !texts.is_empty());
                Operation::Filter(Filter {
                    roles: Some(self.filter_role).filter(|roles| !roles.is_empty()),
                    contains: some(self.contains),
                    excludes: some(self.excludes),
                    split_blocks,
                })
            }
            Some(Kind::Clear) => Operation::Clear(Clear { keep_system: !self.drop_system }),
            Some(Kind::Insert(position)) => {
                let messages = self.messages(limit)?;
                Operation::Insert(Insert { position, messages, split_blocks })
            }
            Some(Kind::Replace(index)) => match <[Message; 1]>::try_from(self.messages(limit)?) {
                Ok([message]) => Operation::Replace(Replace { index, message, split_blocks }),
                Err(messages) => {
                    let rule = format!("it needs one --message, not {}", messages.len());
                    return Err(Failure::new("--replace", rule));
                }
            },
        };
        Ok(Some(Edit::Operate(operation)))
    }

    /// The new messages.
    fn messages(&self, limit: ByteCount) -> Result<Vec<Message>, Failure> {
        let given = self.message.iter().map(|json| Ok(argument("--message", json)));
        let files = self.message_file.iter().map(|path| Input::read(path, limit));
        let read = |input: Result<Input, Failure>| {
            let input = input?;
            read::message(&input.text).map_err(|e| input.fault(&e))
        };
        given.chain(files).map(read).collect()
    }

    fn truncation(self) -> Edit {
        let truncate = Truncate {
            keep_first: self.keep_first,
            keep_last: self.keep_last,
            remove_first: self.remove_first,
            remove_last: self.remove_last,
            range: None,
            role: self.role,
            others: self.others.map(|others| match others.as_str() {
                "keep" => Others::Keep,
                _ => Others::Hide,
            }),
            keep_system: self.drop_system.then_some(false),
            split_blocks: self.split_blocks,
        };
        match self.keep_range {
            None => Edit::Operate(Operation::Truncate(truncate)),
            Some(Positions { start, end: Some(end) }) => {
                let range = Some(Span { start, end });
                Edit::Operate(Operation::Truncate(Truncate { range, ..truncate }))
            }
            Some(Positions { start, end: None }) => Edit::KeepFrom(start, truncate),
        }
    }

    /// The one kind of operation that the flags ask for.
    fn kind(&self) -> Result<Option<Kind>, Failure> {
        let truncate = [
            ("--keep-first", self.keep_first.is_some()),
            ("--keep-last", self.keep_last.is_some()),
            ("--remove-first", self.remove_first.is_some()),
            ("--remove-last", self.remove_last.is_some()),
            ("--keep-range", self.keep_range.is_some()),
            ("--role", self.role.is_some()),
            ("--others", self.others.is_some()),
        ];
        let filter = [
            ("--filter-role", !self.filter_role.is_empty()),
            ("--contains", !self.contains.is_empty()),
            ("--excludes", !self.excludes.is_empty()),
        ];
        let given = |flags: &[(&'static str, bool)]| {
            flags.iter().find(|(_, given)| *given).map(|&(flag, _)| flag)
        };
        let kinds = [
            self.operation.is_some().then_some(("OPERATION", Kind::Json)),
            self.operation_file.is_some().then_some(("--operation-file", Kind::Json)),
            given(&truncate).map(|flag| (flag, Kind::Truncate)),
            given(&filter).map(|flag| (flag, Kind::Filter)),
            self.clear.then_some(("--clear", Kind::Clear)),
            self.insert.map(|position| ("--insert", Kind::Insert(position))),
            self.replace.map(|position| ("--replace", Kind::Replace(position))),
            self.roll_back.map(|batch| ("--roll-back", Kind::RollBack(batch))),
        ];
        let mut kinds = kinds.into_iter().flatten();
        let kind = kinds.next();
        if let (Some((first, _)), Some((second, _))) = (&kind, kinds.next()) {
            let rule = format!("{first} asks for another operation; one at a time");
            return Err(Failure::new(second, rule));
        }
        let kind = kind.map(|(_, kind)| kind);
        let has_messages = !self.message.is_empty() || !self.message_file.is_empty();
        if has_messages && !matches!(kind, Some(Kind::Insert(_) | Kind::Replace(_))) {
            return Err(Failure::new("--message", "it belongs to --insert or --replace"));
        }
        if self.drop_system && !matches!(kind, Some(Kind::Clear | Kind::Truncate)) {
            return Err(Failure::new("--drop-system", "it belongs to --clear or a truncation"));
        }
        let whole = matches!(kind, None | Some(Kind::Json | Kind::Clear | Kind::RollBack(_)));
        if self.split_blocks && whole {
            let rule = "it belongs to the flags of truncate and filter, --insert and --replace";
            return Err(Failure::new("--split-blocks", rule));
        }
        Ok(kind)
    }
}

/// The kinds of operation; one at a time.
enum Kind {
    Json,
    Truncate,
    Filter,
    Clear,
    Insert(usize),
    Replace(usize),
    RollBack(u32),
}

fn argument(name: &str, text: &str) -> Input {
    Input { name: name.to_owned(), text: text.to_owned() }
}

/// Reads `INDEX=NAME`.
pub(crate) fn parse_mark(text: &str) -> Result<(u32, String), String> {
    let mark = text.split_once('=');
    let mark = mark.and_then(|(index, mark)| Some((index.parse().ok()?, mark.to_owned())));
    mark.ok_or_else(|| "a mark is written INDEX=NAME, such as 3=pinned".into())
}
