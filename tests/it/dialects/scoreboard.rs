//! How many files are answered rightly, by format.

use std::collections::BTreeMap;
use std::path::Path;

use super::cases::{Judged, cases, judge};

/// The answers about the files of one format.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    right: usize,
    /// "Cannot tell", where a person can.
    cannot_tell: usize,
    wrong: usize,
    /// Wrong, and the program would have gone on without asking.
    wrong_ready: usize,
}

impl Score {
    fn add(&mut self, name: &str, accepted: &[String], judged: &Judged) {
        let is = |answer: &String| answer.eq_ignore_ascii_case(&judged.answer);
        if accepted.iter().any(is) {
            self.right += 1;
            return;
        }
        let Judged { answer, verdict, why } = judged;
        println!("{name}: {answer} ({verdict}), and not {} {why}", accepted.join(" or "));
        if ["unknown", "refused", "damaged"].contains(&judged.answer.as_str()) {
            self.cannot_tell += 1;
        } else {
            self.wrong += 1;
            self.wrong_ready += usize::from(judged.verdict == "ready");
        }
    }
}

#[test]
fn no_format_is_answered_worse_than_before() {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for case in cases() {
        scores.entry(case.format.clone()).or_default().add(&case.name(), &case.answers(), &case.judge());
    }
    for (format, score) in &scores {
        let Score { right, cannot_tell, wrong, .. } = score;
        println!("{format:16} {right:4} right  {cannot_tell:4} cannot tell  {wrong:4} wrong");
    }
    for (format, score) in scores {
        assert_eq!(score, Score { right: score.right, ..Score::default() }, "{format}: all were right before");
    }
}

/// Tries files that are not part of this project: `CKPT_SCOREBOARD=DIRECTORY cargo test --test it -- --ignored --nocapture
/// scoreboard`. The directory has `ANSWERS.tsv` with the columns file, whether it is a checkpoint, whether a person can
/// tell, accepted answers with `|` between them, and why.
#[test]
#[ignore = "needs CKPT_SCOREBOARD, a directory with files and ANSWERS.tsv"]
fn of_the_files_of_a_directory_nine_of_ten_are_answered_rightly() {
    let directory = std::env::var("CKPT_SCOREBOARD").expect("CKPT_SCOREBOARD names a directory");
    let directory = Path::new(&directory);
    let (mut can_tell, mut cannot) = (Score::default(), Score::default());
    for line in std::fs::read_to_string(directory.join("ANSWERS.tsv")).unwrap().lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [file, _, person, accepted, ..] = columns[..] else { continue };
        let accepted: Vec<String> = accepted.split('|').map(str::to_owned).collect();
        let score = if person == "yes" { &mut can_tell } else { &mut cannot };
        score.add(file, &accepted, &judge(file, &std::fs::read(directory.join(file)).unwrap()));
    }
    println!("a person can tell: {can_tell:?}\na person cannot:   {cannot:?}");
    let total = can_tell.right + can_tell.cannot_tell + can_tell.wrong;
    assert!(can_tell.right * 10 >= total * 9, "at least 90 % are right");
    assert!(can_tell.wrong * 50 <= total, "at most 2 % are wrong");
    assert_eq!((can_tell.wrong_ready, cannot.wrong_ready), (0, 0), "nothing is wrong and ready");
}
