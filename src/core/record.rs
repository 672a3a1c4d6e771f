//! Structs that keep what they do not know.
//!
//! A checkpoint written by a newer version, or extended by somebody else, has fields this version has no name for.
//! They must survive every rewrite, at every level. `serde`'s `flatten` cannot do that here: it buffers values, which
//! loses the exact text of numbers and cannot carry raw JSON. So `record!` declares a struct whose unknown fields
//! are collected as raw text, in order, and are written back behind the known ones.

use serde::Deserialize;
use serde::de::{Error as _, MapAccess};
use serde::ser::SerializeMap;
use serde_json::value::RawValue;

/// The unknown fields of a record, in the order they were met.
#[derive(Debug, Clone, Default)]
pub struct Extra(Vec<(String, Box<RawValue>)>);

impl Extra {
    /// Whether there is nothing unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of the unknown fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The raw text of one unknown field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, raw)| raw.get())
    }

    /// Adds a field; false if it was there already.
    pub(crate) fn insert(&mut self, name: String, value: Box<RawValue>) -> bool {
        let new = self.get(&name).is_none();
        self.0.push((name, value));
        new
    }

    /// Takes the fields of `newer`, each replacing the one of its name.
    pub(crate) fn update(&mut self, newer: &Self) {
        for (name, raw) in &newer.0 {
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) => *old = raw.clone(),
                None => self.0.push((name.clone(), raw.clone())),
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
        self.0.iter().try_for_each(|(name, raw)| map.serialize_entry(name, raw))
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|((a, x), (b, y))| a == b && x.get() == y.get())
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
