//! A list that begins anew is used in the rounds of one fixpoint, by waves and by conditions, and is not given back.

use vyre::prelude::*;

#[wave_graph]
mod given_back {
    pub struct Data {
        #[list(capacity = 10, output, reset = round)]
        log: List<u32>,
    }

    #[fixpoint(until(log.len() > 3))]
    mod rounds {
        #[wave(once)]
        fn note(log: &Append<u32>) {
            log.append(1);
        }
    }
}

#[wave_graph]
mod asked_for_elsewhere {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique, reset = round)]
        found: List<Node>,
        #[output(per = node)]
        out: u32,
    }

    #[fixpoint(until(round == 3))]
    mod first {
        #[wave(nodes)]
        fn find(v: Node, found: &Push) {
            found.push(v);
        }
    }

    #[fixpoint(after(first), until(found.is_empty()))]
    mod second {
        #[wave(nodes)]
        fn add(out: &mut u32) {
            *out += 1;
        }
    }
}

#[wave_graph]
mod swept_outside {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique, reset = round)]
        found: List<Node>,
        #[output(per = node)]
        out: u32,
    }

    #[fixpoint(until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn find(v: Node, found: &Push) {
            found.push(v);
        }
    }

    #[wave(items(found), after(rounds))]
    fn add(out: &mut u32) {
        *out += 1;
    }
}

#[wave_graph]
mod new_items {
    pub struct Data {
        #[list(capacity = 10, reset = round)]
        log: List<u32>,
        #[reduce(sum)]
        sum: u32,
    }

    #[fixpoint(until(round == 3))]
    mod rounds {
        #[wave(once)]
        fn note(log: &Append<u32>) {
            log.append(1);
        }

        #[wave(items(log, new), after(note))]
        fn recent(x: u32, sum: &Reduce<Sum<u32>>) {
            sum.add(x);
        }
    }
}

fn main() {}
