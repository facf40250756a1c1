//! What the evaluator says of shaders that do what a device may leave open, and of those that do not.

use shader_evaluator::machine::{Memory, Random, Shader, Wrong};
use std::collections::HashMap;

/// Runs two workgroups of a body over eight words, of which the first four are 10, 11, 12 and 13.
fn ran(body: &str, seed: u64) -> Result<Vec<Option<u32>>, Wrong> {
    let text = format!(
        "@group(0) @binding(1) var<storage, read_write> words: array<u32>;
        @group(0) @binding(2) var<storage, read_write> cells: array<atomic<u32>>;
        var<workgroup> shared_words: array<u32, 4>;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {{
            {body}
        }}"
    );
    let shader = Shader::from_wgsl(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut words = Memory::new("words", 8);
    for at in 0..4 {
        words.set(at, 10 + at as u32)?;
    }
    let mut cells = Memory::new("cells", 2);
    cells.set(0, 0)?;
    let mut bound = HashMap::from([(1, words), (2, cells)]);
    shader.dispatch(2, &mut bound, &mut Random(seed))?;
    Ok((0..8).map(|at| bound[&1].get(at).ok()).collect())
}

fn wrong(body: &str) -> String {
    ran(body, 0).expect_err("it is wrong").to_string()
}

#[test]
fn what_nothing_wrote_is_not_read() {
    assert_eq!(
        wrong("words[0] = words[5];"),
        "word 5 of words is read before anything is written to it"
    );
    let local = wrong("var x: u32; if lane > 9u { x = 1u; } words[0] = x;");
    assert_eq!(
        local,
        "word 0 of x is read before anything is written to it"
    );
    let shared = wrong("words[0] = shared_words[lane];");
    assert!(
        shared.ends_with("of shared_words is read before anything is written to it"),
        "{shared}"
    );
}

#[test]
fn indices_and_operands_are_those_that_have_a_meaning() {
    assert_eq!(
        wrong("words[words[0]] = 1u;"),
        "word 10 of words is outside of it: it has 8"
    );
    assert_eq!(
        wrong("shared_words[words[0]] = 1u;"),
        "word 10 of an array is outside of it: it has 4"
    );
    let zero = "Divide of 0x1 and 0x0 as Uint has no result that holds everywhere";
    assert_eq!(wrong("words[0] = 1u / (words[0] - 10u);"), zero);
    let far = "ShiftLeft of 0x1 and 0x20 as Uint has no result that holds everywhere";
    assert_eq!(wrong("words[0] = 1u << (words[0] + 22u);"), far);
}

#[test]
fn invocations_wait_for_each_other_at_a_barrier() {
    let turned = "shared_words[lane] = words[lane];
        workgroupBarrier();
        if group.x == 0u { words[4u + lane] = shared_words[3u - lane]; }";
    for seed in 0..20 {
        let words = ran(turned, seed).expect("it is right");
        assert_eq!(words[4..], [Some(13), Some(12), Some(11), Some(10)]);
    }
    let some = wrong("if lane < 2u { workgroupBarrier(); }");
    assert_eq!(some, "not all invocations of a workgroup come to a barrier");
}

/// The order is the seed's, and a weak exchange fails now and then.
#[test]
fn a_seed_decides_the_order() {
    let numbered = "words[lane] = atomicAdd(&cells[0], 1u);";
    let orders: Vec<_> = (0..8)
        .map(|seed| ran(numbered, seed).expect("it is right"))
        .collect();
    assert!(orders.iter().any(|order| *order != orders[0]));
    assert_eq!(ran(numbered, 5), Ok(orders[5].clone()));
    let tried = "words[4u + lane] = select(1u, 0u, atomicCompareExchangeWeak(&cells[0], 0u, 0u).exchanged);";
    let failed = (0..8).any(|seed| ran(tried, seed).expect("it is right")[4..].contains(&Some(1)));
    assert!(failed);
}
