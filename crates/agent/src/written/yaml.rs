//! YAML as a tree: what front matter needs of it. Aliases are refused, for a few lines of them
//! can stand for more than a machine holds.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::{Fault, Name, Node, Source, Value};

/// More than any agent's file has; each is held against all before it.
const MOST_NAMES: usize = 1_000;

/// How deep values may stand in each other.
const DEEPEST: usize = 32;

/// A list or table that is not whole yet.
enum Open {
    List(usize, Vec<Node>),
    /// With the name that waits for its value.
    Table(usize, Vec<(Name, Node)>, Option<Name>),
}

/// A part of a file.
pub(super) fn parse(source: &Source, part: Range<usize>) -> Result<Node, Fault> {
    let text = &source.text()[part.clone()];
    // Places are told in characters.
    let mut starts: Vec<usize> = text.char_indices().map(|(at, _)| part.start + at).collect();
    starts.push(part.end);
    let byte = |marker: &Marker| starts.get(marker.index()).copied().unwrap_or(part.end);
    let place = |span: &Span| byte(&span.start)..byte(&span.end);
    let mut tree = Tree { source, open: Vec::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = byte(error.marker());
            Fault::new(source, at..at, format!("this is not YAML: {}", error.info()))
        })?;
        tree.take(event, place(&span))?;
    }
    // Nothing at all is an empty table.
    Ok(tree.root.unwrap_or(Node { at: part, value: Value::Table(Vec::new()) }))
}

struct Tree<'a> {
    source: &'a Source,
    open: Vec<Open>,
    root: Option<Node>,
}

impl Tree<'_> {
    fn take(&mut self, event: Event<'_>, at: Range<usize>) -> Result<(), Fault> {
        let fault = |rule: &str| Err(Fault::new(self.source, at.clone(), rule));
        if self.open.len() > DEEPEST {
            return fault("values stand too deep in each other");
        }
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => fault("one document is enough"),
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(_) => fault("aliases are not read here"),
            Event::Scalar(text, style, _, tag) => {
                let value = match style {
                    ScalarStyle::Plain if tag.is_none() => plain(&text),
                    _ => Value::Text(text.into_owned()),
                };
                self.put(Node { at, value })
            }
            Event::SequenceStart(..) => {
                self.open.push(Open::List(at.start, Vec::new()));
                Ok(())
            }
            Event::MappingStart(..) => {
                self.open.push(Open::Table(at.start, Vec::new(), None));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(start, items)) => {
                    self.put(Node { at: start..at.end, value: Value::List(items) })
                }
                Some(Open::Table(start, entries, _)) => {
                    self.put(Node { at: start..at.end, value: Value::Table(entries) })
                }
                None => Ok(()),
            },
        }
    }

    /// Takes in a value that is whole.
    fn put(&mut self, node: Node) -> Result<(), Fault> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Table(_, entries, name @ None)) => {
                let at = node.at.clone();
                let text = match node.value {
                    Value::Text(text) => text,
                    // A name such as `yes` or `1`.
                    Value::Flag(_) | Value::Whole(_) | Value::Number(_) | Value::Nothing => {
                        self.source.text()[at.clone()].to_owned()
                    }
                    Value::List(_) | Value::Table(_) => {
                        return Err(Fault::new(self.source, at, "a name is a text"));
                    }
                };
                if entries.len() == MOST_NAMES {
                    let rule = format!("a table has at most {MOST_NAMES} names");
                    return Err(Fault::new(self.source, at, rule));
                }
                if entries.iter().any(|(other, _)| other.text == text) {
                    let rule = format!("`{text}` stands here twice");
                    return Err(Fault::new(self.source, at, rule));
                }
                *name = Some(Name { at, text });
            }
            Some(Open::Table(_, entries, waiting)) => {
                if let Some(name) = waiting.take() {
                    entries.push((name, node));
                }
            }
        }
        Ok(())
    }
}

/// What a word without quotes stands for, by the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Nothing,
        "true" | "True" | "TRUE" => return Value::Flag(true),
        "false" | "False" | "FALSE" => return Value::Flag(false),
        _ => {}
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Value::Whole(whole);
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match text.parse::<f64>() {
        Ok(number) if is_number && number.is_finite() => Value::Number(number),
        _ => Value::Text(text.to_owned()),
    }
}
