//! Payloads that no host would send.

use ckpt_agents::hosts::{HookAnswer, HookEvent, Host, Payload};
use ckpt_model::change::{Change, Stamp};
use ckpt_model::checkpoint::Writer;
use ckpt_model::{Timestamp, WorkflowId};

use crate::support::project::World;
use crate::support::proof::amount;
use ckpt::shapes::{assert_accepted, fixtures};

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// Changes some bytes: flips, removals, repetitions, and pieces that mean something to JSON or to a terminal.
fn mutate(text: &str, random: &mut Random) -> Vec<u8> {
    const PIECES: [&str; 14] =
        ["\"", "{", "}", "[", "]", "null", ":", ",", "\\u0000", "\u{1b}[2J", "\u{202e}", "1e999", "-", "\u{0}"];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len());
        let to = (at + random.below(40)).min(bytes.len());
        match random.below(5) {
            0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => drop(bytes.splice(at..to, PIECES[random.below(PIECES.len())].bytes())),
            _ => bytes.truncate(to),
        }
        if bytes.is_empty() {
            bytes.push(b'{');
        }
    }
    bytes
}

/// All payloads, and the same with values of other types.
fn seeds() -> Vec<(Host, String, String)> {
    let mut seeds = Vec::new();
    for host in Host::ALL {
        for (_, event, payload) in fixtures(host.word()) {
            for (from, to) in
                [("", ""), ("\"pending\"", "7"), ("[", "[[],{},null,"), ("\"1\"", "{\"a\":1}"), ("Read the", "\\n,\\t")]
            {
                seeds.push((
                    host,
                    event.clone(),
                    if from.is_empty() { payload.clone() } else { payload.replace(from, to) },
                ));
            }
        }
    }
    seeds
}

#[test]
fn ten_thousand_mutated_payloads_never_break_the_reading_of_a_plan() {
    let mut random = Random(20_261_116);
    let workflow: WorkflowId = "042".parse().unwrap();
    let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let stamp = Stamp { now, save_id: "0".repeat(32), writer: Writer::default(), git: None, watched: Vec::new() };
    let (seeds, mut read, mut applied) = (seeds(), 0, 0);
    let mut newest = None;
    for _ in 0..10_000 {
        let (host, _, payload) = &seeds[random.below(seeds.len())];
        let Ok(payload) = Payload::parse(&mutate(payload, &mut random)) else { continue };
        read += 1;
        let Some(tool) = payload.tool else { continue };
        let _ = tool.edited_files(*host);
        let Some(report) = tool.plan(*host, payload.session.as_deref()) else { continue };
        let mut change = Change { plan: Some(report.update), ..Change::default() };
        change.redact().unwrap();
        let next = change.apply(&workflow, newest.take(), &stamp).unwrap();
        // Said again, it changes nothing, and what is stored can be read.
        let again = change.apply(&workflow, Some(next.clone()), &stamp).unwrap();
        assert_eq!(again.content, next.content);
        let text = serde_json::to_string(&*next).unwrap();
        assert_eq!(serde_json::from_str::<ckpt_model::Checkpoint>(&text).unwrap().content, next.content);
        applied += 1;
        newest = Some(next).filter(|next| next.content.phases.len() < 50 && applied % 20 != 0);
    }
    assert!(read > 1_000 && applied > 200, "{read} read, {applied} applied");
}

#[test]
fn mutated_payloads_exit_with_0_and_gemini_never_gets_plain_text() {
    let mut random = Random(7);
    let world = World::new();
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    let seeds = seeds();
    for round in 0..amount(120, 10_000) {
        let (host, event, payload) = &seeds[random.below(seeds.len())];
        let bytes = mutate(&payload.replace("PROJECT", world.project().to_str().unwrap()), &mut random);
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let outcome = world.ckpt(&["hook", host.word(), event]).stdin(bytes).run();
        assert_eq!((outcome.status.code(), outcome.stderr.as_str()), (Some(0), ""), "{round}: {shown}");
        assert_accepted(event, &outcome.stdout, &shown);
    }
    world.run(&["verify"]).succeeds();
}

#[test]
fn whatever_is_said_is_one_line_of_json() {
    for text in ["", "a\nb", "\u{0}", "\"", "\u{2028}", "<script>"] {
        for host in Host::ALL {
            let line = HookAnswer::Context(text.to_owned()).line(host, HookEvent::SessionStart).unwrap();
            assert_accepted("SessionStart", &line, text);
        }
    }
}
