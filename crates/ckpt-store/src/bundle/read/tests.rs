use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};

use super::*;
use crate::bundle::write::{BundleWriter, stamp};
use ckpt_model::bundle_name::BundleName;
use ckpt_model::reason::ArchiveReason;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;

/// A checkpoint, a damaged one, and something that is not even text.
const FILES: [(u64, &[u8]); 3] = [(3, b"{\n  \"a\": 3\n}\n"), (2, b"damaged {"), (1, b"\xff\xfe not text \0")];

fn manifest(files: &[(u64, &[u8])]) -> Manifest {
    let workflow: WorkflowId = "042".parse().unwrap();
    let at = Timestamp::parse("2026-01-16T20:15:00Z").unwrap();
    let entries = files.iter().map(|(seq, bytes)| ManifestEntry::of(*seq, bytes)).collect();
    Manifest::new(&workflow, &BundleName::new(1, (1, 3), at, &ArchiveReason::Completed), entries)
}

fn pack(files: &[(u64, &[u8])]) -> Vec<u8> {
    let manifest = manifest(files);
    let mut writer = BundleWriter::new(&manifest).unwrap();
    for (seq, bytes) in files {
        writer.add(*seq, bytes).unwrap();
    }
    writer.finish().unwrap()
}

/// A bundle with these lines, whatever they are, and a digest that fits.
fn forge(write: impl FnOnce(&mut dyn io::Write)) -> Vec<u8> {
    let comment = format!("{COMMENT}{}", "0".repeat(DIGEST_DIGITS));
    let mut gzip = GzBuilder::new().comment(comment).write(Vec::new(), Compression::default());
    write(&mut gzip);
    let mut bytes = gzip.finish().unwrap();
    stamp(&mut bytes);
    bytes
}

fn forge_lines(lines: &[String]) -> Vec<u8> {
    forge(|out| lines.iter().for_each(|line| writeln!(out, "{line}").unwrap()))
}

fn honest_lines() -> Vec<String> {
    let mut lines = vec![serde_json::to_string(&manifest(&FILES)).unwrap()];
    lines.extend(FILES.iter().map(|(seq, bytes)| line::encode(*seq, bytes)));
    lines
}

fn read(bytes: &[u8]) -> Result<Manifest, BadBundle> {
    Bundle::open(bytes)?.verify(&mut || {})
}

#[test]
fn every_file_comes_back_byte_for_byte() {
    let bytes = pack(&FILES);
    assert_eq!(bytes, forge_lines(&honest_lines()));
    let mut bundle = Bundle::open(&bytes).unwrap();
    for (seq, file) in FILES {
        let (entry, found) = bundle.next_file().unwrap().unwrap();
        assert_eq!((entry.seq, found.as_slice()), (seq, file));
        assert_eq!(Bundle::open(&bytes).unwrap().find(seq).unwrap().unwrap(), file);
    }
    assert_eq!(bundle.next_file(), Ok(None));
    assert_eq!(Bundle::open(&bytes).unwrap().find(4), Ok(None));
    assert_eq!(read(&bytes), Ok(manifest(&FILES)));
}

#[test]
fn every_flipped_bit_and_every_truncation_is_refused() {
    let bytes = pack(&FILES);
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            assert!(Bundle::open(&flipped).is_err(), "byte {place} bit {bit}");
        }
        assert!(Bundle::open(&bytes[..place]).is_err(), "{place}");
        // A digest that fits does not help.
        let mut cut = bytes[..place].to_vec();
        stamp(&mut cut);
        assert!(read(&cut).is_err(), "{place}");
    }
}

#[test]
fn flipped_bits_under_a_digest_that_fits_change_no_file() {
    let bytes = pack(&FILES);
    for place in digest_place().end..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            flipped[digest_place()].fill(b'0');
            stamp(&mut flipped);
            if let Ok(found) = read(&flipped) {
                // The bits that fill up the last byte of the compressed text mean nothing.
                assert_eq!(found, manifest(&FILES), "byte {place} bit {bit}");
            }
        }
    }
}

#[test]
fn surplus_is_refused_wherever_it_stands() {
    let more = |behind: &[u8]| {
        let mut bytes = pack(&FILES);
        bytes.extend_from_slice(behind);
        bytes[digest_place()].fill(b'0');
        stamp(&mut bytes);
        bytes
    };
    assert_eq!(read(&more(b"\0")), Err(BadBundle::Surplus));
    assert_eq!(read(&more(&pack(&FILES))), Err(BadBundle::Surplus));
    assert_eq!(read(&more(&[0; 4096])), Err(BadBundle::Surplus));
    let mut lines = honest_lines();
    lines.push(String::new());
    assert_eq!(read(&forge_lines(&lines)), Err(BadBundle::Surplus));
    let mut lines = honest_lines();
    lines.push(line::encode(9, b"x"));
    assert_eq!(read(&forge_lines(&lines)), Err(BadBundle::Surplus));
}

#[test]
fn missing_duplicated_foreign_and_exchanged_lines_are_refused() {
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = honest_lines();
        change(&mut lines);
        read(&forge_lines(&lines)).unwrap_err()
    };
    let code = |change: &dyn Fn(&mut Vec<String>)| with(change).code();
    assert_eq!(code(&|lines| drop(lines.pop())), "file");
    assert_eq!(code(&|lines| drop(lines.remove(1))), "file");
    assert_eq!(code(&|lines| lines.swap(1, 2)), "file");
    assert_eq!(code(&|lines| lines.insert(2, lines[1].clone())), "file");
    assert_eq!(code(&|lines| lines.insert(1, String::new())), "file");
    assert_eq!(code(&|lines| lines[1] = lines[1].replace("\"a\":3", "\"a\":4")), "file");
    assert_eq!(code(&|lines| lines[2] = line::encode(2, b"another one")), "file");
    assert_eq!(code(&|lines| lines[2] = r#"{"seq":2,"checkpoint":{"a":1}}"#.to_owned()), "file");
    assert_eq!(code(&|lines| drop(lines.remove(0))), "manifest");
    assert_eq!(code(&Vec::clear), "manifest");
}

#[test]
fn a_manifest_that_makes_no_sense_is_refused() {
    let honest = serde_json::to_value(manifest(&FILES)).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut changed = honest.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        let mut lines = honest_lines();
        lines[0] = changed.to_string();
        read(&forge_lines(&lines)).map_err(|error| error.code())
    };
    for (pointer, value) in [
        ("/format", json!("ckpt.bundle.v2")),
        ("/workflow", json!("../x")),
        ("/first", json!(0)),
        ("/first", json!(2)),
        ("/last", json!(1)),
        ("/last", json!(u64::MAX)),
        ("/saved_at", json!("yesterday")),
        ("/entries", json!([])),
        ("/entries/0/seq", json!(2)),
        ("/entries/0/seq", json!(5)),
        ("/entries/2/bytes", json!(0)),
        ("/entries/2/bytes", json!(1_u64 << 40)),
    ] {
        assert_eq!(with(pointer, value.clone()), Err("manifest"), "{pointer} {value}");
    }
    assert_eq!(with("/entries/2/bytes", json!(14)), Err("file"));
    assert_eq!(with("/workflow", json!("043")).unwrap().workflow.as_str(), "043");
}

#[test]
fn what_expands_without_bound_is_refused_early() {
    let zeros = vec![0; 1 << 20];
    // Compressed zeros repeat themselves, so a gigabyte of them is made out of the second megabyte.
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(&zeros).unwrap();
    deflate.flush().unwrap();
    let first = deflate.get_ref().len();
    deflate.write_all(&zeros).unwrap();
    deflate.flush().unwrap();
    let megabyte = deflate.get_ref()[first..].to_vec();
    let mut bomb = [HEADER, COMMENT.as_bytes(), &[b'0'; DIGEST_DIGITS], b"\0", deflate.get_ref()].concat();
    (0..1022).for_each(|_| bomb.extend_from_slice(&megabyte));
    stamp(&mut bomb);
    assert!(bomb.len() < 2 << 20, "{}", bomb.len());
    assert_eq!(read(&bomb).unwrap_err(), BadBundle::Manifest(Cause::new("it is too long or does not end")));

    // Behind an honest manifest, no line is read further than its size allows.
    let manifest = &honest_lines()[0];
    let bomb = forge(|out| {
        writeln!(out, "{manifest}").unwrap();
        (0..16).for_each(|_| out.write_all(&zeros).unwrap());
    });
    let mut bundle = Bundle::open(&bomb).unwrap();
    assert!(matches!(bundle.next_file(), Err(BadBundle::File { seq: 3, .. })));
    assert!(bundle.lines.get_ref().get_ref().len() > bomb.len() / 2, "only the beginning was read");

    // A short line that would be laid out as a long file.
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let mut entries = super::tests::manifest(&FILES);
    entries.entries[0].bytes = 100_000;
    let deep_line = format!("{{\"seq\":3,\"checkpoint\":{{\"a\":{deep}}}}}");
    let lines = [serde_json::to_string(&entries).unwrap(), deep_line];
    let why = read(&forge_lines(&lines)).unwrap_err();
    assert_eq!(why, BadBundle::File { seq: 3, why: "has more bytes than the manifest says" });
}

#[test]
fn nothing_but_what_the_manifest_lists_is_written() {
    let manifest = manifest(&FILES);
    let mut writer = BundleWriter::new(&manifest).unwrap();
    writer.add(3, FILES[0].1).unwrap();
    assert!(writer.add(2, b"another one").is_err());
    let mut writer = BundleWriter::new(&manifest).unwrap();
    assert!(writer.add(2, FILES[1].1).is_err());
    assert!(BundleWriter::new(&manifest).unwrap().finish().is_err());
    assert!(BundleWriter::new(&super::tests::manifest(&[(1, b"")])).is_err());
}
