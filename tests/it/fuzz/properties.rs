//! Properties that hold for any bytes: one function for each reader of untrusted input.
//!
//! The fuzzers in `fuzz/` look for bytes for which one of these fails; the tests beside this file try those that are
//! in the corpus. A panic, an overflow and an unbounded allocation are failures without being looked for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use ckpt::cli::escape;
use ckpt_formats::dialects::{Dialect, Document, Notation, to_yaml};
use ckpt_formats::import::{ForeignFile, ReadOptions, SourceError};
use ckpt_model::change::{SaveInput, Stamp};
use ckpt_model::checkpoint::Writer;
use ckpt_model::digest::Digest;
use ckpt_model::format;
use ckpt_model::json::parse_strict;
use ckpt_model::next_phase::RunState;
use ckpt_model::redact::{redact_text, redact_value};
use ckpt_model::resume::{Facts, Limits, evaluate};
use ckpt_model::selector::Handle;
use ckpt_model::size::Size;
use ckpt_model::span::Span;
use ckpt_model::version::Version;
use ckpt_model::{Checkpoint, Config, PhaseId, Selector, TaskId, Timestamp, Trigger, WorkflowId};
use ckpt_store::{Bundle, BundleName};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};

/// The name of a fuzzer, and what must hold.
type Target = (&'static str, fn(&[u8]));

/// Each thing that reads foreign bytes, by the name of its fuzzer and of its directory in the corpus.
pub(crate) const TARGETS: [Target; 8] = [
    ("bundle", bundle),
    ("checkpoint", checkpoint),
    ("config", config),
    ("document", document),
    ("escape", escaping),
    ("import", import),
    ("names", names),
    ("redact", redaction),
];

const DIGITS: usize = 64;
/// A checkpoint that has everything.
const GOLDEN: &[u8] = include_bytes!("../golden/checkpoint-1.0.json");

/// The bytes are a checkpoint file, with the digest they have and with the right one.
pub(crate) fn checkpoint(bytes: &[u8]) {
    checkpoint_file(bytes);
    if let Some(place) = find(bytes, b"\"sha256\": \"")
        && let Some(stamped) = with_digest(bytes, place)
    {
        checkpoint_file(&stamped);
    }
}

fn checkpoint_file(bytes: &[u8]) {
    let checked = format::check(bytes);
    let header = format::decode_header(bytes);
    let decoded = format::decode(bytes);
    if checked.is_err() {
        assert!(decoded.is_err(), "content was used although {checked:?}");
    }
    let Ok(decoded) = decoded else { return };
    header.expect("what can be read whole has a header");
    judge(&decoded);
    written(decoded);
}

/// A written value can be read, and is the same.
fn written(mut checkpoint: Box<Checkpoint>) -> Box<Checkpoint> {
    let bytes = format::encode(&mut checkpoint).expect("a checkpoint can be written");
    let again = format::decode(&bytes).expect("what was written can be read");
    assert_eq!(again, checkpoint);
    let header = format::decode_header(&bytes).expect("what was written has a header");
    assert_eq!((&header.workflow, header.seq), (&checkpoint.workflow, checkpoint.seq));
    assert_eq!((&header.title, &header.pipeline), (&checkpoint.content.title, &checkpoint.content.pipeline));
    assert_eq!((&header.phase, header.status), (&checkpoint.content.phase, checkpoint.content.status));
    assert_eq!((&header.sealed, header.pinned), (&checkpoint.sealed, checkpoint.pinned));
    let progress = RunState::recorded(&checkpoint.content).progress();
    assert_eq!((header.saved_at, header.progress()), (checkpoint.saved_at, progress));
    assert_eq!(header.labels, checkpoint.content.labels);
    again
}

/// Resuming never leads to a phase that is done, as long as there is one of each name.
fn judge(checkpoint: &Checkpoint) {
    let now = at("2026-01-30T14:30:00Z");
    let resume = evaluate(checkpoint, &Facts::default(), &Limits::default(), now);
    if let Some(phase) = &resume.phase
        && has_one_of_each(checkpoint)
    {
        assert!(!resume.done.contains(phase), "{phase} is done, and to be resumed");
    }
}

fn has_one_of_each(checkpoint: &Checkpoint) -> bool {
    let mut ids = BTreeSet::new();
    checkpoint.content.phases.iter().all(|phase| ids.insert(&phase.id))
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part).map(|start| start + part.len())
}

/// The bytes with the digest that they should have at `place`; none if they end before.
fn with_digest(bytes: &[u8], place: usize) -> Option<Vec<u8>> {
    let mut stamped = bytes.to_vec();
    stamped.get_mut(place..place + DIGITS)?.fill(b'0');
    let digest = Digest::of(&stamped).to_hex();
    stamped[place..place + DIGITS].copy_from_slice(digest.as_bytes());
    Some(stamped)
}

/// The bytes are a bundle, with the digest they have and with the right one; and they are the lines inside one.
pub(crate) fn bundle(bytes: &[u8]) {
    const MARK: &str = "ckpt.bundle.v1 sha256 ";
    bundle_file(bytes);
    if let Some(stamped) = find(bytes, MARK.as_bytes()).and_then(|place| with_digest(bytes, place)) {
        bundle_file(&stamped);
    }
    let comment = format!("{MARK}{}", "0".repeat(DIGITS));
    let mut gzip = GzBuilder::new().comment(comment).write(Vec::new(), Compression::none());
    gzip.write_all(bytes).unwrap();
    let packed = gzip.finish().unwrap();
    let place = find(&packed, MARK.as_bytes()).unwrap();
    bundle_file(&with_digest(&packed, place).unwrap());
}

fn bundle_file(bytes: &[u8]) {
    let Ok(mut opened) = Bundle::open(bytes) else { return };
    let manifest = opened.manifest().clone();
    let mut files = Vec::new();
    let ended = loop {
        match opened.next_file() {
            Ok(Some((entry, file))) => {
                assert_eq!((entry.bytes, entry.sha256), (file.len() as u64, Digest::of(&file)));
                files.push((entry.seq, file));
            }
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    assert_eq!(Bundle::open(bytes).unwrap().verify(&mut || {}).is_ok(), ended);
    assert!(files.len() <= manifest.entries.len() && (!ended || files.len() == manifest.entries.len()));
    for (seq, file) in files {
        assert_eq!(Bundle::open(bytes).unwrap().find(seq), Ok(Some(file)));
    }
}

/// The bytes are a settings file.
pub(crate) fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Config::parse(text) {
        Err(message) => assert!(!message.is_empty()),
        Ok(config) => {
            let names: Vec<&str> = config.pipeline_names().collect();
            for name in names {
                let pipeline = config.pipeline(name, None).or_else(|_| config.pipeline(name, Some(3)));
                for phase in &pipeline.expect("a pipeline that is listed can be used").phases {
                    let _ = config.data_schema(name, &phase.id);
                }
            }
            assert!((1..=5).contains(&config.limits().replans));
            let _ = (config.max_artifact(), config.auto_cleanup(), config.watched());
            let _ = Trigger::OF_SAVES.map(|trigger| config.wants(&trigger));
            let _ = config.clone().over(config);
        }
    }
}

/// The bytes are a save as one JSON document.
pub(crate) fn document(bytes: &[u8]) {
    let given = match parse_strict(bytes) {
        Ok(given) => given,
        Err(problem) => return assert!(problem.line > 0 && problem.column > 0, "{problem}"),
    };
    assert_eq!(parse_strict(given.to_string().as_bytes()).as_ref(), Ok(&given), "not kept exactly");
    let Ok(mut input) = SaveInput::from_json(given) else { return };
    let _ = input.change.fingerprint();
    if input.change.redact().is_ok() {
        assert_eq!(input.change.redact(), Ok(Vec::new()), "a secret was left");
    }
    let workflow = input.workflow.unwrap_or_else(|| "042".parse().unwrap());
    for newest in [None, Some(format::decode(GOLDEN).unwrap())] {
        let Ok(next) = input.change.apply(&workflow, newest, &stamp()) else { continue };
        assert!(has_one_of_each(&next), "a phase is there twice");
        judge(&next);
        let next = written(next);
        next.content.state.to_value().expect("a state that was written can be read");
        for phase in next.content.phases.iter().filter_map(|phase| phase.data.as_ref()) {
            phase.to_value().expect("data that were written can be read");
        }
    }
}

fn at(time: &str) -> Timestamp {
    Timestamp::parse(time).unwrap()
}

fn stamp() -> Stamp {
    Stamp {
        now: at("2026-01-30T14:30:00Z"),
        save_id: "0".repeat(32),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    }
}

/// The bytes are a file of some other system: recognised, and taken for a file of any other. Their length says which, so
/// that all have their turn and none takes the time of all.
pub(crate) fn import(bytes: &[u8]) {
    match Document::parse(bytes) {
        Ok(document) => kept(&document),
        Err(problem) => return assert!(problem.line > 0 && problem.column > 0, "{problem}"),
    }
    import_with(bytes, &ReadOptions::default());
    let dialect = Some(in_turn(Dialect::ALL, bytes));
    import_with(bytes, &ReadOptions { dialect, list: None, allow_secrets: true });
}

fn in_turn(dialects: &[Dialect], bytes: &[u8]) -> Dialect {
    dialects[bytes.len() % dialects.len()]
}

/// A document is written as it was read, in JSON and in YAML.
fn kept(Document { notation, value, .. }: &Document) {
    assert_eq!(parse_strict(value.to_string().as_bytes()).as_ref(), Ok(value), "JSON");
    if *notation == Notation::Yaml {
        let yaml = to_yaml(value);
        let again = Document::parse(yaml.as_bytes()).unwrap_or_else(|problem| panic!("{problem}: {yaml}"));
        // With an equals sign in every line, it is taken for something else when it stands alone.
        assert!(again.notation != Notation::Yaml || again.value == *value, "{yaml}");
    }
}

fn import_with(bytes: &[u8], options: &ReadOptions) {
    let project = Path::new("/nowhere");
    let opened = match ForeignFile::parse("file.json", bytes, options, |_, main| Some(main.clone())) {
        Ok(opened) => opened,
        Err(SourceError::Damaged(problem)) => return assert!(problem.line > 0 && problem.column > 0),
        Err(_) => return,
    };
    let workflow = opened.workflow().expect("the file has a name");
    let dialect = opened.reading.dialect;
    let mut checkpoint = format::decode(GOLDEN).unwrap();
    checkpoint.workflow = workflow;
    let mut draft = opened.reading.draft;
    if dialect != Dialect::Ckpt {
        draft.content.state = dialect.imported_state(opened.files.clone());
    }
    let checkpoint = Box::new(draft.assemble(*checkpoint, project));
    judge(&checkpoint);
    let checkpoint = written(checkpoint);
    checkpoint.content.state.to_value().expect("a state that was imported can be read");
    let other = in_turn(&Dialect::writable(), bytes);
    assert!(other == Dialect::Ckpt || other.write(&checkpoint).is_some(), "{other} can be written");
    if dialect.layout().is_some() {
        let files = dialect.write(&checkpoint).expect("it can be written");
        let _ = dialect.unseen(&files, &checkpoint, project);
    }
}

/// The bytes are text that is shown to somebody.
pub(crate) fn escaping(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let shown = escape::inline(&text);
    let lines = escape::block(&text);
    for line in lines.iter().chain([&shown]) {
        assert!(!line.chars().any(acts), "{line:?}");
        assert!(matches!(escape::inline(line), Cow::Borrowed(_)), "escaping twice changed {line:?}");
    }
    if !text.chars().any(ckpt_model::text::is_hazardous) {
        assert_eq!(shown, text, "clean text stays as it is");
    }
    let width = escape::width(&shown);
    assert!(width <= shown.len(), "{width} columns for {} bytes", shown.len());
    if shown.is_ascii() {
        assert_eq!(width, shown.len());
    }
    for columns in (0..12).chain([width.saturating_sub(1), width, width + 1]) {
        let cut = escape::truncate(&shown, columns);
        assert!(escape::width(&cut) <= columns, "{cut:?} is wider than {columns}");
        if width <= columns {
            assert_eq!(cut, shown, "what fits is not cut");
        } else {
            let kept = cut.strip_suffix("...").unwrap_or_default();
            assert!(shown.starts_with(kept), "{cut:?} is not a cut of {shown:?}");
        }
    }
}

/// True if a character does something to a terminal or to a reader without being seen. This is written down a second
/// time on purpose: it has only what nobody doubts, and does not change with the code.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}')
}

/// The bytes are what somebody types where a name, a number or a time is expected: what is understood is written in
/// one way, and that is understood alike.
pub(crate) fn names(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    again::<Selector>(text);
    again::<Handle>(text);
    again::<WorkflowId>(text);
    again::<PhaseId>(text);
    again::<TaskId>(text);
    again::<Span>(text);
    again::<Trigger>(text);
    if let Ok(Size(size)) = text.parse() {
        assert_eq!(format!("{size}b").parse(), Ok(Size(size)));
        let _ = Size(size).to_string();
    }
    match text.parse::<WorkflowId>() {
        Ok(id) => {
            assert_eq!(WorkflowId::from_directory(&id.directory()).as_ref(), Some(&id));
            assert!(id.same_number().all(|other| other != id && other.to_string().parse() == Ok(other)));
        }
        Err(invalid) => {
            let near = invalid.suggestion.map(|near| near.parse::<WorkflowId>());
            assert!(near.is_none_or(|near| near.is_ok()), "a spelling was offered that is none");
        }
    }
    if let Some(id) = WorkflowId::from_directory(text) {
        assert_eq!(id.directory(), text);
    }
    if let Some(time) = Timestamp::parse(text) {
        assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
    }
    if let Some(version) = Version::parse(text) {
        assert_eq!(Version::parse(&version.to_string()), Some(version));
    }
    if let Some(name) = BundleName::parse(text) {
        assert_eq!(name.to_string(), text);
    }
}

fn again<T: std::str::FromStr + std::fmt::Display + std::fmt::Debug + PartialEq>(text: &str)
where
    T::Err: std::fmt::Display,
{
    match text.parse::<T>() {
        Ok(read) => {
            let written = read.to_string();
            assert!(written.parse().is_ok_and(|again: T| again == read), "{read:?} is written {written:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The bytes are text, or JSON, with secrets in it.
///
/// A key in the corpus would set off every scanner that comes across it, so there it is written with a `|` inside.
pub(crate) fn redaction(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).replace('|', "");
    if let Some(clean) = redact_text(&text) {
        assert!(clean != text && clean.contains("[REDACTED:"));
        assert_eq!(redact_text(&clean), None, "redacting twice changed {clean:?}");
    }
    let members = || text.lines().map(|line| (line.to_owned(), Value::from(line)));
    redacted(json!({"whole": text, "lines": members().collect::<serde_json::Map<_, _>>()}));
    if let Ok(given) = parse_strict(text.as_bytes()) {
        redacted(given);
    }
}

fn redacted(mut value: Value) {
    let members = |value: &Value| value.as_object().map(serde_json::Map::len);
    let (before, mut found) = (members(&value), Vec::new());
    redact_value(&mut value, "", &mut found);
    assert_eq!(members(&value), before, "no member is lost");
    for pointer in &found {
        assert!(value.pointer(pointer).is_some(), "nothing is at {pointer}");
    }
    let once = value.clone();
    let mut more = Vec::new();
    redact_value(&mut value, "", &mut more);
    assert_eq!((value, more), (once, Vec::new()), "redacting twice changed something");
}
