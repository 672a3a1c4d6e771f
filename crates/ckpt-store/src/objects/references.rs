//! Finding the references to objects, live and archived.

use std::collections::BTreeSet;

use crate::bundle::BadBundle;
use crate::disk::Disk;
use crate::error::Result;
use crate::open::Store;
use ckpt_model::digest::Digest;
use ckpt_model::format::Unusable;
use ckpt_model::selector::Handle;

const DIGITS: usize = 64;

impl<D: Disk> Store<D> {
    /// Drops the objects that a checkpoint refers to: staged, live or archived. Nothing more is read once none is left.
    ///
    /// # Errors
    /// Something cannot be read, so that its references are not known.
    pub(super) fn drop_referred(&self, unreferred: &mut BTreeSet<Digest>) -> Result<()> {
        for id in &self.workflow_ids()? {
            if unreferred.is_empty() {
                return Ok(());
            }
            let workflow = self.workflow(id)?;
            // Before the numbers: what is not staged any more has its number by then, or was given up.
            for bytes in workflow.read_staged()? {
                drop_named(&bytes, unreferred);
            }
            for seq in workflow.numbers()? {
                match workflow.read_bytes(seq) {
                    Ok(bytes) => drop_named(&bytes, unreferred),
                    Err(Unusable::Missing) => {}
                    Err(why) => return Err(workflow.damaged(seq, why)),
                }
            }
            // After the directory: whatever becomes a tombstone meanwhile is in a bundle by then.
            let archive = self.archive_of(id)?;
            archive.each_bundle(|name, bundle| {
                let read = bundle.and_then(|mut bundle| {
                    while let Some((_, bytes)) = bundle.next_file()? {
                        drop_named(&bytes, unreferred);
                    }
                    Ok(())
                });
                read.map_err(|why: BadBundle| archive.damaged(name, why))
            })?;
            for (seq, digest) in self.sides(id)? {
                drop_named(&self.side_bytes(&Handle::side(id, seq, digest), digest)?, unreferred);
            }
        }
        Ok(())
    }
}

/// Drops the digests that a file names: every word of 64 hexadecimal digits.
fn drop_named(bytes: &[u8], unreferred: &mut BTreeSet<Digest>) {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    for word in bytes.split(|byte| !is_digit(byte)).filter(|word| word.len() == DIGITS) {
        if let Some(digest) = Digest::from_hex(word) {
            unreferred.remove(&digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_refers_to_what_it_names_whatever_else_is_in_it() {
        let [one, two, three] = [Digest::of(b"1"), Digest::of(b"2"), Digest::of(b"3")];
        let mut unreferred = BTreeSet::from([one, two, three]);
        let damaged = format!("\0\u{ff}{{\"sha256\":\"{one}\"}} {two}0 {two}{three}");
        drop_named(damaged.as_bytes(), &mut unreferred);
        assert_eq!(unreferred, BTreeSet::from([two, three]), "longer words are none");
        drop_named(three.to_hex().as_bytes(), &mut unreferred);
        assert_eq!(unreferred, BTreeSet::from([two]));
    }
}
