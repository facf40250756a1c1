//! A deterministic graph adds floats in no order that shows: in a graph that it includes, in helpers, under conditions, in
//! a fixpoint, or from items with fields.

use vyre::prelude::*;

#[wave_graph]
pub mod inner {
    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] x: f64,
        #[reduce(sum)] total: f64,
    }

    #[wave(nodes)]
    fn add(x: &f64, total: &Reduce<Sum<f64>>) {
        total.add(*x);
    }
}

#[device]
fn take(total: &Reduce<Sum<f32>>, x: f32) {
    total.add(x);
}

#[device]
fn bump(to: &Buf<Atomic<f32>>, at: u32, x: f32) {
    to[at].fetch_add(x);
}

#[wave_graph(deterministic)]
pub mod outer {
    #[include(graph = graph, x = y)]
    use super::inner;
    use super::{bump, take};

    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] x: f32,
        #[input(per = node)] y: f64,
        #[reduce(sum)] helped: f32,
        #[reduce(sum)] residual: f32,
        #[scratch(per = node)] sums: f32,
        #[output(per = node)] out: f32,
        #[list(capacity = 100)] far: List<Far>,
        #[output(per = 1)] of_far: f32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Far {
        from: u32,
        x: f32,
    }

    #[wave(nodes)]
    fn under_if(v: Node, x: &f32, helped: &Reduce<Sum<f32>>) {
        if v % 7 == 3 && *x > 0.5 {
            take(helped, *x);
        }
    }

    #[wave(edges(graph))]
    fn spread(e: Edge, x: &Buf<f32>, sums: &Buf<Atomic<f32>>, far: &Append<Far>) {
        if e.src < e.dst {
            bump(sums, e.dst, x[e.src]);
        }
        if e.dst == 9 {
            far.append(Far { from: e.src, x: x[e.src] });
        }
    }

    #[fixpoint(after(spread), until(residual < 0.1), max_rounds = 9)]
    mod rounds {
        #[wave(nodes)]
        fn ease(sums: &f32, out: &mut f32, residual: &Reduce<Sum<f32>>) {
            residual.add((*sums - *out).abs());
            *out = *sums;
        }
    }

    #[wave(items(far), after(spread))]
    fn of_items(item: Far, of_far: &Buf<Atomic<f32>>) {
        of_far[0].fetch_add(item.x);
    }
}

fn main() {}
