//! A few steps of a layout in space: edges are springs, and every node is pushed away from some others.

use crate_d::*;
use std::process::ExitCode;
use vyre::{Csr, prelude::*};

#[wave_graph(deterministic)]
#[pass(id = "d.springs", unproven)]
pub mod springs {
    pub const SAMPLES: u32 = 8;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology] steps: u32,
        #[input(per = node)] start: [f32; 3],
        #[output(per = node)] place: [f32; 3],
        #[output(per = node)] next: [f32; 3],
        #[output(per = node)] speed: [f32; 3],
        #[reduce(exact_sum)] moved: f32,
    }

    #[device]
    pub fn mix(x: u32) -> u32 {
        let y = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
        (y ^ y >> 15).wrapping_mul(0x846c_a68b)
    }

    #[device]
    fn length(a: [f32; 3]) -> f32 {
        (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
    }

    #[device]
    fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }

    #[wave(nodes)]
    fn begin(start: &[f32; 3], place: &mut [f32; 3]) {
        *place = *start;
    }

    #[fixpoint(after(begin), until(round + 1 == steps), swap(place, next))]
    mod rounds {
        #[wave(nodes)]
        fn step(
            v: Node, round: Round, graph: &Csr, place: &Records<[f32; 3]>,
            next: &mut [f32; 3], speed: &mut [f32; 3], moved: &Reduce<ExactSum<f32>>,
        ) {
            let here = place.get(v);
            let mut force = [0.0f32; 3];
            for w in graph.neighbors(v) {
                let way = minus(place.get(w), here);
                let pull = 0.05 * (length(way) - 1.0);
                for k in 0..3 {
                    force[k] += way[k] * pull;
                }
            }
            for j in 0..SAMPLES {
                let w = mix(v * SAMPLES + j + round * 7_919) % place.len();
                let way = minus(place.get(w), here);
                let far = length(way) + 0.1;
                for k in 0..3 {
                    force[k] -= way[k] / (far * far * far);
                }
            }
            // No step is longer than 1.
            let strong = length(force).max(1.0);
            for k in 0..speed.len() {
                speed[k] = 0.8 * speed[k] + 0.2 * (force[k] / strong);
                next[k] = here[k] + speed[k];
            }
            moved.add(length(*speed));
        }
    }
}

fn plain(graph: &Csr, start: &[[f32; 3]], steps: u32) -> (Vec<[f32; 3]>, Vec<[f32; 3]>, f64) {
    let n = start.len();
    let len = |a: [f32; 3]| (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    let sub = |a: [f32; 3], b: [f32; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let hash = |x: u32| {
        let y = (x ^ (x >> 16)).wrapping_mul(0x7feb352d);
        (y ^ (y >> 15)).wrapping_mul(0x846ca68b)
    };
    let (mut place, mut speed) = (start.to_vec(), vec![[0.0f32; 3]; n]);
    let mut moved = 0.0;
    for round in 0..steps {
        moved = 0.0f64;
        let old = place.clone();
        for v in 0..n {
            let mut force = [0.0f32; 3];
            for w in graph.neighbors(v as u32).iter() {
                let way = sub(old[w as usize], old[v]);
                let pull = 0.05 * (len(way) - 1.0);
                force.iter_mut().zip(way).for_each(|(f, x)| *f += x * pull);
            }
            for j in 0..8 {
                let key = (v as u32).wrapping_mul(8).wrapping_add(j).wrapping_add(round.wrapping_mul(7919));
                let way = sub(old[hash(key) as usize % n], old[v]);
                let far = len(way) + 0.1;
                force.iter_mut().zip(way).for_each(|(f, x)| *f -= x / (far * far * far));
            }
            let strong = len(force).max(1.0);
            for k in 0..3 {
                speed[v][k] = 0.8 * speed[v][k] + 0.2 * (force[k] / strong);
                place[v][k] = old[v][k] + speed[v][k];
            }
            moved += f64::from(len(speed[v]));
        }
    }
    (place, speed, moved)
}

fn main() -> Result<ExitCode, Anything> {
    let args = Args::new();
    if args.flag("--plan") {
        println!("{}", springs::PLAN);
    }
    let runtime = args.runtime()?;
    let mut random = Random(u64::from(args.number("--seed", 1)));
    let mut ok = true;
    let big = args.number("--size", 200_000);
    for (n, steps) in [(1, 1), (2, 5), (33, 2), (1_000, 7), (big, args.number("--steps", 20))] {
        let half = random_edges(n, n as usize * 3, &mut random);
        let edges: Vec<_> = half.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        let graph = Csr::from_edges(n as usize, &edges)?;
        let mut place = || (random.bits() >> 40) as f32 / 1e6;
        let start: Vec<[f32; 3]> = (0..n).map(|_| [place(), place(), place()]).collect();
        let mut session = springs::Session::new(&runtime, springs::Topology { graph: &graph, steps })?;
        let runs = if n == big { args.number("--runs", 5) } else { 1 };
        let (out, time) = median(&mut session, springs::Run { start: &start }, runs)?;
        let ((place, speed, moved), host) = timed(|| plain(&graph, &start, steps));
        let near = (f64::from(out.moved) - moved).abs() <= 1e-6 * moved;
        let good = out.place == place && out.speed == speed && near;
        println!("{n} nodes, {} edges, {steps} steps: {time:.2?}, plain Rust {host:.2?}, moved {}, {} {}, {}", edges.len(),
            out.moved, out.report.backend, out.report.route, if good { "right" } else { "WRONG" });
        ok &= good;
        if args.flag("--explain") && n == big {
            println!("{}", session.explain());
        }
    }
    Ok(verdict(ok))
}
