//! From a tree to any type that serde reads. What does not fit is told with its place, and a
//! name that nobody knows with the one that was perhaps meant.

use std::fmt;
use std::ops::Range;

use serde::de::value::{StrDeserializer, U64Deserializer};
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _,
    Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Fault, Name, Node, Source, Value, nearest};

/// A value, and where it stands in its file.
#[derive(Debug, Clone)]
pub(crate) struct Placed<T> {
    pub(crate) at: Range<usize>,
    pub(crate) value: T,
}

/// Under this name the tree gives a value with its place.
const PLACED: &str = "$interleaf::Placed";

/// A value as a type.
pub(super) fn read<T: DeserializeOwned>(source: &Source, node: &Node) -> Result<T, Fault> {
    T::deserialize(Reader(node)).map_err(|Unfit { rule, hint, at }| {
        Fault::new(source, at.unwrap_or_else(|| node.at.clone()), rule).hint(hint)
    })
}

/// Why a value does not fit.
#[derive(Debug)]
struct Unfit {
    rule: String,
    hint: Option<String>,
    at: Option<Range<usize>>,
}

impl Unfit {
    /// The same, with the innermost place that is known.
    fn at(mut self, place: &Range<usize>) -> Self {
        self.at.get_or_insert_with(|| place.clone());
        self
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rule)
    }
}

impl std::error::Error for Unfit {}

impl de::Error for Unfit {
    fn custom<T: fmt::Display>(rule: T) -> Self {
        Self { rule: rule.to_string(), hint: None, at: None }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Bool(flag) => format!("`{flag}`"),
            Unexpected::Unsigned(number) => format!("`{number}`"),
            Unexpected::Signed(number) => format!("`{number}`"),
            Unexpected::Float(number) => format!("`{number}`"),
            Unexpected::Str(_) => "a text".to_owned(),
            Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        let expected = in_words(&expected.to_string());
        Self::custom(format_args!("{expected} is expected here, and this is {found}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("key", field, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("value", variant, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("`{field}` is missing"))
    }
}

/// What a type of ours is to a person.
fn in_words(expected: &str) -> String {
    match expected {
        "a string" => "a text",
        "a map" => "a table",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        other if other.starts_with("struct ") => "a table",
        other => return other.to_owned(),
    }
    .to_owned()
}

impl Unfit {
    fn unknown(what: &str, written: &str, known: &[&str]) -> Self {
        let mut names = known.to_vec();
        names.sort_unstable();
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let rule = format!("there is no {what} `{written}`: {} are known", names.join(", "));
        let hint = nearest(written, known.iter().copied());
        let hint = hint.map(|name| format!("did you mean `{name}`?"));
        Self { hint, ..Self::custom(rule) }
    }
}

#[derive(Clone, Copy)]
struct Reader<'a>(&'a Node);

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Unfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        let read = match &self.0.value {
            Value::Nothing => visitor.visit_unit(),
            Value::Flag(flag) => visitor.visit_bool(*flag),
            // Whoever takes numbers from 0 on only, says so itself.
            Value::Whole(whole) => match u64::try_from(*whole) {
                Ok(whole) if whole > i64::MAX as u64 => visitor.visit_u64(whole),
                _ => visitor.visit_i64(*whole),
            },
            Value::Number(number) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Table(entries) => visitor.visit_map(Entries(entries.iter(), None)),
        };
        read.map_err(|unfit| unfit.at(&self.0.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.0.value {
            Value::Nothing => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        match name {
            PLACED => visitor.visit_seq(Placing(self.0, 0)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let read = match &self.0.value {
            Value::Text(text) => {
                visitor.visit_enum(IntoDeserializer::<Unfit>::into_deserializer(text.as_str()))
            }
            Value::Table(entries) => match entries.as_slice() {
                [(name, node)] => visitor.visit_enum(Chosen(name, node)),
                _ => Err(Unfit::custom("one name is expected here")),
            },
            _ => Err(Unfit::custom(format_args!("a text is expected, not {}", self.0.kind()))),
        };
        read.map_err(|unfit| unfit.at(&self.0.at))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Unfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unfit> {
        self.0.next().map(|node| seed.deserialize(Reader(node))).transpose()
    }
}

struct Entries<'a>(std::slice::Iter<'a, (Name, Node)>, Option<&'a Node>);

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Unfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unfit> {
        let Some((name, node)) = self.0.next() else { return Ok(None) };
        self.1 = Some(node);
        let key = seed.deserialize(StrDeserializer::<Unfit>::new(&name.text));
        key.map(Some).map_err(|unfit| unfit.at(&name.at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Unfit> {
        match self.1.take() {
            Some(node) => seed.deserialize(Reader(node)).map_err(|unfit| unfit.at(&node.at)),
            None => Err(Unfit::custom("a name comes before its value")),
        }
    }
}

/// The one name of a table, which says what its value is.
struct Chosen<'a>(&'a Name, &'a Node);

impl<'de, 'a> EnumAccess<'de> for Chosen<'a> {
    type Error = Unfit;
    type Variant = Reader<'a>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Reader<'a>), Unfit> {
        let name = seed.deserialize(StrDeserializer::<Unfit>::new(&self.0.text));
        Ok((name.map_err(|unfit| unfit.at(&self.0.at))?, Reader(self.1)))
    }
}

impl<'de> VariantAccess<'de> for Reader<'_> {
    type Error = Unfit;

    fn unit_variant(self) -> Result<(), Unfit> {
        Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unfit> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.deserialize_any(visitor)
    }
}

/// A value with its place: the beginning, the end, the value.
struct Placing<'a>(&'a Node, usize);

impl<'de> SeqAccess<'de> for Placing<'_> {
    type Error = Unfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unfit> {
        let Node { at, .. } = self.0;
        self.1 += 1;
        match self.1 {
            1 => seed.deserialize(U64Deserializer::new(at.start as u64)),
            2 => seed.deserialize(U64Deserializer::new(at.end as u64)),
            3 => seed.deserialize(Reader(self.0)),
            _ => return Ok(None),
        }
        .map(Some)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Place<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Place<T> {
            type Value = Placed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value of a file")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Placed<T>, A::Error> {
                match (seq.next_element()?, seq.next_element()?, seq.next_element()?) {
                    (Some(start), Some(end), Some(value)) => Ok(Placed { at: start..end, value }),
                    _ => Err(A::Error::custom("this has no place in a file")),
                }
            }
        }

        from.deserialize_newtype_struct(PLACED, Place(std::marker::PhantomData))
    }
}
