//! The class that `PLAN` states must hold: passes that are "same bits" or "same result" on many threads, again and again.
use crate::common::*;
#[wave_graph]
pub mod touched {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier(unique)] fr: Frontier,
        #[list(unique)] l: List<Node>,
        #[list(capacity = 4000000)] k: List<u32>,
        #[output(per = node)] o: u32,
        #[output(per = node)] c: u32,
        #[output(per = node)] often: u32,
        #[output(per = 1)] len: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) {
        *o = *x;
        fr.push(v);
    }
    #[fixpoint(after(begin), until(fr.is_empty()))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push, l: &Push, k: &Append<u32>) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) {
                fr.push(e.dst);
                l.push(e.dst);
                k.append(e.dst);
            }
        }
    }
    #[wave(items(l), after(f))]
    fn count(c: &mut u32) {
        *c += 1;
    }
    #[wave(items(k), after(f))]
    fn count2(x: u32, often: &Buf<Atomic<u32>>) {
        often[x].fetch_add(1);
    }
}
#[wave_graph]
pub mod between {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier(unique)] fr: Frontier,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = node)] o: u32,
        #[input(per = node)] x: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) {
        *o = *x;
        fr.push(v);
    }
    #[fixpoint(after(begin), until(l.len() < 3))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) {
                l.push(e.dst);
            }
        }
        #[wave(items(l), after(lower))]
        fn on(v: Node, fr: &Push) {
            fr.push(v);
        }
    }
}
#[wave_graph]
pub mod first_wins {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[scratch(per = node, reset = round)] t: [u32; 2],
        #[output(per = node)] o: u32,
    }
    #[fixpoint(until(round == 1))]
    mod f {
        #[wave(edges(graph))]
        fn put(e: Edge, t: &Buf<Atomic<u32>>, l: &Push) {
            if t[e.dst * 2].compare_exchange(0, 1) {
                l.push(e.src);
            }
        }
        #[wave(items(l), after(put))]
        fn get(o: &mut u32) {
            *o += 1;
        }
    }
}
fn classes<P: vyre::Pass>(rts: &[Runtime], topology: P::Topology<'_>, run: P::Run<'_>) -> Result<String, String>
where
    for<'a> P::Topology<'a>: Copy,
    for<'a> P::Run<'a>: Copy,
{
    let found = vyre::compare::<P>(rts, topology, run, 3).map_err(err)?;
    if !found.agrees() {
        return Err(format!("WRONG {}: {found}", P::PLAN.class()));
    }
    Ok(format!("{}", P::PLAN.class()))
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let rts = [Runtime::native_threads(4).map_err(err)?, rt.clone(), Runtime::vir0()];
    let x = rng.vec(g.n, 1000);
    let a = classes::<touched::Pass>(&rts, touched::Topology { graph: &g.csr }, touched::Run { x: &x })?;
    let b = classes::<between::Pass>(&rts, between::Topology { graph: &g.csr }, between::Run { x: &x })?;
    let c = classes::<first_wins::Pass>(&rts, first_wins::Topology { graph: &g.csr }, first_wins::Run {})?;
    if (a.as_str(), b.as_str(), c.as_str()) != ("open result", "open result", "open result") {
        return Err(format!("WRONG classes {a}, {b}, {c}"));
    }
    Ok(())
}
