//! SHA-256 digests as lower-case hexadecimal text.

use std::str::FromStr;
use std::{fmt, io};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// All zero: the placeholder in a file while its digest is computed.
    pub const ZERO: Self = Self([0; 32]);

    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes a value as JSON, without holding all of that in memory.
    #[must_use]
    pub fn of_json(value: &impl Serialize) -> Self {
        let mut hasher = io::BufWriter::new(Hasher::default());
        // Hashing cannot fail; a value that is no JSON is hashed as far as it is.
        let _ = serde_json::to_writer(&mut hasher, value);
        hasher.into_inner().unwrap_or_default().finish()
    }

    /// Parses 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Returns its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = String::with_capacity(64);
        for byte in self.0 {
            hex.push(char::from(DIGITS[usize::from(byte >> 4)]));
            hex.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        hex
    }

    /// Returns its first digits.
    #[must_use]
    pub fn short(&self) -> ShortDigest {
        let [a, b, c, d, ..] = self.0;
        ShortDigest(u32::from_be_bytes([a, b, c, d]))
    }
}

/// The first eight digits of a digest: `3fa9c2d1`. They tell the checkpoints of one number apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortDigest(u32);

impl fmt::Display for ShortDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// A text that is not eight lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotADigest;

impl FromStr for ShortDigest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() != 8 || !text.bytes().all(is_digit) {
            return Err(NotADigest);
        }
        u32::from_str_radix(text, 16).map(Self).map_err(|_| NotADigest)
    }
}

/// Hashes a stream of bytes.
#[derive(Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::from_hex(text.as_bytes())
            .ok_or_else(|| de::Error::custom("expected a SHA-256 digest: 64 lower-case hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digest_and_round_trip() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_hex(), empty);
        assert_eq!(Digest::from_hex(empty.as_bytes()), Some(Digest::of(b"")));
        assert_eq!(Digest::from_hex(empty.to_uppercase().as_bytes()), None);
        assert_eq!(Digest::from_hex(&empty.as_bytes()[1..]), None);
        let mut hasher = Hasher::default();
        hasher.update(b"a");
        hasher.update(b"b");
        assert_eq!(hasher.finish(), Digest::of(b"ab"));
    }
}
