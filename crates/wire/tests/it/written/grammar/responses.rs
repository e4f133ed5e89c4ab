//! `created`, `in_progress`, items one after the other, and the whole at the end.

use serde_json::Value;

use super::{Checked, Event, ensure};

#[derive(Default)]
struct Stream {
    is_begun: bool,
    is_in_progress: bool,
    is_ended: bool,
    /// The items that are done.
    done: Vec<Value>,
    item: Option<Item>,
}

/// The item that is open.
struct Item {
    id: Value,
    kind: String,
    /// The parts of its content, or of its summary, that are done.
    parts: Vec<Value>,
    part: Option<Part>,
    /// What came of its arguments, and all of them.
    arguments: String,
    all_arguments: Option<String>,
}

/// The part that is open, and what came of it.
#[derive(Default)]
struct Part {
    text: String,
    is_told: bool,
}

pub(super) fn check(events: &[Event]) -> Checked {
    let mut stream = Stream::default();
    for (sequence, (name, data)) in events.iter().enumerate() {
        ensure(data["sequence_number"] == sequence, "a number out of order")?;
        ensure(!stream.is_ended, "an event after the end")?;
        stream.event(name, data).map_err(|rule| format!("{name}: {rule}"))?;
    }
    ensure(stream.is_ended, "it does not end")
}

impl Stream {
    fn event(&mut self, name: &str, data: &Value) -> Checked {
        let short = name.strip_prefix("response.").ok_or("another kind of event")?;
        match short {
            "created" => {
                ensure(!std::mem::replace(&mut self.is_begun, true), "created twice")?;
                ensure(data["response"]["status"] == "in_progress", "created and not in progress")
            }
            "in_progress" => {
                ensure(self.is_begun, "not created")?;
                ensure(!std::mem::replace(&mut self.is_in_progress, true), "in progress twice")
            }
            "output_item.added" => {
                ensure(self.is_in_progress && self.item.is_none(), "an item in an item")?;
                ensure(data["output_index"] == self.done.len(), "an index out of order")?;
                let item = &data["item"];
                self.item = Some(Item {
                    id: item["id"].clone(),
                    kind: item["type"].as_str().ok_or("an item without a type")?.to_owned(),
                    parts: Vec::new(),
                    part: None,
                    arguments: String::new(),
                    all_arguments: None,
                });
                Ok(())
            }
            "output_item.done" => {
                ensure(data["output_index"] == self.done.len(), "an index out of order")?;
                let item = self.item.take().ok_or("no item is open")?;
                item.end(&data["item"])?;
                self.done.push(data["item"].clone());
                Ok(())
            }
            "completed" | "incomplete" => {
                ensure(self.is_in_progress && self.item.is_none(), "an item is not done")?;
                self.is_ended = true;
                let response = &data["response"];
                ensure(response["output"] == Value::Array(self.done.clone()), "another output")?;
                let incomplete = response["status"] == "incomplete";
                ensure(incomplete == (short == "incomplete"), "another status")?;
                ensure(incomplete == response["incomplete_details"].is_object(), "no reason")
            }
            _ => {
                ensure(data["output_index"] == self.done.len(), "an index out of order")?;
                let item = self.item.as_mut().ok_or("no item is open")?;
                ensure(data["item_id"] == item.id, "of another item")?;
                item.event(short, data)
            }
        }
    }
}

impl Item {
    fn event(&mut self, name: &str, data: &Value) -> Checked {
        let (of, index, what) = match name.split_once('.').unwrap_or_default() {
            ("content_part", what) => ("message", "content_index", what),
            ("output_text" | "refusal", what) => ("message", "content_index", what),
            ("reasoning_summary_part" | "reasoning_summary_text", what) => {
                ("reasoning", "summary_index", what)
            }
            ("function_call_arguments", what) => return self.arguments(what, data, "arguments"),
            ("custom_tool_call_input", what) => return self.arguments(what, data, "input"),
            _ => return Err("an unknown event".to_owned()),
        };
        ensure(self.kind == of, "of an item of another type")?;
        ensure(data[index] == self.parts.len(), "an index out of order")?;
        if name.contains("_part.") {
            return self.part(what, data);
        }
        let part = self.part.as_mut().ok_or("no part is open")?;
        match what {
            "delta" => {
                ensure(!part.is_told, "a piece after the whole")?;
                part.text.push_str(data["delta"].as_str().ok_or("no delta")?);
                Ok(())
            }
            "done" => {
                ensure(!std::mem::replace(&mut part.is_told, true), "told twice")?;
                let whole = data.get("text").or(data.get("refusal"));
                ensure(whole.is_some_and(|whole| *whole == *part.text), "not what came")
            }
            _ => Err("an unknown event".to_owned()),
        }
    }

    fn part(&mut self, what: &str, data: &Value) -> Checked {
        if what == "added" {
            ensure(self.part.is_none(), "a part in a part")?;
            self.part = Some(Part::default());
            return Ok(());
        }
        let part = self.part.take().ok_or("no part is open")?;
        let whole = data["part"].get("text").or(data["part"].get("refusal"));
        ensure(part.is_told, "its text is not told")?;
        ensure(whole.is_some_and(|whole| *whole == *part.text), "not what came")?;
        self.parts.push(data["part"].clone());
        Ok(())
    }

    fn arguments(&mut self, what: &str, data: &Value, field: &str) -> Checked {
        ensure(self.all_arguments.is_none(), "after the whole")?;
        if what == "delta" {
            self.arguments.push_str(data["delta"].as_str().ok_or("no delta")?);
            return Ok(());
        }
        ensure(data[field] == *self.arguments, "not what came")?;
        self.all_arguments = Some(self.arguments.clone());
        Ok(())
    }

    /// Whether an item is what came of it.
    fn end(&self, whole: &Value) -> Checked {
        ensure(self.part.is_none(), "a part is not done")?;
        ensure(whole["id"] == self.id && whole["type"] == *self.kind, "another item")?;
        match self.kind.as_str() {
            "message" => ensure(
                whole["status"] != "in_progress"
                    && (self.parts.is_empty()
                        || whole["content"] == Value::Array(self.parts.clone())),
                "another content",
            ),
            "reasoning" => {
                let is_same = whole["summary"] == Value::Array(self.parts.clone());
                ensure(is_same || whole.get("content").is_some(), "another summary")
            }
            "function_call" => ensure(
                self.all_arguments.as_deref() == whole["arguments"].as_str(),
                "other arguments",
            ),
            "custom_tool_call" => {
                ensure(self.all_arguments.as_deref() == whole["input"].as_str(), "another input")
            }
            _ => Ok(()),
        }
    }
}
