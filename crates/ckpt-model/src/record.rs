//! Structs that keep unknown fields.
//!
//! A checkpoint written by a newer version, or extended by another tool, has fields that this version does not know.
//! They must survive every rewrite, at every level. `serde`'s `flatten` cannot do that: it buffers values, which loses
//! the exact text of numbers and cannot hold raw JSON. So `record!` declares a struct that collects unknown fields as
//! raw text, in order, and writes them after the known ones.

use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::value::RawValue;

use super::json::Key;

/// The unknown fields of a record, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Extra(IndexMap<String, Box<RawValue>>);

impl Extra {
    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the raw text of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|raw| raw.get())
    }

    /// Adds a field, or replaces it. Returns false if it was there already.
    pub(crate) fn insert(&mut self, name: String, value: Box<RawValue>) -> bool {
        self.0.insert(name, value).is_none()
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        let texts = |extra: &Self| extra.0.values().map(|raw| raw.get().to_owned()).collect::<Vec<_>>();
        self.names().eq(other.names()) && texts(self) == texts(other)
    }
}

/// Reads the value of a field.
pub(crate) fn fill<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    map: &mut A,
    name: &'static str,
) -> Result<(), A::Error> {
    match field.replace(map.next_value()?) {
        None => Ok(()),
        Some(_) => Err(A::Error::duplicate_field(name)),
    }
}

/// A set of members of a JSON object: those of a record, or the unknown ones. Through this trait, a record can hold the
/// members of another record inline, without buffering.
pub(crate) trait Members: Sized {
    /// The members read so far.
    type Partial: Default;

    /// Reads the value of the member `name`.
    fn read<'de, A: MapAccess<'de>>(partial: &mut Self::Partial, name: &str, map: &mut A) -> Result<(), A::Error>;

    /// Builds the value, or fails if a required member is missing.
    fn finish<E: serde::de::Error>(partial: Self::Partial) -> Result<Self, E>;

    /// Writes all members except those for the end of the object.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Writes the members at the end of the object.
    fn write_last<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl Members for Extra {
    type Partial = Self;

    fn read<'de, A: MapAccess<'de>>(partial: &mut Self::Partial, name: &str, map: &mut A) -> Result<(), A::Error> {
        if partial.insert(name.to_owned(), map.next_value()?) {
            Ok(())
        } else {
            Err(A::Error::custom(format_args!("duplicate field `{name}`")))
        }
    }

    fn finish<E: serde::de::Error>(partial: Self) -> Result<Self, E> {
        Ok(partial)
    }

    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }

    fn write_last<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.iter().try_for_each(|(name, raw)| map.serialize_entry(name, raw))
    }
}

/// Writes an object of these members.
pub(crate) fn serialize<S: Serializer>(members: &impl Members, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    members.write(&mut map)?;
    members.write_last(&mut map)?;
    map.end()
}

/// Reads an object of these members.
pub(crate) fn deserialize<'de, T: Members, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);

    impl<'de, T: Members> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut partial = T::Partial::default();
            while let Some(Key(name)) = map.next_key::<Key<'de>>()? {
                T::read(&mut partial, &name, &mut map)?;
            }
            T::finish(partial)
        }
    }

    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// A value that is left out of the file when it is empty.
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

/// Declares a struct that keeps unknown fields, with its serde implementations.
///
/// Each field has a mode: `required` must be present; `always` may be missing and is always written; `optional` may be
/// missing and is written unless it is empty; `last` is like `always`, but written at the end of the object. A duplicate
/// field is an error.
///
/// `..name: Record` holds the fields of another record inline. That record then keeps the unknown fields; otherwise a
/// field `extra` does.
macro_rules! record {
    (
        $(#[$($meta:tt)*])*
        pub struct $Record:ident {
            $( $(#[$($field_meta:tt)*])* $mode:ident $field:ident : $Type:ty, )*
        }
    ) => {
        $crate::record::record! {
            @record $([$($meta)*])* $Record {
                $( $([$($field_meta)*])* $mode $field: $Type, )*
                .."Fields that this version does not know; they survive every rewrite.",
                extra: $crate::record::Extra,
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
        $crate::record::record! {
            @record $([$($meta)*])* $Record {
                $( $([$($field_meta)*])* $mode $field: $Type, )*
                ..concat!("The fields of [`", stringify!($Inline), "`], inline in the file."),
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
            /// The names of its fields, in the order of the file.
            pub const FIELDS: &'static [&'static str] =
                &[$( stringify!($field), )* $( stringify!($after), )*];
        }

        const _: () = {
            use $crate::record::{Members, deserialize, fill, record, serialize};

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
        if !$crate::record::Blank::is_blank(&$self.$field) {
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

    #[test]
    fn fields_are_kept_in_order_and_replaced_in_place() {
        let raw = |text: &str| serde_json::from_str::<Box<RawValue>>(text).unwrap();
        let mut extra = Extra::default();
        assert!(extra.insert("b".to_owned(), raw("1.0")));
        assert!(extra.insert("a".to_owned(), raw("2")));
        assert!(!extra.insert("a".to_owned(), raw("3")), "it was there");
        extra.insert("b".to_owned(), raw("true"));
        extra.insert("new".to_owned(), raw("null"));
        assert_eq!(extra.names().collect::<Vec<_>>(), ["b", "a", "new"]);
        assert_eq!((extra.get("b"), extra.get("a"), extra.get("c")), (Some("true"), Some("3"), None));
    }
}
