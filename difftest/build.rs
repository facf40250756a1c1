//! Writes the kernels that this crate compiles: `VYRE_DIFFTEST_KERNELS` of them (40), `VYRE_DIFFTEST_FIRST` (0) and the
//! next, from `VYRE_DIFFTEST_SEED` (1), or one for each line of choices in the file `VYRE_DIFFTEST_CHOICES`. Behind
//! them come the next `VYRE_DIFFTEST_PORTABLE` (33) kernels of the seed that shaders can have.

#[expect(
    dead_code,
    reason = "the program shows and shrinks kernels by their choices"
)]
#[path = "src/generate.rs"]
mod generate;

use generate::{Choices, kernel};
use std::{env, fs, path::PathBuf};

fn number(name: &str, default: u64) -> u64 {
    println!("cargo::rerun-if-env-changed={name}");
    match env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")),
        Err(_) => default,
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/generate.rs");
    println!("cargo::rerun-if-env-changed=VYRE_DIFFTEST_CHOICES");
    let seed = number("VYRE_DIFFTEST_SEED", 1);
    let first = number("VYRE_DIFFTEST_FIRST", 0) as u32;
    let count = number("VYRE_DIFFTEST_KERNELS", 40) as u32;
    let kernels: Vec<_> = match env::var("VYRE_DIFFTEST_CHOICES") {
        Ok(path) => {
            println!("cargo::rerun-if-changed={path}");
            let text = fs::read_to_string(path).expect("the file of choices");
            let lines = text.lines().map(|line| {
                let words = line.split_whitespace();
                words
                    .map(|w| w.parse().expect("choices are numbers"))
                    .collect()
            });
            let choices = lines.map(Choices::replay);
            (0..).zip(choices).map(|(i, c)| named(i, c)).collect()
        }
        Err(_) => {
            let more = number("VYRE_DIFFTEST_PORTABLE", 33) as usize;
            let made = |i| named(i, Choices::seeded(seed, i));
            let others = (first + count..)
                .map(made)
                .filter(|(_, s)| is_portable(&s.text));
            (first..first + count)
                .map(made)
                .chain(others.take(more))
                .collect()
        }
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("kernels.rs"), generate::module(&kernels)).expect("OUT_DIR can be written");
    println!("cargo::rustc-env=VYRE_DIFFTEST_FROM={seed}");
}

/// Whether no target of shaders refuses a kernel, as far as its text tells: the table of `vyre-naga` decides.
fn is_portable(text: &str) -> bool {
    let refused = ["f64", "exact_sum", "Atomic<u64>", "Atomic<i64>"];
    !refused.iter().any(|word| text.contains(word))
}

fn named(i: u32, choices: Choices) -> (String, generate::Source) {
    let name = format!("k{i}");
    let source = kernel(&name, choices);
    (name, source)
}
