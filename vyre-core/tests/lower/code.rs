//! The code of small bodies, as people would write them.

use crate::*;
use expect_test::{Expect, expect};

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
           8      add.b32 r2, r2, 1
           9      continue
          10    endif
          11    eq.b32 r3, r2, 7
          12    break.if r3
          13    add.b32 r1, r1, r2
          14    add.b32 r2, r2, 1
          15  endloop
          16  st.b32 u32[r0], r1
          17  ret
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
