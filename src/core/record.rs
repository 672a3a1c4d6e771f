//! Structs that keep what they do not know.
//!
//! A checkpoint written by a newer version, or extended by somebody else, has members this version has no name for.
//! They must survive every rewrite, at every level. `serde`'s `flatten` cannot do that: it buffers values, which loses
//! the exact text of numbers and cannot carry raw JSON. So `record!` declares a struct whose unknown members are
//! collected as raw text, in order, and are written back behind the known ones.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::value::RawValue;

use super::json::Key;

/// The number of fields from which on an index pays. Nearly every record has none.
const MANY: usize = 32;

/// The unknown fields of a record, in the order they were met.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    fields: Vec<(String, Box<RawValue>)>,
    /// Index of many fields by name; empty as long as there are few. Without it, reading a file of nothing but unknown
    /// fields would take quadratic time.
    places: BTreeMap<String, usize>,
}

impl Extra {
    /// Returns true if there is nothing unknown.
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
        if self.places.is_empty() {
            self.fields.iter().position(|(known, _)| known == name)
        } else {
            self.places.get(name).copied()
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

    /// Sets a field, replacing the one of its name.
    pub(crate) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.place(name).and_then(|place| self.fields.get_mut(place)) {
            Some((_, old)) => *old = value,
            None => self.push(name.to_owned(), value),
        }
    }

    /// Reads the value of a field that has no other place.
    #[inline(never)]
    pub(crate) fn fill<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        if self.insert(name.to_owned(), map.next_value()?) {
            Ok(())
        } else {
            Err(A::Error::custom(format_args!("duplicate field `{name}`")))
        }
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

/// The members of a JSON object, or some of them: those of a record, or the unknown ones.
///
/// A record reads and writes its members through this trait, so that the members of another record can stand inline
/// among its own, without buffering a value.
pub(crate) trait Members: Sized {
    /// The members read so far.
    type Partial: Default;

    /// Reads the value of the member `name`.
    fn read<'de, A: MapAccess<'de>>(
        partial: &mut Self::Partial,
        name: &str,
        map: &mut A,
    ) -> Result<(), A::Error>;

    /// Completes what was read; a required member may be missing.
    fn finish<E: serde::de::Error>(partial: Self::Partial) -> Result<Self, E>;

    /// Writes all members but those for the end of the object.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Writes the members that stand at the end of the object.
    fn write_last<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl Members for Extra {
    type Partial = Self;

    fn read<'de, A: MapAccess<'de>>(
        partial: &mut Self::Partial,
        name: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        partial.fill(name, map)
    }

    fn finish<E: serde::de::Error>(partial: Self) -> Result<Self, E> {
        Ok(partial)
    }

    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }

    fn write_last<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.fields.iter().try_for_each(|(name, raw)| map.serialize_entry(name, raw))
    }
}

/// Writes members as an object of their own.
pub(crate) fn serialize<S: Serializer>(members: &impl Members, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    members.write(&mut map)?;
    members.write_last(&mut map)?;
    map.end()
}

/// Reads an object that consists of these members.
pub(crate) fn deserialize<'de, T: Members, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);

    impl<'de, T: Members> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut partial = T::Partial::default();
            while let Some(key) = map.next_key::<Key<'de>>()? {
                T::read(&mut partial, key.as_ref(), &mut map)?;
            }
            T::finish(partial)
        }
    }

    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// A value that can be left out of the file when it says nothing.
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

/// Declares a struct that keeps the members it does not know, and how it is read and written.
///
/// Each field has a mode: `required` must be there; `always` may be missing and is always written; `optional` may be
/// missing and is written only when it says something; `last` is as `always`, but stands at the end of the object. A
/// member given twice is an error.
///
/// `..name: Record` puts the members of another record inline. That record then keeps the unknown members as well;
/// otherwise a field `extra` does.
macro_rules! record {
    (
        $(#[$($meta:tt)*])*
        pub struct $Record:ident {
            $( $(#[$($field_meta:tt)*])* $mode:ident $field:ident : $Type:ty, )*
        }
    ) => {
        $crate::core::record::record! {
            @record $([$($meta)*])* $Record {
                $( $([$($field_meta)*])* $mode $field: $Type, )*
                .."Members this version has no name for; they survive every rewrite.",
                extra: $crate::core::record::Extra,
            }
        }
    };
    (
        $(#[$($meta:tt)*])*
        pub struct $Record:ident {
            $( $(#[$($field_meta:tt)*])* $mode:ident $field:ident : $Type:ty, )*
            ..$inline:ident : $Inline:ty,
            $( $(#[$($after_meta:tt)*])* $after_mode:ident $after:ident : $After:ty, )*
        }
    ) => {
        $crate::core::record::record! {
            @record $([$($meta)*])* $Record {
                $( $([$($field_meta)*])* $mode $field: $Type, )*
                ..concat!("The members of [`", stringify!($Inline), "`], which stand inline in the file."),
                $inline: $Inline,
                $( $([$($after_meta)*])* $after_mode $after: $After, )*
            }
        }
    };
    (
        @record $([$($meta:tt)*])* $Record:ident {
            $( $([$($field_meta:tt)*])* $mode:ident $field:ident : $Type:ty, )*
            ..$doc:expr, $inline:ident : $Inline:ty,
            $( $([$($after_meta:tt)*])* $after_mode:ident $after:ident : $After:ty, )*
        }
    ) => {
        $(#[$($meta)*])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Record {
            $( $(#[$($field_meta)*])* pub $field: $Type, )*
            #[doc = $doc]
            pub $inline: $Inline,
            $( $(#[$($after_meta)*])* pub $after: $After, )*
        }

        impl $Record {
            /// The names of its own fields, in the order of the file.
            pub const FIELDS: &'static [&'static str] =
                &[$( stringify!($field), )* $( stringify!($after), )*];
        }

        const _: () = {
            use $crate::core::record::{Members, deserialize, fill, record, serialize};

            #[derive(Default)]
            pub(crate) struct Partial {
                $( $field: Option<$Type>, )*
                $inline: <$Inline as Members>::Partial,
                $( $after: Option<$After>, )*
            }

            impl Members for $Record {
                type Partial = Partial;

                fn read<'de, A: serde::de::MapAccess<'de>>(
                    partial: &mut Partial,
                    name: &str,
                    map: &mut A,
                ) -> Result<(), A::Error> {
                    match name {
                        $( stringify!($field) => fill(&mut partial.$field, map, stringify!($field)), )*
                        $( stringify!($after) => fill(&mut partial.$after, map, stringify!($after)), )*
                        name => <$Inline>::read(&mut partial.$inline, name, map),
                    }
                }

                fn finish<E: serde::de::Error>(partial: Partial) -> Result<Self, E> {
                    Ok(Self {
                        $( $field: record!(@finish $mode E partial $field), )*
                        $inline: <$Inline>::finish(partial.$inline)?,
                        $( $after: record!(@finish $after_mode E partial $after), )*
                    })
                }

                fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                    $( record!(@write $mode map self $field); )*
                    self.$inline.write(map)?;
                    $( record!(@write $after_mode map self $after); )*
                    Ok(())
                }

                fn write_last<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                    $( record!(@write_last $mode map self $field); )*
                    $( record!(@write_last $after_mode map self $after); )*
                    self.$inline.write_last(map)
                }
            }

            impl serde::Serialize for $Record {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serialize(self, serializer)
                }
            }

            impl<'de> serde::Deserialize<'de> for $Record {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserialize(deserializer)
                }
            }
        };
    };

    (@finish required $E:ident $partial:ident $field:ident) => {
        $partial.$field.ok_or_else(|| $E::missing_field(stringify!($field)))?
    };
    (@finish $mode:ident $E:ident $partial:ident $field:ident) => {
        $partial.$field.unwrap_or_default()
    };

    (@write last $map:ident $self:ident $field:ident) => {};
    (@write optional $map:ident $self:ident $field:ident) => {
        if !$crate::core::record::Blank::is_blank(&$self.$field) {
            $map.serialize_entry(stringify!($field), &$self.$field)?;
        }
    };
    (@write $mode:ident $map:ident $self:ident $field:ident) => {
        $map.serialize_entry(stringify!($field), &$self.$field)?
    };

    (@write_last last $map:ident $self:ident $field:ident) => {
        $map.serialize_entry(stringify!($field), &$self.$field)?
    };
    (@write_last $mode:ident $map:ident $self:ident $field:ident) => {};
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
            extra.set("f0", raw("true"));
            extra.set("new", raw("null"));
            assert_eq!((extra.get("f0"), extra.get("new")), (Some("true"), Some("null")), "{count}");
            assert_eq!(extra.names().count(), count.max(1) + 1);
            assert!(!extra.insert("f0".to_owned(), raw("1")), "it was there");
        }
    }
}
