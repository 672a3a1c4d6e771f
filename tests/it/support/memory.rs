//! A disk in memory that forgets what was not synced.
//!
//! # Model
//!
//! The content of a file is durable once it was staged with a sync. A name is durable once its directory was synced;
//! the name of a directory once its parent was. When the power fails, any part of the names that changed since may have
//! made it to the disk, in any order, and a file whose content was not synced may be there empty, cut or whole.
//! Directory handles stay with their directory when it is renamed.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use ckpt_store::files::FileProblem;
use ckpt_store::{Access, Disk, FileId, FileKind, StagedFile, Stat};

type Names = BTreeMap<String, usize>;

/// More unsynced names than this are not tried in every combination.
const MOST_COMBINED: usize = 6;
/// So few that two checkpoints and a temporary file make a long workflow, whose head is found by probing.
const SHORT_DIRECTORY: usize = 2;

#[derive(Debug, Clone, Hash)]
enum Node {
    Dir { now: Names, durable: Names, removed: bool },
    File { content: Content, synced: bool },
}

/// The bytes of a file. Their hash is computed once, because disks are compared often.
#[derive(Debug, Clone)]
struct Content {
    bytes: Arc<Vec<u8>>,
    hash: u64,
}

impl Content {
    fn new(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self { bytes: Arc::new(bytes.to_vec()), hash: hasher.finish() }
    }
}

impl Hash for Content {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash.hash(hasher);
    }
}

#[derive(Debug, Clone, Hash)]
enum Entry {
    Add(String, usize),
    Remove(String),
    Move(String, String),
}

#[derive(Debug, Clone, Hash)]
struct World {
    nodes: Vec<Node>,
    /// The changes of names since their directory was synced, in order.
    pending: Vec<(usize, Entry)>,
    /// The time, in ticks, which passes only by [`MemoryDisk::tick`].
    now: u64,
    /// When each node was changed.
    changed: BTreeMap<usize, u64>,
}

/// A disk in memory. Clones share it; [`fork`](Self::fork) makes one of its own.
#[derive(Debug, Clone)]
pub(crate) struct MemoryDisk(Arc<Mutex<World>>);

/// A state that may be found after a power failure.
#[derive(Debug)]
pub(crate) struct Survivor {
    pub(crate) disk: MemoryDisk,
    /// True if the disk kept the order in which names changed.
    pub(crate) ordered: bool,
}

impl MemoryDisk {
    pub(crate) fn new() -> Self {
        Self::of(World { nodes: vec![directory(Names::new())], pending: Vec::new(), now: 1, changed: BTreeMap::new() })
    }

    fn of(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }

    pub(crate) fn fork(&self) -> Self {
        Self::of(self.world().clone())
    }

    /// The states in which a power failure may leave the disk.
    pub(crate) fn survivors(&self) -> Vec<Survivor> {
        let world = self.world();
        let count = world.pending.len();
        let mut kept: Vec<Vec<bool>> = (0..=count).map(|prefix| (0..count).map(|i| i < prefix).collect()).collect();
        if count <= MOST_COMBINED {
            kept.extend((0..1_usize << count).map(|bits| (0..count).map(|i| bits >> i & 1 == 1).collect()));
        } else {
            kept.extend((0..count).map(|one| (0..count).map(|i| i == one).collect()));
            kept.extend((0..count).map(|one| (0..count).map(|i| i != one).collect()));
        }
        let unsynced = world.nodes.iter().any(|node| matches!(node, Node::File { synced: false, .. }));
        let cuts: &[Option<usize>] = if unsynced { &[None, Some(0), Some(2)] } else { &[None] };
        let mut survivors = Vec::new();
        for (index, kept) in kept.iter().enumerate() {
            for cut in cuts {
                survivors.push(Survivor { disk: world.after_crash(kept, *cut), ordered: index <= count });
            }
        }
        survivors
    }

    /// Tells disks apart by what is on them, durable or not.
    pub(crate) fn fingerprint(&self) -> u64 {
        let world = self.world();
        let mut hasher = DefaultHasher::new();
        world.hash_node(0, &mut hasher);
        for (dir, entry) in &world.pending {
            dir.hash(&mut hasher);
            match entry {
                Entry::Add(name, node) => (name, world.content_hash(*node)).hash(&mut hasher),
                other => other.hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// Tells disks apart by everything that a process can see of them, inode numbers and times too.
    pub(crate) fn exact_fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.world().hash(&mut hasher);
        hasher.finish()
    }

    /// How many directories lie above this one.
    pub(crate) fn depth(&self, dir: usize) -> usize {
        let world = self.world();
        let parent = |child: usize| {
            world
                .nodes
                .iter()
                .position(|node| matches!(node, Node::Dir { now, .. } if now.values().any(|n| *n == child)))
        };
        std::iter::successors(Some(dir), |dir| parent(*dir)).count() - 1
    }

    /// Lets time pass: what changes from now on has a later time.
    pub(crate) fn tick(&self) {
        self.world().now += 1;
    }

    /// Renames a directory, as no operation of the store does while others may be writing in it.
    pub(crate) fn rename_dir(&self, parent: usize, from: &str, to: &str) {
        let mut world = self.world();
        let names = world.names(parent).unwrap();
        let node = names.remove(from).unwrap();
        names.insert(to.to_owned(), node);
        world.change(parent, Entry::Move(from.to_owned(), to.to_owned()));
    }

    /// Stages a file without making its content durable.
    pub(crate) fn stage_unsynced(&self, dir: usize, name: &str, bytes: &[u8]) -> io::Result<StagedFile<()>> {
        let mut world = self.world();
        let node = Node::File { content: Content::new(bytes), synced: false };
        let node = world.add(dir, name, node)?;
        Ok(StagedFile { id: FileId(0, node as u64), lock: None })
    }

    /// Replaces the bytes of a file by others, and leaves its metadata as it is, as a disk does that forgets.
    pub(crate) fn damage_silently(&self, bytes: &[u8]) {
        for node in &mut self.world().nodes {
            if let Node::File { content, .. } = node
                && **content.bytes == *bytes
            {
                *content = Content::new(&vec![0; bytes.len()]);
            }
        }
    }

    /// Publishes a file over whatever has the name.
    pub(crate) fn publish_over(&self, dir: usize, staged: &str, name: &str) -> io::Result<()> {
        let mut world = self.world();
        world.names(dir)?.remove(name);
        world.link(dir, staged, name)
    }
}

impl World {
    fn names(&mut self, dir: usize) -> io::Result<&mut Names> {
        match &mut self.nodes[dir] {
            Node::Dir { now, .. } => Ok(now),
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn stat(&self, node: usize) -> Stat {
        let links = |other: &Node| match other {
            Node::Dir { now, .. } => now.values().filter(|named| **named == node).count(),
            Node::File { .. } => 0,
        };
        // Nothing depends on the links of a directory, and to count takes long in a large store.
        let counted: &[Node] = if matches!(self.nodes[node], Node::File { .. }) { &self.nodes } else { &[] };
        let links = counted.iter().map(links).sum::<usize>() as u64;
        let (kind, mode, bytes) = match &self.nodes[node] {
            Node::File { content, .. } => (FileKind::File, 0o400, content.bytes.len() as u64),
            Node::Dir { .. } => (FileKind::Directory, 0o700, 0),
        };
        // Everything is very old.
        let ticks = self.changed.get(&node).copied().unwrap_or_default();
        let changed = Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(ticks));
        let id = FileId(0, node as u64);
        Stat { kind, mode, owner: 0, bytes, id, links, modified: SystemTime::UNIX_EPOCH, changed }
    }

    /// Records that a name in a directory changed.
    fn change(&mut self, dir: usize, entry: Entry) {
        self.pending.push((dir, entry));
        self.changed.insert(dir, self.now);
    }

    fn find(&mut self, dir: usize, name: &str) -> io::Result<usize> {
        self.names(dir)?.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn add(&mut self, dir: usize, name: &str, node: Node) -> io::Result<usize> {
        let new = self.nodes.len();
        self.attach(dir, name, new)?;
        self.changed.insert(new, self.now);
        self.nodes.push(node);
        Ok(new)
    }

    fn attach(&mut self, dir: usize, name: &str, node: usize) -> io::Result<()> {
        // Nothing can be put into an open directory that was removed.
        if matches!(self.nodes[dir], Node::Dir { removed: true, .. }) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let names = self.names(dir)?;
        if names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        names.insert(name.to_owned(), node);
        self.change(dir, Entry::Add(name.to_owned(), node));
        Ok(())
    }

    fn link(&mut self, dir: usize, from: &str, to: &str) -> io::Result<()> {
        let node = self.find(dir, from)?;
        self.attach(dir, to, node)
    }

    fn after_crash(&self, kept: &[bool], cut: Option<usize>) -> MemoryDisk {
        let mut nodes = self.nodes.clone();
        for ((dir, entry), kept) in self.pending.iter().zip(kept) {
            let Node::Dir { durable, .. } = &mut nodes[*dir] else { continue };
            match entry {
                _ if !kept => {}
                Entry::Add(name, node) => drop(durable.insert(name.clone(), *node)),
                Entry::Remove(name) => drop(durable.remove(name)),
                Entry::Move(from, to) => {
                    let moved = durable.remove(from);
                    durable.extend(moved.map(|node| (to.clone(), node)));
                }
            }
        }
        for node in &mut nodes {
            match (node, cut) {
                (Node::Dir { now, durable, removed }, _) => {
                    now.clone_from(durable);
                    // If the power failed before that was durable, it is there again.
                    *removed = false;
                }
                (Node::File { content, synced: false }, Some(divisor)) => {
                    let length = content.bytes.len().checked_div(divisor).unwrap_or_default();
                    *content = Content::new(&content.bytes[..length]);
                }
                (Node::File { .. }, _) => {}
            }
        }
        MemoryDisk::of(World { nodes, pending: Vec::new(), now: self.now, changed: self.changed.clone() })
    }

    fn content_hash(&self, node: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_node(node, &mut hasher);
        hasher.finish()
    }

    fn hash_node(&self, node: usize, hasher: &mut DefaultHasher) {
        match &self.nodes[node] {
            Node::File { content, synced } => (content, synced).hash(hasher),
            Node::Dir { now, durable, .. } => {
                for names in [now, durable] {
                    for (name, child) in names {
                        name.hash(hasher);
                        self.hash_node(*child, hasher);
                    }
                    hasher.write_u8(0);
                }
            }
        }
    }
}

fn directory(names: Names) -> Node {
    Node::Dir { now: names.clone(), durable: names, removed: false }
}

/// An open file, which stays the same if its name is given to another.
pub(crate) struct MemoryFile {
    disk: MemoryDisk,
    node: usize,
    position: usize,
}

impl std::fmt::Debug for MemoryFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "file {}", self.node)
    }
}

impl MemoryFile {
    fn content(&self) -> Arc<Vec<u8>> {
        match &self.disk.world().nodes[self.node] {
            Node::File { content, .. } => content.bytes.clone(),
            Node::Dir { .. } => Arc::default(),
        }
    }
}

impl Read for MemoryFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content().get(self.position..).unwrap_or_default().read(buffer)?;
        self.position += read;
        Ok(read)
    }
}

/// Writes at the end, wherever the position is.
impl Write for MemoryFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let bytes = [&self.content()[..], buffer].concat();
        self.disk.world().nodes[self.node] = Node::File { content: Content::new(&bytes), synced: false };
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for MemoryFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(position) = position else { return Err(io::ErrorKind::Unsupported.into()) };
        self.position = usize::try_from(position).unwrap();
        Ok(position)
    }
}

impl Disk for MemoryDisk {
    type Dir = usize;
    type Lock = ();
    type File = MemoryFile;

    fn base(&self) -> io::Result<usize> {
        Ok(0)
    }

    fn enter(&self, dir: &usize, name: &str) -> io::Result<usize> {
        let mut world = self.world();
        let node = world.find(*dir, name)?;
        world.names(node).map(|_| node)
    }

    fn make_dir(&self, dir: &usize, name: &str) -> io::Result<()> {
        self.world().add(*dir, name, directory(Names::new())).map(drop)
    }

    fn list(&self, dir: &usize, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        // As in a real directory, something may happen between two names.
        let next = |last: &str| -> io::Result<Option<String>> {
            let after = (Bound::Excluded(last), Bound::Unbounded);
            Ok(self.world().names(*dir)?.range::<str, _>(after).next().map(|(name, _)| name.clone()))
        };
        let mut last = String::new();
        while let Some(name) = next(&last)? {
            visit(&name);
            last = name;
        }
        Ok(())
    }

    fn is_short(&self, dir: &usize) -> io::Result<bool> {
        Ok(self.world().names(*dir)?.len() <= SHORT_DIRECTORY)
    }

    fn read(&self, dir: &usize, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        let mut world = self.world();
        let node = world.find(*dir, name)?;
        match &world.nodes[node] {
            Node::File { content, .. } if content.bytes.len() as u64 <= limit => Ok(content.bytes.to_vec()),
            Node::File { .. } => Err(FileProblem::TooLarge(limit)),
            Node::Dir { .. } => Err(FileProblem::NotAFile),
        }
    }

    fn open(&self, dir: &usize, name: &str) -> Result<MemoryFile, FileProblem> {
        let mut world = self.world();
        let node = world.find(*dir, name)?;
        match &world.nodes[node] {
            Node::File { .. } => Ok(MemoryFile { disk: self.clone(), node, position: 0 }),
            Node::Dir { .. } => Err(FileProblem::NotAFile),
        }
    }

    fn stat(&self, dir: &usize, name: &str) -> io::Result<Stat> {
        let mut world = self.world();
        let node = world.find(*dir, name)?;
        Ok(world.stat(node))
    }

    fn stat_dir(&self, dir: &usize) -> io::Result<Stat> {
        Ok(self.world().stat(*dir))
    }

    fn lock(&self, _: &usize, _: Duration) -> Option<()> {
        None
    }

    fn stage(&self, dir: &usize, name: &str, bytes: &[u8], _: Access) -> io::Result<StagedFile<()>> {
        let staged = self.stage_unsynced(*dir, name, bytes)?;
        if let Some(Node::File { synced, .. }) = self.world().nodes.last_mut() {
            *synced = true;
        }
        Ok(staged)
    }

    fn create(&self, dir: &usize, name: &str, _: u64) -> io::Result<MemoryFile> {
        let staged = Self::stage_unsynced(self, *dir, name, b"")?;
        Ok(MemoryFile { disk: self.clone(), node: usize::try_from(staged.id.1).unwrap(), position: 0 })
    }

    fn publish(&self, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        self.world().link(*dir, staged, name)
    }

    fn replace(&self, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        let mut world = self.world();
        let node = world.find(*dir, staged)?;
        let names = world.names(*dir)?;
        names.remove(staged);
        names.insert(name.to_owned(), node);
        world.change(*dir, Entry::Move(staged.to_owned(), name.to_owned()));
        Ok(())
    }

    fn move_aside(&self, dir: &usize, name: &str, to: &usize, new_name: &str) -> io::Result<()> {
        let mut world = self.world();
        let node = world.find(*dir, name)?;
        if world.names(*to)?.contains_key(new_name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        world.names(*dir)?.remove(name);
        world.names(*to)?.insert(new_name.to_owned(), node);
        world.change(*to, Entry::Add(new_name.to_owned(), node));
        world.change(*dir, Entry::Remove(name.to_owned()));
        Ok(())
    }

    fn remove(&self, dir: &usize, name: &str) -> io::Result<()> {
        let mut world = self.world();
        world.find(*dir, name)?;
        world.names(*dir)?.remove(name);
        world.change(*dir, Entry::Remove(name.to_owned()));
        Ok(())
    }

    fn remove_stale(&self, dir: &usize, name: &str) -> io::Result<bool> {
        // A disk without locks.
        self.remove(dir, name).map(|()| true)
    }

    fn sync_dir(&self, dir: &usize) -> io::Result<()> {
        let mut world = self.world();
        world.pending.retain(|(changed, _)| changed != dir);
        if let Node::Dir { now, durable, .. } = &mut world.nodes[*dir] {
            durable.clone_from(now);
        }
        Ok(())
    }

    fn pause(&self, _: Duration) {}
}
