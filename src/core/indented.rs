//! JSON indented by two spaces: what `serde_json`'s own pretty formatter writes, byte for byte.
//!
//! That one writes every level of an indentation by itself, each time with a call into the C library for two bytes. A
//! checkpoint has a hundred lines, and a save writes nothing else.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// How deep the writer is, and whether the innermost list or object has anything in it.
#[derive(Debug, Default)]
pub(super) struct Indented {
    depth: usize,
    filled: bool,
}

impl Indented {
    fn open<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8; 1]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn close<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8; 1]) -> io::Result<()> {
        self.depth -= 1;
        if self.filled {
            self.begin_line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn begin_member<W: Write + ?Sized>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.begin_line(writer)
    }

    fn begin_line<W: Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        // The lengths are known to the compiler, so these are no calls.
        match self.depth {
            0 => writer.write_all(b"\n"),
            1 => writer.write_all(b"\n  "),
            2 => writer.write_all(b"\n    "),
            3 => writer.write_all(b"\n      "),
            deeper => {
                writer.write_all(b"\n      ")?;
                (3..deeper).try_for_each(|_| writer.write_all(b"  "))
            }
        }
    }
}

impl Formatter for Indented {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_member(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_member(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::{Serializer, Value, json};

    use super::*;

    fn indented(value: &Value) -> String {
        let mut bytes = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut bytes, Indented::default())).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_shape_is_written_as_serde_json_writes_it() {
        let members =
            [json!(null), json!(0), json!("a\n\"b\""), json!([]), json!({}), json!([[]]), json!({"a": {}})];
        let mut values = members.to_vec();
        for a in &members {
            for b in &members {
                values.extend([json!([a, b]), json!({"x": a, "y": b}), json!([{"x": [a], "y": b}, a])]);
            }
        }
        let deep = (0..20)
            .fold(json!([1, {}]), |inner, n| if n % 2 == 0 { json!({"k": inner}) } else { json!([inner]) });
        values.push(deep);
        for value in values {
            assert_eq!(indented(&value), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
