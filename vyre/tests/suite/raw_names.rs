//! Everything that has a name may have a raw one (`r#type`): plans and traps show it without the `r#`.
#![deny(warnings)]

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::backend_tests;

#[kernel]
fn r#type(i: Index, r#in: u32, r#move: &Buf<u32>, r#out: &mut u32) {
    let r#let = r#move[i % r#move.len()] + r#in;
    *r#out = r#let;
}

fn kernels_have_raw_names(runtime: &Runtime) {
    let mut out = [0; 4];
    r#type::run(runtime, 3, &[1, 2], &mut out).expect("no trap");
    assert_eq!(out, [4, 5, 4, 5]);
    let Err(Error::Trap(trap)) = r#type::run(runtime, 3, &[], &mut out) else {
        panic!("the length is 0");
    };
    assert_eq!(
        (trap.kind, trap.kernel.as_str()),
        (TrapKind::DivideByZero, "type")
    );
    assert_eq!(r#type::PLAN.program().name, "type");
}
#[wave_graph]
mod r#match {
    pub(crate) const r#BREAK: u32 = 2;
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct r#Pair {
        pub(crate) r#if: u32,
        pub(crate) r#else: u32,
    }
    pub(crate) struct Data {
        #[topology]
        r#fn: Csr,
        #[topology(reverse_of = r#fn)]
        r#mod: Csr,
        #[topology(per = edge(r#fn))]
        r#where: u32,
        #[input(per = node)]
        r#in: u32,
        #[output(per = node)]
        r#type: u32,
        #[output(per = node)]
        r#struct: Pair,
        #[scratch(per = r#use)]
        r#let: u32,
        #[scratch(per = node, bits = r#use)]
        r#ref: Bits,
        #[frontier]
        r#move: Frontier,
        #[list(capacity = r#use, output)]
        r#loop: List<Pair>,
        #[reduce(sum)]
        r#while: u32,
        r#use: u32,
    }
    #[device]
    fn r#enum(r#as: u32) -> u32 {
        r#as * r#BREAK
    }

    #[wave(nodes)]
    fn r#impl(
        v: Node,
        r#in: &u32,
        r#type: &mut u32,
        r#struct: &mut Pair,
        r#move: &Push,
        r#fn: &Csr,
        r#mod: &Csr,
        r#loop: &Append<Pair>,
        r#while: &Reduce<Sum<u32>>,
        r#use: u32,
        r#ref: &Bits,
    ) {
        r#ref.set(v, v);
        let r#dyn = r#fn.degree(v) + r#mod.degree(v);
        *r#type = r#enum(*r#in) + r#dyn;
        r#struct.r#if = v;
        r#struct.r#else = r#use;
        if v == 0 {
            r#move.push(v);
        }
        r#loop.append(Pair { r#if: v, r#else: 3 });
        r#while.add(v);
    }
    #[fixpoint(after(r#impl), until(r#move.is_empty() || r#while > 1000), max_rounds = 50)]
    mod r#for {
        #[wave(edges(r#fn, from = r#move))]
        fn r#return(
            e: Edge,
            r#type: &Buf<Atomic<u32>>,
            r#move: &Push,
            r#where: &Buf<u32>,
            round: Round,
        ) {
            if r#type[e.dst].fetch_add(r#where[e.index]) < 100 && round < 2 {
                r#move.push(e.dst);
            }
        }
    }
}

fn graphs_have_raw_names(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)]).expect("a graph");
    let topology = r#match::Topology {
        r#fn: &graph,
        r#where: &[1, 2],
    };
    let mut session = r#match::Session::new(runtime, topology).expect("it fits");
    let out = session
        .run(r#match::Run {
            r#in: &[1, 2, 3],
            r#use: 10,
        })
        .expect("no trap");
    assert_eq!((out.r#type, out.r#while), (vec![3, 7, 9], 3));
    let pairs: Vec<(u32, u32)> = out.r#struct.iter().map(|p| (p.r#if, p.r#else)).collect();
    assert_eq!(pairs, [(0, 10), (1, 10), (2, 10)]);
    assert_eq!(out.r#loop.len(), 3);
    let program = r#match::PLAN.program();
    let names: Vec<&str> = program.buffers.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "where",
            "in",
            "type",
            "struct.if",
            "struct.else",
            "let",
            "ref"
        ]
    );
}
mod r#mod {
    use vyre::prelude::*;
    const r#CONST: u32 = 3;
    #[device]
    pub(crate) fn r#fn(r#in: u32, xs: &Buf<u32>) -> u32 {
        xs[r#in] / r#CONST
    }
    #[device]
    pub(crate) mod r#type {
        pub(crate) const r#LET: u32 = 9;
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct r#Point {
            pub(crate) r#if: u32,
        }
        impl Point {
            pub(crate) fn r#else(self, by: u32) -> u32 {
                self.r#if / by + LET
            }
        }
        #[device]
        pub(crate) fn r#match(x: u32) -> u32 {
            x + LET
        }
    }
    #[wave_graph]
    pub(crate) mod r#struct {
        pub(crate) struct Data {
            #[output(per = n)]
            r#out: u32,
            #[output(per = n)]
            r#for: u32,
            n: u32,
        }
        #[wave(range(n))]
        fn r#loop(i: Index, r#out: &mut u32, r#for: &mut u32) {
            *r#out = i;
            *r#for = i;
        }
    }
}
use r#mod::r#fn;
#[kernel]
fn k(i: Index, xs: &Buf<u32>, out: &mut u32) {
    let p = r#mod::r#type::Point { r#if: i };
    *out = r#fn(i % xs.len(), xs) + p.r#else(2) + r#mod::r#type::r#match(i);
}
#[wave_graph]
mod including {
    #[include(n = r#use)]
    use super::r#mod::r#struct;
    pub(crate) struct Data {
        #[output(per = r#use)]
        r#yield: u32,
        r#use: u32,
    }
    #[wave(range(r#use), after(r#struct))]
    fn r#move(i: Index, struct_for: &Buf<u32>, r#yield: &mut u32) {
        *r#yield = struct_for[i];
    }
}

fn names_of_other_modules_are_raw(runtime: &Runtime) {
    let mut out = [0; 4];
    k::run(runtime, &[6, 9], &mut out).expect("no trap");
    assert_eq!(out, [20, 22, 23, 25]);
    let mut session = including::Session::new(runtime, ()).expect("it fits");
    let out = session.run(including::Run { r#use: 3 }).expect("no trap");
    assert_eq!(
        (out.r#yield, out.struct_for),
        (vec![0, 1, 2], vec![0, 1, 2])
    );
    assert!(including::PLAN.to_string().contains("struct::loop"));
}

backend_tests!(
    kernels_have_raw_names,
    graphs_have_raw_names,
    names_of_other_modules_are_raw,
);
