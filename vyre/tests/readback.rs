//! What comes back from a device: lists that the launch itself packs, in as many copies as the run before leads to expect.
//! What sessions say of it is compared with the planner, told what was found, and with the calls of the driver.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use vyre::core::plan::compact::{self, CompactPlan, Slot, UNIT_BYTES};
use vyre::core::vir0::sizes::Sizes;
use vyre::cuda::fake::{Fake, Spec, Transcript};
use vyre::prelude::*;
use vyre::{Error, Readback, RoutePolicy, Thresholds, TrapKind};

/// Multiples, in lists with room for `room` of them, and what is known to be there.
#[wave_graph]
pub mod finds {
    pub struct Data {
        #[list(capacity = room, output)]
        found: List<u32>,
        #[list(capacity = room, output)]
        pairs: List<Pair>,
        #[list(capacity = room)]
        unread: List<u32>,
        #[output(per = 3)]
        ends: u8,
        #[output(per = room)]
        seen: u32,
        #[reduce(sum)]
        count: u64,
        room: u32,
        items: u32,
        of: u32,
        pairs_of: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair {
        pub of: u32,
        pub square: u64,
        pub even: bool,
    }

    #[wave(range(items))]
    fn find(
        i: Index,
        of: u32,
        pairs_of: u32,
        found: &Append<u32>,
        pairs: &Append<Pair>,
        unread: &Append<u32>,
        count: &Reduce<Sum<u64>>,
        seen: &Buf<Atomic<u32>>,
    ) {
        if of != 0 && i.is_multiple_of(of) {
            found.append(i);
            unread.append(i);
            count.add(i as u64);
            seen[0].fetch_max(i);
        }
        if pairs_of != 0 && i.is_multiple_of(pairs_of) {
            let square = i as u64 * i as u64;
            pairs.append(Pair {
                of: i,
                square,
                even: i.is_multiple_of(2),
            });
        }
    }

    #[wave(range(3))]
    fn end(ends: &mut u8) {
        *ends = 7;
    }
}

const ROOM: u32 = 100_000;

/// A run over `items` numbers that finds every `of`th, and every `pairs_of`th; 0: none.
fn run(items: u32, of: u32, pairs_of: u32) -> finds::Run {
    finds::Run {
        room: ROOM,
        items,
        of,
        pairs_of,
    }
}

/// How many multiples of that there are.
fn multiples(run: finds::Run, of: u32) -> Vec<u32> {
    let all = 0..run.items;
    all.filter(|i| of != 0 && i.is_multiple_of(of)).collect()
}

/// What the planner makes of what such a run finds. `alone`: nothing of lists is packed.
fn planned(run: finds::Run, pack_up_to_bytes: u64, alone: bool) -> CompactPlan {
    let room = u64::from(run.room);
    let slot = |id, len: usize, capacity, size| Slot {
        align_bytes: UNIT_BYTES,
        ..Slot::new(id, len as u64 * size, capacity * size)
    };
    let buffers = [slot(0, 3, 3, 1), slot(1, run.room as usize, room, 4)];
    let found = multiples(run, run.of).len();
    let pairs = multiples(run, run.pairs_of).len();
    let lists = [
        slot(2, found, room, 4),
        slot(3, pairs, room, 4),
        slot(4, pairs, room, 8),
        slot(5, pairs, room, 1),
    ];
    let slots = [&buffers[..], &lists[..]].concat();
    let plan = |slots: &[Slot], up_to| compact::plan(slots, up_to).expect("there is room");
    if !alone {
        return plan(&slots, pack_up_to_bytes);
    }
    let (fixed, direct) = (plan(&buffers, pack_up_to_bytes), plan(&lists, 0));
    CompactPlan {
        direct: [fixed.direct, direct.direct].concat(),
        full_bytes: fixed.full_bytes + direct.full_bytes,
        direct_bytes: fixed.direct_bytes + direct.direct_bytes,
        ..fixed
    }
}

/// A played device, its session, and the calls that were looked at.
struct Played {
    runtime: Runtime,
    session: finds::Session,
    transcript: Transcript,
    seen: usize,
    pack_up_to_bytes: u64,
}

/// Copies to the host, by the bytes of each.
fn downloads(calls: &str) -> Vec<u64> {
    let copies = calls.lines().filter_map(|line| {
        let (_, copy) = line.split_once(": download ")?;
        copy.split_once(" bytes")?.0.parse().ok()
    });
    copies.collect()
}

fn open(with: impl FnOnce(Runtime) -> Runtime) -> Played {
    let (cuda, transcript) = Transcript::of_fake(&Fake::default()).expect("nothing fails");
    let runtime = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
    let runtime = with(runtime);
    let session = finds::Session::new(&runtime, ()).expect("it fits");
    Played {
        runtime,
        session,
        seen: 0,
        transcript,
        pack_up_to_bytes: Thresholds::default().pack_up_to_bytes,
    }
}

impl Played {
    /// The copies to the host since they were looked at last.
    fn copies(&mut self) -> Vec<u64> {
        let text = self.transcript.text();
        let copies = downloads(&text[self.seen..]);
        self.seen = text.len();
        copies
    }

    /// Runs, and checks the results and what is said of them; the copies.
    fn run(&mut self, run: finds::Run, alone: bool) -> Vec<u64> {
        self.copies();
        let out = self.session.run(run).expect("no trap");
        let copies = self.copies();
        check(&out, run);
        let plan = planned(run, self.pack_up_to_bytes, alone);
        self.counted(out.report.readback, &plan, &copies);
        copies
    }

    fn counted(&self, read: Readback, plan: &CompactPlan, copies: &[u64]) {
        let expected = Readback {
            packed: plan.packed.len() as u32,
            packed_bytes: plan.compact_bytes,
            direct: plan.direct.len() as u32,
            direct_bytes: plan.direct_bytes,
            full_bytes: plan.full_bytes,
            copied_bytes: copies.iter().sum(),
        };
        assert_eq!(read, expected);
    }

    fn explain(&self) -> String {
        self.session.explain().to_string()
    }

    /// Whether these are the copies of a run that finds the same as the one before: the first brings control words and
    /// slab, the others what goes directly.
    fn steady(&self, run: finds::Run, copies: &[u64], alone: bool) -> bool {
        let plan = planned(run, self.pack_up_to_bytes, alone);
        let control = control_bytes();
        copies[0] == control + plan.compact_bytes
            && copies.iter().sum::<u64>() == control + plan.selected_bytes
    }
}

/// Of the control words, as a run copies them that finds nothing and has no results of its own.
fn control_bytes() -> u64 {
    let mut played = open(|runtime| runtime);
    played.copies();
    let out = played.session.run(finds::Run {
        room: 0,
        ..run(0, 0, 0)
    });
    out.expect("no trap");
    // The three bytes that are always there.
    played.copies()[0] - 3
}

fn check(out: &finds::Output, run: finds::Run) {
    let sorted = |mut of: Vec<u32>| {
        of.sort_unstable();
        of
    };
    let found = multiples(run, run.of);
    assert_eq!(out.count, found.iter().map(|&i| u64::from(i)).sum());
    assert_eq!(
        out.seen.first().copied().unwrap_or(0),
        found.last().copied().unwrap_or(0)
    );
    assert_eq!(sorted(out.found.clone()), found);
    let pairs = multiples(run, run.pairs_of);
    assert_eq!(sorted(out.pairs.iter().map(|p| p.of).collect()), pairs);
    assert!(
        out.pairs.iter().all(|p| {
            p.square == u64::from(p.of) * u64::from(p.of) && p.even == (p.of % 2 == 0)
        })
    );
    assert_eq!(out.ends, [7; 3]);
}

#[test]
fn what_was_found_comes_in_one_copy_from_the_second_run_on() {
    let mut played = open(|runtime| runtime);
    let (few, more) = (run(20_000, 100, 50), run(20_000, 10, 25));
    let nothing = run(20_000, 0, 0);
    // The buffer with an element a number goes directly, in one copy more; that of nothing but it follows.
    for (of, slab_copies) in [
        // The first run does not know what there will be.
        (few, 2),
        (few, 1),
        (few, 1),
        // It is more than before, as much, less, as much, nothing, nothing, and more again.
        (more, 2),
        (more, 1),
        (few, 1),
        (few, 1),
        (nothing, 1),
        (nothing, 1),
        (few, 2),
    ] {
        let copies = played.run(of, false);
        assert_eq!(copies.len(), slab_copies + 1, "{of:?}: {copies:?}");
    }
}

#[test]
fn two_runs_that_find_the_same_copy_no_byte_too_many() {
    let mut played = open(|runtime| runtime);
    let (few, more) = (run(20_000, 100, 50), run(20_000, 10, 25));
    played.run(more, false);
    let copies = played.run(more, false);
    assert!(played.steady(more, &copies, false), "{copies:?}");
    let copies = played.run(few, false);
    assert!(!played.steady(few, &copies, false), "{copies:?}");
    let copies = played.run(few, false);
    assert!(played.steady(few, &copies, false), "{copies:?}");
}

#[test]
fn what_is_too_large_to_be_packed_goes_directly() {
    let mut played = open(|runtime| runtime);
    // 40,000 bytes of one list; of the other one the squares, while the rest of it is packed.
    let large = run(10_000, 1, 4);
    for _ in 0..3 {
        let copies = played.run(large, false);
        let plan = planned(large, played.pack_up_to_bytes, false);
        let direct: Vec<u32> = plan.direct.iter().map(|d| d.slot).collect();
        assert_eq!(direct, [1, 2, 4], "{copies:?}");
    }
    let copies = played.run(large, false);
    assert!(played.steady(large, &copies, false), "{copies:?}");
    // Another threshold is another layout, of which nothing is known.
    let all = 1 << 20;
    played.pack_up_to_bytes = all;
    played.session.set_thresholds(Thresholds {
        pack_up_to_bytes: all,
        ..Thresholds::default()
    });
    assert_eq!(played.run(large, false).len(), 2);
    assert_eq!(played.run(large, false).len(), 1);
}

#[test]
fn a_list_that_is_too_short_traps_and_the_next_run_is_as_before() {
    let mut played = open(|runtime| runtime);
    let fits = run(20_000, 100, 50);
    played.run(fits, false);
    for _ in 0..2 {
        match played.session.run(finds::Run { room: 100, ..fits }) {
            Err(Error::Trap(trap)) => {
                assert_eq!(
                    (trap.kind, trap.index, trap.len),
                    (TrapKind::ListOverflow, 200, 100)
                );
            }
            other => panic!("{other:?}"),
        }
    }
    let copies = played.run(fits, false);
    let copies = [copies, played.run(fits, false)].concat();
    assert_eq!(copies.len(), 4, "{copies:?}");
}

#[test]
fn of_a_series_the_last_run_s_lists_are_packed() {
    let mut played = open(|runtime| runtime);
    let runs = [1, 2, 4, 5, 100].map(|k| run(20_000, k * 10, 50));
    for slab_copies in [2, 1] {
        played.copies();
        let out = played.session.run_series(runs).expect("no trap");
        let copies = played.copies();
        check(&out, runs[4]);
        // The control words of four runs come before.
        assert_eq!(copies.len(), 4 + slab_copies + 1, "{copies:?}");
        let plan = planned(runs[4], played.pack_up_to_bytes, false);
        played.counted(out.report.readback, &plan, &copies);
    }
}

#[test]
fn without_room_in_the_budget_lists_have_copies_of_their_own() {
    let run = run(20_000, 100, 50);
    let mut played = open(|runtime| runtime.with_memory(1 << 30));
    played.run(run, false);
    let says = "lists packed into one copy wanted, for which the budget has no memory";
    assert!(!played.explain().contains(says), "{}", played.explain());
    let (_, with_slab) = played.runtime.memory().expect("there is a budget");
    let mut played = open(|runtime| runtime.with_memory(with_slab - 1));
    for _ in 0..2 {
        let copies = played.run(run, true);
        // Control words and what is known, a buffer, and the four columns.
        assert_eq!(copies.len(), 6, "{copies:?}");
    }
    assert!(played.explain().contains(says), "{}", played.explain());
    let (_, without) = played.runtime.memory().expect("there is a budget");
    let sizes = Sizes {
        scalars: [run.room, run.items, run.of, run.pairs_of]
            .map(u64::from)
            .to_vec(),
        ..Sizes::default()
    };
    let slab = compact::lists_bytes(&finds::PLAN.program(), &sizes, played.pack_up_to_bytes);
    assert_eq!((with_slab - without, slab), (4 * 16_384, 4 * 16_384));
}

#[test]
fn without_room_on_the_device_lists_have_copies_of_their_own() {
    let run = run(20_000, 100, 50);
    let fake = Fake::default();
    let open_on = |fake: &Fake| {
        let cuda = fake.open().expect("nothing fails");
        let runtime = vyre_tests::on(cuda).with_route(RoutePolicy::Interpreter);
        let session = finds::Session::new(&runtime, ()).expect("it fits");
        (runtime, session)
    };
    let (_runtime, mut session) = open_on(&fake);
    check(&session.run(run).expect("no trap"), run);
    let spec = Spec {
        memory_bytes: fake.held().bytes,
        ..Spec::default()
    };
    // Growing, the image is there twice for a moment, for which this one has no room.
    let fake = Fake::new(spec);
    let (_runtime, mut session) = open_on(&fake);
    for _ in 0..2 {
        let out = session.run(run).expect("no trap");
        check(&out, run);
        assert_eq!(out.report.readback.packed, 1);
    }
    let explained = session.explain().to_string();
    let says = "lists packed into one copy wanted, for which the device has no memory";
    assert!(explained.contains(says), "{explained}");
}

/// Of queries that have all CTAs, because their lists have too much room for a record each.
fn large(items: u32, of: u32) -> finds::Run {
    finds::Run {
        room: 1_000_000,
        ..run(items, of, 50)
    }
}

/// Runs a batch and checks it; the calls of each launch, from it up to the next one, and how many launches there were.
fn batch(played: &mut Played, runs: &[finds::Run]) -> Vec<String> {
    played.copies();
    let from = played.seen;
    for run in runs {
        played.session.submit(*run, 0);
    }
    let results = played.session.run_batch().expect("it runs").results;
    for (run, (_, out)) in runs.iter().zip(results) {
        let out = out.expect("no trap");
        check(&out, *run);
        let (plan, read) = (
            planned(*run, played.pack_up_to_bytes, false),
            out.report.readback,
        );
        assert_eq!(
            (
                read.packed,
                read.packed_bytes,
                read.direct,
                read.direct_bytes,
                read.full_bytes
            ),
            (
                plan.packed.len() as u32,
                plan.compact_bytes,
                plan.direct.len() as u32,
                plan.direct_bytes,
                plan.full_bytes
            )
        );
    }
    let text = played.transcript.text();
    let launches = text[from..].split(": launch (").skip(1);
    launches.map(str::to_owned).collect()
}

fn waits(calls: &str) -> usize {
    calls.matches("wait for event").count()
}

#[test]
fn of_queries_that_find_the_same_two_are_on_their_way() {
    let mut played = open(|runtime| runtime);
    let same = [large(10_000, 100); 6];
    // Nothing is known before two have found the same.
    let calls = batch(&mut played, &same);
    assert_eq!(calls.len(), 6);
    assert!(waits(&calls[0]) > 0 && waits(&calls[1]) > 0, "{calls:?}");
    assert_eq!(waits(&calls[2]), 0, "{calls:?}");
    let calls = batch(&mut played, &same);
    assert_eq!((calls.len(), waits(&calls[0])), (6, 0), "{calls:?}");
}

#[test]
fn a_query_whose_results_are_overtaken_runs_again() {
    let mut played = open(|runtime| runtime);
    let few = large(10_000, 100);
    batch(&mut played, &[few; 3]);
    // More than is on its way, packed or not: it runs again, and so may the one behind it.
    for more in [large(10_000, 10), large(10_000, 1)] {
        let calls = batch(&mut played, &[few, few, more, few, few, few]);
        assert!((7..=8).contains(&calls.len()), "{}", calls.len());
        batch(&mut played, &[few; 3]);
    }
}

#[test]
fn queries_with_records_of_their_own_count_what_they_hold() {
    let mut played = open(|runtime| runtime);
    let runs = [100, 10, 0].map(|of| finds::Run {
        room: 1_000,
        ..run(5_000, of, 50)
    });
    for run in runs {
        played.session.submit(run, 0);
    }
    played.copies();
    let results = played.session.run_batch().expect("it runs").results;
    let copies: u64 = played.copies().iter().sum();
    let mut copied = 0;
    for (run, (_, out)) in runs.into_iter().zip(results) {
        let out = out.expect("no trap");
        check(&out, run);
        let read = out.report.readback;
        assert_eq!(read.full_bytes, 3 + 4 * 1_000 + 17 * 1_000);
        assert_eq!(
            (read.direct, read.packed),
            (0, 2 + u32::from(run.of != 0) + 3)
        );
        copied += read.copied_bytes;
    }
    assert_eq!(copied, copies);
}

#[test]
fn results_in_locked_pages_and_lists_come_together() {
    let mut played = open(|runtime| runtime);
    let run = run(20_000, 100, 50);
    let mut out = finds::Output::default();
    for _ in 0..3 {
        let pinned = played.session.run_pinned(run).expect("no trap");
        check(&pinned, run);
        // Copies to locked pages are not told apart.
        let plan = planned(run, played.pack_up_to_bytes, false);
        let read = pinned.report.readback;
        assert_eq!(read.copied_bytes, control_bytes() + plan.selected_bytes);
        assert_eq!(read.packed_bytes, plan.compact_bytes);
        played.copies();
        drop(pinned);
        played.session.run_into(run, &mut out).expect("no trap");
        let copies = played.copies();
        check(&out, run);
        assert_eq!(copies.len(), 2, "{copies:?}");
    }
}
