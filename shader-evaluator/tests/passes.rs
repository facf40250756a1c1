//! The examples' passes and those of the tests as shaders: which target gets which, and that what is exported does what
//! VIR0 does, bit for bit.

use shader_evaluator::backend::{REFUSED, Shaders};
use shader_evaluator::machine::Shader;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use vyre::prelude::*;
use vyre::{Error, Runtime};
use vyre_core::plan::shaders::{FIVE_BUFFERS, line, shared_loop};
use vyre_core::vir0::container::decode;
use vyre_core::vir0::module::{Program, WaveId};
use vyre_examples::passes::{bfs, components, liveness, pagerank, saxpy};
use vyre_naga::{File, Options, Target, Text, export, features, shaders};
use vyre_tests::random::Random;
use vyre_tests::{endless, graphs, passes as tested};
// Their passes are among those that are listed.
use {vyre_corpus as _, vyre_standard as _};

#[path = "../../vyre-naga/examples/portable/passes.rs"]
mod examples;
use examples::{bellman_ford, betweenness, dfa, kcore, mis, msf};

/// A loop over a node's edges whose turns are shared out, and take values into variables; one that may fault.
#[wave_graph]
pub mod hubs {
    pub struct Data {
        #[topology]
        g: Csr,
        #[topology(per = edge(g))]
        weight: u32,
        #[input(per = node)]
        share: u32,
        #[output(per = node)]
        sum: u32,
        #[output(per = node)]
        far: u64,
        #[reduce(sum)]
        taken: u64,
        kind: u32,
    }

    #[wave(nodes)]
    fn gather(
        v: Node,
        g: &Csr,
        weight: &Buf<u32>,
        share: &Buf<u32>,
        sum: &mut u32,
        far: &mut u64,
        taken: &Reduce<Sum<u64>>,
        kind: u32,
    ) {
        if v == 7 {
            *sum = 5;
            return;
        }
        let (mut total, mut most, mut wide) = (v, 0, 3u64);
        for e in g.edges(v) {
            if kind == 0 {
                total += share[weight[e]];
            } else if kind == 1 {
                total += share[g.target(e)] / weight[e];
            } else {
                assert!(weight[e] != 70, "a bad edge");
                total += weight[e];
            }
            most = most.max(weight[e] * 3 + v);
            wide += u64::from(e) << 30;
        }
        taken.add(u64::from(total));
        *sum = total * 7 + most;
        *far = wide;
    }
}

/// Arithmetic that shaders make of other operations.
pub mod made_of {
    use vyre::prelude::*;

    /// Of 64 bits.
    #[kernel]
    pub fn quotients(x: &u64, y: &u64, q: &mut u64, r: &mut u64, sq: &mut i64, sr: &mut i64) {
        *q = *x / *y;
        *r = *x % *y;
        // All but the least by -1, which has no quotient.
        let signed = *x as i64 | 1;
        *sq = signed / (*y as i64);
        *sr = signed % (*y as i64);
    }

    /// Of f64.
    #[kernel]
    pub fn wholes(x: &f64, trunc: &mut f64, round: &mut f64, fract: &mut f64) {
        *trunc = x.trunc();
        *round = x.round();
        *fract = x.fract();
    }
}

/// Every pass that these tests reach, by its id, but for those of this file.
fn all() -> Vec<(String, Program)> {
    let all = vyre::passes();
    let all = all.iter().filter(|p| {
        !["passes::hubs", "passes::made_of"]
            .iter()
            .any(|of| p.module().starts_with(of))
    });
    let all = all.map(|p| {
        let module = p.module().split("::").next().unwrap_or_default();
        let from = match module {
            // These tests take most examples in as modules.
            "passes" | "vyre_examples" => "examples",
            other => other,
        };
        let name = format!("{} ({from})", p.manifest().id);
        (name, p.plan().program())
    });
    let all: Vec<_> = all.collect();
    assert!(all.len() > 50, "{} passes", all.len());
    all
}

/// The table of docs/PORTABLE.md.
fn table() -> String {
    let mut table = String::from("| pass | webgpu | vulkan | metal |\n| --- | --- | --- | --- |\n");
    for (name, program) in all() {
        let cells = Target::ALL.map(|target| {
            let line = line(&program, target);
            let (_, cell) = line.split_once(": ").expect("a target");
            cell.to_owned()
        });
        let _ = writeln!(table, "| {name} | {} |", cells.join(" | "));
    }
    table
}

#[test]
fn the_page_says_which_target_gets_which_pass() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/PORTABLE.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page
        .split_once("<!-- passes: generated -->\n\n")
        .expect("a mark");
    let (found, after) = rest.split_once("\n<!-- end -->").expect("a mark");
    if std::env::var_os("VYRE_BLESS").is_some() {
        let page = format!(
            "{before}<!-- passes: generated -->\n\n{}\n<!-- end -->{after}",
            table()
        );
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert_eq!(found, table(), "VYRE_BLESS=1 rewrites it");
    }
}

/// naga validates each shader of a program, writes it for its target, and reads it back; only waves of the table are
/// missing. How many shaders, and how many waves.
fn checked(name: &str, program: &Program) -> (usize, usize) {
    let (mut all, mut refused) = (0, 0);
    for target in Target::ALL {
        let made = shaders(program, target, Options::default());
        let made = made.unwrap_or_else(|e| panic!("{name}: {e}"));
        let parts = program.waves.len() + program.fixpoints.len();
        // `begin`, `settle`, and fills of two buffers or three.
        let common = 4 + usize::from(made.shaders.iter().any(|s| s.entry() == "fill_wide"));
        // Groups end by themselves, too, and rounds start so.
        let ends = made.shaders.iter().map(|s| s.entry());
        let ends = ends
            .filter(|e| {
                ["_end", "_start", "_narrow", "_pull", "_symmetric"]
                    .iter()
                    .any(|of| e.ends_with(of))
            })
            .count();
        let made_parts = made.shaders.len() - common - ends;
        assert_eq!(made_parts, 2 * (parts - made.refusals.len()), "{name}");
        (all, refused) = (all + made.shaders.len(), refused + made.refusals.len());
        for shader in &made.shaders {
            let text = shader
                .text(target)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let back = match &text {
                Text::Wgsl(text) => Shader::from_wgsl(text),
                Text::Spirv(words) => Shader::from_spirv(words),
                Text::Msl(text) => {
                    let entry = format!("kernel void {}", shader.entry());
                    assert!(text.contains(&entry), "{text}");
                    continue;
                }
            };
            let back = back.unwrap_or_else(|e| panic!("{name}, {}: {e}", shader.entry()));
            assert_eq!(back.entry(), shader.entry());
            let storage = back.bindings().filter(|&b| b != 0).count();
            let more = features(program, target).contains(&FIVE_BUFFERS);
            // Narrow rounds, which no pass needs, have two more.
            let narrow = if shader.entry().ends_with("_narrow") {
                2
            } else {
                0
            };
            let most = if more { 5 } else { 4 } + narrow;
            assert!(storage <= most, "{name}: {storage} storage buffers");
            assert!(
                more || narrow > 0 || storage as u32 <= target.storage_buffers(),
                "{name}"
            );
        }
    }
    (all, refused)
}

#[test]
fn every_wave_is_a_shader_or_is_in_the_table() {
    for (name, program) in all() {
        checked(&name, &program);
    }
}

/// Their SPIR-V, and that of the passes that these tests reach, goes to the folder VYRE_SPIRV where there is one.
#[test]
#[ignore = "reads programs from the folder VYRE_PROGRAMS: scripts/shaders writes those of vyre's suite"]
fn every_wave_of_a_folder_is_a_shader_or_is_in_the_table() {
    let folder = std::env::var_os("VYRE_PROGRAMS").expect("VYRE_PROGRAMS names a folder");
    let files = std::fs::read_dir(&folder).expect("the folder can be read");
    let (mut programs, mut all, mut refused) = (0, 0, 0);
    for file in files {
        let path = file.expect("the folder can be read").path();
        let bytes = std::fs::read(&path).expect("it can be read");
        let program = decode(&bytes).expect("it is a program");
        let (made, missing) = checked(&path.display().to_string(), &program);
        (programs, all, refused) = (programs + 1, all + made, refused + missing);
        write_spirv(&format!("suite {programs}"), &program);
    }
    for (name, program) in self::all() {
        write_spirv(&name, &program);
    }
    println!("{programs} programs: {all} shaders, {refused} waves and conditions refused");
    assert!(programs > 0);
}

fn write_spirv(name: &str, program: &Program) {
    let Some(folder) = std::env::var_os("VYRE_SPIRV") else {
        return;
    };
    let export = export(program, Options::default()).expect("naga takes it");
    let modules = export.files.iter().filter(|f| f.path.ends_with(".spv"));
    for File { path, bytes } in modules {
        let file = format!("{name} {}", path.replace('/', " "));
        std::fs::write(Path::new(&folder).join(file), bytes).expect("it can be written");
    }
}

/// The same pass on the interpreter and as shaders, from WGSL and from SPIR-V; of that, rounds by themselves, too, and
/// wide workgroups.
fn runtimes() -> [Runtime; 5] {
    let vulkan = || Shaders::new(Target::Vulkan);
    // Each loop says that it has come to its end.
    let checked = Options {
        checks_loops: true,
        ..Options::default()
    };
    [
        Runtime::vir0(),
        Runtime::on(Arc::new(Shaders::new(Target::WebGpu))),
        Runtime::on(Arc::new(vulkan().with(checked))),
        Runtime::on(Arc::new(vulkan().with_rounds_at_once(3))),
        Runtime::on(Arc::new(vulkan().with_rounds_at_once(2).with_lanes(256))),
    ]
}

/// What all of them give is equal.
fn agree<T: PartialEq + std::fmt::Debug>(run: impl Fn(&Runtime) -> Result<T, Error>) -> T {
    let [expected, wgsl, spirv, rounds, wide] = runtimes().map(|runtime| run(&runtime));
    let expected = expected.expect("the interpreter runs it");
    assert_eq!(wgsl.expect("shaders from WGSL run it"), expected);
    assert_eq!(spirv.expect("shaders from SPIR-V run it"), expected);
    assert_eq!(rounds.expect("rounds go on by themselves"), expected);
    assert_eq!(wide.expect("wide workgroups run it"), expected);
    expected
}

/// The same of a pass that only Vulkan gets.
fn on_vulkan<T: PartialEq + std::fmt::Debug>(run: impl Fn(&Runtime) -> Result<T, Error>) -> T {
    let [expected, wgsl, spirv, rounds, wide] = runtimes().map(|runtime| run(&runtime));
    let refused = wgsl.expect_err("WGSL does not have it").to_string();
    assert!(refused.contains(REFUSED), "{refused}");
    let expected = expected.expect("the interpreter runs it");
    assert_eq!(spirv.expect("shaders from SPIR-V run it"), expected);
    assert_eq!(rounds.expect("rounds go on by themselves"), expected);
    assert_eq!(wide.expect("wide workgroups run it"), expected);
    expected
}

#[test]
fn a_breadth_first_search() {
    for graph in [
        graphs::grid(9, 7),
        graphs::chain(70),
        graphs::random_graph(150, 400),
        with_hubs(),
    ] {
        let dist = agree(|runtime| {
            let out = bfs::Session::new(runtime, &graph)?.run(bfs::Run { source: 3 })?;
            Ok((out.dist, out.report.rounds))
        });
        assert_eq!(dist.0, graphs::distances(&graph, 3));
    }
}

/// On what these give where sweeps pull, and push, and on the interpreter; whether some pulled.
fn pulls<T: PartialEq + std::fmt::Debug>(run: impl Fn(&Runtime) -> Result<T, Error>) -> bool {
    let expected = run(&Runtime::vir0()).expect("the interpreter runs it");
    let pulling = |rounds, lanes| {
        let shaders = Shaders::new(Target::Vulkan).with_rounds_at_once(rounds);
        Arc::new(shaders.with_lanes(lanes).with_pull_from(40))
    };
    let mut pulled = Vec::new();
    for shaders in [
        pulling(16, 0),
        pulling(9, 64),
        pulling(16, 256),
        pulling(1, 0),
    ] {
        let runtime =
            Runtime::on(Arc::clone(&shaders) as Arc<dyn vyre_core::run::backend::Backend>);
        assert_eq!(run(&runtime).expect("shaders run it"), expected);
        pulled.push(shaders.pulled());
    }
    // Nothing is known of the first round of a submission.
    assert_eq!(pulled[3], 0, "{pulled:?}");
    pulled[0] > 0
}

#[test]
fn searches_pull() {
    let search = |graph: &Csr, source: u32| {
        pulls(|runtime| {
            let out = bfs::Session::new(runtime, graph)?.run(bfs::Run { source })?;
            Ok((out.dist, out.report.rounds))
        })
    };
    // The last is what a hub of the frontier and one that waits make of it: neither is left to one invocation.
    let mut star: Vec<(u32, u32)> = (1..900).flat_map(|v| [(0, v), (v, 0)]).collect();
    star.extend((1..400).flat_map(|v| [(v, 900), (900, v), (900, 500 + v), (500 + v, 900)]));
    star.extend((901..1_000).flat_map(|v| [(v - 1, v), (v, v - 1), (v, 950), (950, v)]));
    for graph in [
        graphs::undirected(900, 4_000, 1),
        graphs::sorted(1_000, star),
    ] {
        for source in [0, 1, 500] {
            assert!(search(&graph, source));
        }
    }
    // An edge without its opposite, and an unreached graph.
    let mut lopsided = graphs::ends(900, 4_000, 2);
    lopsided.extend(lopsided.clone().iter().map(|&(a, b)| (b, a)));
    lopsided.push((899, 0));
    assert!(!search(&graphs::sorted(900, lopsided), 0));
    assert!(!search(&graphs::undirected(900, 4_000, 1), 899));
}

#[test]
fn directed_searches_pull_along_the_reverse() {
    for seed in 0..3 {
        let graph = graphs::directed(900, 7_000, seed);
        let start: Vec<bool> = (0..900).map(|v| v % 97 == seed).collect();
        assert!(pulls(|runtime| {
            let mut session = tested::marks::Session::new(runtime, &graph)?;
            let out = session.run(tested::marks::Run { start: &start })?;
            Ok((out.mark, out.fans, out.report.rounds))
        }));
    }
}

#[test]
fn searches_pull_in_each_round_of_a_fixpoint_around_them() {
    for seed in 0..2 {
        // Fewer edges than nodes, and one region of many.
        let mut edges = graphs::ends(600, 150, seed);
        edges.extend(graphs::ends(200, 3_000, seed));
        edges.extend(edges.clone().iter().map(|&(a, b)| (b, a)));
        let graph = graphs::sorted(600, edges);
        assert!(pulls(|runtime| {
            let mut session = tested::regions::Session::new(runtime, &graph)?;
            let out = session.run(tested::regions::Run { stride: 40 })?;
            Ok((out.region, out.started, out.report.rounds))
        }));
    }
}

#[test]
fn shortest_paths() {
    let graph = graphs::random_graph(120, 500);
    let weight: Vec<u32> = (0..500).map(|e| e * 7 % 23).collect();
    let dist = agree(|runtime| {
        let topology = tested::sssp::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut session = tested::sssp::Session::new(runtime, topology)?;
        Ok(session.run(tested::sssp::Run { source: 0 })?.dist)
    });
    assert_eq!(dist, graphs::shortest(&graph, &weight, 0));
}

#[test]
fn arrays_of_a_node() {
    let graph = graphs::random_graph(100, 400);
    let keys: Vec<[u32; 2]> = (0..100).map(|v| [v * 31 % 101, v * 17 % 89]).collect();
    let least = agree(|runtime| {
        let mut session = tested::arrays::Session::new(runtime, &graph)?;
        Ok(session.run(tested::arrays::Run { keys: &keys })?.least)
    });
    for (v, least) in (0..).zip(least) {
        let given = graph.neighbors(v).iter();
        let given = given.map(|w| keys[w as usize][v as usize % 2]);
        let mut all: Vec<u32> = given.chain([90, 91, 92]).collect();
        all.sort_unstable();
        assert_eq!(all[..3], least);
    }
}

#[test]
fn connected_components() {
    for (graph, symmetric) in [
        (graphs::both_ways(&graphs::random_graph(200, 150)), true),
        (graphs::random_graph(90, 60), false),
        // A workgroup has more to push than it stages.
        (graphs::both_ways(&graphs::random_graph(3_600, 1_400)), true),
    ] {
        agree(|runtime| {
            let out = components::Session::new(runtime, &graph)?.run(components::Run {
                symmetric,
                nodes: graph.node_count() as u32,
            })?;
            Ok(out.label)
        });
    }
}

#[test]
fn page_ranks() {
    // Each node has an edge out but one, so that what no node hands on is one term, whatever the order.
    let mut edges: Vec<(u32, u32)> = (0..89).map(|v| (v, (v * 7 + 3) % 90)).collect();
    edges.extend((0..80).map(|v| (v, (v * v + 1) % 90)));
    let graph = Csr::from_edges(90, &edges).expect("edges name nodes");
    let n = 90.0f32;
    let ranks = runtimes().map(|runtime| {
        let mut session = pagerank::Session::new(&runtime, &graph).expect("it fits");
        let out = session.run(pagerank::Run {
            start: 1.0 / n,
            damping: 0.85,
            spread: 0.85 / n,
            restart: 0.15 / n,
            tolerance: 1e-4,
        });
        let out = out.expect("it runs");
        let bits: Vec<u32> = out.rank.iter().map(|r| r.to_bits()).collect();
        (bits, out.report.rounds)
    });
    let [(expected, rounds), shaders @ ..] = ranks;
    assert!(rounds[0] > 3, "{rounds:?}");
    // The loop over neighbours is shared out, so its sums are rounded in another order, the same one each time.
    for (at, (ranks, of_shaders)) in shaders.iter().enumerate() {
        assert_eq!(of_shaders, &rounds);
        // A workgroup of another size has other parts.
        assert!(at == 3 || *ranks == shaders[0].0, "shaders {at}");
        for (rank, expected) in ranks.iter().zip(&expected) {
            let (rank, expected) = (f32::from_bits(*rank), f32::from_bits(*expected));
            assert!(
                (rank - expected).abs() <= 1e-6 * expected,
                "{rank} {expected}"
            );
        }
    }
}

/// Nodes with many edges beside some with few and with none.
fn with_hubs() -> Csr {
    let mut edges = Vec::new();
    for v in 0..150u32 {
        let degree = match v % 50 {
            3 => 700,
            4 => 65,
            _ => v % 4,
        };
        edges.extend((0..degree).map(|i| (v, (v * 31 + i * 17) % 150)));
    }
    Csr::from_edges(150, &edges).expect("edges name nodes")
}

#[test]
fn turns_of_loops_are_shared_out() {
    let program = hubs::PLAN.program();
    assert!(shared_loop(&program, WaveId(0)).is_some());
    let graph = with_hubs();
    let share: Vec<u32> = (0..150).map(|v| v * 37 % 101).collect();
    let weight: Vec<u32> = (0..graph.edge_count() as u32)
        .map(|e| 1 + e * 13 % 60)
        .collect();
    for kind in 0..3 {
        agree(|runtime| {
            let topology = hubs::Topology {
                g: &graph,
                weight: &weight,
            };
            let mut session = hubs::Session::new(runtime, topology)?;
            let share = &share;
            let out = session.run(hubs::Run { share, kind })?;
            Ok((out.sum, out.far, out.report.rounds))
        });
    }
}

/// Whoever takes the turn that faults, the trap is that of the item's first one.
#[test]
fn the_first_turn_that_faults_is_the_trap() {
    let graph = with_hubs();
    let share = vec![1; 150];
    let first = graph.offsets()[53] as usize;
    for (kind, bad) in [(0, 999), (1, 0), (2, 70)] {
        for at in [0, 64, 650, 699] {
            let mut weight = vec![2; graph.edge_count()];
            weight[first + at..first + 700].fill(bad);
            if kind == 0 {
                weight[first + at] += 1;
            }
            let runs = runtimes().map(|runtime| {
                let topology = hubs::Topology {
                    g: &graph,
                    weight: &weight,
                };
                let mut session = hubs::Session::new(&runtime, topology).expect("it fits");
                let share = &share;
                match session.run(hubs::Run { share, kind }) {
                    Err(Error::Trap(trap)) => (trap.to_string(), trap.item, trap.index, trap.site),
                    other => panic!("it traps, but gave {other:?}"),
                }
            });
            assert_eq!(runs[0].1, Some(53));
            for run in &runs[1..] {
                assert_eq!(*run, runs[0], "kind {kind}, turn {at}");
            }
        }
    }
}

#[test]
fn core_numbers() {
    let graph = graphs::both_ways(&graphs::random_graph(100, 400));
    agree(|runtime| {
        let out = kcore::kcore::Session::new(runtime, &graph)?.run(kcore::kcore::Run {})?;
        Ok((out.core, out.report.rounds))
    });
}

#[test]
fn a_standalone_kernel() {
    let x: Vec<f32> = (0..333).map(|i| i as f32 * 0.37 - 9.0).collect();
    let y = agree(|runtime| {
        let mut y: Vec<f32> = (0..333).map(|i| 1.0 / (i as f32 + 0.1)).collect();
        saxpy::run(runtime, -2.5, &x, &mut y)?;
        Ok(y.iter().map(|y| y.to_bits()).collect::<Vec<u32>>())
    });
    let plain: Vec<u32> = (0..333)
        .map(|i| (1.0 / (i as f32 + 0.1) + -2.5 * x[i]).to_bits())
        .collect();
    assert_eq!(y, plain);
}

/// Numbers of 64 bits of all lengths, and those beside powers of two.
fn wide_numbers() -> Vec<u64> {
    let mut random = Random(5);
    let mut numbers: Vec<u64> = (0..64)
        .flat_map(|bits| {
            let power = 1u64 << bits;
            [power, power - 1, power + 1, !power]
        })
        .collect();
    numbers.extend((0..256).map(|_| {
        let wide = u64::from(random.below(u32::MAX)) << 32 | u64::from(random.below(u32::MAX));
        wide >> random.below(64)
    }));
    numbers
}

#[test]
fn quotients_of_64_bits() {
    let numbers = wide_numbers();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut random = Random(6);
    for &a in &numbers {
        for _ in 0..6 {
            let b = numbers[random.below(numbers.len() as u32) as usize];
            x.push(a);
            y.push(b.max(1));
        }
    }
    let lanes = x.len();
    let (q, r, sq, sr) = agree(|runtime| {
        let (mut q, mut r) = (vec![0; lanes], vec![0; lanes]);
        let (mut sq, mut sr) = (vec![0; lanes], vec![0; lanes]);
        made_of::quotients::run(runtime, &x, &y, &mut q, &mut r, &mut sq, &mut sr)?;
        Ok((q, r, sq, sr))
    });
    for i in 0..lanes {
        assert_eq!((q[i], r[i]), (x[i] / y[i], x[i] % y[i]));
        let (a, b) = ((x[i] as i64) | 1, y[i] as i64);
        assert_eq!((sq[i], sr[i]), (a / b, a % b), "{a} {b}");
    }
}

#[test]
fn whole_parts_of_f64() {
    let mut x: Vec<f64> = wide_numbers().into_iter().map(f64::from_bits).collect();
    x.extend((0..70).flat_map(|power| {
        let power = 2f64.powi(power);
        [
            power + 0.5,
            -power - 0.5,
            power + 0.25,
            power * 0.75,
            -power * 1.75,
        ]
    }));
    x.retain(|x| x.is_finite());
    let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    on_vulkan(|runtime| {
        let made = || vec![0.0; x.len()];
        let (mut trunc, mut round, mut fract) = (made(), made(), made());
        made_of::wholes::run(runtime, &x, &mut trunc, &mut round, &mut fract)?;
        Ok([trunc, round, fract].map(|of| bits(&of)))
    });
}

/// On Vulkan, whose devices may have 64-bit atomics and f64, what the other targets do not get.
#[test]
fn atomics_of_64_bits() {
    let graph = graphs::both_ways(&graphs::random_graph(60, 90));
    let edges = graph.edge_count() as u32;
    on_vulkan(|runtime| {
        let weight: Vec<i32> = (0..edges as i32).map(|e| e * 7 % 23 - 1).collect();
        let topology = bellman_ford::bellman_ford::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut session = bellman_ford::bellman_ford::Session::new(runtime, topology)?;
        let run = bellman_ford::bellman_ford::Run {
            source: 2,
            nodes: 20,
        };
        Ok(session.run(run)?.shrank)
    });
    let acyclic = graphs::chain(40);
    on_vulkan(|runtime| {
        let weight: Vec<i32> = (0..39).map(|e| 3 - e).collect();
        let topology = bellman_ford::bellman_ford::Topology {
            graph: &acyclic,
            weight: &weight,
        };
        let mut session = bellman_ford::bellman_ford::Session::new(runtime, topology)?;
        let run = bellman_ford::bellman_ford::Run {
            source: 2,
            nodes: 40,
        };
        Ok(session.run(run)?.dist)
    });
    on_vulkan(|runtime| {
        let mut session = mis::mis::Session::new(runtime, &graph)?;
        Ok(session.run(mis::mis::Run { seed: 5 })?.state)
    });
    on_vulkan(|runtime| {
        let weight: Vec<u32> = (0..edges).map(|e| e * 7 % 23).collect();
        let topology = msf::msf::Topology {
            graph: &graph,
            weight: &weight,
        };
        let out = msf::msf::Session::new(runtime, topology)?.run(msf::msf::Run {})?;
        Ok((out.chosen, out.total))
    });
    on_vulkan(|runtime| {
        let bit = |v: u64| 1 << (v * 7 % 64);
        let topology = liveness::Topology {
            predecessors: &graph,
            uses: &(0..60).map(bit).collect::<Vec<u64>>(),
            defs: &(0..60).map(|v| bit(v + 1)).collect::<Vec<u64>>(),
        };
        let mut session = liveness::Session::new(runtime, topology)?;
        Ok(session.run(liveness::Run {})?.live)
    });
    // A path: what a node gets is one term, whatever the order.
    let path = graphs::both_ways(&graphs::chain(12));
    let scores = on_vulkan(|runtime| {
        let mut session = betweenness::betweenness::Session::new(runtime, &path)?;
        let source: Vec<u32> = (0..12).collect();
        let run = betweenness::betweenness::Run {
            source: &source,
            count: 12,
        };
        Ok(session.run(run)?.score)
    });
    assert_eq!(scores[1], 20.0);
}

/// Neither workgroups nor the order of a GPU show in an exact sum, with any terms.
#[test]
fn exact_sums() {
    let bits = |seed: u32| seed.wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x85eb_ca6b) >> 7;
    let far: Vec<f32> = (1..300)
        .map(|i| f32::from_bits(bits(i) & 0xbfff_ffff))
        .collect();
    let near: Vec<f32> = (1..200)
        .map(|i| f32::from_bits(0x3f80_0000 | bits(i) & 0x80ff_ffff))
        .collect();
    let (least, most) = (f32::from_bits(1), f32::MAX);
    let cases: [&[f32]; 16] = [
        &far,
        &near,
        &[],
        &[-0.0],
        &[1e30, 1.0, -1e30, 0.5],
        &[least, least, -f32::MIN_POSITIVE],
        &[f32::MIN_POSITIVE, -least],
        // Halves go to even, but for what is far below.
        &[1.0, f32::EPSILON / 2.0],
        &[1.0 + f32::EPSILON, f32::EPSILON / 2.0],
        &[1.0, f32::EPSILON / 2.0, least],
        &[-1.0, -f32::EPSILON / 2.0, -least],
        &[most, most, -most],
        &[most, most],
        &[-most, -most, -most],
        &[f32::INFINITY, -most, 1.0],
        &[f32::INFINITY, f32::NEG_INFINITY],
    ];
    let sum = |terms: &[f32]| {
        agree(|runtime| {
            let items = terms.len() as u32;
            let mut session = tested::exact::Session::new(runtime, ())?;
            let out = session.run(tested::exact::Run { x: terms, items })?;
            Ok(out.sum.to_bits())
        })
    };
    let sums = cases.map(sum);
    assert_eq!(f32::from_bits(sums[4]), 1.5);
    assert_eq!(sum(&[f32::NAN, 1.0]), f32::NAN.to_bits());
}

/// Bytes of a part of the automaton's text, and classes of bytes.
const PART: u32 = 64;
const CLASSES: u32 = 4;

#[test]
fn an_automaton_over_text() {
    let text: Vec<u8> = (0..2_500u32)
        .map(|i| b"int a; // b\n\"c\" /* d */ \n"[(i * i % 25) as usize])
        .collect();
    let table: Vec<u8> = (0..4096u32).map(|i| (i * 31 % 251) as u8 & 0x3f).collect();
    let lines = 1 + text.iter().filter(|&&b| b == b'\n').count() as u32;
    let parts = (text.len() as u32).div_ceil(PART);
    agree(|runtime| {
        let mut session = dfa::dfa::Session::new(runtime, ())?;
        let out = session.run(dfa::dfa::Run {
            text: &text,
            table: &table,
            bytes: text.len() as u32,
            parts,
            lines,
            cells: lines * CLASSES,
        })?;
        Ok((out.histogram, [out.code, out.comment, out.blank]))
    });
}

#[test]
fn fixpoints_in_fixpoints_and_several_waves_a_round() {
    let graph = graphs::random_graph(60, 140);
    agree(|runtime| {
        let out =
            tested::three_waves::Session::new(runtime, &graph)?.run(tested::three_waves::Run {
                source: 1,
                too_far: 1_000,
            })?;
        Ok((out.dist, out.label, out.back))
    });
    agree(|runtime| {
        let chain = graphs::chain(12);
        let out = tested::walks::Session::new(runtime, &chain)?.run(tested::walks::Run {})?;
        Ok((out.seen, out.last, out.report.rounds))
    });
    agree(|runtime| {
        let out = tested::phases::Session::new(runtime, &graph)?.run(tested::phases::Run {})?;
        Ok((out.seen, out.degree, out.report.rounds))
    });
}

/// Traps have the kind, the place, the item, the index and the length of VIR0's.
#[test]
fn traps_are_those_of_vir0() {
    let graph = graphs::chain(90);
    let runs = runtimes().map(|runtime| {
        let mut session = tested::three_waves::Session::new(&runtime, &graph).expect("it fits");
        let run = tested::three_waves::Run {
            source: 0,
            too_far: 70,
        };
        let Err(Error::Trap(trap)) = session.run(run) else {
            panic!("it traps");
        };
        (trap.to_string(), trap.item, trap.site.clone())
    });
    assert_eq!(runs[0].1, Some(70));
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
    assert_eq!(runs[0], runs[3]);
}

/// A shader sees no cancel: turns of loops are bounded.
#[test]
fn turns_of_loops_are_bounded() {
    let options = Options {
        turns: 1_000,
        ..Options::default()
    };
    let runtime = Runtime::on(Arc::new(Shaders::new(Target::WebGpu).with(options)));
    let mut session = endless::spin::Session::new(&runtime, ()).expect("it fits");
    let spin = session.run(endless::spin::Run { items: 3, turns: 1 });
    assert!(
        matches!(spin, Err(Error::Work { limit: 1_000, .. })),
        "{spin:?}"
    );
    let out = session.run(endless::spin::Run { items: 3, turns: 0 });
    assert_eq!(out.expect("it ends").out, [1, 2, 3]);
}

/// A pass of which a target does not get a wave does not run there, and says which and where.
#[test]
fn what_is_refused_is_refused_before_it_runs() {
    let shaders = Shaders::new(Target::WebGpu);
    let (refused, _) = shaders.counts();
    let runtime = Runtime::on(Arc::new(shaders));
    let graph = graphs::chain(3);
    let topology = liveness::Topology {
        predecessors: &graph,
        uses: &[1, 2, 3],
        defs: &[0, 0, 1],
    };
    let session = liveness::Session::new(&runtime, topology);
    let error = session.expect_err("it is refused").to_string();
    assert!(error.contains(REFUSED), "{error}");
    assert!(
        error.contains("flow needs 64-bit atomics, which WGSL does not have"),
        "{error}"
    );
    assert!(error.contains("examples/src/passes.rs:"), "{error}");
    assert_eq!(refused.load(Relaxed), 1);
}

/// Waves and fixpoints of other names, in place of its own.
fn renamed(waves: &[&str], fixpoints: &[&str]) -> Program {
    let mut program = tested::phases::PLAN.program();
    assert_eq!(program.waves.len(), waves.len());
    assert_eq!(program.fixpoints.len(), fixpoints.len());
    for (wave, name) in program.waves.iter_mut().zip(waves) {
        wave.name = (*name).to_owned();
    }
    for (fixpoint, name) in program.fixpoints.iter_mut().zip(fixpoints) {
        fixpoint.name = (*name).to_owned();
    }
    program
}

/// Names that differ in what a file or a language does not have give files of their own, the same ones each time.
#[test]
fn entry_points_have_names_of_their_own() {
    let program = renamed(
        &["a_b", "a::b", "A_B", "a_b_2", "größe", "begin"],
        &["a_b", "a__b"],
    );
    let made = shaders(&program, Target::Metal, Options::default()).expect("naga takes it");
    let entries: Vec<&str> = made.shaders.iter().map(|s| s.entry()).collect();
    assert_eq!(
        entries,
        [
            "begin",
            "fill_plain",
            "fill_cells",
            "settle",
            "a_b_sweep",
            "a_b_close",
            "a_b_2_sweep",
            "a_b_2_close",
            "A_B_3_sweep",
            "A_B_3_close",
            "a_b_2_2_sweep",
            "a_b_2_2_close",
            "a_b_2_2_pull",
            "gr_e_sweep",
            "gr_e_close",
            "begin_sweep",
            "begin_close",
            "graph_symmetric",
            "a_b_begin",
            "a_b_until",
            "a_b_2_begin",
            "a_b_2_until",
            "a_b_2_end",
            "A_B_3_end",
            "a_b_2_2_end",
            "a_b_2_start",
            "a_b_2_2_narrow",
            "gr_e_end",
            "begin_end",
        ]
    );
    let export = export(&program, Options::default()).expect("naga takes it");
    let mut paths: Vec<String> = export.files.iter().map(|f| f.path.to_lowercase()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), export.files.len());
}

/// A text calls an entry point as the plan does, whatever its wave is called.
#[test]
fn languages_change_no_name_of_an_entry_point() {
    for name in [
        "_",
        "__",
        "1",
        "ß1",
        "if",
        "kernel",
        "main",
        "device",
        "fault",
        "turn",
        "params",
        "cells",
        "type",
        "_naga",
        "clamped_lod_e",
        "naga_query_init_tracker_for_",
        "x_sweep",
        "settle",
    ] {
        let program = renamed(&[name, "a", "b", "c", "d", "e"], &[name, "f"]);
        checked(name, &program);
    }
}

/// The shaders of a search, as text to read: user's names, and the line of the source beside what can fault.
#[test]
fn the_shaders_of_a_search_are_text_to_read() {
    let made = |options| export(&bfs::PLAN.program(), options).expect("naga takes it");
    let all = made(Options::default());
    assert_eq!(all, made(Options::default()));
    let turns = Options {
        turns: 5,
        ..Options::default()
    };
    assert_ne!(all, made(turns), "the plan has the turns");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    for (path, name) in [
        ("webgpu/relax_sweep.wgsl", "bfs_relax.wgsl"),
        ("metal/relax_sweep.metal", "bfs_relax.metal"),
        ("webgpu/plan.json", "bfs_plan.json"),
    ] {
        let file = all
            .files
            .iter()
            .find(|f| f.path == path)
            .expect("it is exported");
        let text = String::from_utf8(file.bytes.clone()).expect("it is text");
        let kept = folder.join(name);
        if std::env::var_os("VYRE_BLESS").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&kept, &text).expect("it can be written");
        }
        let kept = std::fs::read_to_string(kept).expect("it is kept");
        assert_eq!(text, kept, "{name}: VYRE_BLESS=1 rewrites it");
    }
}
