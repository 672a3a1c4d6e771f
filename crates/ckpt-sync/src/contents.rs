//! The contents of artifacts travel with the checkpoints that need them: they are created on the remote before the entry that
//! refers to them, and stored before it is added to a store.

use std::collections::HashSet;

use serde::Deserialize;

use super::error::{Error, Result};
use super::exchange::Exchange;
use super::key::Key;
use ckpt_model::checkpoint::Artifact;
use ckpt_model::digest::Digest;
use ckpt_model::format;
use ckpt_model::redact::find_secret;
use ckpt_model::selector::Handle;
use ckpt_store::{Disk, ObjectContent};

/// The largest content that travels.
const MAX_CONTENT_BYTES: u64 = 64 << 20;

/// The artifacts of a checkpoint.
#[derive(Deserialize)]
struct Recorded {
    #[serde(default)]
    artifacts: Vec<Artifact>,
}

/// Returns the artifacts of an entry whose contents were kept, with their digests.
fn kept(bytes: &[u8]) -> Vec<(Artifact, Digest)> {
    let recorded = format::decode_part::<Recorded>(bytes);
    let artifacts = recorded.map(|recorded| recorded.artifacts).unwrap_or_default();
    artifacts.into_iter().filter_map(|artifact| artifact.object().map(|digest| (artifact, digest))).collect()
}

impl<D: Disk> Exchange<'_, D> {
    /// Creates the contents on the remote that an entry needs and the one below it does not.
    pub(super) fn push_contents(&mut self, handle: &Handle, bytes: &[u8]) -> Result<()> {
        let kept = kept(bytes);
        if kept.is_empty() {
            return Ok(());
        }
        let below = Handle { seq: handle.seq - 1, ..handle.clone() };
        let below = self.store.load_bytes(&below).map(|(bytes, _)| bytes).unwrap_or_default();
        let mut shared: HashSet<Digest> = self::kept(&below).into_iter().map(|(_, digest)| digest).collect();
        for (artifact, digest) in kept {
            if !shared.insert(digest) {
                continue;
            }
            let Some(content) = self.store.read_object(&digest, MAX_CONTENT_BYTES)? else { continue };
            if !self.allow_secrets
                && let Some(rule) = std::str::from_utf8(&content).ok().and_then(find_secret)
            {
                return Err(Error::Secret { handle: handle.clone(), pointer: artifact.path, rule });
            }
            self.remote.create_content(&Key::content(&digest), content)?;
        }
        Ok(())
    }

    /// Stores the contents that an entry needs, as far as the remote has them. What is not what its name says is not used.
    pub(super) fn pull_contents(&mut self, bytes: &[u8]) -> Result<()> {
        for (_, digest) in kept(bytes) {
            if self.store.has_object(&digest)? {
                continue;
            }
            let found = self.remote.get(&Key::content(&digest), MAX_CONTENT_BYTES)?;
            let content = found.map(ObjectContent::new).filter(|content| content.sha256() == digest);
            if let Some(content) = content {
                self.store.store_object(&content, self.save_id)?;
            }
        }
        Ok(())
    }
}
