//! Decodes a message and counts the elements of its lists: a list says how many it has before the first is decoded, and one
//! with more than are left is refused there. So what a message takes in memory is bounded by what it may have, however
//! small its elements are as bytes.

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::cell::Cell;
use std::fmt;

/// The message that these bytes are, with at most so many elements in its lists; `Ok(None)` where it says it has more.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], items: usize) -> Result<Option<T>, postcard::Error> {
    let left = ElementsLeft(Cell::new(Some(items)));
    let mut deserializer = postcard::Deserializer::from_bytes(bytes);
    match T::deserialize(ListCounter { inner: &mut deserializer, left: &left }) {
        Ok(message) => Ok(Some(message)),
        Err(_) if left.0.get().is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Elements that may still come; `None` once there were more.
struct ElementsLeft(Cell<Option<usize>>);

impl ElementsLeft {
    fn take<E: Error>(&self, count: usize) -> Result<(), E> {
        self.0.set(self.0.get().and_then(|left| left.checked_sub(count)));
        self.0.get().map(drop).ok_or_else(|| E::custom("too many elements"))
    }
}

/// A part of a deserializer, around which lists are counted.
struct ListCounter<'l, T> {
    inner: T,
    left: &'l ElementsLeft,
}

/// A visitor of such a part. Fields of a struct are no list.
struct Counting<'l, V> {
    inner: V,
    left: &'l ElementsLeft,
    is_list: bool,
}

/// What has no parts, or is not counted by itself.
macro_rules! plain {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        })*
    };
}

/// What has parts: each with the arguments that come before the visitor.
macro_rules! with_parts {
    ($($method:ident($($argument:ident: $type:ty),*) $is_list:literal)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = Counting { inner: visitor, left: self.left, is_list: $is_list };
            self.inner.$method($($argument,)* visitor)
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ListCounter<'_, D> {
    type Error = D::Error;

    plain! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier deserialize_ignored_any
    }

    with_parts! {
        deserialize_option() false
        deserialize_newtype_struct(name: &'static str) false
        deserialize_tuple(length: usize) false
        deserialize_tuple_struct(name: &'static str, length: usize) false
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) false
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) false
        deserialize_seq() true
        deserialize_map() true
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(name, visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Counting<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(ListCounter { inner, left: self.left })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(ListCounter { inner, left: self.left })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        if self.is_list {
            // A decoder that gives no number has fewer bytes left than elements were announced.
            let count = inner.size_hint().ok_or_else(|| A::Error::custom("a list is longer than its message"))?;
            self.left.take(count)?;
        }
        self.inner.visit_seq(ListCounter { inner, left: self.left })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.left.take(inner.size_hint().unwrap_or(usize::MAX))?;
        self.inner.visit_map(ListCounter { inner, left: self.left })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(ListCounter { inner, left: self.left })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ListCounter<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(ListCounter { inner, left: self.left })
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ListCounter<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, inner: S) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_element_seed(ListCounter { inner, left: self.left })
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ListCounter<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, inner: S) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_key_seed(ListCounter { inner, left: self.left })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, inner: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(ListCounter { inner, left: self.left })
    }
}

impl<'de, 'l, A: EnumAccess<'de>> EnumAccess<'de> for ListCounter<'l, A> {
    type Error = A::Error;
    type Variant = ListCounter<'l, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, inner: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let left = self.left;
        let (value, inner) = self.inner.variant_seed(ListCounter { inner, left })?;
        Ok((value, ListCounter { inner, left }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for ListCounter<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, inner: S) -> Result<S::Value, A::Error> {
        self.inner.newtype_variant_seed(ListCounter { inner, left: self.left })
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.inner.tuple_variant(length, Counting { inner: visitor, left: self.left, is_list: false })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.inner.struct_variant(fields, Counting { inner: visitor, left: self.left, is_list: false })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Unit,
        New(Option<Box<Shape>>),
        Pair(u8, Vec<String>),
        Named { map: BTreeMap<String, i64>, bytes: Vec<u8>, twice: [f32; 2] },
    }

    fn all() -> Vec<Shape> {
        vec![
            Shape::Unit,
            Shape::New(Some(Box::new(Shape::Pair(1, vec!["one".into(), "two".into()])))),
            Shape::New(None),
            Shape::Named { map: [("a".to_owned(), -1)].into(), bytes: vec![1; 5], twice: [0.5, 2.0] },
        ]
    }

    #[test]
    fn elements_of_all_lists_count_and_nothing_else() {
        let bytes = postcard::to_stdvec(&all()).unwrap();
        // Four shapes, two strings, an entry of a map and five bytes.
        assert_eq!(decode::<Vec<Shape>>(&bytes, 12).unwrap(), Some(all()));
        assert_eq!(decode::<Vec<Shape>>(&bytes, 11).unwrap(), None);
        assert!(decode::<Vec<Shape>>(&bytes[..bytes.len() - 1], 12).is_err());
    }

    #[test]
    fn a_list_is_refused_by_what_it_announces() {
        thread_local!(static DECODED: Cell<u32> = const { Cell::new(0) });
        struct Element;
        impl<'de> Deserialize<'de> for Element {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Element, D::Error> {
                DECODED.set(DECODED.get() + 1);
                u8::deserialize(deserializer).map(|_| Element)
            }
        }
        let bytes = postcard::to_stdvec(&vec![0u8; 1000]).unwrap();
        assert!(decode::<Vec<Element>>(&bytes, 999).unwrap().is_none());
        // 2^28 elements are announced, and three bytes follow.
        assert!(decode::<Vec<Element>>(&[0x80, 0x80, 0x80, 0x80, 1, 1, 2, 3], usize::MAX).is_err());
        assert_eq!(DECODED.get(), 0);
        assert_eq!(decode::<Vec<Element>>(&bytes, 1000).unwrap().map(|all| all.len()), Some(1000));
    }
}
