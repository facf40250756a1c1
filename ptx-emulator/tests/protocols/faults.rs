//! Faults that somebody could write into the text, each of which the checker finds.

use super::*;

/// A change to the text.
type Change = fn(&str) -> String;

/// Faults that somebody could write into the grid's rounds, and what the checker says of them.
const FAULTS: [(&str, Change, &str); 8] = [
    (
        "arrivals release nothing",
        |text| text.replace("red.release.gpu", "red.relaxed.gpu"),
        "is not ordered with a plain store by CTA 0",
    ),
    (
        "arrivals are of their own CTA",
        |text| text.replace("red.release.gpu", "red.release.cta"),
        "is not ordered with a strong store by CTA 0",
    ),
    (
        "who waits acquires nothing",
        |text| text.replace("ld.acquire.gpu.global.u64", "ld.relaxed.gpu.global.u64"),
        "is not ordered with a plain store by CTA 0",
    ),
    (
        "arrivals are no atomics",
        not_atomic,
        "is not ordered with a plain store by CTA 0",
    ),
    (
        "nobody keeps what a word was",
        |text| at_barriers(text, |_| String::new()),
        "warps wait forever",
    ),
    (
        "there is one word",
        |text| in_entry(text, "st.shared.u32 \t[vyre_state+20]", |_| String::new()),
        "warps wait forever",
    ),
    (
        "no warp waits for the others of its CTA",
        |text| in_entry(text, "bar.sync", |_| String::new()),
        "of shared memory is not ordered with",
    ),
    (
        "lanes of a warp do not wait for each other",
        |text| in_entry(text, "bar.warp.sync", |_| String::new()),
        "of shared memory is not ordered with",
    ),
];

/// Arrivals load a word, and store it with what they add.
fn not_atomic(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let arrival = line.trim().strip_prefix("red.release.gpu.global.add.u64 [");
        let Some((at, word)) = arrival.and_then(|operands| operands.split_once("], ")) else {
            return line.to_owned();
        };
        format!(
            "{{ .reg .b64 %sum; ld.relaxed.gpu.global.u64 %sum, [{at}]; add.s64 %sum, %sum, {word} \
             st.release.gpu.global.u64 [{at}], %sum; }}"
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Changes the line of every barrier where its CTA keeps what the word is, given the register with eight times the word's
/// number.
fn at_barriers(text: &str, change: fn(&str) -> String) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for at in 1..lines.len() {
        let is_barrier =
            lines[at - 1].ends_with(", vyre_passed;") && lines[at + 1].contains("ld.shared.u64");
        if !is_barrier {
            continue;
        }
        let registers = lines[at]
            .trim()
            .trim_end_matches(';')
            .strip_prefix("add.s32");
        let mut registers = registers
            .expect("there are several words")
            .split(',')
            .map(str::trim);
        let (place, number) = (registers.next(), registers.nth(1));
        let (place, number) = place.zip(number).expect("a sum has three registers");
        let keeps = format!("st.shared.u64 \t[{place}], ");
        let rest = lines[at..].iter().take_while(|line| *line != "}");
        if let Some(kept) = rest
            .into_iter()
            .position(|line| line.trim().starts_with(&keeps))
        {
            lines[at + kept] = change(number);
        }
    }
    lines.join("\n")
}

/// Words are zeroed instead of counted up: each by CTA 0 when it has passed the barrier after it, as it was done once.
fn zeroed(text: &str) -> String {
    at_barriers(text, |number| {
        format!(
            "{{
                .reg .pred %others; .reg .b32 %zero<2>; .reg .b64 %word<2>;
                mov.u32 %zero0, %ctaid.x;
                setp.ne.s32 %others, %zero0, 0;
                add.s32 %zero1, {number}, 16;
                rem.u32 %zero1, %zero1, 24;
                shl.b32 %zero1, %zero1, 4;
                cvt.u64.u32 %word0, %zero1;
                ld.shared.u64 %word1, [vyre_shared+8];
                add.s64 %word0, %word0, %word1;
                mov.u64 %word1, 0;
                @!%others st.relaxed.gpu.global.u64 [%word0], %word1;
            }}"
        )
    })
}

/// Changes the lines of the entry that hold something.
fn in_entry(text: &str, what: &str, change: fn(&str) -> String) -> String {
    let entry = text
        .find(".visible .entry vyre_megakernel")
        .expect("the entry is there");
    let lines = text[entry..].lines().map(|line| match line.contains(what) {
        true => change(line),
        false => line.to_owned(),
    });
    text[..entry].to_owned() + &lines.collect::<Vec<_>>().join("\n")
}

/// Whether the checker says so of a changed text.
fn finds(name: &str, caught: &Caught, (text, in_turn_from): (&str, u32), says: &str) {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut machine = caught.machine(Rc::new(module), |launch| launch);
    machine.in_turn_from = in_turn_from;
    let found = explore(machine, MOST, &|end| caught.judge(end));
    let found = found.err().unwrap_or_else(|| panic!("{name}: not found"));
    println!("fault {name}: found after {} states", found.report.states);
    assert!(found.what.contains(says), "{name}: {}", found.what);
    count(0, 0, [1, 1]);
}

#[test]
fn faults_are_found() {
    let caught = search(&fan(), (2, 1), little_for_searches());
    for (name, change, says) in FAULTS {
        let text = change(MEGAKERNEL);
        assert_ne!(text, MEGAKERNEL, "{name}");
        finds(name, &caught, (&text, u32::MAX), says);
    }
}

/// Between narrow rounds is no fence, so what zeroes a word may land after an arrival, which is lost then.
#[test]
fn words_that_are_zeroed_lose_arrivals_at_narrow_rounds() {
    let caught = narrow::shared_search();
    finds(
        "words are zeroed",
        &caught,
        (&zeroed(MEGAKERNEL), 1),
        "warps wait forever",
    );
    // Where arrivals release what was before them, none is lost.
    let caught = search(&fan(), (2, 1), little_for_searches());
    let module = Module::parse(&zeroed(MEGAKERNEL)).expect("it is PTX");
    let machine = caught.machine(Rc::new(module), |launch| launch);
    explore(machine, MOST, &|end| caught.judge(end)).expect("none is lost");
}
