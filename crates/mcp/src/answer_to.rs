//! Which request a message answers, read without keeping the message.

use rmcp::model::RequestId;

/// The most bytes of a name or a value that are of interest.
const MOST: usize = 128;

/// Reads the bytes of a JSON object one by one, and finds the id of the request that it answers:
/// the member `id`, if there is no `method`.
#[derive(Debug, Default)]
pub(crate) struct AnswerTo {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    /// The text or number of the outermost object that is read now.
    word: Vec<u8>,
    name: Vec<u8>,
    is_value: bool,
    id: Option<Vec<u8>>,
    is_request: bool,
}

impl AnswerTo {
    /// Reads on.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The id, when all was read.
    pub(crate) fn id(&self) -> Option<RequestId> {
        if self.is_request {
            return None;
        }
        serde_json::from_slice(self.id.as_deref()?).ok()
    }

    fn step(&mut self, byte: u8) {
        if self.is_in_text {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.is_in_text = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.word.clear();
            }
            b'}' | b']' => {
                self.end_member();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_member(),
            b':' if self.depth == 1 => {
                self.name = std::mem::take(&mut self.word);
                self.is_value = true;
                self.is_request |= self.name == b"\"method\"";
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() < MOST {
            self.word.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_value && self.name == b"\"id\"" {
            self.id = Some(std::mem::take(&mut self.word));
        }
        self.word.clear();
        self.is_value = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerTo, RequestId};

    fn id(text: &str) -> Option<RequestId> {
        let mut answer = AnswerTo::default();
        // Byte by byte, as a line may come.
        text.as_bytes().chunks(1).for_each(|byte| answer.read(byte));
        answer.id()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8}}"#), seven);
        assert_eq!(id(r#"{"result":{"id":8,"a":[{"id":9}]},"jsonrpc":"2.0","id": 7 }"#), seven);
        assert_eq!(id(r#"{"a":"\"id\":8,","b":["id",3],"id":7}"#), seven);
        assert_eq!(id(r#"{"id":"7,8","result":"\\"}"#), Some(RequestId::String("7,8".into())));
    }

    #[test]
    fn what_answers_nothing_has_none() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), None);
        assert_eq!(id(r#"{"method":"notifications/message","params":{"id":7}}"#), None);
        assert_eq!(id(r#"[{"id":7}]"#), None);
        assert_eq!(id("no JSON"), None);
    }
}
