//! Peeling by a list of each round, `until(gone.is_empty())`; deterministic; the same list swept by three waves.
use crate::common::*;
#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[list(unique, reset = round)] gone: List<Node>,
        #[output(per = node)] degree: [i32; 2],
        #[output(per = node, init = [u32::MAX, 0, 0])] core: [u32; 3],
        #[reduce(count)] total: u64,
        k: i32,
    }
    #[wave(nodes)]
    fn begin(v: Node, graph: &Csr, back: &Csr, degree: &mut [i32; 2]) {
        *degree = [graph.degree(v) as i32, back.degree(v) as i32];
    }
    #[fixpoint(after(begin), until(gone.is_empty()))]
    mod peel {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, k: i32, degree: &[i32; 2], core: &mut [u32; 3], gone: &Push) {
            if core[0] == u32::MAX && degree[0] + degree[1] < k {
                core[0] = round;
                gone.push(v);
            }
        }
        #[wave(edges(graph, from = gone), after(choose))]
        fn lower(e: Edge, degree: &Buf<Atomic<i32>>) {
            degree[e.dst * 2 + 1].fetch_sub(1);
        }
        #[wave(edges(back, from = gone), after(choose))]
        fn lower_back(e: Edge, degree: &Buf<Atomic<i32>>) {
            degree[e.dst * 2].fetch_sub(1);
        }
        #[wave(items(gone), after(lower, lower_back, choose))]
        fn note(v: Node, round: Round, core: &mut [u32; 3], total: &Reduce<Count>) {
            core[1] = v;
            core[2] += round + 1;
            total.inc();
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..3 {
        let k = rng.below(9) as i32;
        let out = session.run(p::Run { k }).map_err(err)?;
        let mut degree = vec![[0i32; 2]; g.n];
        for &(a, b) in &g.edges {
            degree[a as usize][0] += 1;
            degree[b as usize][1] += 1;
        }
        let mut core = vec![[u32::MAX, 0, 0]; g.n];
        let mut last;
        for r in 0.. {
            let gone: Vec<usize> = (0..g.n).filter(|&v| core[v][0] == u32::MAX && degree[v][0] + degree[v][1] < k).collect();
            let is = |v: u32| gone.binary_search(&(v as usize)).is_ok();
            for &(a, b) in &g.edges {
                degree[b as usize][1] -= i32::from(is(a));
                degree[a as usize][0] -= i32::from(is(b));
            }
            for &v in &gone {
                core[v] = [r, v as u32, r + 1];
            }
            last = gone.len() as u64;
            if gone.is_empty() {
                break;
            }
        }
        same("core", &out.core, &core)?;
        same("degree", &out.degree, &degree)?;
        same("total", &out.total, &last)?;
    }
    if !p::PLAN.to_string().contains("same bits") {
        return Err(format!("NOTE: {}", p::PLAN.to_string().lines().next().unwrap_or("")));
    }
    Ok(())
}
