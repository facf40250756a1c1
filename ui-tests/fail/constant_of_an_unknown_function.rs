//! A constant of a graph calls a function that is not there.

use vyre::prelude::*;

/// Shortest paths and degrees.
#[wave_graph]
pub mod paths {
    pub const FAR: u32 = far();

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[input(per = node)]
        bias: f32,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        score: f32,
        #[scratch(per = node)]
        degree: u32,
        #[frontier(unique)]
        front: Frontier,
        #[reduce(max)]
        furthest: u32,
        #[reduce(sum)]
        total: f64,
        #[list(capacity = 100, output)]
        far: List<(Node, u32)>,
        source: u32,
        limit: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = FAR;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[wave(nodes)]
    fn degrees(v: Node, graph: &Csr, degree: &mut u32) {
        let mut n = 0;
        for _w in graph.neighbors(v) {
            n += 1;
        }
        *degree = n;
    }

    #[device]
    fn scaled(d: u32, by: f32) -> f32 {
        if d == FAR { 0.0 } else { d as f32 * by }
    }

    #[fixpoint(after(init), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, weight: &u32, dist: &Buf<Atomic<u32>>, front: &Push) {
            let d = dist[e.src].load() + *weight;
            if d < dist[e.dst].fetch_min(d) {
                front.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(levels, degrees))]
    fn sums(v: Node, dist: &u32, degree: &u32, bias: &f32, score: &mut f32,
            furthest: &Reduce<Max<u32>>, total: &Reduce<Sum<f64>>, limit: u32, far: &Append<(Node, u32)>) {
        *score = scaled(*dist, 0.5) + *bias;
        if *dist != FAR {
            furthest.max(*dist);
            total.add(*score as f64);
            if *dist > limit {
                far.append((v, *degree));
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3)])?;
    let weight = vec![1u32, 2, 3];
    let bias = vec![0.5f32; 4];
    let mut session = paths::Session::new(&Runtime::native(), paths::Topology { graph: &graph, weight: &weight })?;
    let out = session.run(paths::Run { bias: &bias, source: 0, limit: 2 })?;
    println!("{:?} {:?} {} {} {:?}", out.dist, out.score, out.furthest, out.total, out.far);
    println!("{}", out.report.total_rounds());
    Ok(())
}
