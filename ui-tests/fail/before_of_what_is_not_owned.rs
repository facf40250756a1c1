//! The round before is that of reductions which the fixpoint's own waves update.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[frontier(unique)]
        front: Frontier,
        #[reduce(sum)]
        sum: u64,
        #[reduce(count)]
        inner: u64,
        n: u32,
    }

    #[wave(nodes)]
    fn begin(sum: &Reduce<Sum<u64>>) {
        sum.add(1);
    }

    #[fixpoint(after(begin), until(sum == sum.before))]
    mod first {
        #[wave(items(front))]
        fn a(v: Node, front: &Push) {
            front.push(v);
        }
    }

    #[fixpoint(after(first), until(front.before.is_empty() && n.before == 0))]
    mod second {
        #[wave(nodes)]
        fn b(front: &Push) {
            front.push(0);
        }
    }

    #[fixpoint(after(second), per = parts, until(inner == inner.before))]
    mod third {
        #[wave(nodes)]
        fn c(inner: &Reduce<Count>) {
            inner.inc();
        }
    }

    #[fixpoint(after(third), until(other == other.before))]
    mod fourth {
        #[wave(nodes)]
        fn d(v: Node, front: &Push) {
            front.push(v);
        }
    }
}

fn main() {}
