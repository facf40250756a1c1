//! Makes a failing kernel small: candidates from edited choices are compiled and run together, the smallest that still
//! fails is next.

use crate::generate::{Choices, kernel};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// Candidates compiled at once.
const TOGETHER: usize = 48;

/// Edits of the choices, the boldest first: pieces left out, pieces made plain.
fn candidates(choices: &[u32], skip: usize) -> Vec<Vec<u32>> {
    let n = choices.len();
    let mut all = Vec::new();
    let mut piece = (n / 2).max(1);
    loop {
        for start in (0..n).step_by(piece) {
            let end = (start + piece).min(n);
            all.push([&choices[..start], &choices[end..]].concat());
            if choices[start..end].iter().any(|&c| c != 0) {
                let zeros = vec![0; end - start];
                all.push([&choices[..start], &zeros, &choices[end..]].concat());
            }
        }
        if piece == 1 {
            break;
        }
        piece = piece.div_ceil(2);
    }
    all.into_iter().skip(skip).take(TOGETHER).collect()
}

fn size(choices: &[u32]) -> (usize, u64) {
    let source = kernel("k0", Choices::replay(choices.to_vec()));
    let sum = source.choices.iter().map(|&c| u64::from(c)).sum();
    (source.text.len(), sum)
}

/// Which of the candidates fail; `None` when they do not compile.
fn failing(candidates: &[Vec<u32>]) -> Option<Vec<usize>> {
    let lines: Vec<String> = candidates
        .iter()
        .map(|c| c.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
        .collect();
    let file = env::temp_dir().join(format!("vyre-difftest-{}.txt", std::process::id()));
    fs::write(&file, lines.join("\n")).ok()?;
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "-p", "difftest"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("VYRE_DIFFTEST_CHOICES", &file)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !text.contains("comparisons") {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let numbers = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once(", k")?;
        rest.split_once(", input")?.0.parse().ok()
    });
    Some(numbers.collect())
}

/// Prints the smallest kernel found that fails as this one does.
pub(crate) fn shrink(mut best: Vec<u32>) -> ExitCode {
    let mut skip = 0;
    loop {
        let tried = candidates(&best, skip);
        if tried.is_empty() {
            break;
        }
        let fits: Vec<Vec<u32>> = tried
            .iter()
            .filter(|c| size(c) < size(&best))
            .cloned()
            .collect();
        let smallest = match fits.is_empty() {
            true => None,
            false => match failing(&fits) {
                Some(found) => found.into_iter().min_by_key(|&i| size(&fits[i])),
                None => return ExitCode::from(2),
            },
        };
        match smallest {
            Some(i) => {
                best = kernel("k0", Choices::replay(fits[i].clone())).choices;
                while best.last() == Some(&0) {
                    best.pop();
                }
                skip = 0;
                eprintln!("{} choices, {} bytes", best.len(), size(&best).0);
            }
            None => skip += TOGETHER,
        }
    }
    println!("{}", kernel("k0", Choices::replay(best)).text);
    ExitCode::SUCCESS
}
