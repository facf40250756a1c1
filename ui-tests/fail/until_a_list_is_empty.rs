//! A list keeps what was pushed to it, so that a fixpoint that waits for it to be empty never ends.

use vyre::prelude::*;

#[wave_graph]
mod in_place_of_a_frontier {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique)]
        front: List<Node>,
        #[output(per = node, init = u32::MAX)]
        dist: u32,
    }

    #[wave(once)]
    fn begin(dist: &Buf<Atomic<u32>>, front: &Push) {
        dist[0].store(0);
        front.push(0);
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

#[wave_graph]
mod among_others {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[list(capacity = node)]
        even: List<u32>,
        #[list(capacity = node)]
        odd: List<u32>,
    }

    #[fixpoint(until(!(!front.is_empty() || !odd.is_empty())), max_rounds = 9)]
    mod both {
        #[wave(items(front))]
        fn sort(v: Node, odd: &Append<u32>) {
            odd.append(v);
        }
    }

    #[fixpoint(after(both), until(even.is_empty() || (odd.is_empty())), max_rounds = 9)]
    mod either {
        #[wave(nodes)]
        fn share(v: Node, even: &Append<u32>, odd: &Append<u32>) {
            if v % 2 == 0 {
                even.append(v);
            } else {
                odd.append(v);
            }
        }
    }
}

#[wave_graph]
mod of_the_outer_rounds {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique, reset = round)]
        found: List<Node>,
        #[output(per = node)]
        count: u32,
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[wave(nodes)]
        fn begin(v: Node, round: Round, found: &Push) {
            if v == round {
                found.push(v);
            }
        }

        #[fixpoint(after(begin), until(found.is_empty()))]
        mod steps {
            #[wave(edges(graph, from = found))]
            fn step(e: Edge, found: &Push) {
                found.push(e.dst);
            }
        }

        #[wave(items(found), after(steps))]
        fn tell(count: &mut u32) {
            *count += 1;
        }
    }
}

#[wave_graph]
mod filled_before {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = node)]
        todo: List<u32>,
        #[output(per = node)]
        done: u32,
    }

    #[wave(nodes)]
    fn fill(v: Node, todo: &Append<u32>) {
        todo.append(v);
    }

    #[fixpoint(after(fill), until(todo.is_empty()))]
    mod rounds {
        #[wave(items(todo))]
        fn work(v: u32, done: &Buf<Atomic<u32>>) {
            done[v].store(1);
        }
    }
}

fn main() {}
