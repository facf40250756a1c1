//! All occurrences of 64 patterns of 4 to 16 letters in a text: how many of each, and the first 10,000 in order.
//!
//! The algorithm is the parallel one without failure links ("Accelerating pattern matching using a novel parallel
//! algorithm on GPUs", Lin et al. 2013): a trie of the patterns as a table, which a lane walks from each position of the
//! text until no pattern goes on. Lanes append what they find in any order, so the host sorts it.

use vyre::prelude::*;

use crate::rng::Rng;

pub const LETTERS: usize = 20;
pub const PATTERNS: usize = 64;
const FIRST: usize = 10_000;
/// In the trie: no node, and no pattern that ends.
pub const NONE: u32 = u32::MAX;

#[wave_graph]
pub mod scan {
    use super::NONE;

    const LETTERS: u32 = 20;
    const PATTERNS: u32 = 64;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Hit {
        pub at: u32,
        pub pattern: u32,
    }

    pub struct Data {
        #[input(per = bytes)]
        text: u8,
        #[input(per = entries)]
        child: u32,
        #[input(per = states)]
        ends: u32,
        #[output(per = PATTERNS)]
        count: u32,
        #[list(capacity = room, output)]
        hits: List<Hit>,
        bytes: u32,
        states: u32,
        entries: u32,
        room: u32,
    }

    #[wave(range(bytes))]
    fn walk(
        i: Index,
        text: &Buf<u8>,
        child: &Buf<u32>,
        ends: &Buf<u32>,
        count: &Buf<Atomic<u32>>,
        hits: &Append<Hit>,
    ) {
        let mut state = 0;
        for at in i..text.len() {
            state = child[state * LETTERS + u32::from(text[at] - b'a')];
            if state == NONE {
                break;
            }
            let pattern = ends[state];
            if pattern != NONE {
                count[pattern].fetch_add(1);
                hits.append(Hit { at: i, pattern });
            }
        }
    }
}

pub struct Input {
    patterns: Vec<Vec<u8>>,
    text: Vec<u8>,
    /// The child of each state by each letter, or `NONE`; state 0 is the root.
    child: Vec<u32>,
    /// The pattern that ends in each state, or `NONE`.
    ends: Vec<u32>,
}

/// How often each pattern occurs, and where the first ones begin, as (position, pattern) in order.
pub type Output = (Vec<u32>, Vec<(u32, u32)>);

pub fn input(small: bool) -> Input {
    let bytes = if small { 3_000 } else { 16_000_000 };
    let mut rng = Rng(4);
    let mut patterns: Vec<Vec<u8>> = Vec::new();
    while patterns.len() < PATTERNS {
        let len = 4 + rng.below(13) as usize;
        // Some begin like an earlier one, so that occurrences overlap.
        let mut pattern = if rng.below(4) == 0 && !patterns.is_empty() {
            let other = &patterns[rng.below(patterns.len() as u32) as usize];
            other[..len.min(other.len())].to_vec()
        } else {
            Vec::new()
        };
        while pattern.len() < len {
            pattern.push(b'a' + rng.below(LETTERS as u32) as u8);
        }
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    // Random letters, with a pattern put in after every 100 on average.
    let mut text = Vec::with_capacity(bytes + 16);
    while text.len() < bytes {
        if rng.below(100) == 0 {
            text.extend_from_slice(&patterns[rng.below(PATTERNS as u32) as usize]);
        } else {
            text.push(b'a' + rng.below(LETTERS as u32) as u8);
        }
    }
    text.truncate(bytes);

    let (mut child, mut ends) = (vec![NONE; LETTERS], vec![NONE]);
    for (number, pattern) in patterns.iter().enumerate() {
        let mut state = 0;
        for &byte in pattern {
            let entry = state * LETTERS + usize::from(byte - b'a');
            if child[entry] == NONE {
                child[entry] = ends.len() as u32;
                ends.push(NONE);
                child.extend([NONE; LETTERS]);
            }
            state = child[entry] as usize;
        }
        ends[state] = number as u32;
    }
    Input { patterns, text, child, ends }
}

/// The automaton of Aho and Corasick as a table, which reads each letter once.
pub fn sequential(input: &Input) -> Output {
    let states = input.ends.len();
    let mut next: Vec<u32> = input.child.clone();
    // The state of the longest proper suffix, and the nearest state on that way (or the state itself) where a pattern ends.
    let (mut suffix, mut found) = (vec![0u32; states], vec![NONE; states]);
    let mut queue = std::collections::VecDeque::from([0u32]);
    while let Some(state) = queue.pop_front() {
        let s = state as usize;
        let back = suffix[s] as usize;
        found[s] = if input.ends[s] != NONE { state } else if s == 0 { NONE } else { found[back] };
        for letter in 0..LETTERS {
            let entry = s * LETTERS + letter;
            let other = if s == 0 { 0 } else { next[back * LETTERS + letter] };
            if next[entry] == NONE {
                next[entry] = other;
            } else {
                suffix[next[entry] as usize] = other;
                queue.push_back(next[entry]);
            }
        }
    }
    let mut count = vec![0; PATTERNS];
    let mut hits = Vec::new();
    let mut state = 0;
    for (at, &byte) in input.text.iter().enumerate() {
        state = next[state * LETTERS + usize::from(byte - b'a')] as usize;
        let mut end = found[state];
        while end != NONE {
            let pattern = input.ends[end as usize];
            count[pattern as usize] += 1;
            hits.push(((at + 1 - input.patterns[pattern as usize].len()) as u32, pattern));
            end = found[suffix[end as usize] as usize];
        }
    }
    hits.sort_unstable();
    hits.truncate(FIRST);
    (count, hits)
}

pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let mut session = scan::Session::new(runtime, ())?;
    Ok(Box::new(move || {
        let out = session.run(scan::Run {
            text: &input.text,
            child: &input.child,
            ends: &input.ends,
            bytes: input.text.len() as u32,
            states: input.ends.len() as u32,
            entries: input.child.len() as u32,
            room: 1 << 20,
        })?;
        let mut hits: Vec<_> = out.hits.iter().map(|hit| (hit.at, hit.pattern)).collect();
        hits.sort_unstable();
        hits.truncate(FIRST);
        Ok((out.count, hits))
    }))
}

pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let (count, hits) = sequential(input);
    if output.0 != count {
        return Err(format!("counts are {:?} and should be {count:?}", output.0));
    }
    if output.1 != hits {
        return Err("positions differ".into());
    }
    Ok(())
}
