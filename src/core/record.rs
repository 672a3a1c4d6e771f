//! Structs that keep what they do not know.
//!
//! A checkpoint written by a newer version, or extended by somebody else, has fields this version has no name for.
//! They must survive every rewrite, at every level. `serde`'s `flatten` cannot do that here: it buffers values, which
//! loses the exact text of numbers and cannot carry raw JSON. So `record!` declares a struct whose unknown fields
//! are collected as raw text, in order, and are written back behind the known ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Error as _, MapAccess};
use serde::ser::SerializeMap;
use serde_json::value::RawValue;

/// From how many fields on it pays to know where each of them is. Nearly every record has none.
const MANY: usize = 32;

/// The unknown fields of a record, in the order they were met.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    fields: Vec<(String, Box<RawValue>)>,
    /// Where each of many fields is; empty as long as there are few. Without it, a file of nothing but unknown fields
    /// would take hours to read.
    places: BTreeMap<String, usize>,
}

impl Extra {
    /// Whether there is nothing unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The names of the unknown fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The raw text of one unknown field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(self.place(name)?).map(|(_, raw)| raw.get())
    }

    /// Adds a field; false if it was there already.
    pub(crate) fn insert(&mut self, name: String, value: Box<RawValue>) -> bool {
        let new = self.place(&name).is_none();
        self.push(name, value);
        new
    }

    fn place(&self, name: &str) -> Option<usize> {
        match self.places.is_empty() {
            true => self.fields.iter().position(|(known, _)| known == name),
            false => self.places.get(name).copied(),
        }
    }

    fn push(&mut self, name: String, value: Box<RawValue>) {
        if self.fields.len() >= MANY {
            let known = self.places.len();
            let missing = self.fields.iter().enumerate().skip(known);
            self.places.extend(missing.map(|(place, (name, _))| (name.clone(), place)));
            self.places.insert(name.clone(), self.fields.len());
        }
        self.fields.push((name, value));
    }

    /// Takes the fields of `newer`, each replacing the one of its name.
    pub(crate) fn update(&mut self, newer: &Self) {
        for (name, raw) in &newer.fields {
            match self.place(name).and_then(|place| self.fields.get_mut(place)) {
                Some((_, old)) => *old = raw.clone(),
                None => self.push(name.clone(), raw.clone()),
            }
        }
    }

    /// Reads the value of a field that has no other place.
    #[inline(never)]
    pub(crate) fn fill<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match self.insert(name.to_owned(), map.next_value()?) {
            true => Ok(()),
            false => Err(A::Error::custom(format_args!("duplicate field `{name}`"))),
        }
    }

    pub(crate) fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.fields.iter().try_for_each(|(name, raw)| map.serialize_entry(name, raw))
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|((a, x), (b, y))| a == b && x.get() == y.get())
    }
}

/// Reads the value of a field into its place. The fields of one type share this code: a checkpoint has many texts, and
/// a process that starts pays for every page of code it touches.
#[inline(never)]
pub(crate) fn fill<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    place: &mut Option<T>,
    map: &mut A,
    name: &'static str,
) -> Result<(), A::Error> {
    match place.replace(map.next_value()?) {
        None => Ok(()),
        Some(_) => Err(A::Error::duplicate_field(name)),
    }
}

/// Whether a field has nothing to say and can be left out of the file.
pub(crate) trait Blank {
    fn is_blank(&self) -> bool;
}

impl<T> Blank for Option<T> {
    fn is_blank(&self) -> bool {
        self.is_none()
    }
}

impl<T> Blank for Vec<T> {
    fn is_blank(&self) -> bool {
        self.is_empty()
    }
}

impl Blank for bool {
    fn is_blank(&self) -> bool {
        !self
    }
}

impl Blank for u32 {
    fn is_blank(&self) -> bool {
        *self == 0
    }
}

/// Declares a struct with an `extra` field, and how it is read and written.
///
/// Each field has a mode: `required` must be there; `always` may be missing and is always written; `optional` may be
/// missing and is written only when it says something. A field given twice is an error.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $Record:ident {
            $( $(#[$field_meta:meta])* $mode:ident $field:ident : $Type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Record {
            $( $(#[$field_meta])* pub $field: $Type, )*
            /// Fields this version has no name for; they survive every rewrite.
            pub extra: $crate::core::record::Extra,
        }

        impl $Record {
            /// The names of the fields, in the order of the file.
            pub const FIELDS: &'static [&'static str] = &[$( stringify!($field) ),*];
        }

        impl serde::Serialize for $Record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $( $crate::core::record::record!(@write $mode map self $field); )*
                self.extra.serialize_into(&mut map)?;
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $Record {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $Record;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$Record, A::Error> {
                        $( let mut $field: Option<$Type> = None; )*
                        let mut extra = $crate::core::record::Extra::default();
                        while let Some(key) = map.next_key::<$crate::core::json::Key<'de>>()? {
                            match key.as_ref() {
                                $(
                                    stringify!($field) => {
                                        $crate::core::record::fill(&mut $field, &mut map, stringify!($field))?;
                                    }
                                )*
                                name => extra.fill(name, &mut map)?,
                            }
                        }
                        Ok($Record {
                            $( $field: $crate::core::record::record!(@read $mode $field)?, )*
                            extra,
                        })
                    }
                }

                deserializer.deserialize_map(Visitor)
            }
        }
    };

    (@write optional $map:ident $self:ident $field:ident) => {
        if !$crate::core::record::Blank::is_blank(&$self.$field) {
            $map.serialize_entry(stringify!($field), &$self.$field)?;
        }
    };
    (@write $mode:ident $map:ident $self:ident $field:ident) => {
        $map.serialize_entry(stringify!($field), &$self.$field)?
    };

    (@read required $field:ident) => {
        $field.ok_or_else(|| <A::Error as serde::de::Error>::missing_field(stringify!($field)))
    };
    (@read $mode:ident $field:ident) => {
        Ok::<_, A::Error>($field.unwrap_or_default())
    };
}

pub(crate) use record;

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn few_and_many_fields_are_found_alike() {
        for count in [0, 1, MANY - 1, MANY, MANY + 1, 50_000] {
            let mut extra = Extra::default();
            for n in 0..count {
                assert!(extra.insert(format!("f{n}"), raw(&n.to_string())), "{n} of {count}");
            }
            assert_eq!(extra.names().count(), count);
            for n in 0..count {
                assert_eq!(extra.get(&format!("f{n}")), Some(n.to_string().as_str()), "{count}");
            }
            assert_eq!(extra.get("f"), None);
            let mut newer = Extra::default();
            newer.insert("f0".to_owned(), raw("true"));
            newer.insert("new".to_owned(), raw("null"));
            extra.update(&newer);
            assert_eq!((extra.get("f0"), extra.get("new")), (Some("true"), Some("null")), "{count}");
            assert_eq!(extra.names().count(), count.max(1) + 1);
            assert!(!extra.insert("f0".to_owned(), raw("1")), "it was there");
        }
    }
}
