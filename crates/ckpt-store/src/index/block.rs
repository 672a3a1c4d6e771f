//! The bytes of the index: blocks of lines, each behind its digest and its length, so that neither a reader nor a writer
//! needs more than one of them in memory.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use super::file::SetStamp;
use super::line::MAX_LINE;
use ckpt_model::digest::Digest;

/// Begins the first block. The number changes with the lines: an index with another one is not used.
const MAGIC: &str = "ckpt-index 4 ";
/// A digest, a space, eight digits, a newline.
const BLOCK_HEAD: usize = 64 + 1 + 8 + 1;
/// The most lines of a block.
pub(crate) const BLOCK_LINES: usize = 4096;

/// The members of the first block: the number of lines, and the state of the directories that they were listed from.
type Contents = (usize, Option<SetStamp>);

/// Lines of an index, in order.
pub(crate) struct Block {
    /// The place of the block in the index.
    pub(crate) position: u64,
    text: String,
    /// The end of the name and of the line, for each line.
    ends: Vec<(usize, usize)>,
}

/// One line of a block.
#[derive(Clone, Copy)]
pub(crate) struct Line<'b> {
    /// The name of the directory of a workflow. It is untrusted.
    pub(crate) name: &'b str,
    /// The members behind it. Empty if nothing is known about the workflow.
    pub(crate) members: &'b str,
}

impl Block {
    /// Makes a block of its text, in which every line ends with a newline. Returns none if a name does not come after the one
    /// before it; the first one comes after `previous`.
    fn new(position: u64, text: String, previous: &str) -> Option<Self> {
        let mut ends = Vec::with_capacity(BLOCK_LINES);
        let (mut start, mut last) = (0, previous);
        // `str::lines` would leave out carriage returns too, and places are counted here.
        for line in text.split_terminator('\n') {
            let name = line.split_once(' ').map_or(line, |(name, _)| name);
            if name <= last {
                return None;
            }
            last = name;
            ends.push((start + name.len(), start + line.len()));
            start += line.len() + 1;
        }
        Some(Self { position, text, ends })
    }

    /// Makes a block of lines that are in order.
    pub(crate) fn of<'l>(lines: impl Iterator<Item = Line<'l>>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for Line { name, members } in lines {
            text.push_str(name);
            let end_of_name = text.len();
            text.extend([" ", members]);
            ends.push((end_of_name, text.len()));
            text.push('\n');
        }
        Self { position: 0, text, ends }
    }

    /// Returns the number of lines.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the lines with these numbers, or fewer at the end.
    pub(crate) fn lines(&self, numbers: Range<usize>) -> impl Iterator<Item = Line<'_>> {
        let line = |number: usize| {
            let start = if number == 0 { 0 } else { self.ends[number - 1].1 + 1 };
            let (end_of_name, end) = self.ends[number];
            let members = &self.text[end_of_name..end];
            Line { name: &self.text[start..end_of_name], members: members.strip_prefix(' ').unwrap_or(members) }
        };
        (numbers.start..numbers.end.min(self.len())).map(line)
    }
}

/// Reads an index, block by block.
pub(crate) struct IndexReader<F> {
    file: F,
    /// The number of workflows.
    pub(crate) count: usize,
    /// The state of the store in which these are all workflows. None if they were listed while that changed.
    pub(crate) set: Option<SetStamp>,
    /// The position behind it.
    pub(crate) end: u64,
    /// The number of lines up to there, and the name in the last one.
    lines: usize,
    last: String,
}

impl<F: Read + Seek> IndexReader<F> {
    /// Reads the first block. Returns none of a file that is no index.
    pub(super) fn new(mut file: F) -> Option<Self> {
        let first = read_block(&mut file)?;
        let (count, set): Contents = serde_json::from_str(first.strip_prefix(MAGIC)?).ok()?;
        let end = (BLOCK_HEAD + first.len()) as u64;
        Some(Self { file, count, set, end, lines: 0, last: String::new() })
    }

    /// Reads the next lines. Returns none at the end of the index, and where it is damaged or not in order.
    pub(crate) fn next_block(&mut self) -> Option<Block> {
        let text = read_block(&mut self.file)?;
        let length = (BLOCK_HEAD + text.len()) as u64;
        let block = Block::new(self.end, text, &self.last)?;
        if let Some(last) = block.lines(block.len().saturating_sub(1)..block.len()).next() {
            self.last = last.name.to_owned();
        }
        self.lines += block.len();
        self.end += length;
        Some(block)
    }

    /// Returns the name in the last line so far, or none if all lines were read.
    pub(crate) fn interrupted_after(&self) -> Option<&str> {
        (self.lines != self.count).then_some(self.last.as_str())
    }

    /// Copies everything before a position.
    pub(super) fn copy(&mut self, before: u64, to: &mut impl Write) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(&mut self.file.by_ref().take(before), to)?;
        self.file.seek(SeekFrom::Start(self.end)).map(drop)
    }
}

fn read_block(file: &mut impl Read) -> Option<String> {
    let mut head = [0; BLOCK_HEAD];
    file.read_exact(&mut head).ok()?;
    let (digest, length) = head.split_at(64);
    let length: usize = std::str::from_utf8(length).ok()?.trim().parse().ok()?;
    if length > BLOCK_LINES * MAX_LINE {
        return None;
    }
    let mut content = vec![0; length];
    file.read_exact(&mut content).ok()?;
    if Digest::from_hex(digest)? != Digest::of(&content) {
        return None;
    }
    String::from_utf8(content).ok()
}

pub(super) fn write_block(file: &mut impl Write, content: &str) -> io::Result<()> {
    let digest = Digest::of(content.as_bytes()).to_hex();
    file.write_all(format!("{digest} {:08}\n", content.len()).as_bytes())?;
    file.write_all(content.as_bytes())
}

/// Writes the first block of an index of this many workflows.
pub(super) fn write_first_block(file: &mut impl Write, count: usize, set: Option<SetStamp>) -> io::Result<()> {
    let contents: Contents = (count, set);
    write_block(file, &format!("{MAGIC}{}", serde_json::to_string(&contents)?))
}

/// Returns the size that an index of this many workflows has at most.
pub(super) fn max_bytes(count: usize) -> u64 {
    let blocks = 2 + count / BLOCK_LINES;
    (blocks * (BLOCK_HEAD + MAX_LINE) + count.saturating_mul(MAX_LINE)) as u64
}
