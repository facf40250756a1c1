//! A relation whose capacity goes by nodes is not asked in a local fixpoint.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[relation(capacity = node)]
        odd: Relation<Node>,
        #[output(per = node)]
        found: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, odd: &Insert<Node>) {
        if v % 2 == 1 {
            odd.insert(v);
        }
    }

    #[fixpoint(after(begin), per = parts, until(round == 2))]
    mod each {
        #[wave(nodes)]
        fn ask(v: Node, odd: &Lookup<Node>, found: &mut u32) {
            *found += u32::from(odd.contains(v));
        }
    }
}

fn main() {}
