//! Scalars that the session is given: in bodies, in lengths and in widths.

use vyre::prelude::*;
use vyre::{FusedSession, Sessions};
use vyre_core::run::args::{TopologyArgs, check_columns, resolve_topologies};
use vyre_core::vir0::module::ScalarId;
use vyre_tests::backend_tests;

/// Rows of `k` values a node, of which each run takes those from `least` on.
#[wave_graph]
mod tables {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology]
        k: u32,
        #[topology]
        scale: f64,
        #[topology(per = node * k)]
        value: u32,
        #[topology(per = node, bits = k)]
        sets: Bits,
        #[output(per = node * k)]
        scaled: f64,
        #[output(per = node, bits = k)]
        taken: Bits,
        #[list(capacity = k + 1, output)]
        last: List<u32>,
        #[reduce(sum)]
        sum: u64,
        least: u32,
    }

    #[wave(range(node * k))]
    fn scale_up(i: Index, value: &Buf<u32>, scale: f64, scaled: &mut f64, sum: &Reduce<Sum<u64>>) {
        *scaled = f64::from(value[i]) * scale;
        sum.add(u64::from(value[i]));
    }

    #[wave(nodes)]
    fn take(v: Node, k: u32, least: u32, value: &Buf<u32>, sets: &Bits, taken: &Bits) {
        for b in sets.ones(v) {
            if value[v * k + b] >= least {
                taken.set(v, b);
            }
        }
    }

    #[wave(range(k))]
    fn keep(i: Index, value: &Buf<u32>, last: &Append<u32>) {
        last.append(value[value.len() - 1 - i]);
    }
}

struct Table {
    k: u32,
    value: Vec<u32>,
    sets: Vec<u32>,
}

impl Table {
    fn of(nodes: u32, k: u32) -> Table {
        let words = nodes * k.div_ceil(32);
        let full = |w: u32| match k - w % k.div_ceil(32) * 32 {
            left @ ..32 => (1 << left) - 1,
            _ => u32::MAX,
        };
        Table {
            k,
            value: (0..nodes * k).map(|i| i * 7 % 100).collect(),
            sets: (0..words).map(|w| full(w) & 0x5555_5555).collect(),
        }
    }

    fn topology<'a>(&'a self, graph: &'a Csr) -> tables::Topology<'a> {
        tables::Topology {
            graph,
            k: self.k,
            scale: 0.5,
            value: &self.value,
            sets: &self.sets,
        }
    }

    fn check(&self, out: &tables::Output, least: u32) {
        let scaled: Vec<f64> = self.value.iter().map(|&x| f64::from(x) * 0.5).collect();
        assert_eq!(out.scaled, scaled);
        assert_eq!(out.sum, self.value.iter().map(|&x| u64::from(x)).sum());
        for (v, row) in (0..).zip(self.value.chunks(self.k as usize)) {
            let taken = (0..self.k).filter(|&b| b % 2 == 0 && row[b as usize] >= least);
            assert!(out.taken.ones(v).eq(taken), "node {v} of {}", self.k);
        }
        let mut last = out.last.clone();
        last.sort_unstable();
        let mut expected = self.value[self.value.len() - self.k as usize..].to_vec();
        expected.sort_unstable();
        assert_eq!(last, expected);
    }
}

fn scalars_of_a_session_are_known_to_bodies_lengths_and_widths(runtime: &Runtime) {
    let graph = Csr::from_edges(5, &[(0, 1), (1, 2)]).unwrap();
    // Sessions of one pass and graph, whose plans differ.
    for k in [3, 40, 64, 3] {
        let table = Table::of(5, k);
        let mut session = tables::Session::new(runtime, table.topology(&graph)).unwrap();
        for least in [0, 50, 99] {
            table.check(&session.run(tables::Run { least }).unwrap(), least);
        }
        let runs = [1, 60].map(|least| tables::Run { least });
        table.check(&session.run_series(runs).unwrap(), 60);
        for least in [20, 70] {
            session.submit(tables::Run { least }, 0);
        }
        let batch = session.run_batch().unwrap();
        for ((_, out), least) in batch.results.iter().zip([20, 70]) {
            table.check(out.as_ref().unwrap(), least);
        }
    }
}

fn an_update_gives_other_scalars(runtime: &Runtime) {
    let graph = Csr::from_edges(4, &[(0, 1), (1, 2)]).unwrap();
    let first = Table::of(4, 33);
    let mut session = tables::Session::new(runtime, first.topology(&graph)).unwrap();
    first.check(&session.run(tables::Run { least: 10 }).unwrap(), 10);
    for k in [2, 70, 33] {
        let table = Table::of(4, k);
        session.update(table.topology(&graph)).unwrap();
        table.check(&session.run(tables::Run { least: 10 }).unwrap(), 10);
    }
    let mut wrong = Table::of(4, 5);
    wrong.k = 6;
    let refused = session.update(wrong.topology(&graph)).unwrap_err();
    let told = refused.to_string();
    assert!(told.starts_with("`value` has 20 elements"), "{told}");
    first.check(&session.run(tables::Run { least: 90 }).unwrap(), 90);
}

fn each_of_many_topologies_has_its_own(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1)]).unwrap();
    let all: Vec<Table> = [2, 35, 7].map(|k| Table::of(3, k)).into();
    let given = all.iter().map(|table| table.topology(&graph));
    let mut sessions = Sessions::<tables::Pass>::new(runtime, given).unwrap();
    for at in [1, 0, 2, 1] {
        sessions.submit(at, tables::Run { least: 30 }, 0);
    }
    let batch = sessions.run_batch().unwrap();
    for ((_, out), at) in batch.results.iter().zip([1, 0, 2, 1]) {
        all[at].check(out.as_ref().unwrap(), 30);
    }
}

/// It has no topology but a scalar.
#[wave_graph]
mod powers {
    pub(crate) struct Data {
        #[topology]
        base: u64,
        #[topology]
        count: u32,
        #[output(per = count)]
        power: u64,
    }

    #[wave(range(count))]
    fn raise(i: Index, base: u64, power: &mut u64) {
        *power = base.wrapping_pow(i);
    }
}

fn a_scalar_can_be_all_that_a_session_has(runtime: &Runtime) {
    for (base, count) in [(3, 5), (10, 2)] {
        let topology = powers::Topology { base, count };
        let mut session = powers::Session::new(runtime, topology).unwrap();
        let out = session.run(powers::Run {}).unwrap();
        let powers = (0..count).map(|i| base.pow(i));
        assert_eq!(out.power, powers.collect::<Vec<_>>());
    }
}

/// Takes `powers` in: `count` is this graph's, `base` becomes one of its scalars.
#[wave_graph]
mod sums {
    #[include(count = n)]
    use super::powers;

    pub(crate) struct Data {
        #[topology]
        n: u32,
        #[input(per = n)]
        times: u64,
        #[output(per = n + extra)]
        sum: u64,
        extra: u32,
    }

    #[wave(range(n), after(powers))]
    fn add(i: Index, extra: u32, powers_power: &u64, times: &u64, sum: &Buf<Atomic<u64>>) {
        sum[i + extra].fetch_add(*powers_power * *times);
    }
}

fn included_scalars_stay_the_sessions(runtime: &Runtime) {
    let topology = sums::Topology {
        n: 3,
        powers_base: 4,
    };
    let mut session = sums::Session::new(runtime, topology).unwrap();
    for extra in [2, 0] {
        let times = &[1, 2, 3];
        let out = session.run(sums::Run { times, extra }).unwrap();
        assert_eq!(out.sum[extra as usize..], [1, 8, 48]);
        assert_eq!(out.powers_power, [1, 4, 16]);
    }
}

fn fused_passes_have_their_own(runtime: &Runtime) {
    let first = powers::Topology { base: 2, count: 4 };
    let second = sums::Topology {
        n: 4,
        powers_base: 3,
    };
    let fused = FusedSession::<powers::Pass, sums::Pass>::new(runtime, (first, second), &[]);
    let mut fused = fused.unwrap();
    let given = sums::Run {
        times: &[1, 2, 4, 8],
        extra: 1,
    };
    let (a, b) = fused.run(powers::Run {}, given).unwrap();
    assert_eq!(a.power, [1, 2, 4, 8]);
    assert_eq!(b.sum, [0, 1, 6, 36, 216]);
}

/// Distances of at most `reach` steps' cost.
#[wave_graph]
mod near {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology]
        reach: u32,
        #[topology(per = edge(graph))]
        cost: u32,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node, init = u32::MAX)]
        dist: u32,
        source: u32,
    }

    #[wave(once)]
    fn start(source: u32, dist: &Buf<Atomic<u32>>, front: &Push) {
        dist[source].store(0);
        front.push(source);
    }

    #[fixpoint(after(start), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, reach: u32, cost: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push) {
            let far = dist[e.src].load() + cost[e.index];
            if far <= reach && dist[e.dst].fetch_min(far) > far {
                front.push(e.dst);
            }
        }
    }
}

fn a_scalar_of_the_session_is_fixed_in_proofs(runtime: &Runtime) {
    let class = |plan: &vyre::Plan| plan.to_string().lines().next().unwrap().to_owned();
    let said = class(&near::PLAN);
    assert!(said.starts_with("pass near (same result: "), "{said}");
    let said = class(&powers::PLAN);
    assert!(said.starts_with("pass powers (same bits"), "{said}");
    let graph = Csr::from_edges(4, &[(0, 1), (0, 2), (1, 3), (2, 1)]).unwrap();
    for (reach, dist) in [(4, [0, 3, 1, u32::MAX]), (9, [0, 3, 1, 8])] {
        let topology = near::Topology {
            graph: &graph,
            reach,
            cost: &[4, 1, 5, 2],
        };
        let mut session = near::Session::new(runtime, topology).unwrap();
        assert_eq!(session.run(near::Run { source: 0 }).unwrap().dist, dist);
    }
}

fn a_length_of_the_session_is_refused_when_it_begins(runtime: &Runtime) {
    let graph = Csr::from_edges(2, &[]).unwrap();
    let topology = tables::Topology {
        graph: &graph,
        k: u32::MAX,
        scale: 1.0,
        value: &[],
        sets: &[],
    };
    let refused = tables::Session::new(runtime, topology).unwrap_err();
    let told =
        "`value` would have `node * k` elements, and 8589934590 is not between 0 and 4294967295";
    assert_eq!(refused.to_string(), told);
}

/// A program is asked for what its topology buffers need, and a run cannot say another length.
#[test]
fn a_session_says_what_its_buffers_are_as_long_as() {
    let graph = Csr::from_edges(3, &[]).unwrap();
    let table = Table::of(3, 2);
    let session = tables::Session::new(&Runtime::native(), table.topology(&graph)).unwrap();
    let program = session.program();
    let mut given = TopologyArgs {
        graphs: vec![&graph],
        ..TopologyArgs::default()
    };
    let refused = resolve_topologies(program, &given).unwrap_err().to_string();
    let told =
        "`value` stays for the session, which does not say how long it is: `k` is of each run";
    assert!(refused.ends_with(told), "{refused}");
    given.scalars = vec![(ScalarId(0), 2), (ScalarId(1), 0)];
    let (_, mut sizes) = resolve_topologies(program, &given).unwrap();
    assert!(check_columns(program, &sizes, &[]).is_ok());
    sizes.scalars = vec![3, 0, 0];
    let refused = check_columns(program, &sizes, &[]).unwrap_err().to_string();
    let told = "the run has 3 for `k`; the session has 2";
    assert!(refused.ends_with(told), "{refused}");
}

backend_tests!(
    scalars_of_a_session_are_known_to_bodies_lengths_and_widths,
    an_update_gives_other_scalars,
    each_of_many_topologies_has_its_own,
    a_scalar_can_be_all_that_a_session_has,
    included_scalars_stay_the_sessions,
    fused_passes_have_their_own,
    a_scalar_of_the_session_is_fixed_in_proofs,
    a_length_of_the_session_is_refused_when_it_begins,
);
