//! `#[kernel]`s that are called many times: on a GPU their sessions stay between calls.

use std::time::Instant;
use vyre::RunError;
use vyre::core::run::pass::Pass;
use vyre::core::vir0::find;
use vyre::prelude::*;
use vyre_tests::backend_tests;
use vyre_tests::passes::doubled;

#[kernel]
fn saxpy(a: f32, x: &f32, y: &mut f32) {
    *y += a * *x;
}

#[kernel]
fn double(i: Index, x: &mut u32) {
    *x = 2 * *x + i;
}

/// An element of each item, wherever the caller says.
#[kernel]
fn gather(at: &u32, from: &Buf<u8>, even: &mut bool) {
    *even = from[*at] & 1 == 0;
}

fn call_saxpy(runtime: &Runtime, n: usize) {
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let mut y: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    saxpy::run(runtime, 2.0, &x, &mut y).expect("no trap");
    let expected = (0..n).map(|i| (i % 7) as f32 + 2.0 * (i % 1000) as f32);
    assert!(y.iter().copied().eq(expected), "{n} elements");
}

fn call_double(runtime: &Runtime, n: u32) {
    let mut x: Vec<u32> = (0..n).collect();
    double::run(runtime, &mut x).expect("no trap");
    assert!(x.iter().copied().eq((0..n).map(|i| 3 * i)), "{n} elements");
}

fn kernels_take_turns_with_slices_of_any_length(runtime: &Runtime) {
    for n in [1, 1_000, 0, 100_003, 5, 70_000, 100_003] {
        call_saxpy(runtime, n as usize);
        call_double(runtime, n);
    }
}

fn threads_call_a_kernel_at_the_same_time(runtime: &Runtime) {
    std::thread::scope(|scope| {
        for t in 0..6 {
            let runtime = runtime.clone();
            scope.spawn(move || {
                for k in 0..8 {
                    call_saxpy(&runtime, 1 + 7_000 * ((t + k) % 5));
                    call_double(&runtime, 3_000 * t as u32);
                }
            });
        }
    });
}

fn after_an_error_slices_are_as_before_and_the_kernel_works_on(runtime: &Runtime) {
    let n = 50_000;
    let from: Vec<u8> = (0..n).map(|i| (i % 251) as u8).collect();
    let at: Vec<u32> = (0..n).map(|i| (i * 7) % n).collect();
    let mut outside = at.clone();
    outside[40_000] = n;
    let expected: Vec<bool> = at.iter().map(|i| (i % 251) % 2 == 0).collect();
    for _ in 0..3 {
        let mut even = vec![true; n as usize];
        let trap = gather::run(runtime, &outside, &from, &mut even).expect_err("outside");
        assert_eq!(trap.trap().map(|t| t.item), Some(Some(40_000)));
        assert!(even.iter().all(|&e| e), "{}", runtime.backend());
        gather::run(runtime, &at, &from, &mut even).expect("no trap");
        assert_eq!(even, expected);
        // Slices of different lengths.
        assert!(gather::run(runtime, &at, &from, &mut even[1..]).is_err());
    }
}

fn what_waits_for_a_call_refuses_nobody(runtime: &Runtime) {
    let backend = runtime.backend();
    // 1,200,000 bytes a call.
    let runtime = runtime.clone().with_memory(1_600_000);
    call_saxpy(&runtime, 150_000);
    let (total, used) = runtime.memory().expect("there is a budget");
    assert!(used <= total);
    assert_eq!(used > 0, backend == "cuda", "{used} bytes wait");
    // Another kernel, a session, a call, and a session that grows have nearly all of it in turn.
    call_double(&runtime, 350_000);
    let mut held = doubled::Session::new(&runtime, ()).expect("it fits");
    assert_eq!(
        held.run(doubled::Run { n: 1_000 }).expect("it fits").twice[9],
        18
    );
    drop(held);
    call_saxpy(&runtime, 150_000);
    let mut held = doubled::Session::new(&runtime, ()).expect("it fits");
    call_double(&runtime, 300_000);
    assert_eq!(
        held.run(doubled::Run { n: 350_000 })
            .expect("it fits")
            .twice[9],
        18
    );
    // There is no room for this one, whatever is given back.
    let mut y = vec![0; 100_000];
    let refused = double::run(&runtime, &mut y).expect_err("there is no room");
    let memory = matches!(refused, vyre::Error::Run(RunError::Memory { .. }));
    assert!(memory, "{refused}");
    drop(held);
    call_double(&runtime, 100_000);
}

#[kernel]
fn fill(i: Index, seed: u32, out: &mut u32, squares: &mut u64) {
    let mut h = i ^ seed;
    for _ in 0..3 {
        h = h.wrapping_mul(5);
    }
    *out = h;
    if *out & 1 == 1 {
        *squares = u64::from(h) * u64::from(h);
        return;
    }
    *out += 1;
}

#[kernel]
fn fill_behind_a_return(i: Index, out: &mut u32) {
    if i < 5 {
        return;
    }
    *out = i;
}

#[kernel]
fn fill_in_a_branch(i: Index, out: &mut u32) {
    if i >= 5 {
        *out = i;
    }
}

#[kernel]
fn fill_in_a_loop(i: Index, out: &mut u32) {
    for k in 0..i / 5 {
        *out = i.max(k);
    }
}

#[kernel]
fn fill_after_a_look(i: Index, out: &mut u32) {
    let before = *out;
    *out = if before > 7 { before } else { i };
}

/// The fields of a kernel that are stored before they are read, by every item.
fn overwritten<P: Pass>() -> Vec<String> {
    let program = P::PARTS.program().expect("it is a program");
    let ids = find::overwritten(&program).into_iter();
    ids.map(|id| program.buffers[id.index()].name.clone())
        .collect()
}

#[test]
fn what_every_item_stores_before_it_reads_is_known() {
    assert_eq!(overwritten::<fill::Pass>(), ["out"]);
    assert_eq!(overwritten::<gather::Pass>(), ["even"]);
    let none = [
        overwritten::<saxpy::Pass>(),
        overwritten::<double::Pass>(),
        overwritten::<fill_behind_a_return::Pass>(),
        overwritten::<fill_in_a_branch::Pass>(),
        overwritten::<fill_in_a_loop::Pass>(),
        overwritten::<fill_after_a_look::Pass>(),
    ];
    assert!(none.iter().all(Vec::is_empty), "{none:?}");
}

fn slices_that_are_stored_in_part_keep_the_rest(runtime: &Runtime) {
    for n in [10, 20_000] {
        let before = || (0..n).map(|i| i % 9 + 100).collect::<Vec<u32>>();
        let rest = |i: u32| if i < 5 { i % 9 + 100 } else { i };
        let mut out = before();
        fill_behind_a_return::run(runtime, &mut out).expect("no trap");
        assert!(out.iter().copied().eq((0..n).map(rest)));
        let mut out = before();
        fill_in_a_branch::run(runtime, &mut out).expect("no trap");
        assert!(out.iter().copied().eq((0..n).map(rest)));
        let mut out = before();
        fill_in_a_loop::run(runtime, &mut out).expect("no trap");
        assert!(out.iter().copied().eq((0..n).map(rest)));
        let mut out = before();
        fill_after_a_look::run(runtime, &mut out).expect("no trap");
        assert_eq!(out, before());
        let (mut out, mut squares) = (before(), vec![7; n as usize]);
        fill::run(runtime, 9, &mut out, &mut squares).expect("no trap");
        for i in 0..n {
            let h = (i ^ 9).wrapping_mul(125);
            let expected = match h & 1 {
                1 => (h, u64::from(h) * u64::from(h)),
                _ => (h + 1, 7),
            };
            assert_eq!(
                (out[i as usize], squares[i as usize]),
                expected,
                "{i} of {n}"
            );
        }
    }
}

backend_tests!(
    slices_that_are_stored_in_part_keep_the_rest,
    kernels_take_turns_with_slices_of_any_length,
    threads_call_a_kernel_at_the_same_time,
    after_an_error_slices_are_as_before_and_the_kernel_works_on,
    what_waits_for_a_call_refuses_nobody,
);

/// Prints what a call takes, with `--nocapture`.
#[test]
#[ignore = "needs a CUDA device"]
fn what_a_small_call_costs() {
    let runtime = vyre_tests::cuda();
    let x = vec![1.0; 1_000];
    let mut y = vec![0.0; 1_000];
    let mut call = || {
        let started = Instant::now();
        saxpy::run(&runtime, 1.0, &x, &mut y).expect("no trap");
        started.elapsed()
    };
    let first = call();
    let mut warm: Vec<_> = (0..1_000).map(|_| call()).collect();
    warm.sort();
    let (best, median) = (warm[0], warm[500]);
    println!("saxpy of 1,000: first call {first:?}, then {best:?} at best, {median:?} as a rule");
    assert_eq!(y[999], 1_001.0);
}

/// The same for calls that take as long as their copies.
#[test]
#[ignore = "needs a CUDA device"]
fn what_a_large_call_costs() {
    let runtime = vyre_tests::cuda();
    let n = 64 << 20;
    let x = vec![1.0; n];
    let mut y = vec![0.0; n];
    let mut times = Vec::new();
    for _ in 0..6 {
        let started = Instant::now();
        let report = saxpy::run(&runtime, 1.0, &x, &mut y).expect("no trap");
        times.push((started.elapsed(), report.device_ns));
    }
    println!("saxpy of 64 M, wall and device: {times:?}");
    assert!(y.iter().all(|&y| y == 6.0));
}
