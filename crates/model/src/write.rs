//! JSON as `serde_json` writes it, byte for byte, at a fraction of the cost for texts.
//!
//! Bodies are mostly long texts, and `serde_json` looks at their bytes one by one. This
//! writer looks at eight at once. Numbers are still the business of `serde_json`.

mod compound;
mod escape;

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use self::compound::Compound;
pub(crate) use self::escape::first_special;
use self::escape::push_text;

/// Writes a value as compact JSON to the end of a text: what [`serde_json::to_vec`] gives.
///
/// ```
/// let mut body = Vec::new();
/// interleaf_model::write_json(&mut body, &("one\ntwo", 3))?;
/// assert_eq!(body, br#"["one\ntwo",3]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// If the value cannot be JSON: a map whose keys are no texts, or an error of its own. The
/// text then ends somewhere inside the value.
pub fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), Error> {
    value.serialize(Writer::of(out))
}

/// The compact JSON of a value: what [`serde_json::to_string`] gives.
///
/// # Errors
/// As [`write_json`].
pub fn json_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let mut out = Vec::new();
    write_json(&mut out, value)?;
    String::from_utf8(out).map_err(Error::custom)
}

/// The end of a text that JSON is written to.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Texts are JSON already.
    is_raw: bool,
}

impl<'o> Writer<'o> {
    fn of(out: &'o mut Vec<u8>) -> Self {
        Self { out, is_raw: false }
    }
}

/// What `serde_json` writes well.
macro_rules! numbers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, number: $type) -> Result<(), Error> {
            serde_json::to_writer(self.out, &number)
        })*
    };
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'o>;
    type SerializeTuple = Compound<'o>;
    type SerializeTupleStruct = Compound<'o>;
    type SerializeTupleVariant = Compound<'o>;
    type SerializeMap = Compound<'o>;
    type SerializeStruct = Compound<'o>;
    type SerializeStructVariant = Compound<'o>;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        if self.is_raw {
            self.out.extend_from_slice(text.as_bytes());
        } else {
            push_text(self.out, text);
        }
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        bytes.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let out = self.out;
        open_variant(out, variant, b"");
        value.serialize(Writer::of(&mut *out))?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'o>, Error> {
        Ok(Compound::open(self.out, b'[', b"]"))
    }

    fn serialize_tuple(self, n: usize) -> Result<Compound<'o>, Error> {
        self.serialize_seq(Some(n))
    }

    fn serialize_tuple_struct(self, _: &'static str, n: usize) -> Result<Compound<'o>, Error> {
        self.serialize_seq(Some(n))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'o>, Error> {
        open_variant(self.out, variant, b"[");
        Ok(Compound::opened(self.out, b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'o>, Error> {
        Ok(Compound::open(self.out, b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'o>, Error> {
        // No type of Rust has such a name: `serde_json` passes JSON on so that is to be
        // written as it stands.
        if name.starts_with('$') {
            return Ok(Compound::raw(self.out));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'o>, Error> {
        open_variant(self.out, variant, b"{");
        Ok(Compound::opened(self.out, b"}}"))
    }
}

fn open_variant(out: &mut Vec<u8>, variant: &str, bracket: &[u8]) {
    out.push(b'{');
    push_text(out, variant);
    out.push(b':');
    out.extend_from_slice(bracket);
}
