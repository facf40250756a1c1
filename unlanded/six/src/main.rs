//! The six programs of issue 36: `six [attractor bisim motion delta flow subseq] --backend native|vir0|cuda|..`.
//! Each checks small cases, and then a large one of which it says how long a warm run takes, against an oracle of its
//! own. `--size N`, `--runs N`, `--warm N`, `--seed N`, `--small` (no large cases), `--large` (no small ones), `--plan`,
//! `--explain`.

mod bisim;
mod common;
mod delta;
mod flow;
mod games;
mod motion;
mod subseq;

use common::{Res, Rng, Settings};
use vyre::{RoutePolicy, Runtime};

type Small = fn(&Runtime, &mut Rng) -> Res<bool>;
type Large = fn(&Runtime, &Settings, &mut Rng) -> Res<bool>;

const PROGRAMS: [(&str, Small, Large); 6] = [
    ("attractor", games::small, games::large),
    ("bisim", bisim::small, bisim::large),
    ("motion", motion::small, motion::large),
    ("delta", delta::small, delta::large),
    ("flow", flow::small, flow::large),
    ("subseq", subseq::small, subseq::large),
];

fn runtime(name: &str) -> Res<Runtime> {
    Ok(match name {
        "native" => Runtime::native(),
        "vir0" => Runtime::vir0(),
        "auto" => Runtime::auto()?,
        "cuda" => Runtime::cuda()?,
        "interpreted" => Runtime::cuda()?.with_route(RoutePolicy::Interpreter),
        "compiled" => Runtime::cuda()?.with_route(RoutePolicy::Compiled),
        other => return Err(format!("no backend {other}").into()),
    })
}

fn main() -> Res<()> {
    let mut chosen: Vec<String> = Vec::new();
    let mut backend = "native".to_string();
    let mut settings = Settings { size: None, runs: 5, warm: 3, explain: false };
    let (mut seed, mut small, mut large, mut plan) = (1, true, true, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--backend" => backend = value()?,
            "--size" => settings.size = Some(value()?.parse()?),
            "--runs" => settings.runs = value()?.parse()?,
            "--warm" => settings.warm = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--small" => large = false,
            "--large" => small = false,
            "--plan" => plan = true,
            "--explain" => settings.explain = true,
            name if PROGRAMS.iter().any(|p| p.0 == name) => chosen.push(name.into()),
            other => return Err(format!("no program and no option {other}").into()),
        }
    }
    if plan {
        for plan in [
            games::attractor::PLAN,
            games::buchi::PLAN,
            games::several::PLAN,
            bisim::bisimulation::PLAN,
            motion::motion::PLAN,
            delta::delta_stepping::PLAN,
            flow::maxflow::PLAN,
            subseq::subsequences::PLAN,
        ] {
            println!("{plan}\n");
        }
    }
    let runtime = runtime(&backend)?;
    println!("{runtime}");
    let mut good = true;
    for (name, check, time) in PROGRAMS {
        if !chosen.is_empty() && !chosen.iter().any(|c| c == name) {
            continue;
        }
        let mut rng = Rng(seed);
        if small {
            let ok = check(&runtime, &mut rng)?;
            println!("{name:10} small cases {}", if ok { "passed" } else { "FAILED" });
            good &= ok;
        }
        if large {
            good &= time(&runtime, &settings, &mut rng)?;
        }
    }
    println!("{}", if good { "ALL CHECKS PASSED" } else { "SOME CHECKS FAILED" });
    std::process::exit(i32::from(!good));
}
