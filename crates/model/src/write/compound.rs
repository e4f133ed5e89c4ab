//! What has elements: lists, maps, structs.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::Error;

use super::{Writer, push_text};

/// A list or an object that is being written.
pub(super) struct Compound<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
    /// What closes it; nothing for JSON that is passed on as it stands.
    close: Option<&'static [u8]>,
}

impl<'o> Compound<'o> {
    pub(super) fn open(out: &'o mut Vec<u8>, bracket: u8, close: &'static [u8]) -> Self {
        out.push(bracket);
        Self::opened(out, close)
    }

    pub(super) fn opened(out: &'o mut Vec<u8>, close: &'static [u8]) -> Self {
        Self { out, is_empty: true, close: Some(close) }
    }

    pub(super) fn raw(out: &'o mut Vec<u8>) -> Self {
        Self { out, is_empty: true, close: None }
    }

    fn comma(&mut self) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        value.serialize(Writer::of(self.out))
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        if self.close.is_none() {
            return value.serialize(Writer { out: self.out, is_raw: true });
        }
        self.comma();
        push_text(self.out, name);
        self.value(value)
    }

    /// Writes a key, which is a text; numbers and the like become one.
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        let start = self.out.len();
        key.serialize(Writer::of(self.out))?;
        match self.out.get(start) {
            Some(b'"') => {}
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.out.insert(start, b'"');
                self.out.push(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(Writer::of(self.out))
    }

    fn close(self) -> Result<(), Error> {
        self.out.extend_from_slice(self.close.unwrap_or_default());
        Ok(())
    }
}

macro_rules! lists {
    ($($list:ident::$add:ident),*) => {
        $(impl $list for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        })*
    };
}

macro_rules! structs {
    ($($form:ident),*) => {
        $(impl $form for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        })*
    };
}

lists!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);
structs!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}
