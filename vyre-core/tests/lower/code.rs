//! The code of small bodies, as people would write them.

use crate::*;
use expect_test::{Expect, expect};
use vyre_core::compile::lower::LowerError;
use vyre_core::vir0::scalar::Scalar;

fn check(body: Body, expected: Expect) {
    expected.assert_eq(&text(&body));
}

/// `if dist[e.dst].compare_exchange(UNSEEN, round + 1) { front.push(e.dst) }`
#[test]
fn bfs_relax() {
    let b = body(
        &[U32, U32, U32],
        vec![when(
            exchange(D, local(2), unseen(), add(round(), lit(1))),
            vec![push(local(2))],
        )],
    );
    check(
        b,
        expect![[r#"
        kernel f (dst r0), 2 rows, 2 frames
           0  add.b32 r1, round, 1
           1  atom.cas.b32 r1, u32[r0], 4294967295u32, r1
           2  if r1
           3    push front, r0
           4  endif
           5  ret
    "#]],
    );
}

/// `let d = dist[e.src].load() + w[e.index]; if d < dist[e.dst].fetch_min(d) { front.push(e.dst) }`
#[test]
fn sssp_relax() {
    let b = body(
        &[U32, U32, U32, U32, U32, U32],
        vec![
            set(3, atomic_load(D, U32, local(1))),
            set(4, add(local(3), load(D, U32, local(0)))),
            set(5, atomic(AtomicOp::Min, D, U32, local(2), local(4))),
            when(
                cmp(CompareOp::Lt, U32, local(4), local(5)),
                vec![push(local(2))],
            ),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r1, dst r2), 3 rows, 2 frames
           0  atom.ld.b32 r1, u32[r1]
           1  ld.b32 r0, u32[r0]
           2  add.b32 r0, r1, r0
           3  atom.min.u32 r1, u32[r2], r0
           4  lt.u32 r0, r0, r1
           5  if r0
           6    push front, r2
           7  endif
           8  ret
    "#]],
    );
}

/// `let mut sum = 0.0; for u in g.neighbors(v) { sum += rank[u] / g.degree(u) as f32 } next = 0.15 + 0.85 * sum`
#[test]
fn pagerank_gather() {
    let f32 = Scalar::F32;
    let b = body(
        &[U32, U32, U32, f32, U32, U32, U32, f32],
        vec![
            set(3, float(0.0)),
            set(4, csr(CsrQuery::Begin, local(0))),
            set(5, csr(CsrQuery::End, local(0))),
            repeat(vec![
                when(
                    not(cmp(CompareOp::Lt, U32, local(4), local(5))),
                    vec![BREAK],
                ),
                set(6, csr(CsrQuery::Target, local(4))),
                set(4, add(local(4), lit(1))),
                set(
                    3,
                    bin(
                        BinaryOp::Add,
                        f32,
                        local(3),
                        bin(
                            BinaryOp::Div,
                            f32,
                            load(F, f32, local(6)),
                            cast(
                                U32,
                                f32,
                                bin(
                                    BinaryOp::Sub,
                                    U32,
                                    csr(CsrQuery::End, local(6)),
                                    csr(CsrQuery::Begin, local(6)),
                                ),
                            ),
                        ),
                    ),
                ),
            ]),
            store(
                F,
                local(0),
                bin(
                    BinaryOp::Add,
                    f32,
                    float(0.15),
                    bin(BinaryOp::Mul, f32, float(0.85), local(3)),
                ),
            ),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0), 7 rows, 2 frames
           0  mov.b32 r1, 0
           1  csr.begin r2, g[r0]
           2  csr.end r3, g[r0]
           3  loop
           4    le.u32 r4, r3, r2
           5    break.if r4
           6    csr.target r4, g[r2]
           7    add.b32 r2, r2, 1
           8    ld.b32 r5, f32[r4]
           9    csr.end r6, g[r4]
          10    csr.begin r4, g[r4]
          11    sub.b32 r4, r6, r4
          12    cvt.f32.u32 r4, r4
          13    div.f32 r4, r5, r4
          14    add.f32 r1, r1, r4
          15  endloop
          16  mul.f32 r1, r1, 0.85
          17  add.f32 r1, r1, 0.15
          18  st.b32 f32[r0], r1
          19  ret
    "#]],
    );
}

/// `for i in 0..n { if skip[i] { continue } if i == 7 { break } total += i }`, stepped at the loop's head.
#[test]
fn for_over_a_range() {
    let b = body(
        &[U32, U32, U32, U32, U32, U32],
        vec![
            set(5, lit(0)),
            set(3, lit(0)),
            repeat(vec![
                when(
                    not(cmp(CompareOp::Lt, U32, local(3), Expr::Len(BufferId(D)))),
                    vec![BREAK],
                ),
                set(4, local(3)),
                set(3, add(local(3), lit(1))),
                when(load(B, Scalar::Bool, local(4)), vec![CONTINUE]),
                when(cmp(CompareOp::Eq, U32, local(4), lit(7)), vec![BREAK]),
                set(5, add(local(5), local(4))),
            ]),
            store(D, local(0), local(5)),
        ],
    );
    check(
        b,
        expect![[r#"
            kernel f (index r0), 4 rows, 4 frames
               0  mov.b32 r1, 0
               1  mov.b32 r2, 0
               2  loop
               3    len r3, u32
               4    le.u32 r3, r3, r2
               5    break.if r3
               6    ld.b8 r3, bool[r2]
               7    if r3
               8    else
               9      eq.b32 r3, r2, 7
              10      break.if r3
              11      add.b32 r1, r1, r2
              12    endif
              13    add.b32 r2, r2, 1
              14  endloop
              15  st.b32 u32[r0], r1
              16  ret
        "#]],
    );
}

/// A helper with early returns, as a loop that runs once.
#[test]
fn inlined_helper() {
    let b = body(
        &[U32, U32, U32, U32, U32],
        vec![
            set(4, local(0)),
            repeat(vec![
                when(
                    cmp(CompareOp::Gt, U32, local(4), lit(9)),
                    vec![set(3, load(D, U32, local(4))), BREAK],
                ),
                set(3, load(D, U32, local(1))),
                BREAK,
            ]),
            store(D, local(0), local(3)),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r1), 3 rows, 2 frames
           0  lt.u32 r2, 9, r0
           1  if r2
           2    ld.b32 r1, u32[r0]
           3  else
           4    ld.b32 r1, u32[r1]
           5  endif
           6  st.b32 u32[r0], r1
           7  ret
    "#]],
    );
}

/// `if v >= n { return; } if a && b { .. }`, conditions in the shapes a front end makes of them.
#[test]
fn guards_and_short_circuits() {
    let bool = Scalar::Bool;
    let b = body(
        &[U32, U32, U32, bool, bool],
        vec![
            when(
                cmp(
                    CompareOp::Ge,
                    U32,
                    local(0),
                    Expr::Uniform(Uniform::Nodes, U32),
                ),
                vec![Stmt::Return],
            ),
            set(3, cmp(CompareOp::Lt, U32, local(0), local(1))),
            when(local(3), vec![set(3, load(B, bool, local(1)))]),
            when(local(3), vec![push(local(0))]),
            set(4, cmp(CompareOp::Lt, U32, local(0), local(1))),
            when(
                local(4),
                vec![set(4, cmp(CompareOp::Ne, U32, local(1), lit(3)))],
            ),
            when(local(4), vec![push(local(1))]),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r1), 3 rows, 6 frames
           0  lt.u32 r2, r0, nodes
           1  if r2
           2    lt.u32 r2, r0, r1
           3    if r2
           4      ld.b8 r2, bool[r1]
           5      if r2
           6        push front, r0
           7      endif
           8    endif
           9    lt.u32 r0, r0, r1
          10    ne.b32 r2, r1, 3
          11    and.b32 r0, r0, r2
          12    if r0
          13      push front, r1
          14    endif
          15  endif
          16  ret
    "#]],
    );
}

/// `let mut h = [0u32; 4]; h[v & 3] += 1; let p = [v, h[1]]; out[v] = p[e] + p[0]`
#[test]
fn local_arrays() {
    let (h, p) = (ArrayId(0), ArrayId(1));
    let at = |array, index| Expr::ArrayLoad {
        array,
        scalar: U32,
        index: Box::new(index),
        site: SiteId(0),
    };
    let b = body(
        &[U32; 4],
        vec![
            Stmt::ArrayFill {
                array: h,
                value: lit(0),
            },
            set(3, bin(BinaryOp::And, U32, local(0), lit(3))),
            Stmt::ArrayStore {
                array: h,
                index: local(3),
                value: add(at(h, local(3)), lit(1)),
                site: SiteId(0),
            },
            Stmt::ArrayAssign {
                array: p,
                values: vec![local(0), at(h, lit(1))],
            },
            store(D, local(0), add(at(p, local(1)), at(p, lit(0)))),
        ],
    );
    let array = |scalar, len| Array { scalar, len };
    let arrays = vec![array(U32, 4), array(U32, 2)];
    check(
        Body { arrays, ..b },
        expect![[r#"
        kernel f (index r0, src r1), 8 rows, 0 frames
           0  row.fill.b32 r2..6, 0u32
           1  and.b32 r6, r0, 3
           2  row.ld.b32 r7, r2..6[r6]
           3  add.b32 r7, r7, 1
           4  row.st.b32 r2..6[r6], r7
           5  mov.b32 r2, r3
           6  mov.b32 r3, r0
           7  mov.b32 r4, r2
           8  row.ld.b32 r1, r3..5[r1]
           9  mov.b32 r2, r3
          10  add.b32 r1, r1, r2
          11  st.b32 u32[r0], r1
          12  ret
    "#]],
    );
}

/// `let m = if a < b { a } else { b }; let s = if m == 3 { 10 } else { 20 };`
#[test]
fn selects() {
    let b = body(
        &[U32, U32, U32, U32, U32],
        vec![
            either(
                cmp(CompareOp::Lt, U32, local(0), local(1)),
                vec![set(3, local(0))],
                vec![set(3, local(1))],
            ),
            either(
                cmp(CompareOp::Eq, U32, local(3), lit(3)),
                vec![set(4, lit(10))],
                vec![set(4, add(local(2), lit(1)))],
            ),
            store(D, local(2), local(4)),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r1, dst r2), 3 rows, 0 frames
           0  min.u32 r0, r0, r1
           1  eq.b32 r0, r0, 3
           2  add.b32 r1, r2, 1
           3  sel.b32 r0, r0, 10u32, r1
           4  st.b32 u32[r2], r0
           5  ret
    "#]],
    );
}

/// `for x in 0..=2 { .. }` and `for x in (0..3).rev()`: the flag in between does not hinder; a name needs no copy.
#[test]
fn other_ranges() {
    let bool = Scalar::Bool;
    let b = body(
        &[U32, U32, U32, U32, U32, bool, U32, U32],
        vec![
            set(3, lit(0)),
            set(5, cmp(CompareOp::Gt, U32, local(3), local(1))),
            repeat(vec![
                when(local(5), vec![BREAK]),
                set(4, local(3)),
                set(5, cmp(CompareOp::Eq, U32, local(3), local(1))),
                set(3, add(local(3), lit(1))),
                push(local(4)),
            ]),
            set(6, lit(3)),
            repeat(vec![
                when(not(cmp(CompareOp::Lt, U32, lit(0), local(6))), vec![BREAK]),
                set(6, bin(BinaryOp::Sub, U32, local(6), lit(1))),
                set(7, local(6)),
                push(local(7)),
            ]),
        ],
    );
    random_bodies::check(&b);
    check(
        b,
        expect![[r#"
            kernel f (src r0), 3 rows, 2 frames
               0  mov.b32 r1, 0
               1  lt.u32 r2, r0, r1
               2  loop
               3    break.if r2
               4    eq.b32 r2, r1, r0
               5    push front, r1
               6    add.b32 r1, r1, 1
               7  endloop
               8  mov.b32 r0, 3
               9  loop
              10    eq.b32 r1, r0, 0
              11    break.if r1
              12    sub.b32 r0, r0, 1
              13    push front, r0
              14  endloop
              15  ret
        "#]],
    );
}

/// Steps and copies that look like those of a `for` loop, but show when they are moved.
#[test]
fn counters_that_must_not_wait() {
    let at = |n: u32| cmp(CompareOp::Eq, U32, local(4), lit(n));
    let head = |limit| {
        vec![
            when(cmp(CompareOp::Ge, U32, local(3), lit(limit)), vec![BREAK]),
            set(4, local(3)),
            set(3, add(local(3), lit(1))),
        ]
    };
    let body_of = |block: Block| body(&[U32; 7], block);
    // The counter goes on where an inner `break` left it.
    random_bodies::check(&body_of(vec![
        set(3, lit(0)),
        set(5, lit(0)),
        repeat(vec![
            when(cmp(CompareOp::Ge, U32, local(5), lit(3)), vec![BREAK]),
            set(5, add(local(5), lit(1))),
            repeat([head(6), vec![push(local(4)), when(at(2), vec![BREAK])]].concat()),
        ]),
    ]));
    // The name is read after the loop, where the counter has another value.
    random_bodies::check(&body_of(vec![
        set(3, lit(0)),
        repeat([head(6)[1..].to_vec(), vec![when(at(2), vec![BREAK])]].concat()),
        set(3, lit(7)),
        push(local(4)),
    ]));
    // The counter is assigned again in the turn.
    random_bodies::check(&body_of(vec![
        set(3, lit(0)),
        repeat(
            [
                head(6),
                vec![push(local(4)), when(at(2), vec![set(3, lit(4))])],
            ]
            .concat(),
        ),
    ]));
    // A turn that continues before its step.
    random_bodies::check(&body_of(vec![
        set(3, lit(0)),
        set(5, lit(0)),
        repeat(
            [
                vec![
                    set(5, add(local(5), lit(1))),
                    when(cmp(CompareOp::Eq, U32, local(5), lit(2)), vec![CONTINUE]),
                ],
                head(3),
                vec![push(local(4))],
            ]
            .concat(),
        ),
        push(local(5)),
    ]));
    // A copy in a branch, read behind it, where its source has changed.
    random_bodies::check(&body_of(vec![
        set(3, lit(1)),
        set(3, add(local(3), local(0))),
        either(
            cmp(CompareOp::Lt, U32, local(0), lit(7)),
            vec![set(4, local(3))],
            vec![Stmt::Return],
        ),
        set(3, lit(0)),
        push(local(4)),
    ]));
}

/// A degree is asked for once, also where the neighbours are walked; a load is repeated where its buffer changes.
#[test]
fn loads_are_shared() {
    let degree = || {
        bin(
            BinaryOp::Sub,
            U32,
            csr(CsrQuery::End, local(0)),
            csr(CsrQuery::Begin, local(0)),
        )
    };
    let b = body(
        &[U32, U32, U32, U32],
        vec![
            when(
                cmp(CompareOp::Gt, U32, degree(), lit(1)),
                vec![push(add(degree(), load(W, Scalar::I32, local(0))))],
            ),
            store(D, local(0), add(load(D, U32, local(0)), lit(1))),
            push(load(D, U32, local(0))),
            push(add(
                load(W, Scalar::I32, local(1)),
                load(W, Scalar::I32, local(1)),
            )),
        ],
    );
    check(
        b,
        expect![[r#"
            kernel f (index r0, src r1), 4 rows, 2 frames
               0  csr.end r2, g[r0]
               1  csr.begin r3, g[r0]
               2  sub.b32 r2, r2, r3
               3  lt.u32 r3, 1, r2
               4  if r3
               5    ld.b32 r3, i32[r0]
               6    add.b32 r2, r2, r3
               7    push front, r2
               8  endif
               9  ld.b32 r2, u32[r0]
              10  add.b32 r2, r2, 1
              11  st.b32 u32[r0], r2
              12  ld.b32 r0, u32[r0]
              13  push front, r0
              14  ld.b32 r0, i32[r1]
              15  add.b32 r0, r0, r0
              16  push front, r0
              17  ret
        "#]],
    );
}

/// `until(front.is_empty() || round == 9)`.
/// What has been computed on the way is not computed again, but for branches beside and loops behind: turns that use
/// nothing of the lane's can be shared out. Rows that would cost items a lane are not worth it.
#[test]
fn values_are_shared() {
    let scaled = || bin(BinaryOp::Mul, U32, local(0), lit(3));
    let b = body(
        &[U32, U32, U32],
        vec![
            when(
                cmp(CompareOp::Lt, U32, scaled(), local(1)),
                vec![push(add(scaled(), lit(1)))],
            ),
            when(
                cmp(CompareOp::Lt, U32, local(1), local(2)),
                vec![push(add(local(1), lit(5)))],
            ),
            push(add(local(1), lit(5))),
            Stmt::Loop {
                body: vec![
                    when(
                        cmp(CompareOp::Gt, U32, atomic_load(D, U32, scaled()), scaled()),
                        vec![Stmt::Break { depth: 0 }],
                    ),
                    push(scaled()),
                ],
                short: false,
            },
            push(scaled()),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r1, dst r2), 5 rows, 2 frames
           0  mul.b32 r3, r0, 3
           1  lt.u32 r4, r3, r1
           2  if r4
           3    add.b32 r4, r3, 1
           4    push front, r4
           5  endif
           6  lt.u32 r2, r1, r2
           7  if r2
           8    add.b32 r2, r1, 5
           9    push front, r2
          10  endif
          11  add.b32 r1, r1, 5
          12  push front, r1
          13  loop
          14    mul.b32 r1, r0, 3
          15    atom.ld.b32 r2, u32[r1]
          16    lt.u32 r2, r1, r2
          17    break.if r2
          18    push front, r1
          19  endloop
          20  push front, r3
          21  ret
    "#]],
    );

    // Nine sums live at once would halve the items a lane.
    let sum = |x: u32| add(local(0), lit(x));
    let sums = || (0..9).map(|x| push(sum(100 + x)));
    let kernel = lowered(&[U32; 3], sums().chain(sums()).collect()).unwrap();
    assert_eq!((kernel.code.len(), kernel.rows), (37, 2));
    let sums = || (0..7).map(|x| push(sum(100 + x)));
    let kernel = lowered(&[U32; 3], sums().chain(sums()).collect()).unwrap();
    assert_eq!((kernel.code.len(), kernel.rows), (22, 7));
}

#[test]
fn conditions() {
    let b = Body {
        item: ItemLocals::default(),
        value: Some(bin(
            BinaryOp::Or,
            Scalar::Bool,
            cmp(
                CompareOp::Eq,
                U32,
                Expr::Uniform(Uniform::Len(FrontierId(0).into()), U32),
                lit(0),
            ),
            cmp(CompareOp::Eq, U32, round(), lit(9)),
        )),
        ..body(&[], vec![])
    };
    check(
        b,
        expect![[r#"
        kernel f, 2 rows, 0 frames
           0  eq.b32 r0, len(front), 0
           1  eq.b32 r1, round, 9
           2  or.b32 r0, r0, r1
           3  ret.b32 r0
    "#]],
    );
    let always = Body {
        item: ItemLocals::default(),
        value: Some(Expr::Literal(Scalar::Bool, 1)),
        ..body(&[], vec![])
    };
    check(
        always,
        expect![[r#"
        kernel f, 0 rows, 0 frames
           0  ret.b32 true
    "#]],
    );
}

/// Pairs of rows, literals that fit an immediate and those that take a slot, negations.
#[test]
fn wide_values_and_literals() {
    let (u64, f64, f32) = (Scalar::U64, Scalar::F64, Scalar::F32);
    let b = body(
        &[U32, U32, U32, u64, f64, f32],
        vec![
            set(3, cast(U32, u64, local(0))),
            set(
                3,
                bin(
                    BinaryOp::Mul,
                    u64,
                    local(3),
                    Expr::Literal(u64, 0x9e37_79b9_7f4a_7c15),
                ),
            ),
            set(
                3,
                bin(BinaryOp::Add, u64, local(3), Expr::Literal(u64, u64::MAX)),
            ),
            store(
                D,
                local(1),
                cast(u64, U32, bin(BinaryOp::Shr, u64, local(3), lit(32))),
            ),
            set(4, load(7, f64, local(1))),
            store(
                7,
                local(2),
                Expr::Unary(
                    UnaryOp::Neg,
                    f64,
                    Box::new(bin(BinaryOp::Mul, f64, local(4), local(4))),
                ),
            ),
            set(
                5,
                Expr::Unary(UnaryOp::Abs, f32, Box::new(load(F, f32, local(2)))),
            ),
            store(
                F,
                local(2),
                Expr::Unary(UnaryOp::Neg, f32, Box::new(local(5))),
            ),
            Stmt::Eval(atomic(AtomicOp::Sub, D, U32, local(2), local(1))),
            Stmt::Eval(atomic(AtomicOp::Sub, D, U32, local(2), lit(1))),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r2, dst r3), 4 rows, 0 frames
           0  cvt.u64.u32 r0:1, r0
           1  mul.b64 r0:1, r0:1, 11400714819323198485u64
           2  add.b64 r0:1, r0:1, -1
           3  shr.u64 r0:1, r0:1, 32
           4  cvt.b32.b64 r0, r0:1
           5  st.b32 u32[r2], r0
           6  ld.b64 r0:1, f64[r2]
           7  mul.f64 r0:1, r0:1, r0:1
           8  xor.b64 r0:1, r0:1, 9223372036854775808u64
           9  st.b64 f64[r3], r0:1
          10  ld.b32 r0, f32[r3]
          11  and.b32 r0, r0, 2147483647
          12  xor.b32 r0, r0, 0x80000000
          13  st.b32 f32[r3], r0
          14  sub.b32 r0, 0, r2
          15  atom.add.b32 _, u32[r3], r0
          16  atom.add.b32 _, u32[r3], 4294967295u32
          17  ret
    "#]],
    );
}

/// Division by a power of two cannot fault; other divisions keep their site.
#[test]
fn divisions() {
    let div = |op, x, y| bin(op, U32, x, y);
    let b = body(
        &[U32; 3],
        vec![
            push(div(BinaryOp::Div, local(0), lit(8))),
            push(div(BinaryOp::Rem, local(0), lit(8))),
            push(div(BinaryOp::Rem, local(0), lit(10))),
            push(div(BinaryOp::Div, local(0), local(1))),
            push(bin(
                BinaryOp::Div,
                Scalar::I32,
                local(0),
                Expr::Literal(Scalar::I32, 8),
            )),
        ],
    );
    check(
        b,
        expect![[r#"
        kernel f (index r0, src r1), 3 rows, 0 frames
           0  shr.u32 r2, r0, 3
           1  push front, r2
           2  and.b32 r2, r0, 7
           3  push front, r2
           4  rem.u32 r2, r0, 10
           5  push front, r2
           6  div.u32 r1, r0, r1
           7  push front, r1
           8  div.i32 r0, r0, 8
           9  push front, r0
          10  ret
    "#]],
    );
}

/// Values that die free their rows at once; a chain of 64-bit values needs two pairs.
#[test]
fn rows_follow_live_ranges() {
    let mut locals = vec![U32; 3];
    let mut block = vec![];
    for i in 0..40 {
        locals.push(Scalar::U64);
        let before = if i == 0 {
            cast(U32, Scalar::U64, local(0))
        } else {
            local(i + 2)
        };
        block.push(set(
            i + 3,
            bin(
                BinaryOp::Add,
                Scalar::U64,
                before,
                load(Q, Scalar::U64, local(1)),
            ),
        ));
        block.push(store(Q, local(1), local(i + 3)));
    }
    let program = program(&body(&locals, block));
    // src and two pairs; index dies at once.
    assert_eq!(program.kernels[0].rows, 5);
}

fn lowered(locals: &[Scalar], block: Block) -> Result<Kernel, LowerError> {
    lower(&body(locals, block), &mut Literals::new(0))
}

#[test]
fn too_many_rows() {
    // 200 values, all live at the end.
    let n = 200;
    let mut block: Block = (0..n).map(|i| set(i + 3, load(D, U32, lit(i)))).collect();
    block.extend((0..n).map(|i| push(local(i + 3))));
    let e = lowered(&[U32; 203], block).unwrap_err();
    assert_eq!(e, LowerError::TooManyRows { rows: 200 });
    assert_eq!(
        e.to_string(),
        "the function needs 200 register rows; at most 192 are available"
    );
}

#[test]
fn too_deep() {
    let nest = |n: u32| {
        (0..n).fold(push(local(0)), |inner, i| {
            when(load(B, Scalar::Bool, lit(i)), vec![inner])
        })
    };
    assert_eq!(lowered(&[U32; 3], vec![nest(32)]).unwrap().frames, 64);
    let e = lowered(&[U32; 3], vec![nest(33)]).unwrap_err();
    assert_eq!(e, LowerError::TooDeep { frames: 66 });
    assert_eq!(
        e.to_string(),
        "nested branches and loops need 66 mask frames; at most 64 are available"
    );
}

#[test]
fn too_long() {
    let pushes = |n: usize| vec![push(local(0)); n];
    assert_eq!(
        lowered(&[U32; 3], pushes(65_534)).unwrap().code.len(),
        65_535
    );
    let e = lowered(&[U32; 3], pushes(65_535)).unwrap_err();
    assert_eq!(e, LowerError::TooLong { words: 65_536 });
}

#[test]
fn what_has_no_instruction() {
    let e = lowered(
        &[U32; 3],
        vec![Stmt::Eval(atomic(
            AtomicOp::Or,
            F,
            Scalar::F32,
            local(0),
            float(1.0),
        ))],
    )
    .unwrap_err();
    assert_eq!(e.to_string(), "`atomic or` is not available for f32");
}

#[test]
fn invalid_bodies_are_refused() {
    let invalid = |locals: &[Scalar], block| match lowered(locals, block) {
        Err(LowerError::Invalid(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        invalid(&[U32; 3], vec![set(3, lit(1))]),
        "a local without a type"
    );
    assert_eq!(invalid(&[U32; 3], vec![BREAK]), "a jump out of no loop");
    assert_eq!(
        invalid(&[U32; 4], vec![push(local(3))]),
        "a local that is read before it is assigned"
    );
    assert_eq!(
        invalid(&[Scalar::F32, U32, U32], vec![]),
        "an item local that is not a u32"
    );
}

/// Uniforms beyond the direct slots are loaded first; every literal is one constant.
#[test]
fn many_uniforms() {
    let store_literal = |x: u32| store(D, local(0), lit(1_000 + x));
    let mut literals = Literals::new(3);
    let b = body(&[U32; 3], (0..70).chain(0..70).map(store_literal).collect());
    let kernel = lower(&b, &mut literals).unwrap();
    assert_eq!(
        (kernel.uniforms.len(), kernel.rows, kernel.code.len()),
        (70, 2, 140 + 14 + 1)
    );
    assert_eq!(kernel.uniforms[69], Uniform::Constant(ConstantId(72)));
    let again = lower(&b, &mut literals).unwrap();
    assert_eq!(again, kernel);
    let constants = literals.into_constants();
    assert_eq!((constants.len(), constants[69].bits), (70, 1_069));
    random_bodies::check(&body(&[U32; 3], (0..70).map(store_literal).collect()));
}
