//! crate-e: attempts at breaking lists that begin anew, unique lists, filters of edges, and arrays.
//! `crate-e [--backend native|native1|native4|vir0|cuda|compiled|auto|all] [--only w01] [--seed S] [--rounds N] [--large] [--tight] [--traps]`
mod common;
use common::*;
use std::time::{Duration, Instant};
use vyre::RoutePolicy;

macro_rules! programs {
    ($($m:ident),*) => {
        $(mod $m;)*
        const ALL: &[(&str, fn(&Runtime, &mut Rng, &G) -> R)] = &[$((stringify!($m), $m::check)),*];
    };
}
programs!(w01, w02, w03, w04, w05, w06, w07, w08, w09, w10, w11, w12, w13, w14, w15, w16, w17, w19, w21, w22, w23, w24, w25, w26, w27, w28, w29);
mod w18;

fn runtime(name: &str) -> Result<Runtime, Error> {
    Ok(match name {
        "native" => Runtime::native(),
        "native1" => Runtime::native_threads(1)?,
        "native4" => Runtime::native_threads(4)?,
        "vir0" => Runtime::vir0(),
        "among" => Runtime::among(Runtime::native(), [Runtime::vir0()]),
        "cuda" => Runtime::cuda()?.with_route(RoutePolicy::Interpreter),
        "compiled" => Runtime::cuda()?.with_route(RoutePolicy::Compiled),
        _ => Runtime::named(name)?,
    })
}

fn guarded(f: impl FnOnce() -> R) -> R {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)) {
        Ok(r) => r,
        Err(p) => {
            let text = p.downcast_ref::<String>().cloned().or(p.downcast_ref::<&str>().map(|s| s.to_string()));
            Err(format!("PANIC {}", text.unwrap_or_default()))
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |key: &str| args.iter().position(|a| a == key).and_then(|k| args.get(k + 1)).cloned();
    let flag = |key: &str| args.iter().any(|a| a == key);
    let backend = value("--backend").unwrap_or("all".into());
    let names: Vec<String> = match backend.as_str() {
        "all" => ["native", "native1", "native4", "vir0"].map(String::from).to_vec(),
        other => other.split(',').map(String::from).collect(),
    };
    let only = value("--only");
    let seed: u64 = value("--seed").map_or(1, |s| s.parse().unwrap());
    let rounds: u64 = value("--rounds").map_or(1, |s| s.parse().unwrap());
    let mut bad = 0;
    if flag("--plans") {
        return plans();
    }
    for name in &names {
        let rt = match runtime(name) {
            Ok(rt) => rt,
            Err(e) => {
                println!("{name}: {e}");
                bad += 1;
                continue;
            }
        };
        for (program, check) in ALL {
            if only.as_ref().is_some_and(|o| !o.split(',').any(|o| o == *program)) {
                continue;
            }
            let (mut times, mut failures): (Vec<Duration>, Vec<String>) = (vec![], vec![]);
            for round in 0..rounds {
                let mut rng = Rng(seed + round);
                for g in graphs(&mut rng, flag("--large")) {
                    let case = Rng(seed + round).next();
                    let begun = Instant::now();
                    let result = guarded(|| check(&rt, &mut Rng(case), &g));
                    times.push(begun.elapsed());
                    if let Err(e) = result {
                        failures.push(format!("    {} seed {}: {e}", g.name, seed + round));
                    }
                    if flag("--tight") && g.n < 1000 {
                        if let Err(e) = tight(name, &mut |rt| guarded(|| check(rt, &mut Rng(case), &g))) {
                            failures.push(format!("    {} seed {} TIGHT: {e}", g.name, seed + round));
                        }
                    }
                }
            }
            times.sort();
            let all: Duration = times.iter().sum();
            let median = times.get(times.len() / 2).copied().unwrap_or_default();
            println!("{} {program} on {name}: {} cases, median {median:?}, all {all:?}", if failures.is_empty() { "ok  " } else { "FAIL" }, times.len());
            bad += failures.len();
            for f in failures.iter().take(6) {
                println!("{f}");
            }
            if failures.len() > 6 {
                println!("    and {} more", failures.len() - 6);
            }
        }
        if only.is_none() || flag("--traps") {
            let g = w18::graph(&mut Rng(seed));
            let reference = runtime("vir0").unwrap();
            for (program, f, want, first) in w18::ALL {
                let mut said = String::new();
                let r = guarded(|| {
                    let (s, e) = f(&rt, &g)?;
                    said = s.clone();
                    let (there, _) = f(&reference, &g)?;
                    w18::judge(e.as_ref().unwrap(), want, first(&g))?;
                    if s != there {
                        return Err(format!("WRONG differs from vir0:\n      {s}\n      {there}"));
                    }
                    Ok(())
                });
                if let Err(e) = &r {
                    bad += 1;
                    println!("FAIL trap {program} on {name}: {e}");
                }
                if flag("--traps") {
                    println!("trap {program} on {name}: {said}");
                }
            }
        }
    }
    println!("{bad} failures");
    std::process::exit(i32::from(bad > 0));
}

/// The least budget with which a check goes through; whatever is less must be refused, and nothing be wrong.
fn tight(name: &str, check: &mut dyn FnMut(&Runtime) -> R) -> R {
    let (mut low, mut high) = (0u64, 1u64 << 26);
    let mut tried = vec![];
    while low + 1 < high {
        let mid = if tried.len() < 40 { (low + high) / 2 } else { break };
        tried.push(mid);
        let rt = runtime(name).unwrap().with_memory(mid);
        match check(&rt) {
            Ok(()) => high = mid,
            Err(e) if e.contains("bytes are needed") => low = mid,
            Err(e) => return Err(format!("with {mid} bytes: {e}")),
        }
    }
    // Budgets near the least one.
    for k in 0..6 {
        let rt = runtime(name).unwrap().with_memory(high + k * 97);
        match check(&rt) {
            Ok(()) => {}
            Err(e) if e.contains("bytes are needed") => {}
            Err(e) => return Err(format!("with {} bytes: {e}", high + k * 97)),
        }
    }
    Ok(())
}

fn plans() {
    println!("{}\n{}\n{}\n{}\n{}\n{}\n{}", w01::p::PLAN, w04::p::PLAN, w05::p::PLAN, w08::p::PLAN, w12::p::PLAN, w19::lists::PLAN, w19::filtered::PLAN);
}
