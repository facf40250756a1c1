//! vyre's own backends, through the door that users take. Search, ranks, components, saxpy and the data flow of programs
//! are the passes of the examples of these names; shortest paths by distance, the hash loop and relations are here.

use super::{Measured, Place, Prepared, Results, Rival, Skip, bucket_width};
use crate::workloads::{DAMPING, FACTOR, Problem, Rule, SEED, TOLERANCE, Values, Workload};
use std::sync::Arc;
use vyre::core::run::pass::Pass;
use vyre::cuda::{Cuda, Shape};
use vyre::prelude::*;
use vyre::{Error, Report, RoutePolicy, Session};
use vyre_examples::cli::count;
use vyre_examples::passes::{bfs, components, liveness, pagerank, reaching, saxpy};
use vyre_examples::relation::MOST;

macro_rules! field {
    ($output:ty, $field:ident: $scalar:ident) => {
        Field {
            take: |out: &mut $output| Values::$scalar(std::mem::take(&mut out.$field)),
            give_back: |out: &mut $output, values| {
                if let Values::$scalar(values) = values {
                    out.$field = values;
                }
            },
            report: |out: &$output| &out.report,
        }
    };
}

/// How many pairs there are.
macro_rules! pairs {
    ($output:ty) => {
        Field {
            take: |out: &mut $output| Values::Count(out.pairs),
            give_back: |_, _| {},
            report: |out: &$output| &out.report,
        }
    };
}

/// Shortest paths, nearest first: round k of the outer fixpoint settles the nodes whose distance is below
/// `(k + 1) * width` (Davidson, Baxter, Garland, Owens: Work-efficient parallel GPU methods for single-source shortest
/// paths). Weights are at most 64, so that no distance comes near 2^32. The example of that name relaxes everything at
/// once, which is shorter and looks at edges more often.
#[wave_graph]
#[pass(id = "bench.near_far", unproven)]
#[allow(
    missing_docs,
    unreachable_pub,
    reason = "fields are explained by the problem"
)]
mod near_far {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        /// Nodes within the limit, to be relaxed now.
        #[frontier(unique)]
        near: Frontier,
        /// Nodes that wait, and some that were relaxed since they began to.
        #[frontier(unique)]
        far: Frontier,
        #[output(per = node)]
        dist: u32,
        /// Where the bucket ends.
        #[reduce(max)]
        limit: u32,
        source: u32,
        width: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, far: &Push) {
        *dist = UNREACHED;
        if v == source {
            *dist = 0;
            far.push(v);
        }
    }

    #[fixpoint(after(init), until(far.is_empty()), max_rounds = 4_294_967_295)]
    mod buckets {
        #[wave(items(far))]
        fn split(
            v: Node,
            round: Round,
            dist: &Buf<Atomic<u32>>,
            width: u32,
            limit: &Reduce<Max<u32>>,
            near: &Push,
            far: &Push,
        ) {
            let (begin, d) = (round * width, dist[v].load());
            limit.max(begin + width);
            if d >= begin {
                if d - begin < width {
                    near.push(v);
                } else {
                    far.push(v);
                }
            }
        }

        #[fixpoint(after(split), until(near.is_empty()), max_rounds = 4_294_967_295)]
        mod relaxation {
            #[wave(edges(graph, from = near))]
            fn relax(
                e: Edge,
                weight: &Buf<u32>,
                dist: &Buf<Atomic<u32>>,
                limit: u32,
                near: &Push,
                far: &Push,
            ) {
                let next = dist[e.src].load() + weight[e.index];
                if next < dist[e.dst].fetch_min(next) {
                    if next < limit {
                        near.push(e.dst);
                    } else {
                        far.push(e.dst);
                    }
                }
            }
        }
    }
}

/// Nodes and the nodes that paths lead to from there, as the example of that name finds them; here they stay where they
/// are, and their number is the result.
#[wave_graph]
#[pass(id = "bench.closure", unproven)]
#[allow(
    missing_docs,
    unreachable_pub,
    reason = "fields are explained by the problem"
)]
mod closure {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = room)]
        path: Relation<(u32, u32)>,
        #[reduce(count)]
        pairs: u64,
        room: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }

    #[fixpoint(after(begin), until(path.settled()), max_rounds = 4_294_967_294)]
    mod rounds {
        #[wave(items(path, last))]
        fn extend(p: (u32, u32), graph: &Csr, path: &Insert<(u32, u32)>) {
            for to in graph.neighbors(p.1) {
                path.insert((p.0, to));
            }
        }
    }

    #[wave(items(path), after(rounds))]
    fn count(_p: (u32, u32), pairs: &Reduce<Count>) {
        pairs.inc();
    }
}

/// The same as rows of bits: nodes whose row has grown hand it to the nodes from which edges lead there.
#[wave_graph]
#[pass(id = "bench.closure_bits", unproven)]
#[allow(
    missing_docs,
    unreachable_pub,
    reason = "fields are explained by the problem"
)]
mod closure_bits {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[scratch(per = node, bits = nodes)]
        path: Bits,
        #[frontier(unique)]
        grown: Frontier,
        #[reduce(sum)]
        pairs: u64,
        nodes: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, graph: &Csr, path: &Bits, grown: &Push) {
        for to in graph.neighbors(v) {
            path.set(v, to);
        }
        if graph.degree(v) > 0 {
            grown.push(v);
        }
    }

    #[fixpoint(after(begin), until(grown.is_empty()), max_rounds = 4_294_967_294)]
    mod rounds {
        #[wave(edges(back, from = grown))]
        fn hand(e: Edge, path: &Bits, grown: &Push) {
            if path.or(e.dst, e.src) {
                grown.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(rounds))]
    fn count(v: Node, path: &Bits, pairs: &Reduce<Sum<u64>>) {
        pairs.add(path.count(v) as u64);
    }
}

/// Nodes of the same generation, as the example of that name finds them; their number is the result.
#[wave_graph]
#[pass(id = "bench.same_generation", unproven)]
#[allow(
    missing_docs,
    unreachable_pub,
    reason = "fields are explained by the problem"
)]
mod same_generation {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = room)]
        sg: Relation<(u32, u32)>,
        #[reduce(count)]
        pairs: u64,
        room: u32,
    }

    #[wave(edges(graph))]
    fn siblings(e: Edge, graph: &Csr, sg: &Insert<(u32, u32)>) {
        for y in graph.neighbors(e.src) {
            if y != e.dst {
                sg.insert((e.dst, y));
            }
        }
    }

    #[fixpoint(after(siblings), until(sg.settled()), max_rounds = 4_294_967_294)]
    mod rounds {
        #[wave(items(sg, last))]
        fn children(p: (u32, u32), graph: &Csr, sg: &Insert<(u32, u32)>) {
            for x in graph.neighbors(p.0) {
                for y in graph.neighbors(p.1) {
                    sg.insert((x, y));
                }
            }
        }
    }

    #[wave(items(sg), after(rounds))]
    fn count(_p: (u32, u32), pairs: &Reduce<Count>) {
        pairs.inc();
    }
}

/// Distance of a node without a path.
const UNREACHED: u32 = u32::MAX;

/// 32 steps of integer arithmetic that depend on each other; see [`crate::workloads::hashed`].
#[kernel]
#[pass(id = "bench.hash", unproven)]
#[allow(
    missing_docs,
    unreachable_pub,
    reason = "a kernel and its generated module"
)]
pub(crate) fn hash(i: Index, seed: u32, out: &mut u32) {
    let mut h = i ^ seed;
    for step in 0..32 {
        h = (h ^ h >> 15)
            .wrapping_mul(0x2c1b_3c6d)
            .rotate_left(13)
            .wrapping_add(step);
    }
    *out = h;
}

/// What a session goes over to after its first runs.
fn compiled() -> Result<Runtime, Error> {
    Ok(Runtime::cuda()?.with_route(RoutePolicy::Compiled))
}

/// The same with another shape of the modules' CTAs.
fn shaped(shape: Shape) -> Result<Runtime, Error> {
    let cuda = Cuda::open(0)?.with_shape(shape);
    Ok(Runtime::on(Arc::new(cuda)).with_route(RoutePolicy::Compiled))
}

/// The megakernel as it is shipped, whatever pays.
fn interpreted() -> Result<Runtime, Error> {
    Ok(Runtime::cuda()?.with_route(RoutePolicy::Interpreter))
}

pub(super) fn all() -> Vec<Box<dyn Rival>> {
    let backend = |name, about, place, runtime: fn() -> Result<Runtime, Error>, most_work| {
        Box::new(Backend {
            name,
            about,
            place,
            runtime: Box::new(runtime),
            most_work,
            results: Results::New,
            open: session,
        }) as Box<dyn Rival>
    };
    let bits = |name, about, place, runtime: fn() -> Result<Runtime, Error>| {
        Box::new(Backend {
            name,
            about,
            place,
            runtime: Box::new(runtime),
            most_work: u64::MAX,
            results: Results::New,
            open: session_of_bits,
        }) as Box<dyn Rival>
    };
    vec![
        backend(
            "native",
            "vyre on the CPU, the pass's own functions on all threads",
            Place::Cpu,
            || Ok(Runtime::native()),
            u64::MAX,
        ),
        backend(
            "vir0",
            "vyre on the CPU, the pass's bytecode interpreted on one thread",
            Place::Cpu,
            || Ok(Runtime::vir0()),
            40_000_000,
        ),
        backend(
            "cuda",
            "vyre on the GPU, by a module of the pass's own, as warm sessions have it",
            Place::Gpu,
            compiled,
            u64::MAX,
        ),
        Box::new(Backend {
            name: "cuda-into",
            about: "the same by `run_into`, with results in the memory of the ones before",
            place: Place::Gpu,
            runtime: Box::new(compiled),
            most_work: u64::MAX,
            results: Results::Earlier,
            open: session,
        }),
        Box::new(Backend {
            name: "interpreted",
            about: "the same as `cuda-into`, by the megakernel that interprets any pass",
            place: Place::Gpu,
            runtime: Box::new(interpreted),
            most_work: u64::MAX,
            results: Results::Earlier,
            open: session,
        }),
        bits(
            "native-bits",
            "vyre on the CPU, a relation as rows of bits",
            Place::Cpu,
            || Ok(Runtime::native()),
        ),
        bits(
            "cuda-bits",
            "vyre on the GPU, a relation as rows of bits",
            Place::Gpu,
            compiled,
        ),
    ]
}

/// vyre with modules of these shapes, each by its name.
pub(super) fn of_shapes(shapes: &[Shape]) -> Vec<Box<dyn Rival>> {
    let backend = |&shape: &Shape| {
        Box::new(Backend {
            // As long as the process.
            name: shape.to_string().leak(),
            about: "the same as `cuda-into`, by modules of this shape",
            place: Place::Gpu,
            runtime: Box::new(move || shaped(shape)),
            most_work: u64::MAX,
            results: Results::Earlier,
            open: session,
        }) as Box<dyn Rival>
    };
    shapes.iter().map(backend).collect()
}

struct Backend {
    name: &'static str,
    about: &'static str,
    place: Place,
    runtime: Box<dyn Fn() -> Result<Runtime, Error> + Sync>,
    /// Steps of a workload that are worth waiting for.
    most_work: u64,
    results: Results,
    open: for<'w> fn(&Runtime, &'w Problem, Results) -> Opened<'w>,
}

/// A session that is ready for runs; `None` where there is no pass for the problem.
type Opened<'w> = Result<Option<Box<dyn Prepared + 'w>>, Error>;

impl Rival for Backend {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn place(&self) -> Place {
        self.place
    }

    fn ours(&self) -> bool {
        true
    }

    fn too_long(&self, workload: &Workload) -> Option<String> {
        let work = workload.work();
        (work > self.most_work).then(|| format!("about {} steps of an interpreter", count(work)))
    }

    fn prepare<'w>(&self, workload: &'w Workload) -> Result<Box<dyn Prepared + 'w>, Skip> {
        // Its result takes the place of an input anyway.
        if self.results == Results::Earlier && matches!(workload.problem, Problem::Saxpy { .. }) {
            return Err(Skip::NoAlgorithm);
        }
        let unavailable = |e: Error| Skip::Unavailable(e.to_string());
        let runtime = (self.runtime)().map_err(unavailable)?;
        let opened = (self.open)(&runtime, &workload.problem, self.results);
        opened.map_err(unavailable)?.ok_or(Skip::NoAlgorithm)
    }
}

/// Compiled, where that is the route, before anything is timed.
fn ready<P: Pass>(runtime: &Runtime, mut session: Session<P>) -> Result<Session<P>, Error> {
    if runtime.route() == RoutePolicy::Compiled {
        session.compile_now()?;
    }
    Ok(session)
}

/// A relation as rows of bits.
fn session_of_bits<'w>(runtime: &Runtime, problem: &'w Problem, results: Results) -> Opened<'w> {
    let Problem::Relation {
        rule: Rule::Closure,
        graph,
        ..
    } = problem
    else {
        return Ok(None);
    };
    let nodes = graph.node_count() as u32;
    let mut session = ready(runtime, closure_bits::Session::new(runtime, &**graph)?)?;
    Ok(Some(Box::new(Runs {
        run: move |out: &mut closure_bits::Output| {
            session.run_into(closure_bits::Run { nodes }, out)
        },
        field: pairs!(closure_bits::Output),
        out: None,
        results,
    })))
}

/// Tuples that a relation has room for, of a caller who doubles the room until it is enough.
fn room(pairs: u64) -> u32 {
    pairs.next_power_of_two().min(MOST.into()) as u32
}

fn session<'w>(runtime: &Runtime, problem: &'w Problem, results: Results) -> Opened<'w> {
    Ok(Some(match problem {
        Problem::Bfs { graph, .. } => {
            let mut session = ready(runtime, bfs::Session::new(runtime, &**graph)?)?;
            Box::new(Runs {
                run: move |out: &mut bfs::Output| session.run_into(bfs::Run { source: 0 }, out),
                field: field!(bfs::Output, dist: U32),
                out: None,
                results,
            })
        }
        Problem::Sssp { graph, weights } => {
            let topology = near_far::Topology {
                graph,
                weight: weights,
            };
            let mut session = ready(runtime, near_far::Session::new(runtime, topology)?)?;
            let place = match runtime.cuda_device() {
                Some(_) => Place::Gpu,
                None => Place::Cpu,
            };
            let width = bucket_width(graph, weights, place);
            Box::new(Runs {
                run: move |out: &mut near_far::Output| {
                    session.run_into(near_far::Run { source: 0, width }, out)
                },
                field: field!(near_far::Output, dist: U32),
                out: None,
                results,
            })
        }
        Problem::PageRank { graph } => {
            let start = 1.0 / graph.node_count().max(1) as f32;
            let run = pagerank::Run {
                start,
                damping: DAMPING,
                spread: DAMPING * start,
                restart: (1.0 - DAMPING) * start,
                tolerance: TOLERANCE,
            };
            let mut session = ready(runtime, pagerank::Session::new(runtime, &**graph)?)?;
            Box::new(Runs {
                run: move |out: &mut pagerank::Output| session.run_into(run, out),
                field: field!(pagerank::Output, rank: F32),
                out: None,
                results,
            })
        }
        Problem::Components { graph } => {
            let mut session = ready(runtime, components::Session::new(runtime, &**graph)?)?;
            let run = components::Run {
                symmetric: true,
                nodes: graph.node_count() as u32,
            };
            Box::new(Runs {
                run: move |out: &mut components::Output| session.run_into(run, out),
                field: field!(components::Output, label: U32),
                out: None,
                results,
            })
        }
        Problem::Liveness { cfg, predecessors } => {
            let topology = liveness::Topology {
                predecessors,
                uses: &cfg.uses,
                defs: &cfg.defs,
            };
            let mut session = ready(runtime, liveness::Session::new(runtime, topology)?)?;
            Box::new(Runs {
                run: move |out: &mut liveness::Output| session.run_into(liveness::Run {}, out),
                field: field!(liveness::Output, live: U64),
                out: None,
                results,
            })
        }
        Problem::Reaching { cfg, definitions } => {
            let topology = reaching::Topology {
                successors: &cfg.successors,
                defs: &definitions.defs,
                entry: &definitions.entry,
                row: &definitions.row,
                words: &definitions.words,
                register: &definitions.register,
                writes: &definitions.writes,
                bit: &definitions.bit,
            };
            let mut session = ready(runtime, reaching::Session::new(runtime, topology)?)?;
            let length = definitions.len();
            Box::new(Runs {
                run: move |out: &mut reaching::Output| {
                    session.run_into(reaching::Run { length }, out)
                },
                field: field!(reaching::Output, reaching: U32),
                out: None,
                results,
            })
        }
        Problem::Saxpy { x, y } => Box::new(Saxpy {
            runtime: runtime.clone(),
            x,
            before: y,
            y: Vec::new(),
        }),
        Problem::Hash { len } => {
            let (runtime, len) = (runtime.clone(), *len as usize);
            // Compiled before it is timed, where that is the route.
            hash::run(&runtime, SEED, &mut [0])?;
            Box::new(Runs {
                run: move |out: &mut Hashes| {
                    // What a kernel's `run` writes is the caller's.
                    out.values.resize(len, 0);
                    out.report = hash::run(&runtime, SEED, &mut out.values)?;
                    Ok(())
                },
                field: field!(Hashes, values: U32),
                out: None,
                results,
            })
        }
        Problem::Relation {
            rule: Rule::Closure,
            graph,
            pairs,
        } => {
            let mut session = ready(runtime, closure::Session::new(runtime, &**graph)?)?;
            let run = closure::Run { room: room(*pairs) };
            Box::new(Runs {
                run: move |out: &mut closure::Output| session.run_into(run, out),
                field: pairs!(closure::Output),
                out: None,
                results,
            })
        }
        Problem::Relation {
            rule: Rule::SameGeneration,
            graph,
            pairs,
        } => {
            let mut session = ready(runtime, same_generation::Session::new(runtime, &**graph)?)?;
            let run = same_generation::Run { room: room(*pairs) };
            Box::new(Runs {
                run: move |out: &mut same_generation::Output| session.run_into(run, out),
                field: pairs!(same_generation::Output),
                out: None,
                results,
            })
        }
    }))
}

/// A result of the hash loop.
#[derive(Default)]
struct Hashes {
    values: Vec<u32>,
    report: Report,
}

/// The result that counts, of an output of several parts.
struct Field<O> {
    take: fn(&mut O) -> Values,
    give_back: fn(&mut O, Values),
    report: fn(&O) -> &Report,
}

/// The same run again and again. `out`: the memory of the result before, for who reuses it.
struct Runs<O, R> {
    run: R,
    field: Field<O>,
    out: Option<O>,
    results: Results,
}

impl<O: Default, R: FnMut(&mut O) -> Result<(), Error>> Prepared for Runs<O, R> {
    fn run(&mut self) -> Result<Measured, String> {
        let mut out = self.out.take().unwrap_or_default();
        (self.run)(&mut out).map_err(|e| e.to_string())?;
        let values = (self.field.take)(&mut out);
        let measured = measured(values, (self.field.report)(&out));
        self.out = (self.results == Results::Earlier).then_some(out);
        Ok(measured)
    }

    fn give_back(&mut self, values: Values) {
        if let Some(out) = &mut self.out {
            (self.field.give_back)(out, values);
        }
    }
}

fn measured(values: Values, report: &Report) -> Measured {
    Measured {
        values,
        // Of nested fixpoints, all of them.
        rounds: Some(report.rounds.iter().sum()).filter(|&rounds| rounds > 0),
        device_ns: report.device_ns,
    }
}

struct Saxpy<'w> {
    runtime: Runtime,
    x: &'w [f32],
    before: &'w [f32],
    y: Vec<f32>,
}

impl Prepared for Saxpy<'_> {
    fn reset(&mut self) {
        self.y.resize(self.before.len(), 0.0);
        self.y.copy_from_slice(self.before);
    }

    fn run(&mut self) -> Result<Measured, String> {
        let report = saxpy::run(&self.runtime, FACTOR, self.x, &mut self.y);
        let report = report.map_err(|e| e.to_string())?;
        Ok(measured(Values::F32(std::mem::take(&mut self.y)), &report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of what `explain()` says of compiled code, without the figures that are the driver's.
    fn told(text: &str) -> Vec<&str> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_drivers = |at: usize| match words[at + 1..] {
            ["s," | "registers," | "bytes", ..] => true,
            ["of", what, ..] => what == "shared",
            _ => false,
        };
        let ours = (0..words.len()).filter(|&at| !is_drivers(at));
        ours.map(|at| words[at]).collect()
    }

    #[test]
    fn the_page_about_sessions_shows_what_is_said_of_the_hash_loop() {
        let runtime = vyre_tests::fake().with_route(RoutePolicy::Compiled);
        hash::run(&runtime, SEED, &mut vec![0; 1 << 20]).expect("no trap");
        let said = runtime.explain_kernel::<hash::Pass>();
        let said = said.expect("its session stays");
        let begin = "  followed  132 workers, compiled (";
        let of = |text: &str| {
            let (_, told) = text.split_once(begin)?;
            let end = told
                .find("\n  followed")
                .or_else(|| told.find("\n  happened"));
            end.map(|end| told[..end].to_owned())
        };
        let said = of(&said).expect("it was compiled");
        let page = of(include_str!("../../../docs/SESSIONS.md")).expect("it has such a sample");
        assert_eq!(told(&page), told(&said), "the page is to say {said}");
    }
}
