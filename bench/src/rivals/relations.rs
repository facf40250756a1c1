//! Relations of pairs: searches, sets of pairs in shards, rows of bits, and the Datalog engine ascent.
//!
//! All of them keep the pairs, not only how many there are; that number is what is compared. Scratch memory and what
//! pairs are kept in stay from run to run, but for ascent, which takes new memory for each.

use super::cpu::row;
use super::{Measured, Prepared, Skip};
use crate::workloads::{Problem, Rule, Values};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use vyre::Csr;
use vyre_examples::cli::count;

type Ready<'w> = Result<Box<dyn Prepared + 'w>, Skip>;

/// A relation to be computed: the rule, the graph, and the pairs that there are.
fn of(problem: &Problem) -> Result<(Rule, &Csr, u64), Skip> {
    match problem {
        Problem::Relation { rule, graph, pairs } => Ok((*rule, graph, *pairs)),
        _ => Err(Skip::NoAlgorithm),
    }
}

fn counted<'w>(mut run: impl FnMut() -> (u64, u64) + 'w) -> Ready<'w> {
    Ok(Box::new(move || {
        let (pairs, rounds) = run();
        Ok(Measured {
            rounds: Some(rounds),
            ..Measured::new(Values::Count(pairs))
        })
    }))
}

/// A node's place in the scratch memory of searches: the last search that found it, plus one.
type Seen = Vec<u32>;

/// What a search from `source` finds, added to `found`.
fn search(graph: &Csr, source: u32, seen: &mut Seen, found: &mut Vec<u32>) {
    seen.resize(graph.node_count(), 0);
    let mut at = found.len();
    let mut visit = |v: u32, found: &mut Vec<u32>| {
        for &to in row(graph, v) {
            if mem::replace(&mut seen[to as usize], source + 1) != source + 1 {
                found.push(to);
            }
        }
    };
    visit(source, found);
    while let Some(&v) = found.get(at) {
        at += 1;
        visit(v, found);
    }
}

/// One thread: a search from each node, or one set of pairs.
pub(super) fn sequential(problem: &Problem) -> Ready<'_> {
    let (rule, graph, pairs) = of(problem)?;
    if rule == Rule::Closure {
        let (mut seen, mut found, mut ends) = (Seen::new(), Vec::new(), Vec::new());
        return Ok(Box::new(move || {
            seen.fill(0);
            found.clear();
            ends.clear();
            for source in 0..graph.node_count() as u32 {
                search(graph, source, &mut seen, &mut found);
                ends.push(found.len());
            }
            Ok(Measured::new(Values::Count(found.len() as u64)))
        }));
    }
    let mut set = HashTable::with_capacity(pairs as usize);
    let mut found: Vec<u64> = Vec::with_capacity(pairs as usize);
    Ok(Box::new(move || {
        set.clear();
        found.clear();
        let mut insert = |pair: u64, found: &mut Vec<u64>| {
            if is_new(&mut set, hash(pair), pair) {
                found.push(pair);
            }
        };
        for v in 0..graph.node_count() as u32 {
            rule.begin(graph, v, |pair| insert(pair, &mut found));
        }
        let mut at = 0;
        while let Some(&pair) = found.get(at) {
            at += 1;
            rule.extend(graph, pair, |pair| insert(pair, &mut found));
        }
        Ok(Measured::new(Values::Count(found.len() as u64)))
    }))
}

/// All threads: a search from each node.
pub(super) fn parallel(problem: &Problem) -> Ready<'_> {
    let (Rule::Closure, graph, _) = of(problem)? else {
        return Err(Skip::NoAlgorithm);
    };
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); graph.node_count()];
    Ok(Box::new(move || {
        let sources = rows.par_iter_mut().enumerate().with_min_len(64);
        sources.for_each_init(Seen::new, |seen, (source, found)| {
            found.clear();
            search(graph, source as u32, seen, found);
        });
        let pairs = rows.iter().map(|row| row.len() as u64).sum();
        Ok(Measured::new(Values::Count(pairs)))
    }))
}

impl Rule {
    /// What holds because of the edges that leave `v`.
    fn begin(self, graph: &Csr, v: u32, mut insert: impl FnMut(u64)) {
        for &x in row(graph, v) {
            match self {
                Rule::Closure => insert(pair(v, x)),
                Rule::SameGeneration => row(graph, v)
                    .iter()
                    .filter(|&&y| y != x)
                    .for_each(|&y| insert(pair(x, y))),
            }
        }
    }

    /// What holds because of this pair.
    fn extend(self, graph: &Csr, from: u64, mut insert: impl FnMut(u64)) {
        let (a, b) = ((from >> 32) as u32, from as u32);
        match self {
            Rule::Closure => row(graph, b).iter().for_each(|&to| insert(pair(a, to))),
            Rule::SameGeneration => {
                for &x in row(graph, a) {
                    row(graph, b).iter().for_each(|&y| insert(pair(x, y)));
                }
            }
        }
    }
}

fn pair(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// Good bits at both ends, which the tables use, and in the middle, which names the shard.
fn hash(pair: u64) -> u64 {
    let wide = u128::from(pair ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (wide >> 64) as u64 ^ wide as u64
}

fn is_new(set: &mut HashTable<u64>, hash_of_it: u64, pair: u64) -> bool {
    match set.entry(hash_of_it, |&other| other == pair, |&other| hash(other)) {
        Entry::Occupied(_) => false,
        Entry::Vacant(place) => {
            place.insert(pair);
            true
        }
    }
}

/// A part of a set, and what the round has added to it.
struct Shard {
    set: HashTable<u64>,
    new: Vec<u64>,
}

/// A task's pairs that wait for their shards' locks.
struct Waiting<'s> {
    shards: &'s [Mutex<Shard>],
    pairs: Vec<Vec<(u64, u64)>>,
}

impl<'s> Waiting<'s> {
    /// Pairs that are worth a lock.
    const MANY: usize = 256;

    fn new(shards: &'s [Mutex<Shard>]) -> Waiting<'s> {
        let pairs = vec![Vec::with_capacity(Self::MANY); shards.len()];
        Waiting { shards, pairs }
    }

    fn push(&mut self, pair: u64) {
        let hash = hash(pair);
        let shard = (hash >> 40) as usize % self.shards.len();
        self.pairs[shard].push((hash, pair));
        if self.pairs[shard].len() == Self::MANY {
            self.insert(shard);
        }
    }

    fn insert(&mut self, shard: usize) {
        let mut locked = self.shards[shard]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Shard { set, new } = &mut *locked;
        for (hash, pair) in self.pairs[shard].drain(..) {
            if is_new(set, hash, pair) {
                new.push(pair);
            }
        }
    }

    fn insert_all(mut self) {
        (0..self.shards.len()).for_each(|shard| self.insert(shard));
    }
}

/// All threads: a hash set in shards with locks, round by round.
pub(super) fn sets(problem: &Problem) -> Ready<'_> {
    /// Nodes or pairs that a task takes at a time.
    const TASK: usize = 512;
    let (rule, graph, pairs) = of(problem)?;
    let count = (16 * rayon::current_num_threads()).next_power_of_two();
    let room = pairs as usize / count * 9 / 8;
    let shard = || {
        Mutex::new(Shard {
            set: HashTable::with_capacity(room),
            new: Vec::new(),
        })
    };
    let mut shards: Vec<Mutex<Shard>> = (0..count).map(|_| shard()).collect();
    let nodes: Vec<u32> = (0..graph.node_count() as u32).collect();
    counted(move || {
        for shard in &mut shards {
            let shard = shard.get_mut().unwrap_or_else(PoisonError::into_inner);
            shard.set.clear();
            shard.new.clear();
        }
        let begin = nodes.par_chunks(TASK).fold(
            || Waiting::new(&shards),
            |mut waiting, nodes| {
                for &v in nodes {
                    rule.begin(graph, v, |pair| waiting.push(pair));
                }
                waiting
            },
        );
        begin.for_each(Waiting::insert_all);
        let mut last: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut rounds = 0;
        loop {
            for (shard, last) in shards.iter_mut().zip(&mut last) {
                let shard = shard.get_mut().unwrap_or_else(PoisonError::into_inner);
                last.clear();
                mem::swap(last, &mut shard.new);
            }
            if last.iter().all(Vec::is_empty) {
                break;
            }
            rounds += 1;
            let tasks = last.par_iter().flat_map(|last| last.par_chunks(TASK));
            let tasks = tasks.fold(
                || Waiting::new(&shards),
                |mut waiting, last| {
                    for &from in last {
                        rule.extend(graph, from, |pair| waiting.push(pair));
                    }
                    waiting
                },
            );
            tasks.for_each(Waiting::insert_all);
        }
        let sets = shards
            .iter_mut()
            .map(|shard| shard.get_mut().unwrap_or_else(PoisonError::into_inner));
        (sets.map(|shard| shard.set.len() as u64).sum(), rounds)
    })
}

/// All threads: a row of bits for each node, and what the round before has added to it (difference propagation).
pub(super) fn bits(problem: &Problem) -> Ready<'_> {
    /// Memory that rows may take.
    const MOST_BYTES: u64 = 16 << 30;
    let (rule, graph, _) = of(problem)?;
    let nodes = graph.node_count();
    let words = nodes.div_ceil(64);
    let sets = match rule {
        Rule::Closure => 3,
        Rule::SameGeneration => 4,
    };
    let bytes = sets * 8 * nodes as u64 * words as u64;
    if bytes > MOST_BYTES {
        let gib = count(bytes.div_ceil(1 << 30));
        return Err(Skip::Unavailable(format!("rows of bits take {gib} GiB")));
    }
    let sources = match rule {
        Rule::Closure => None,
        Rule::SameGeneration => Some(reversed(graph)),
    };
    let half = match rule {
        Rule::Closure => 0,
        Rule::SameGeneration => words,
    };
    let row_of = || Row {
        all: vec![0; words],
        half: vec![0; half],
    };
    let mut rows: Vec<Row> = (0..nodes).map(|_| row_of()).collect();
    let mut last: Vec<New> = (0..nodes).map(|_| New::of(words)).collect();
    let mut next: Vec<New> = (0..nodes).map(|_| New::of(words)).collect();
    counted(move || {
        let begin = rows.par_iter_mut().zip(&mut last).enumerate();
        begin.for_each(|(x, (row, new))| {
            let x = x as u32;
            row.all.fill(0);
            row.half.fill(0);
            new.clear();
            match &sources {
                None => self::row(graph, x).iter().for_each(|&y| row.set(y, new)),
                Some(sources) => {
                    for &a in self::row(sources, x) {
                        let others = self::row(graph, a).iter().filter(|&&y| y != x);
                        others.for_each(|&y| row.set(y, new));
                    }
                }
            }
        });
        let mut rounds = 0;
        while last.par_iter().any(|new| !new.span.is_empty()) {
            rounds += 1;
            let round = rows.par_iter_mut().zip(&mut next).enumerate();
            round.with_min_len(16).for_each(|(x, (row, new))| {
                new.clear();
                let x = x as u32;
                match &sources {
                    None => {
                        for &y in self::row(graph, x) {
                            row.take(&last[y as usize], new);
                        }
                    }
                    Some(sources) => {
                        for &a in self::row(sources, x) {
                            row.step(&last[a as usize], graph, new);
                        }
                    }
                }
            });
            mem::swap(&mut last, &mut next);
        }
        let ones = |row: &Row| {
            row.all
                .iter()
                .map(|word| u64::from(word.count_ones()))
                .sum::<u64>()
        };
        (rows.par_iter().map(ones).sum(), rounds)
    })
}

/// Each edge the other way.
fn reversed(graph: &Csr) -> Csr {
    let nodes = 0..graph.node_count() as u32;
    let edges: Vec<(u32, u32)> = nodes
        .flat_map(|v| row(graph, v).iter().map(move |&to| (to, v)))
        .collect();
    Csr::from_edges(graph.node_count(), &edges).expect("they are edges of a graph")
}

/// The second nodes of a node's pairs.
struct Row {
    all: Vec<u64>,
    /// Of the same generation: those of the nodes from which edges lead here, which have been taken one step on.
    half: Vec<u64>,
}

/// What a round has added to a row.
struct New {
    bits: Vec<u64>,
    /// Words in which all of it lies.
    span: Range<usize>,
}

impl New {
    fn of(words: usize) -> New {
        New {
            bits: vec![0; words],
            span: 0..0,
        }
    }

    fn clear(&mut self) {
        self.bits[mem::take(&mut self.span)].fill(0);
    }

    fn reaches(&mut self, words: Range<usize>) {
        self.span = match self.span.is_empty() {
            true => words,
            false => self.span.start.min(words.start)..self.span.end.max(words.end),
        };
    }
}

impl Row {
    fn set(&mut self, y: u32, new: &mut New) {
        let (at, bit) = (y as usize / 64, 1 << (y % 64));
        if self.all[at] & bit == 0 {
            self.all[at] |= bit;
            new.bits[at] |= bit;
            new.reaches(at..at + 1);
        }
    }

    /// What a successor got is for this row too.
    fn take(&mut self, last: &New, new: &mut New) {
        let span = last.span.clone();
        let here = self.all[span.clone()]
            .iter_mut()
            .zip(&mut new.bits[span.clone()]);
        let mut grown = 0;
        for ((all, new), &last) in here.zip(&last.bits[span.clone()]) {
            let more = last & !*all;
            *all |= more;
            *new |= more;
            grown |= more;
        }
        if grown != 0 {
            new.reaches(span);
        }
    }

    /// What a predecessor got is for this row after one step.
    fn step(&mut self, last: &New, graph: &Csr, new: &mut New) {
        for at in last.span.clone() {
            let mut more = last.bits[at] & !self.half[at];
            self.half[at] |= more;
            while more != 0 {
                let b = at as u32 * 64 + more.trailing_zeros();
                more &= more - 1;
                row(graph, b).iter().for_each(|&y| self.set(y, new));
            }
        }
    }
}

/// The rules as Datalog, for ascent.
mod datalog {
    #![allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        reason = "what the macros write"
    )]

    ascent::ascent! {
        pub struct Closure;
        relation edge(u32, u32);
        relation path(u32, u32);
        path(x, y) <-- edge(x, y);
        path(x, z) <-- path(x, y), edge(y, z);
    }

    ascent::ascent_par! {
        pub struct ParallelClosure;
        relation edge(u32, u32);
        relation path(u32, u32);
        path(x, y) <-- edge(x, y);
        path(x, z) <-- path(x, y), edge(y, z);
    }

    ascent::ascent! {
        pub struct SameGeneration;
        relation edge(u32, u32);
        relation sg(u32, u32);
        sg(x, y) <-- edge(a, x), edge(a, y), if x != y;
        sg(x, y) <-- sg(a, b), edge(a, x), edge(b, y);
    }

    ascent::ascent_par! {
        pub struct ParallelSameGeneration;
        relation edge(u32, u32);
        relation sg(u32, u32);
        sg(x, y) <-- edge(a, x), edge(a, y), if x != y;
        sg(x, y) <-- sg(a, b), edge(a, x), edge(b, y);
    }
}

/// A program of ascent with the edges of a graph as facts. Each run takes a new one, which is made before it and goes
/// after it.
struct Datalog<P> {
    edges: Vec<(u32, u32)>,
    program: Option<P>,
    make: fn(&[(u32, u32)]) -> P,
    run: fn(&mut P) -> usize,
}

impl<P> Prepared for Datalog<P> {
    fn reset(&mut self) {
        self.program = None;
        self.program = Some((self.make)(&self.edges));
    }

    fn run(&mut self) -> Result<Measured, String> {
        let program = self.program.as_mut().ok_or("the program was not made")?;
        Ok(Measured::new(Values::Count((self.run)(program) as u64)))
    }
}

/// A program type of [`datalog`], and its relation.
macro_rules! program {
    ($program:ident, $relation:ident, $edges:expr) => {
        Ok(Box::new(Datalog {
            edges: $edges,
            program: None,
            make: |edges| {
                let mut program = datalog::$program::default();
                program.edge = edges.iter().copied().collect();
                program
            },
            run: |program| {
                program.run();
                program.$relation.len()
            },
        }))
    };
}

fn edges(graph: &Csr) -> Vec<(u32, u32)> {
    let nodes = 0..graph.node_count() as u32;
    nodes
        .flat_map(|v| row(graph, v).iter().map(move |&to| (v, to)))
        .collect()
}

/// One thread: `ascent!`.
pub(super) fn ascent(problem: &Problem) -> Ready<'_> {
    let (rule, graph, _) = of(problem)?;
    match rule {
        Rule::Closure => program!(Closure, path, edges(graph)),
        Rule::SameGeneration => program!(SameGeneration, sg, edges(graph)),
    }
}

/// All threads: `ascent_par!`.
pub(super) fn ascent_par(problem: &Problem) -> Ready<'_> {
    let (rule, graph, _) = of(problem)?;
    match rule {
        Rule::Closure => program!(ParallelClosure, path, edges(graph)),
        Rule::SameGeneration => program!(ParallelSameGeneration, sg, edges(graph)),
    }
}
