//! What the checker finds, and what it lets pass, in small.

use ptx_emulator::{Failure, Launch, Machine, Module, Report, explore};
use std::rc::Rc;

/// Where the words are.
const AT: u64 = 0x1000;

/// Explores a kernel of two CTAs, whose words end as one of these.
fn explored(body: &str, ends: &[&[u32]]) -> Result<Report, Failure> {
    let text = format!(
        ".version 7.0 .target sm_80 .address_size 64
        .visible .entry k(.param .u64 at) {{
            .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [at];
            mov.u32 %r1, %tid.x;
            setp.ne.s32 %p1, %r1, 0;
            @%p1 ret;
            mov.u32 %r2, %ctaid.x;
            setp.ne.s32 %p2, %r2, 0;
            @%p2 bra $second;
            {body}
        }}"
    );
    let module = Rc::new(Module::parse(&text).expect("it is PTX"));
    let launch = Launch {
        ctas: 2,
        threads: 32,
        cluster: 1,
        shared_bytes: 0,
    };
    let mut machine = Machine::launch(module, "k", launch, &[AT]);
    machine.memory.map(AT, &[0; 64]);
    explore(machine, 10_000, &|end| {
        let words = end.memory.bytes(AT, 64);
        let word =
            |i: usize| u32::from_le_bytes(words[4 * i..][..4].try_into().expect("four bytes"));
        let held: Vec<u32> = (0..ends[0].len()).map(word).collect();
        match ends.contains(&held.as_slice()) {
            true => Ok(()),
            false => Err(format!("{held:?}")),
        }
    })
}

/// Store buffering: both may miss the other's store.
#[test]
fn relaxed_stores_may_be_seen_late() {
    let body = "
            st.relaxed.gpu.global.u32 [%rd1], 1;
            ld.relaxed.gpu.global.u32 %r3, [%rd1+16];
            st.global.u32 [%rd1+32], %r3;
            ret;
        $second:
            st.relaxed.gpu.global.u32 [%rd1+16], 1;
            ld.relaxed.gpu.global.u32 %r3, [%rd1];
            st.global.u32 [%rd1+40], %r3;
            ret;";
    let all = |a, b| [1, 0, 0, 0, 1, 0, 0, 0, a, 0, b];
    let [both, first, second, none] = [all(1, 1), all(1, 0), all(0, 1), all(0, 0)];
    explored(body, &[&both, &first, &second, &none]).expect("all of these may be");
    let found = explored(body, &[&both, &first, &second]).unwrap_err();
    assert_eq!(found.what, format!("{none:?}"));
}

/// A word, and a flag that says that it is there.
fn passing(store: &str, load: &str, data: &str) -> String {
    format!(
        "
            st.{data}global.u32 [%rd1], 7;
            {store}
            ret;
        $second:
            {load}
            setp.eq.u32 %p3, %r3, 0;
            @%p3 bra $second;
            ld.{data}global.u32 %r4, [%rd1];
            st.global.u32 [%rd1+32], %r4;
            ret;"
    )
}

const STORE: &str = "st.release.gpu.global.u32 [%rd1+16], 1;";
const LOAD: &str = "ld.acquire.gpu.global.u32 %r3, [%rd1+16];";
const END: [u32; 9] = [7, 0, 0, 0, 1, 0, 0, 0, 7];

#[test]
fn a_release_that_is_acquired_hands_over_what_was_before() {
    let relaxed = "relaxed.gpu.";
    explored(&passing(STORE, LOAD, ""), &[&END]).expect("it is handed over");
    explored(&passing(STORE, LOAD, relaxed), &[&END]).expect("it is handed over");
    let fenced = format!("membar.gl; {}", STORE.replace("release", "relaxed"));
    explored(&passing(&fenced, LOAD, relaxed), &[&END]).expect("a fence releases");
    let fenced = format!("{} fence.acq_rel.gpu;", LOAD.replace("acquire", "relaxed"));
    explored(&passing(STORE, &fenced, relaxed), &[&END]).expect("a fence acquires");
    let added = STORE.replace(
        "st.release.gpu.global.u32",
        "red.release.gpu.global.add.u32",
    );
    explored(&passing(&added, LOAD, ""), &[&END]).expect("an atomic releases");
}

#[test]
fn without_release_or_acquire_nothing_is_handed_over() {
    let relaxed = "relaxed.gpu.";
    let (store, load) = (
        STORE.replace("release", "relaxed"),
        LOAD.replace("acquire", "relaxed"),
    );
    for (store, load) in [(store.as_str(), LOAD), (STORE, load.as_str())] {
        let found = explored(&passing(store, load, relaxed), &[&END]).unwrap_err();
        assert_eq!(found.what, "[7, 0, 0, 0, 1, 0, 0, 0, 0]", "{store} {load}");
        let found = explored(&passing(store, load, ""), &[&END]).unwrap_err();
        assert!(
            found
                .what
                .starts_with("a plain load of 4 bytes at 0x1000 is not ordered"),
            "{found}"
        );
    }
    let cta = (STORE.replace("gpu", "cta"), LOAD.replace("gpu", "cta"));
    for (store, load) in [(cta.0.as_str(), LOAD), (STORE, cta.1.as_str())] {
        let found = explored(&passing(store, load, relaxed), &[&END]).unwrap_err();
        assert!(
            found.what.contains("bytes at 0x1010 is not ordered"),
            "{found}"
        );
    }
}

#[test]
fn who_waits_for_what_never_comes_is_found() {
    let body = "
            ret;
        $second:
            ld.relaxed.gpu.global.u32 %r3, [%rd1];
            setp.eq.u32 %p3, %r3, 0;
            @%p3 bra $second;
            ret;";
    let found = explored(body, &[&[0]]).unwrap_err();
    assert!(
        found
            .what
            .ends_with("states can reach no end: warps wait forever"),
        "{found}"
    );
}

#[test]
fn atomics_lose_nothing_and_what_is_none_does() {
    let adds = "red.relaxed.gpu.global.add.u32 [%rd1], 1; ret;";
    explored(&format!("{adds} $second: {adds}"), &[&[2]]).expect("both are counted");
    let adds = "
            ld.relaxed.gpu.global.u32 %r3, [%rd1];
            add.u32 %r3, %r3, 1;
            st.relaxed.gpu.global.u32 [%rd1], %r3;
            ret;";
    let found = explored(&format!("{adds} $second: {adds}"), &[&[2]]).unwrap_err();
    assert_eq!(found.what, "[1]");
}

/// The first warp sets a word, and the second changes it when it sees a flag: nothing but what is handed over with the flag
/// says that the one comes before the other.
#[test]
fn a_write_may_land_before_a_store_that_it_does_not_know_of() {
    let passing = |release: &str, acquire: &str, change: &str| {
        format!(
            "
            st.relaxed.gpu.global.u32 [%rd1], 5;
            red.{release}.gpu.global.add.u32 [%rd1+16], 1;
            ret;
        $second:
            ld.{acquire}.gpu.global.u32 %r3, [%rd1+16];
            setp.eq.u32 %p3, %r3, 0;
            @%p3 bra $second;
            {change}
            ret;"
        )
    };
    let end = |word| [word, 0, 0, 0, 1];
    for (change, after) in [
        ("red.relaxed.gpu.global.add.u32 [%rd1], 1;", 6),
        ("st.relaxed.gpu.global.u32 [%rd1], 7;", 7),
        ("atom.relaxed.gpu.global.exch.b32 %r4, [%rd1], 8;", 8),
    ] {
        let (kept, lost) = (end(after), end(5));
        explored(&passing("release", "acquire", change), &[&kept]).expect("it comes after");
        for (release, acquire) in [("relaxed", "acquire"), ("release", "relaxed")] {
            let body = passing(release, acquire, change);
            explored(&body, &[&kept, &lost]).expect("it is kept or lost");
            let found = explored(&body, &[&kept]).unwrap_err();
            assert_eq!(found.what, format!("{lost:?}"));
        }
    }
}

/// Atomics have an order of their own, in which nothing is lost.
#[test]
fn an_atomic_that_lands_early_takes_no_other_atomic_with_it() {
    let body = "
            red.relaxed.gpu.global.add.u32 [%rd1], 5;
            red.relaxed.gpu.global.add.u32 [%rd1+16], 1;
            ret;
        $second:
            ld.relaxed.gpu.global.u32 %r3, [%rd1+16];
            setp.eq.u32 %p3, %r3, 0;
            @%p3 bra $second;
            atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 1;
            st.global.u32 [%rd1+32], %r4;
            ret;";
    explored(body, &[&[6, 0, 0, 0, 1, 0, 0, 0, 5]]).expect("nothing is lost");
}

#[test]
fn atomics_of_a_cta_are_none_for_others() {
    let adds = |scope: &str| format!("red.relaxed.{scope}.global.add.u32 [%rd1], 1; ret;");
    for (first, second) in [("cta", "gpu"), ("gpu", "cta"), ("cta", "cta")] {
        let found = explored(
            &format!("{} $second: {}", adds(first), adds(second)),
            &[&[2]],
        );
        let found = found.unwrap_err().what;
        assert!(
            found.starts_with("a strong store of 4 bytes at 0x1000 is not ordered with a strong"),
            "{found}"
        );
    }
}
