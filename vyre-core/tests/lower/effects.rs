//! Modes of bodies, and how far runs agree.

use crate::*;
use vyre_core::compile::effects::{agreement, uses};
use vyre_core::vir0::module::{Agreement, Reason, Why};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::table::Index;

fn modes(b: &Body) -> Vec<(Resource, Mode, Option<SiteId>)> {
    let list = uses(b).into_iter();
    list.map(|u| (u.resource, u.mode, u.site)).collect()
}
fn same_bits(p: &Program, b: &Body) -> bool {
    agreement(p, &[b], &[]) == Agreement::Bits
}
fn is_free(block: Block) -> bool {
    let b = body(&[U32; 8], block);
    same_bits(&program(&b), &b)
}
fn fetch(op: AtomicOp, index: Expr, value: Expr) -> Expr {
    atomic(op, D, U32, index, value)
}
fn atomic_store(index: Expr, value: Expr) -> Stmt {
    Stmt::AtomicStore {
        buffer: BufferId(D),
        index,
        value,
        site: SiteId(0),
    }
}
fn at(mut e: Expr, new: u16) -> Expr {
    match &mut e {
        Expr::Load { site, .. }
        | Expr::AtomicLoad { site, .. }
        | Expr::Atomic { site, .. }
        | Expr::CompareExchange { site, .. }
        | Expr::Csr { site, .. } => *site = SiteId(new),
        other => panic!("{other:?} has no site"),
    }
    e
}
const BUFFER: Resource = Resource::Buffer(BufferId(D));
const RESULT: u32 = 3;

#[test]
fn modes_of_buffers() {
    let add = |site| at(fetch(AtomicOp::Add, local(0), lit(1)), site);
    let sub = |site| at(fetch(AtomicOp::Sub, local(0), lit(1)), site);
    let read = |site| at(atomic_load(D, U32, local(0)), site);
    let cases: [(Block, Mode, Option<u16>); 10] = [
        (
            vec![set(3, load(D, U32, local(0))), set(3, read(5))],
            Mode::Read,
            Some(0),
        ),
        (vec![set(3, Expr::Len(BufferId(D)))], Mode::Read, None),
        (
            vec![set(3, Expr::Len(BufferId(D))), Stmt::Eval(add(4))],
            Mode::Update(UpdateOp::Add),
            Some(4),
        ),
        (
            vec![Stmt::Eval(add(4)), Stmt::Eval(sub(5))],
            Mode::Update(UpdateOp::Add),
            Some(4),
        ),
        // The old value is unused where it is assigned to a local that is never read, and used where that is read.
        (
            vec![set(RESULT, add(4))],
            Mode::Update(UpdateOp::Add),
            Some(4),
        ),
        (
            vec![set(RESULT, add(4)), push(local(RESULT))],
            Mode::Write,
            Some(4),
        ),
        // A read next to an update, two operations, an exchange: writes, at the first access that changes something.
        (
            vec![set(3, read(2)), Stmt::Eval(add(4))],
            Mode::Write,
            Some(4),
        ),
        (
            vec![
                Stmt::Eval(add(4)),
                Stmt::Eval(at(fetch(AtomicOp::Max, local(0), lit(1)), 6)),
            ],
            Mode::Write,
            Some(4),
        ),
        (
            vec![Stmt::Eval(at(fetch(AtomicOp::Swap, local(0), lit(1)), 6))],
            Mode::Write,
            Some(6),
        ),
        (
            vec![set(3, read(2)), store(D, local(0), lit(1))],
            Mode::Write,
            Some(0),
        ),
    ];
    for (block, mode, site) in cases {
        let b = body(&[U32; 4], block);
        let (_, actual, actual_site) = modes(&b).into_iter().find(|m| m.0 == BUFFER).unwrap();
        assert_eq!(
            (actual, actual_site),
            (mode, site.map(SiteId)),
            "{:?}",
            b.block
        );
    }
}

#[test]
fn modes_of_other_resources_come_sorted() {
    let reduce = Stmt::Reduce {
        reduction: ReductionId(0),
        value: lit(1),
    };
    let finished = Expr::Uniform(Uniform::Reduction(ReductionId(1)), Scalar::F64);
    let b = body(
        &[U32; 3],
        vec![
            reduce,
            when(
                cmp(CompareOp::Lt, Scalar::F64, finished.clone(), finished),
                vec![push(csr(CsrQuery::Target, local(0)))],
            ),
        ],
    );
    assert_eq!(
        modes(&b),
        [
            (
                Resource::Topology(TopologyId(0)),
                Mode::Read,
                Some(SiteId(0))
            ),
            (
                Resource::from(FrontierId(0)),
                Mode::Update(UpdateOp::Push),
                Some(SiteId(0))
            ),
            (
                Resource::Reduction(ReductionId(0)),
                Mode::Update(UpdateOp::Reduce),
                None
            ),
            (Resource::Reduction(ReductionId(1)), Mode::Read, None),
        ],
    );
}

#[test]
fn breadth_first_search_gives_the_same_bits() {
    let claim = exchange(D, local(2), unseen(), add(round(), lit(1)));
    assert!(is_free(vec![when(claim.clone(), vec![push(local(2))])]));
    // Through locals, with a count, without anything guarded.
    let count = Stmt::Reduce {
        reduction: ReductionId(0),
        value: lit(1),
    };
    assert!(is_free(vec![
        set(4, local(2)),
        set(3, exchange(D, local(2), unseen(), round())),
        when(local(3), vec![push(local(4)), count]),
    ]));
    assert!(is_free(vec![Stmt::Eval(claim)]));
}

#[test]
fn a_claim_shows_no_more_than_its_index() {
    let claim = |new: Expr| exchange(D, local(2), unseen(), new);
    // Another value pushed, a value that depends on the item, something else guarded, an else, a used result.
    assert!(!is_free(vec![when(claim(lit(1)), vec![push(local(1))])]));
    assert!(!is_free(vec![when(claim(local(1)), vec![push(local(2))])]));
    assert!(!is_free(vec![when(
        claim(lit(1)),
        vec![store(W, local(0), cast(U32, Scalar::I32, lit(1)))]
    )]));
    assert!(!is_free(vec![either(
        claim(lit(1)),
        vec![push(local(2))],
        vec![push(local(2))]
    )]));
    let reduced = Stmt::Reduce {
        reduction: ReductionId(0),
        value: local(1),
    };
    assert!(!is_free(vec![when(claim(lit(1)), vec![reduced])]));
    // A second claim of the same buffer could win what the first would have.
    let other = exchange(D, local(1), lit(1), lit(2));
    assert!(!is_free(vec![
        when(claim(lit(1)), vec![push(local(2))]),
        Stmt::Eval(other)
    ]));
    // So could a reader see it.
    assert!(!is_free(vec![
        set(3, atomic_load(D, U32, local(1))),
        Stmt::Eval(claim(lit(1)))
    ]));
    // The index changes between the claim and the push.
    assert!(!is_free(vec![
        set(4, lit(0)),
        set(4, local(2)),
        set(5, local(4)),
        set(4, local(1)),
        when(
            exchange(D, local(4), unseen(), lit(1)),
            vec![push(local(5))]
        ),
    ]));
}

#[test]
fn a_count_shows_no_more_than_its_index() {
    let sub = |index: Expr| atomic(AtomicOp::Sub, D, U32, index, lit(1));
    let is_last = |old: Expr| cmp(CompareOp::Eq, U32, old, lit(1));
    // Through a local, with a name between, and asked twice.
    assert!(is_free(vec![
        set(3, sub(local(2))),
        set(4, lit(1)),
        when(
            cmp(CompareOp::Eq, U32, local(3), local(4)),
            vec![push(local(2))]
        ),
    ]));
    assert!(is_free(vec![
        set(3, sub(local(2))),
        when(
            bin(
                BinaryOp::Or,
                Scalar::Bool,
                is_last(local(3)),
                cmp(CompareOp::Eq, U32, local(3), lit(7)),
            ),
            vec![push(local(2))]
        ),
    ]));
    // The index changes between the count and the push.
    assert!(!is_free(vec![
        set(4, local(2)),
        set(3, sub(local(4))),
        set(4, local(1)),
        when(is_last(local(3)), vec![push(local(4))]),
    ]));
    // What is asked is read again, later.
    assert!(!is_free(vec![
        set(3, sub(local(2))),
        when(is_last(local(3)), vec![push(local(2))]),
        when(is_last(local(3)), vec![push(local(1))]),
    ]));
    // A name that was made for one item leaves what it guards.
    assert!(!is_free(vec![
        when(is_last(sub(local(2))), vec![set(5, lit(7)), push(local(2))]),
        when(is_last(local(5)), vec![push(local(1))]),
    ]));
    // A division traps where it is not made everywhere.
    let reduce = |value| Stmt::Reduce {
        reduction: ReductionId(0),
        value,
    };
    let part = |by| bin(BinaryOp::Div, U32, lit(100), by);
    let scalar = Expr::Uniform(Uniform::Scalar(ScalarId(0)), U32);
    assert!(is_free(vec![when(
        is_last(sub(local(2))),
        vec![reduce(part(lit(3)))]
    )]));
    assert!(!is_free(vec![when(
        is_last(sub(local(2))),
        vec![reduce(part(scalar))]
    )]));
    // A claim behind a count, on another buffer and on the same.
    let claim = |buffer, index| exchange(buffer, index, lit(0), lit(1));
    let inner = |of: Expr| vec![when(of, vec![push(local(2))])];
    assert!(!is_free(vec![when(
        is_last(sub(local(2))),
        inner(claim(D, local(2)))
    )]));
    let behind = |index| vec![when(is_last(sub(local(2))), inner(claim(W, index)))];
    assert!(is_free(behind(local(2))));
    assert!(!is_free(behind(local(1))));
}

#[test]
fn a_guarded_push_that_could_trap_is_open() {
    let b = body(
        &[U32; 3],
        vec![when(
            exchange(D, local(2), unseen(), lit(1)),
            vec![push(local(2))],
        )],
    );
    let mut p = program(&b);
    assert!(same_bits(&p, &b));
    p.buffers[usize::from(D)].extent = Extent::Fixed(1 << 20);
    assert!(!same_bits(&p, &b));
}

#[test]
fn updates_give_the_same_bits_unless_they_round() {
    for op in [
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::Min,
        AtomicOp::Max,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
    ] {
        assert!(
            is_free(vec![Stmt::Eval(fetch(op, local(2), local(1)))]),
            "{op:?}"
        );
    }
    let f = |op| Stmt::Eval(atomic(op, F, Scalar::F32, local(2), float(0.5)));
    assert!(is_free(vec![f(AtomicOp::Min)]) && is_free(vec![f(AtomicOp::Max)]));
    assert!(!is_free(vec![f(AtomicOp::Add)]) && !is_free(vec![f(AtomicOp::Sub)]));
    assert!(!is_free(vec![Stmt::Eval(fetch(
        AtomicOp::Swap,
        local(2),
        lit(1)
    ))]));
    assert!(!is_free(vec![
        Stmt::Eval(fetch(AtomicOp::Min, local(2), lit(1))),
        Stmt::Eval(fetch(AtomicOp::Add, local(2), lit(1)))
    ]));
    // Relaxation reads the old value; label propagation reads what the same wave lowers.
    let relax = cmp(
        CompareOp::Lt,
        U32,
        local(1),
        fetch(AtomicOp::Min, local(2), local(1)),
    );
    assert!(!is_free(vec![when(relax, vec![push(local(2))])]));
    assert!(!is_free(vec![Stmt::Eval(fetch(
        AtomicOp::Min,
        local(2),
        atomic_load(D, U32, local(1))
    ))]));
}

#[test]
fn reductions_give_the_same_bits_unless_they_round() {
    let reduce = |id, value| Stmt::Reduce {
        reduction: ReductionId(id),
        value,
    };
    assert!(is_free(vec![reduce(0, local(1))]));
    let double = |x: f64| Expr::Literal(Scalar::F64, x.to_bits());
    let b = body(&[U32; 3], vec![reduce(1, double(0.5))]);
    let mut p = program(&b);
    assert!(!same_bits(&p, &b));
    p.reductions[1].op = ReduceOp::Max;
    assert!(same_bits(&p, &b));
    // Taking part in what it reads.
    let finished = Expr::Uniform(Uniform::Reduction(ReductionId(0)), U32);
    assert!(!is_free(vec![reduce(0, add(finished, lit(1)))]));
}

#[test]
fn an_item_owns_its_element() {
    let own = |index: Expr| vec![store(D, index.clone(), add(load(D, U32, index), lit(1)))];
    assert!(is_free(own(local(0))));
    assert!(is_free([vec![set(3, local(0))], own(local(3))].concat()));
    assert!(!is_free(own(local(1))));
    assert!(!is_free(own(lit(0))));
    assert!(!is_free(vec![store(D, local(0), load(D, U32, local(1)))]));
    assert!(!is_free([vec![set(0, lit(3))], own(local(0))].concat()));
}

#[test]
fn nobody_else_sees_what_an_item_does_to_its_own_element() {
    let (own, other) = (|| local(0), || local(1));
    let swaps = |i: Expr, j: Expr| {
        vec![
            set(3, fetch(AtomicOp::Add, i.clone(), lit(1))),
            set(4, exchange(D, i.clone(), local(3), lit(2))),
            atomic_store(i, fetch(AtomicOp::Swap, j, local(3))),
        ]
    };
    let stores = |i: Expr| vec![atomic_store(i, local(0))];
    let over = |domain, unique, block| {
        let b = body(&[U32; 8], block);
        let mut p = program(&b);
        p.waves[0].domain = domain;
        p.frontiers[0].unique = unique;
        same_bits(&p, &b)
    };
    let (graph, front) = (TopologyId(0), FrontierId(0));
    for (domain, unique, once) in [
        (Domain::Nodes, false, true),
        (Domain::Range(Extent::Nodes), false, true),
        (Domain::Edges(graph), false, true),
        (Domain::Items(front), true, true),
        (Domain::EdgesFrom(graph, front), true, true),
        // An item can be there twice.
        (Domain::Items(front), false, false),
        (Domain::EdgesFrom(graph, front), false, false),
    ] {
        assert_eq!(over(domain, unique, stores(own())), once, "{domain:?}");
        assert_eq!(over(domain, unique, swaps(own(), own())), once);
        assert!(!over(domain, unique, stores(other())), "{domain:?}");
        assert!(!over(domain, unique, swaps(own(), other())));
        // The item's index is no longer its own.
        let moved = [vec![set(0, lit(3))], stores(own())].concat();
        assert!(!over(domain, unique, moved));
        // Another wave that is not ordered may add as well.
        let sum = atomic(AtomicOp::Add, F, Scalar::F32, own(), float(0.5));
        assert!(!over(domain, unique, vec![Stmt::Eval(sum)]));
    }
    // One lane alone owns every element, but for what it only adds to.
    for block in [
        stores(other()),
        swaps(own(), other()),
        swaps(lit(2), lit(2)),
    ] {
        assert!(over(Domain::Once, false, block));
    }
    let sum = atomic(AtomicOp::Add, F, Scalar::F32, own(), float(0.5));
    assert!(!over(Domain::Once, false, vec![Stmt::Eval(sum)]));
}

#[test]
fn nobody_else_sees_what_an_item_does_to_its_own_row() {
    let cell = |node, k| add(bin(BinaryOp::Mul, U32, local(node), lit(2)), lit(k));
    let both = |node| {
        vec![
            set(3, bin(BinaryOp::Mul, U32, local(node), lit(2))),
            Stmt::Eval(fetch(AtomicOp::Or, add(local(3), lit(1)), lit(4))),
            Stmt::Eval(fetch(AtomicOp::And, cell(node, 0), lit(9))),
        ]
    };
    let in_rows = |extent, block| {
        let b = body(&[U32; 8], block);
        let mut p = program(&b);
        p.waves[0].domain = Domain::Nodes;
        p.buffers[usize::from(D)].extent = extent;
        same_bits(&p, &b)
    };
    let rows = Extent::NodeBits(Width::Fixed(64));
    assert!(in_rows(rows, both(0)));
    assert!(in_rows(rows, vec![atomic_store(cell(0, 1), local(0))]));
    assert!(!in_rows(rows, both(1)));
    assert!(!in_rows(rows, vec![atomic_store(cell(1, 1), local(0))]));
    assert!(!in_rows(rows, [both(0), both(1)].concat()));
    // Rows are what has a row for each node: anything else may be as long as it likes.
    assert!(!in_rows(Extent::Nodes, both(0)));
    assert!(!in_rows(rows, vec![atomic_store(local(0), local(0))]));
}

#[test]
fn flags_give_the_same_bits_when_everyone_stores_the_same() {
    let flag = |value| atomic_store(lit(0), value);
    assert!(is_free(vec![flag(lit(1)), flag(lit(1))]));
    assert!(!is_free(vec![flag(lit(1)), flag(lit(2))]));
    assert!(!is_free(vec![flag(local(1))]));
    assert!(!is_free(vec![
        set(3, atomic_load(D, U32, lit(0))),
        flag(lit(1))
    ]));
}

#[test]
fn approximate_functions_are_open() {
    let f32 = Scalar::F32;
    let of = |op| {
        vec![store(
            F,
            local(0),
            Expr::Unary(op, f32, Box::new(load(F, f32, local(0)))),
        )]
    };
    assert!(is_free(of(UnaryOp::Sqrt)));
    for op in [UnaryOp::Exp, UnaryOp::Ln, UnaryOp::Sin, UnaryOp::Cos] {
        assert!(!is_free(of(op)), "{op:?}");
    }
}

#[test]
fn lists_are_multisets_unless_slots_or_order_show() {
    let append = || Expr::Append {
        list: ListId(0),
        fields: vec![
            local(1),
            cast(U32, Scalar::U8, local(1)),
            Expr::Literal(Scalar::F64, 0),
        ],
        site: SiteId(6),
    };
    let list = Resource::from(ListId(0));
    let mode = |block| modes(&body(&[U32; 4], block)).pop().expect("one resource");
    let update = Mode::Update(UpdateOp::Append);
    assert_eq!(
        mode(vec![Stmt::Eval(append())]),
        (list, update, Some(SiteId(6)))
    );
    assert_eq!(mode(vec![set(3, append())]).1, update);
    let reads_slot = vec![set(3, append()), store(D, local(0), local(3))];
    assert!(modes(&body(&[U32; 4], reads_slot.clone())).contains(&(
        list,
        Mode::Write,
        Some(SiteId(6))
    )));
    assert!(!is_free(reads_slot));

    let b = body(&[U32; 4], vec![Stmt::Eval(append())]);
    let mut p = program(&b);
    assert!(same_bits(&p, &b));
    p.lists[0].output = true;
    assert!(!same_bits(&p, &b), "read back in the order of the appends");
}

#[test]
fn sweeps_of_items_give_the_same_bits_where_one_word_is_the_item() {
    let mut b = body(
        &[U32; 4],
        vec![Stmt::Eval(fetch(AtomicOp::Add, local(3), lit(1)))],
    );
    b.item = ItemLocals {
        fields: [Some(LocalId(3)), None, None, None, None, None, None, None],
        ..ItemLocals::default()
    };
    let mut p = program(&b);
    p.waves[0].domain = Domain::ListItems(ListId(0), Portion::All);
    assert!(
        !same_bits(&p, &b),
        "two items with one key can trap differently"
    );
    p.lists[0].fields = vec![U32];
    assert!(same_bits(&p, &b));
    b.item.index = Some(LocalId(0));
    assert!(
        !same_bits(&p, &b),
        "positions depend on the order of the appends"
    );
}

/// A relation of pairs: the list of the program, and its table among the buffers.
mod of_relations {
    use super::*;
    use vyre_core::vir0::module::Portion;

    fn table() -> BufferId {
        let at = BUFFERS.iter().position(|&scalar| scalar == Scalar::U64);
        BufferId(at.expect("there is one of each type") as u16)
    }
    fn pair(site: u16, from: Expr, to: Expr) -> Expr {
        Expr::Insert {
            list: ListId(0),
            table: table(),
            fields: vec![from, to],
            site: SiteId(site),
        }
    }
    fn insert() -> Expr {
        pair(6, local(1), local(2))
    }
    fn contains(site: u16) -> Expr {
        Expr::Contains {
            table: table(),
            fields: vec![local(2), local(1)],
            site: SiteId(site),
        }
    }
    fn judged(b: &Body, change: impl FnOnce(&mut Program)) -> Agreement {
        let mut p = program(b);
        p.lists[0].fields = vec![U32, U32];
        p.lists[0].output = true;
        p.buffers[table().index()].name = "log:table".into();
        change(&mut p);
        agreement(&p, &[b], &[])
    }
    fn of(block: Block) -> Agreement {
        judged(&body(&[U32; 8], block), |_| {})
    }
    fn open(block: Block) -> (Why, Option<u16>) {
        match of(block) {
            Agreement::Open(reasons) => {
                assert_eq!(reasons[0].resource, Some(Resource::Buffer(table())));
                (reasons[0].why, reasons[0].site.map(|s| s.0))
            }
            other => panic!("{other:?}"),
        }
    }
    /// The pass agrees in all but what a trap tells.
    const ALL_BUT_TRAPS: Agreement = Agreement::Result(vec![]);

    #[test]
    fn an_insert_updates_and_a_question_reads() {
        let modes = |block| {
            let list = modes(&body(&[U32; 8], block)).into_iter();
            list.map(|(resource, mode, _)| (resource, mode))
                .collect::<Vec<_>>()
        };
        let list = Resource::from(ListId(0));
        let cells = Resource::Buffer(table());
        let appends = (list, Mode::Update(UpdateOp::Append));
        let inserts = (cells, Mode::Update(UpdateOp::Insert));
        assert_eq!(modes(vec![Stmt::Eval(insert())]), [inserts, appends]);
        assert_eq!(
            modes(vec![set(3, insert())]),
            [inserts, appends],
            "nobody asks"
        );
        assert_eq!(
            modes(vec![set(3, insert()), when(local(3), vec![push(lit(1))])])[..2],
            [
                (cells, Mode::Write),
                (Resource::from(FrontierId(0)), Mode::Update(UpdateOp::Push))
            ]
        );
        assert_eq!(modes(vec![set(3, contains(4))]), [(cells, Mode::Read)]);
        let both = modes(vec![set(3, contains(4)), Stmt::Eval(insert())]);
        assert_eq!(both, [(cells, Mode::Write), appends]);
    }

    #[test]
    fn a_closure_is_a_set() {
        // for to in graph.neighbors(p.1) { path.insert((p.0, to)); }
        let end = csr(CsrQuery::End, local(2));
        let block = vec![
            set(4, csr(CsrQuery::Begin, local(2))),
            repeat(vec![
                when(cmp(CompareOp::Ge, U32, local(4), end), vec![BREAK]),
                Stmt::Eval(pair(6, local(1), csr(CsrQuery::Target, local(4)))),
                set(4, add(local(4), lit(1))),
            ]),
        ];
        let mut b = body(&[U32; 8], block);
        let fields = |n: usize| std::array::from_fn(|k| (k < n).then_some(LocalId(1 + k as u32)));
        b.item = ItemLocals {
            fields: fields(2),
            ..ItemLocals::default()
        };
        let last =
            |p: &mut Program| p.waves[0].domain = Domain::ListItems(ListId(0), Portion::Last);
        assert_eq!(judged(&b, last), ALL_BUT_TRAPS);
        let is_a_list = |p: &mut Program| {
            last(p);
            p.buffers[table().index()].name = "cells".into();
        };
        assert!(matches!(judged(&b, is_a_list), Agreement::Open(_)));

        // One scalar is all that a trap names.
        let insert = Expr::Insert {
            list: ListId(0),
            table: table(),
            fields: vec![add(local(1), lit(1))],
            site: SiteId(6),
        };
        let mut b = body(&[U32; 8], vec![Stmt::Eval(insert)]);
        b.item = ItemLocals {
            fields: fields(1),
            ..ItemLocals::default()
        };
        let of_scalars = |p: &mut Program| {
            last(p);
            p.lists[0].fields = vec![U32];
        };
        assert_eq!(judged(&b, of_scalars), ALL_BUT_TRAPS);
        let wide = |p: &mut Program| {
            last(p);
            p.lists[0].fields = vec![Scalar::U64];
        };
        assert_eq!(judged(&b, wide), ALL_BUT_TRAPS, "a trap names 32 bits");
        b.item.index = Some(LocalId(0));
        assert!(
            matches!(judged(&b, of_scalars), Agreement::Open(_)),
            "where a tuple lies"
        );
    }

    #[test]
    fn filing_updates_and_a_walk_reads() {
        let modes = |block| {
            let list = modes(&body(&[U32; 8], block)).into_iter();
            list.map(|(resource, mode, _)| (resource, mode))
                .collect::<Vec<_>>()
        };
        let cells = Resource::Buffer(table());
        let file = Stmt::File {
            index: Index {
                cells: table(),
                mask: u32::MAX.into(),
            },
            fields: vec![local(1), local(2)],
            site: SiteId(4),
        };
        let files = (cells, Mode::Update(UpdateOp::Insert));
        assert_eq!(modes(vec![file.clone()]), [files]);
        assert_eq!(modes(vec![file.clone(), file.clone()]), [files]);
        assert_eq!(of(vec![file.clone()]), Agreement::Bits);

        // let mut sum = 0; for t in path.with_from(x) { sum += t.to; } push(sum);
        let walk = |turn: Stmt| {
            let entry = Expr::Entry {
                index: table(),
                at: Box::new(local(4)),
                site: SiteId(5),
            };
            let low = Expr::Cast {
                from: Scalar::U64,
                to: U32,
                value: Box::new(local(8)),
            };
            let end = cmp(CompareOp::Ge, U32, local(4), local(5));
            vec![
                set(4, lit(0)),
                set(5, lit(9)),
                set(7, lit(0)),
                repeat(vec![
                    when(end, vec![BREAK]),
                    set(8, entry),
                    set(4, add(local(4), lit(1))),
                    set(6, low),
                    turn,
                ]),
                push(local(7)),
            ]
        };
        let judged = |turn| {
            let mut locals = [U32; 9];
            locals[8] = Scalar::U64;
            judged(&body(&locals, walk(turn)), |_| {})
        };
        assert_eq!(judged(set(7, add(local(7), local(6)))), ALL_BUT_TRAPS);
        let last = Agreement::Open(vec![Reason {
            wave: WaveId(0),
            resource: None,
            site: Some(SiteId(5)),
            why: Why::TupleOrder,
        }]);
        assert_eq!(judged(set(7, local(6))), last);
        let reads = modes(walk(file));
        assert_eq!(reads[0], (cells, Mode::Write), "it walks what it files");
    }

    #[test]
    fn what_is_new_shows_no_more_than_the_tuple() {
        let guarded = |block: Block| vec![when(insert(), block)];
        let by_name = |block: Block| vec![set(3, insert()), when(local(3), block)];
        let reduce = |value| Stmt::Reduce {
            reduction: ReductionId(0),
            value,
        };
        let of_tuple: [Block; 7] = [
            vec![push(local(1))],
            vec![push(local(2)), reduce(add(local(1), local(2)))],
            vec![Stmt::Eval(fetch(
                AtomicOp::Min,
                local(2),
                add(local(1), lit(7)),
            ))],
            vec![reduce(Expr::Uniform(Uniform::Round, U32))],
            // A name for something of the tuple.
            vec![set(4, add(local(1), local(2))), push(local(4))],
            vec![when(
                cmp(CompareOp::Lt, U32, local(1), local(2)),
                vec![push(local(2))],
            )],
            vec![reduce(csr(CsrQuery::Begin, local(1)))],
        ];
        for block in of_tuple {
            assert_eq!(of(guarded(block.clone())), ALL_BUT_TRAPS, "{block:?}");
            assert_eq!(of(by_name(block.clone())), ALL_BUT_TRAPS, "{block:?}");
        }
        assert_eq!(of(guarded(vec![])), ALL_BUT_TRAPS, "it may be full");

        let of_item: [Block; 5] = [
            // The item.
            vec![push(local(0))],
            vec![when(
                cmp(CompareOp::Lt, U32, local(0), local(2)),
                vec![push(local(2))],
            )],
            // What memory has, and what an update tells others of the item.
            vec![push(load(D, U32, local(1)))],
            vec![Stmt::Eval(fetch(AtomicOp::Min, local(2), local(0)))],
            // The name says more than the tuple behind the block.
            vec![set(5, local(0)), push(local(5))],
        ];
        for block in of_item {
            assert_eq!(
                open(guarded(block.clone())),
                (Why::Inserts, Some(6)),
                "{block:?}"
            );
            assert_eq!(
                open(by_name(block.clone())),
                (Why::Inserts, Some(6)),
                "{block:?}"
            );
        }
        // Whether it is new is a value of the item, otherwise.
        let otherwise = either(insert(), vec![push(local(1))], vec![push(local(2))]);
        assert_eq!(open(vec![otherwise]), (Why::Inserts, Some(6)));
        let stored = vec![set(3, cast(Scalar::Bool, U32, insert())), push(local(3))];
        assert_eq!(open(stored), (Why::Inserts, Some(6)));
        let outlives = vec![when(insert(), vec![set(5, local(1))]), push(local(5))];
        assert_eq!(open(outlives), (Why::Inserts, Some(6)));
    }

    #[test]
    fn who_asks_does_not_insert_elsewhere() {
        let second = Stmt::Eval(pair(9, local(2), local(1)));
        let two = vec![when(insert(), vec![push(local(1))]), second];
        assert_eq!(open(two).0, Why::Inserts);
        let asks = when(not(contains(4)), vec![Stmt::Eval(insert())]);
        assert_eq!(open(vec![asks]), (Why::ReadsChanged, Some(4)));
        assert_eq!(
            of(vec![when(contains(4), vec![push(local(1))])]),
            Agreement::Bits
        );
    }
}

#[test]
fn what_is_open_says_why_and_where() {
    let why = |block: Block| {
        let b = body(&[U32; 8], block);
        match agreement(&program(&b), &[&b], &[]) {
            Agreement::Open(reasons) => {
                let Reason {
                    wave,
                    resource,
                    site,
                    why,
                } = reasons[0];
                assert_eq!(wave, WaveId(0));
                (resource, site.map(|s| s.0), why)
            }
            other => panic!("{other:?}"),
        }
    };
    let old = |site| at(fetch(AtomicOp::Min, local(2), local(1)), site);
    let d = Some(BUFFER);
    assert_eq!(
        why(vec![set(3, old(5)), push(local(3))]),
        (d, Some(5), Why::OldValue)
    );
    let read = at(atomic_load(D, U32, local(1)), 7);
    assert_eq!(
        why(vec![set(3, read), Stmt::Eval(old(5))]),
        (d, Some(7), Why::ReadsChanged)
    );
    let other = at(fetch(AtomicOp::Add, local(2), lit(1)), 6);
    assert_eq!(
        why(vec![Stmt::Eval(old(5)), Stmt::Eval(other)]),
        (d, Some(5), Why::Mixed)
    );
    let claim = at(exchange(D, local(2), unseen(), local(1)), 8);
    assert_eq!(why(vec![Stmt::Eval(claim)]), (d, Some(8), Why::Claim));
    let sum = at(
        atomic(AtomicOp::Add, F, Scalar::F32, local(2), float(0.5)),
        9,
    );
    let floats = Some(Resource::Buffer(BufferId(F)));
    assert_eq!(why(vec![Stmt::Eval(sum)]), (floats, Some(9), Why::FloatSum));
    assert_eq!(
        why(vec![store(D, local(1), lit(1))]),
        (d, Some(0), Why::Stores)
    );
    let reduction = Some(Resource::Reduction(ReductionId(0)));
    let finished = Expr::Uniform(Uniform::Reduction(ReductionId(0)), U32);
    let reduce = Stmt::Reduce {
        reduction: ReductionId(0),
        value: finished,
    };
    assert_eq!(why(vec![reduce]), (reduction, None, Why::ReadsChanged));
    let sine = Expr::Unary(UnaryOp::Sin, Scalar::F32, Box::new(float(0.5)));
    assert_eq!(
        why(vec![store(F, local(0), sine)]),
        (None, None, Why::Approximates)
    );
}
