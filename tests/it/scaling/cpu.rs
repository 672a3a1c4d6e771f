//! Compares the CPU time of the same operation on a small and on a large input.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How many times as large the large input is.
const GROWTH: usize = 4;
/// Between the factor of linear work, which is [`GROWTH`], and the factor of quadratic work, which is its square.
const TOO_MUCH: u32 = 8;
/// An operation that costs less is repeated with larger inputs: fixed costs would hide how it grows.
const MEASURABLE: Duration = Duration::from_millis(2);
/// Other processes disturb caches, so a large ratio counts only if it stays large.
const ATTEMPTS: usize = 6;

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// Returns the CPU time that `run` takes on an input of this size.
fn cost<T>(size: usize, make: &dyn Fn(usize) -> T, run: &dyn Fn(T)) -> Duration {
    let input = make(size);
    let start = thread_time();
    run(input);
    thread_time() - start
}

/// Fails if `run` takes much more than four times as long on four times the input. Sizes are from `smallest` to
/// `largest`, as large as it takes to measure something.
#[track_caller]
pub(super) fn assert_linear<T>(
    what: &str,
    (smallest, largest): (usize, usize),
    make: impl Fn(usize) -> T,
    run: impl Fn(T),
) {
    let mut size = smallest;
    let mut small = cost(size, &make, &run);
    loop {
        let mut large = cost(size * GROWTH, &make, &run);
        if large >= MEASURABLE || size * GROWTH >= largest {
            for _ in 1..ATTEMPTS {
                if large <= small * TOO_MUCH {
                    return;
                }
                small = small.min(cost(size, &make, &run));
                large = large.min(cost(size * GROWTH, &make, &run));
            }
            assert!(large <= small * TOO_MUCH, "{what}: {small:?} for {size}, {large:?} for {GROWTH} times as much");
            return;
        }
        (size, small) = (size * GROWTH, large);
    }
}

#[test]
fn linear_work_is_told_from_quadratic_work() {
    let words = |size: usize| (0..size).map(|number| number.to_string()).collect::<Vec<_>>();
    let total = |words: Vec<String>| assert!(words.iter().map(String::len).sum::<usize>() > 0);
    let distinct = |words: Vec<String>| {
        let repeated = |(index, word): (usize, &String)| words[..index].contains(word);
        assert!(!words.iter().enumerate().any(repeated));
    };
    assert_linear("a sum", (500, 100_000), words, total);
    let search = || assert_linear("a search for each", (500, 100_000), words, distinct);
    // A small input that took long because of other processes makes quadratic work look linear, now and then.
    let is_caught = |_| std::panic::catch_unwind(search).is_err();
    assert!((0..ATTEMPTS).any(is_caught), "quadratic work was taken for linear");
}
