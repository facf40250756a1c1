//! Which loops can be shared out, and that what is said of them holds.

use std::sync::Arc;
use vyre::prelude::*;
use vyre::{Error, RoutePolicy};
use vyre_core::vir0::find::{Cell, Combine, Loop, Why, loops};
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::Program;
use vyre_tests::passes::{faulty_loops, shared_loops as shared};
use vyre_tests::sequential::{Sequential, Shuffled};

/// Loops that stay, one a wave.
#[wave_graph]
pub mod kept {
    pub struct Data {
        #[topology]
        g: Csr,
        #[output(per = node)]
        hash: u32,
        #[output(per = node)]
        other: u32,
        #[output(per = 1)]
        cursor: u32,
        #[output(per = node)]
        slots: u32,
        #[output(per = node)]
        late: u32,
        #[output(per = node)]
        many: u32,
        #[list(capacity = 99, output)]
        found: List<u32>,
        #[output(per = node)]
        prefix: u32,
        #[output(per = node)]
        halves: u32,
        #[output(per = node)]
        near: u32,
        #[output(per = node)]
        far: u32,
        #[output(per = node)]
        guide: u32,
        #[reduce(sum)]
        all: u32,
    }

    #[wave(nodes)]
    fn chain(v: Node, g: &Csr, hash: &mut u32) {
        for u in g.neighbors(v) {
            *hash = hash.wrapping_mul(31).wrapping_add(u);
        }
    }

    #[wave(nodes)]
    fn sees(v: Node, g: &Csr, prefix: &mut u32) {
        let (mut total, mut odd) = (0, 0);
        for u in g.neighbors(v) {
            total += u;
            odd ^= total;
        }
        *prefix = odd;
    }

    #[wave(once)]
    fn takes(cursor: &Buf<Atomic<u32>>, slots: &Buf<Atomic<u32>>) {
        for v in 0..24 {
            slots[cursor[0].fetch_add(1)].store(v);
        }
    }

    #[wave(once)]
    fn stores(many: &Buf<Atomic<u32>>) {
        for v in 0..24 {
            many[v / 2].store(v);
        }
    }

    #[wave(nodes)]
    fn leaves(v: Node, g: &Csr, late: &Buf<Atomic<u32>>) {
        for u in g.neighbors(v) {
            late[u].fetch_max(v);
            if u > v {
                break;
            }
        }
    }

    #[wave(nodes)]
    fn leaves_from_within(v: Node, g: &Csr, near: &Buf<Atomic<u32>>) {
        'all: for u in g.neighbors(v) {
            for w in g.neighbors(u) {
                if w == 13 {
                    break 'all;
                }
                near[w].fetch_add(1);
            }
        }
    }

    #[wave(nodes)]
    fn faults(
        v: Node,
        g: &Csr,
        guide: &Buf<Atomic<u32>>,
        far: &Buf<Atomic<u32>>,
        all: &Reduce<Sum<u32>>,
    ) {
        for u in g.neighbors(v) {
            all.add(1);
            far[guide[u].load()].fetch_max(v);
        }
        guide[v].store(v);
    }

    #[wave(once)]
    fn lists(found: &Append<u32>) {
        for v in 0..24 {
            found.append(v);
        }
    }

    #[wave(nodes)]
    fn halves(v: Node, other: &mut u32) {
        let mut x = v;
        while x > 1 {
            x /= 2;
            *other += 1;
        }
    }
}

fn of(program: &Program, wave: &str) -> Vec<Loop> {
    let kernel = program
        .waves
        .iter()
        .find(|w| w.name == wave)
        .expect("it has the wave")
        .kernel;
    loops(program, &program.kernels[kernel.index()])
}

fn graph() -> (Csr, Vec<i32>) {
    let edges: Vec<(u32, u32)> = (0..24u32)
        .flat_map(|v| (0..v % 7).map(move |k| (v, (v * 5 + k * k * 3) % 24)))
        .collect();
    let weights = (0..edges.len() as i32).map(|i| i * 7 % 6 - 2).collect();
    (
        Csr::from_edges(24, &edges).expect("edges name nodes"),
        weights,
    )
}

#[test]
fn loops_that_only_combine_are_found_and_give_the_same_in_any_order() {
    let (g, weight) = graph();
    let run = |runtime: &Runtime| {
        let topology = shared::Topology {
            g: &g,
            weight: &weight,
        };
        let mut session = shared::Session::new(runtime, topology).expect("it fits");
        let program = session.program().clone();
        let mut out = session.run(shared::Run {}).expect("no trap");
        out.report = Default::default();
        (out, program)
    };
    let (expected, program) = run(&Runtime::on(Arc::new(Sequential)));
    for _ in 0..3 {
        assert_eq!(run(&Runtime::on(Arc::new(Shuffled))).0, expected);
    }
    let combines = |wave: &str, nth: usize| {
        let found = of(&program, wave).swap_remove(nth).turns;
        let turns = found.unwrap_or_else(|kept| panic!("{wave}: {kept:?}"));
        let mut how: Vec<Combine> = turns.cells.iter().map(|c| c.1).collect();
        how.sort_by_key(|c| format!("{c:?}"));
        (how, turns.exits.len(), turns.rounds)
    };
    use Combine::{Along, Last, Set, Take};
    assert_eq!(
        combines("sums", 0),
        (vec![Take(Op::Add32), Take(Op::Add64)], 0, false)
    );
    let (largest, ..) = combines("largest", 0);
    assert!(
        matches!(
            largest[..],
            [
                Along(_, false),
                Along(_, false),
                Along(_, true),
                Take(Op::MaxI32),
                Take(Op::MinI32)
            ]
        ),
        "{largest:?}"
    );
    assert_eq!(
        combines("flags", 0),
        (vec![Last, Set, Take(Op::Or32)], 0, false)
    );
    assert_eq!(
        combines("finds", 0),
        (vec![Last, Take(Op::Add32)], 1, false)
    );
    assert_eq!(combines("marks", 0), (vec![], 0, false));
    assert_eq!(combines("nested", 0), (vec![Take(Op::Xor32)], 0, false));
    assert_eq!(combines("masks", 0), (vec![Take(Op::Or32)], 0, false));
}

#[test]
fn loops_whose_turns_look_at_each_other_stay() {
    let (g, _) = graph();
    let session = kept::Session::new(&Runtime::vir0(), &g).expect("it fits");
    let program = session.program();
    let why = |wave: &str| of(program, wave)[0].turns.clone().expect_err(wave).why;
    assert!(matches!(why("chain"), Why::Carried(Cell::Element(_))));
    assert!(matches!(why("sees"), Why::Carried(Cell::Row(_))));
    assert!(matches!(why("takes"), Why::OldValue(_) | Why::Stores(_)));
    assert!(matches!(why("stores"), Why::Stores(_)));
    assert_eq!(why("leaves"), Why::LeavesLate);
    assert_eq!(why("leaves_from_within"), Why::LeavesLate);
    assert_eq!(why("faults"), Why::FaultsLate);
    assert_eq!(why("lists"), Why::Order);
    assert_eq!(why("halves"), Why::NotNumbered);
}

#[test]
fn the_plan_says_of_each_loop_what_keeps_it_in_order() {
    let plan = kept::PLAN.to_string();
    let said = |wave: &str| {
        let mut lines = plan.lines().filter(|line| line.starts_with("  loop "));
        let line = lines.find(|line| line.split_whitespace().nth(1) == Some(wave));
        line.unwrap_or_else(|| panic!("{plan}")).to_owned()
    };
    assert!(
        said("chain").ends_with("a turn looks at what those before it left in `hash`"),
        "{plan}"
    );
    assert!(said("chain").contains("tests/loops.rs:"), "{plan}");
    assert!(
        said("leaves").ends_with("a turn that leaves has changed memory before"),
        "{plan}"
    );
    assert!(
        said("halves").contains("no range numbers its turns"),
        "{plan}"
    );
    assert!(
        shared::PLAN
            .to_string()
            .contains("turns in any order: maximum of a variable")
    );
}

/// Hubs of up to 20,000 edges beside nodes with a few edges or none.
fn hubs() -> Csr {
    let degree = |v: u32| match v % 97 {
        0 => v * 20,
        1 => 60 + v % 8,
        2 => 300 + v,
        _ => v % 5,
    };
    let edges: Vec<(u32, u32)> = (0..1000u32)
        .flat_map(|v| (0..degree(v)).map(move |k| (v, (v * 5 + k * k * 3) % 1000)))
        .collect();
    Csr::from_edges(1000, &edges).expect("edges name nodes")
}

#[test]
fn a_session_names_its_loops_and_who_takes_their_turns() {
    let (g, weight) = graph();
    let topology = shared::Topology {
        g: &g,
        weight: &weight,
    };
    let mut session = shared::Session::new(&Runtime::native(), topology).expect("it fits");
    let plan = shared::PLAN.to_string();
    let of_plan: Vec<&str> = plan.lines().filter(|l| l.starts_with("  loop ")).collect();
    assert!(of_plan.len() > 1, "{plan}");
    let told = |session: &shared::Session| -> Vec<String> {
        let text = session.explain().to_string();
        let loops = text.lines().skip_while(|line| *line != "loops").skip(1);
        let loops = loops.take_while(|line| line.starts_with("  "));
        loops.map(str::to_owned).collect()
    };
    assert_eq!(told(&session), of_plan);
    session.run(shared::Run {}).expect("no trap");
    let (last, lines) = (told(&session).pop(), told(&session));
    assert_eq!(lines[..lines.len() - 1], of_plan);
    assert_eq!(
        last.as_deref(),
        Some("  each runs in its own lane: only compiled code and shaders share loops out")
    );
}

#[test]
#[ignore = "needs a CUDA device"]
fn warps_of_the_device_that_share_loops_leave_the_same() {
    let g = hubs();
    let weight: Vec<i32> = (0..g.edge_count() as i32).map(|i| i * 7 % 6 - 2).collect();
    let run = |runtime: &Runtime| {
        let topology = shared::Topology {
            g: &g,
            weight: &weight,
        };
        let mut session = shared::Session::new(runtime, topology).expect("it fits");
        let mut out = session.run(shared::Run {}).expect("no trap");
        out.report = Default::default();
        out
    };
    let cuda = vyre_tests::cuda();
    let meant = run(&Runtime::vir0());
    for route in [RoutePolicy::Interpreter, RoutePolicy::Compiled] {
        for _ in 0..5 {
            assert_eq!(run(&cuda.clone().with_route(route)), meant, "{route:?}");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_first_turn_that_faults_traps_on_the_device() {
    let g = hubs();
    let share: Vec<u32> = (0..1000).collect();
    let first = g.offsets()[97 * 5] as usize;
    let cuda = vyre_tests::cuda().with_route(RoutePolicy::Compiled);
    for (kind, good, bad) in [(0, 1, 1000), (1, 2, 0), (2, 9, 7)] {
        for at in [0, 31, 64, 4_000, 9_699] {
            let mut weight = vec![good; g.edge_count()];
            weight[first + at..first + 9_700].fill(bad);
            let run = |runtime: &Runtime| {
                let topology = faulty_loops::Topology {
                    g: &g,
                    weight: &weight,
                };
                let mut session = faulty_loops::Session::new(runtime, topology).expect("it fits");
                match session.run(faulty_loops::Run {
                    share: &share,
                    kind,
                }) {
                    Err(Error::Trap(trap)) => {
                        (trap.kind, trap.item, trap.index, trap.len, trap.site)
                    }
                    other => panic!("it traps, but gave {other:?}"),
                }
            };
            assert_eq!(run(&cuda), run(&Runtime::vir0()), "kind {kind}, turn {at}");
        }
    }
}
