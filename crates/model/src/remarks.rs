//! What is odd about the calls of an answer. They are kept as they came.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::{Arguments, Reply, ToolCall};

impl Reply {
    /// What is odd about its calls, a sentence for each: arguments that are no JSON object, or
    /// that give a name twice. A call that was [cut off](Self::cut_call) is not among them.
    ///
    /// ```
    /// use interleaf_model::{Finish, Message, Reply, notation};
    ///
    /// let [message] = &notation::parse(r#"a [call c1 rm {"path":"a","path":"b"}]"#)?[..] else {
    ///     unreachable!()
    /// };
    /// let mut reply = Reply::new(message.clone(), Finish::ToolCalls);
    /// let expected = "the call c1 gives `path` twice; most readers take the last";
    /// assert_eq!(reply.remarks(), [expected]);
    /// # Ok::<(), interleaf_model::Error>(())
    /// ```
    pub fn remarks(&self) -> Vec<String> {
        let cut = self.cut_call().map(|call| &call.id);
        let calls = self.message.calls().filter(|call| Some(&call.id) != cut);
        calls.filter_map(remark).collect()
    }
}

fn remark(call: &ToolCall) -> Option<String> {
    let id = &call.id;
    match &call.arguments {
        Arguments::Invalid(_) => {
            Some(format!("the arguments of the call {id} are no JSON object, and are kept as text"))
        }
        arguments @ Arguments::Object(_) => {
            let name = arguments.repeated()?;
            Some(format!("the call {id} gives `{name}` twice; most readers take the last"))
        }
    }
}

impl Arguments {
    /// The first name that stands twice in one object of them, at whatever depth. Which of the
    /// two counts is anyone's guess; [`parse`](Self::parse) refuses them where the type has the
    /// field.
    pub fn repeated(&self) -> Option<String> {
        serde_json::from_str::<Repeated>(self.as_str()).ok()?.0
    }
}

/// The first name that stands twice in one object of a value.
struct Repeated(Option<String>);

impl<'de> Deserialize<'de> for Repeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = Repeated;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Repeated, A::Error> {
        let (mut names, mut found) = (HashSet::new(), None);
        while let Some(name) = map.next_key::<String>()? {
            let is_new = names.insert(name.clone());
            let Repeated(inner) = map.next_value()?;
            found = found.or(if is_new { inner } else { Some(name) });
        }
        Ok(Repeated(found))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Repeated, A::Error> {
        let mut found = None;
        while let Some(Repeated(inner)) = list.next_element()? {
            found = found.or(inner);
        }
        Ok(Repeated(found))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_unit<E>(self) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_twice_is_found_at_any_depth_and_nowhere_else() {
        let table = [
            (r#"{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}"#, None),
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"{"a":1,"\u0061":-2.5}"#, Some("a")),
            (r#"{"x":[true,null,{"deep":{"y":"","y":""}}],"x":0}"#, Some("y")),
            ("no JSON", None),
        ];
        for (text, expected) in table {
            assert_eq!(Arguments::from_text(text).repeated().as_deref(), expected, "{text}");
        }
    }
}
