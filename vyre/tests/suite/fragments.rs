//! Kernels and graphs that a `macro_rules!` writes: each kind of fragment in each position that takes one means on
//! every backend what it means in a plain function.
#![deny(warnings)]
#![allow(
    redundant_semicolons,
    reason = "behind what `$s:stmt` has matched, some need one"
)]
#![allow(
    clippy::match_overlapping_arm,
    reason = "the first arm that fits is what is tested"
)]

use vyre::prelude::*;
use vyre_tests::backend_tests;

/// The same body as a kernel of this name and as a plain function.
macro_rules! twice {
    ($name:ident, $plain:ident, $i:ident, $($body:tt)*) => {
        #[kernel]
        fn $name($i: Index, out: &mut i64) {
            *out = { $($body)* };
        }

        fn $plain($i: u32) -> i64 {
            $($body)*
        }
    };
}

/// Asserts that a kernel gives what the plain function gives, for the items from 0.
macro_rules! agree {
    ($runtime:expr, $($name:ident $plain:ident),*) => {
        $(
            let mut out = [0; 40];
            $name::run($runtime, &mut out).expect(stringify!($name));
            let expected: Vec<i64> = (0..40).map($plain).collect();
            assert_eq!(out[..], expected, "{}", stringify!($name));
        )*
    };
}

macro_rules! operators {
    ($i:ident, $sum:expr, $product:expr, $neg:expr, $bits:expr, $compare:expr, $or:expr, $cast:expr) => {
        twice! { arithmetic, plain_arithmetic, $i,
            let a = $i as i64 * $sum;
            let b = $sum * $i as i64;
            let c = 100 - $sum;
            let d = 1000 / $product + $product / 3;
            let e = 1000 % $product - $product % 4;
            let f = 7 - $neg;
            a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f - $sum - $sum
        }
        twice! { bitwise, plain_bitwise, $i,
            let a = 0xff & $bits;
            let b = $bits & 0x0f;
            let c = $bits << 2;
            let d = 1 << ($bits & 7) >> 1;
            let e = !$bits;
            let f = $bits ^ $bits | $sum;
            a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f
        }
        twice! { unary, plain_unary, $i,
            let a = -$sum;
            let b = 2 * -$product;
            let c = !$compare as i64;
            let d = !$or as i64;
            a + 3 * b + 5 * c + 7 * d
        }
        twice! { compared, plain_compared, $i,
            let a = (true & $compare) as i64;
            let b = ($or && $compare) as i64;
            let c = ($compare || $or && false) as i64;
            let d = ($sum < $product) as i64;
            let e = ($or ^ true) as i64;
            a + 2 * b + 4 * c + 8 * d + 16 * e
        }
        twice! { cast, plain_cast, $i,
            let a = $sum as u8 as i64;
            let b = $neg as u8 as i64;
            let c = ($cast < 40) as i64 + ($cast << 3);
            a + 3 * b + 5 * c
        }
        twice! { methods, plain_methods, $i,
            let a = $sum.min(4);
            let b = $product.wrapping_mul($sum);
            let c = $neg.max(-100);
            let d = $neg.pow(2);
            a + 3 * b + 5 * c + 7 * d
        }
        twice! { places, plain_places, $i,
            let mut xs = [$sum, $product, $neg, $sum * 2];
            let mut t = ($sum, $product);
            let mut total = $sum;
            total -= $sum * 2;
            total += $product;
            t.0 = $sum * t.1;
            t.1 -= $sum;
            xs[($bits & 3) as usize] += $sum * 3;
            xs[1] *= $sum;
            let size = [1i64; 2 * 3];
            total + t.0 + t.1 + xs[0] + 3 * xs[1] + 5 * xs[2] + 7 * xs[3] + size[5]
        }
        twice! { flow, plain_flow, $i,
            let mut total = 0;
            if $compare {
                total += 1;
            }
            if $compare ^ $or {
                total += 2;
            }
            while $sum * total < 30 {
                total += 1 + $product.max(1);
            }
            for k in $sum * 2..$sum * 2 + 3 {
                total += k;
            }
            for k in $sum..=$product {
                total -= k;
            }
            total += match $product * 2 {
                n if $compare && n > 0 => n * $sum,
                n => n - $sum,
            };
            assert!($sum * 2 + 1 > $sum * 2 || $or, "holds");
            assert_eq!(2 * $sum, $sum + $sum);
            total += matches!($sum * 2, 2 | 6 | 10) as i64;
            let found = loop {
                total += 1;
                if total % 5 == 0 {
                    break $sum * total;
                }
            };
            found - $sum
        }
    };
}

operators!(
    i,
    i64::from(i) + 2,
    i64::from(i) * 3 + 1,
    -1 - i64::from(i),
    i64::from(i) | 4,
    i % 3 == 1,
    i > 7 || i == 2,
    i as i64
);

fn expressions_stay_together(runtime: &Runtime) {
    agree! { runtime,
        arithmetic plain_arithmetic, bitwise plain_bitwise, unary plain_unary, compared plain_compared,
        cast plain_cast, methods plain_methods, places plain_places, flow plain_flow
    }
}

macro_rules! kinds {
    (
        $i:ident, $t:ty, $wide:ty, $v:vis, $none:vis, $block:block, $else:block, $lit:literal, $minus:literal, $text:literal,
        $path:path, $call:path, $kind:path, $let:stmt, $typed:stmt, $set:stmt, $add:stmt, $tt:tt, $tuple:tt, $op:tt,
        $a:ident, $b:ident, $c:ident, $pat:pat, $range:pat, $alone:pat_param, $label:lifetime, $meta:meta, $allow:meta, $item:item, $helper:item
    ) => {
        #[$meta]
        #[$allow]
        $v fn kinds($i: $kind, narrow: &$t, all: &Buf<$wide>, out: &mut $wide) {
            $item
            $helper
            #[derive(Clone, Copy)]
            struct Pair {
                $v left: $t,
                $none right: $wide,
            }
            const SOME: $t = $lit * 2;
            const MINUS: i64 = $minus;
            #[device]
            fn scale(x: $t, by: $wide) -> $wide {
                <$wide>::from(x) * by + <$wide>::from(x.min(<$t>::MAX)) * $path as $wide
            }
            let $i = $i + 1;
            $let;
            $typed;
            $set;
            $add;
            let pair = Pair { left: *narrow, right: all[$i - 1] };
            let Pair { left, right } = pair;
            let xs: [$wide; $lit] = [<$wide>::MAX; $lit];
            let small = (left as $t) < $lit;
            let less = $i as $wide < 20;
            let block = $block;
            let chosen = if less $block else $else;
            if small $block else $else;
            let matched = match left {
                $lit => 1,
                $pat => 2,
                $range if small => 3,
                $alone => 4,
                _ => 5,
            };
            let inner = match right as i64 - 9 {
                $minus => 1,
                $minus..=$lit => 2,
                x if x - $minus > 100 => 3,
                _ => 4,
            };
            let found = matches!(left, $pat | 9) as $wide + matches!(left, $range) as $wide;
            let mut turns = 0;
            $label: loop {
                loop {
                    turns += 1;
                    if turns $op 4 {
                        break $label;
                    }
                }
            }
            assert!(turns > 0, $text);
            debug_assert!(-$minus > 0);
            let sum = $a + $b + $c + xs[0] / <$wide>::MAX + block + chosen + $tt + $tuple.1 + turns;
            let calls = $call(left) + $call(SOME) * 2 + bump(sum);
            let scaled = scale(left, right) + (small as $wide) + (MINUS - $minus * 3) as $wide;
            *out = sum + 3 * calls + 5 * scaled + 7 * matched + 11 * inner + 13 * found;
        }
    };
}

const OFFSET: u32 = 1_000;
const LOTS: u32 = 8;
const TEN: u32 = 10;

kinds! {
    i, u32, u64, pub(crate), , { 1 + 2 }, { 40 }, 5, -7, "turns are counted", OFFSET, outer::triple, Index,
    let a = 3, let mut b: u64 = 4 + 4, b = b - 6, b += 5 * 2, (1 + 2), (4, 5), >=, a, b, C, 2 | 3, 6..=8, 12, 'out, kernel, allow(clippy::all),
    const C: u64 = 2 + 3;, #[device] fn bump(x: u64) -> u64 { x + 1 }
}

mod outer {
    use vyre::prelude::*;

    macro_rules! helpers {
        ($sum:expr, $name:ident, $ty:ty, $v:vis, $body:block, $self:ident, $by:ident, $c:expr) => {
            const FACTOR: u64 = $c * 2;

            #[device]
            $v fn $name(x: $ty) -> u64 {
                u64::from(x) * $sum + FACTOR
            }

            #[device]
            $v mod shapes {
                pub(crate) const SIDE: u32 = $c as u32 * 3;

                #[derive(Clone, Copy, Debug, PartialEq)]
                $v struct Area {
                    $v side: $ty,
                }

                impl Area {
                    $v fn size($self, $by: $ty) -> $ty $body

                    $v fn of(self) -> $ty {
                        (self.side + SIDE) * ($sum as $ty) - SIDE * ($c as u32)
                    }
                }
            }
        };
    }

    helpers!(1 + 2, triple, u32, pub(crate), { self.side - by }, self, by, 1 + 1);
}

fn every_kind_of_fragment_is_taken(runtime: &Runtime) {
    let narrow: Vec<u32> = (0..30).collect();
    let all: Vec<u64> = (0..30).map(|i| i * 3 % 11).collect();
    let mut out = vec![0; 30];
    kinds::run(runtime, &narrow, &all, &mut out).expect("no trap");
    let expected: Vec<u64> = (0..30)
        .map(|i| kinds_expected(i, all[i as usize]))
        .collect();
    assert_eq!(out, expected);
}

/// What `kinds!` says, written out.
fn kinds_expected(left: u32, right: u64) -> u64 {
    let small = left < 5;
    let less = left + 1 < 20;
    let chosen = if less { 3 } else { 40 };
    let matched = match left {
        5 => 1,
        2 | 3 => 2,
        6..=8 if small => 3,
        12 => 4,
        _ => 5,
    };
    let inner = match right as i64 - 9 {
        -7 => 1,
        -7..=5 => 2,
        _ => 4,
    };
    let found = u64::from(matches!(left, 2 | 3 | 9)) + u64::from(matches!(left, 6..=8));
    let sum = 3 + 12 + 5 + 1 + 3 + chosen + 3 + 5 + 4;
    let triple = |x: u32| u64::from(x) * 3 + 4;
    let calls = triple(left) + triple(10) * 2 + sum + 1;
    let left_wide = u64::from(left);
    let scaled = left_wide * right + left_wide * 1_000 + u64::from(small) + 14;
    sum + 3 * calls + 5 * scaled + 7 * matched + 11 * inner + 13 * found
}

macro_rules! graphs {
    (
        $name:ident, $v:vis, $g:ident, $ty:ty, $len:expr, $cap:expr, $init:expr, $bits:expr, $rounds:literal, $c:expr,
        $domain:ident, $sum:expr, $id:literal, $nodes:literal, $until:expr, $length:expr
    ) => {
        #[wave_graph(limits(nodes = $nodes, edges = $nodes))]
        #[pass(id = $id, unproven)]
        $v mod $name {
            const FIVE: u32 = $c + 3;

            $v struct Data {
                #[topology]
                $g: Csr,
                #[output(per = $len, init = $init)]
                $v counts: $ty,
                #[output(per = $length)]
                sized: u32,
                #[scratch(per = node, init = $init * 3)]
                pub(crate) start: $ty,
                #[list(capacity = $cap, output)]
                log: List<$ty>,
                #[scratch(per = node, bits = $bits)]
                rows: Bits,
                #[output(per = node)]
                at: $ty,
                #[reduce(sum)]
                total: u64,
                n: u32,
                m: u32,
            }

            #[wave($domain)]
            $v fn begin(v: Node, start: &$ty, rows: &Bits, at: &mut $ty) {
                rows.set(v, v % rows.width());
                *at = *start * $sum + rows.count(v) * $c;
            }

            #[wave(range($len))]
            fn count(i: Index, counts: &Buf<Atomic<$ty>>, log: &Append<$ty>) {
                counts[i % counts.len()].fetch_add(i * $sum);
                log.append(i * $c);
            }

            #[fixpoint(after(begin), until(round * $c >= 6), max_rounds = $rounds)]
            mod turns {
                #[wave(nodes($g))]
                $v fn turn(v: Node, $g: &Csr, at: &mut $ty, round: Round) {
                    *at += $g.degree(v) * $sum + round * $c * FIVE;
                }
            }

            #[fixpoint(after(turns), until($until && round * $sum >= 6), max_rounds = 100)]
            mod more {
                #[wave(nodes)]
                fn step(v: Node, at: &mut $ty, total: &Reduce<Sum<u64>>) {
                    *at += v * $c;
                    total.add(u64::from(*at));
                }
            }
        }
    };
}

graphs! {
    generated, pub(crate), roads, u32, 3, LOTS, 2 + 2, 33, 50, 1 + 2, nodes, 3 + 4, "test.generated", 1000,
    n == 3 || m == 4, TEN
}

/// A graph that a macro has written is included.
#[wave_graph]
mod including {
    #[include(roads = streets, n = n, m = m)]
    use super::generated;

    pub(crate) struct Data {
        #[topology]
        streets: Csr,
        #[output(per = node)]
        doubled: u32,
        n: u32,
        m: u32,
    }

    #[wave(nodes, after(generated))]
    fn double(generated_at: &u32, doubled: &mut u32) {
        *doubled = *generated_at * 2;
    }
}

fn graphs_are_written_by_macros(runtime: &Runtime) {
    let roads = Csr::from_edges(9, &[(0, 1), (0, 2), (3, 4), (8, 0)]).expect("a graph");
    let (mut at, mut sums) = (Vec::new(), 0);
    for v in 0..9u32 {
        let degree = [2, 0, 0, 1, 0, 0, 0, 0, 1][v as usize];
        let mut x = 12u32 * 7 + 3;
        // Rounds 0, 1 and 2: the third gives 6.
        for round in 0..3u32 {
            x += degree * 7 + round * 3 * 6;
        }
        // Rounds 0 and 1: `round * 7 >= 6` after the second, whatever `n` and `m` are together.
        for _ in 0..2 {
            x += v * 3;
        }
        sums += u64::from(x);
        at.push(x);
    }
    let mut session = generated::Session::new(runtime, &roads).expect("it fits");
    let out = session.run(generated::Run { n: 3, m: 7 }).expect("no trap");
    assert_eq!((out.counts, out.sized.len()), (vec![4, 4 + 7, 4 + 14], 10));
    let mut log = out.log;
    log.sort_unstable();
    assert_eq!(log, [0, 3, 6]);
    assert_eq!((&out.at, out.total), (&at, sums));
    assert_eq!(out.report.rounds, [3, 2]);
    let trap = session.run(generated::Run { n: 1, m: 7 });
    assert!(trap.is_err(), "the second fixpoint never ends");

    let mut session = including::Session::new(runtime, &streets()).expect("it fits");
    let out = session.run(including::Run { n: 1, m: 4 }).expect("no trap");
    assert_eq!(out.generated_at, at);
    let doubled: Vec<u32> = at.iter().map(|x| x * 2).collect();
    assert_eq!(out.doubled, doubled);
    assert_eq!(generated::PLAN.program().manifest.id, "test.generated");
}

fn streets() -> Csr {
    Csr::from_edges(9, &[(0, 1), (0, 2), (3, 4), (8, 0)]).expect("a graph")
}

/// A `#[device] mod` that a macro has written, from another module.
#[kernel]
fn areas(i: Index, out: &mut u32) {
    let area = outer::shapes::Area { side: i + 20 };
    *out = area.size(4) + 100 * area.of();
}

fn device_modules_are_written_by_macros(runtime: &Runtime) {
    let mut out = vec![0; 5];
    areas::run(runtime, &mut out).expect("no trap");
    let expected: Vec<u32> = (0..5).map(|i| i + 16 + 100 * ((i + 26) * 3 - 12)).collect();
    assert_eq!(out, expected);
}

/// Bodies in which a name of the macro's own has the text of one that its caller passes, as kernels and as plain
/// functions.
macro_rules! own_names {
    ($t:ident, $i:ident, $label:lifetime, $e:expr, $more:expr, $of_i:expr, $let:stmt, $two:block, $set:block, $out:block) => {
        twice! { in_let, plain_in_let, $t,
            let t = 100;
            $e as i64 + t
        }
        twice! { in_for, plain_in_for, $t,
            let mut total = 0;
            for t in 0..3 {
                total += $e as i64 * 10 + t;
            }
            total
        }
        twice! { in_match, plain_in_match, $t,
            let other = $t as i64 + 50;
            match (other, 2 * other) {
                (t, _) if t > 80 => t,
                (t, u) if matches!(u + 0 * t, 110..=120) => $e as i64 + u,
                (_, t) => $e as i64 * 1_000 + t,
            }
        }
        twice! { in_parameter, plain_in_parameter, $i,
            let i = 100;
            let of_both = $of_i as i64 * 1_000 + i;
            let $i = $i as i64 + 7;
            let i = i + 1;
            $of_i as i64 + i * 3 + of_both
        }
        twice! { in_block, plain_in_block, $i,
            let t = 7;
            let inner = {
                let $t = 1_000 + $i;
                let t = t * 2;
                $e as i64 + $more as i64 * 3 + t
            };
            inner * 10_000 + t
        }
        twice! { in_assignment, plain_in_assignment, $i,
            let mut $t = $i;
            let mut t = 100;
            t += 1;
            $set;
            $t as i64 * 1_000 + t
        }
        twice! { in_statement, plain_in_statement, $i,
            $let;
            let t = 1_000;
            $e as i64 + t + $i as i64
        }
        twice! { in_own_block, plain_in_own_block, $i,
            let t = 100 + $i as i64;
            let r = $two;
            r + t
        }
        twice! { in_labels, plain_in_labels, $i,
            let mut total = 0;
            $label: for k in 0..4 {
                'out: for j in 0..5 {
                    total += $i as i64 + 1;
                    if j * k > 2 {
                        break 'out;
                    }
                    if j == 3 $out
                }
                total += 1_000;
            }
            total
        }
    };
}

own_names!(
    t, i, 'out, t + 1, t * 2, i + 1, let t = 5u32, { let t = 3i64; t * 2 }, { t += 7; },
    { break 'out; }
);

macro_rules! own_graph {
    ($name:ident, $x:ident, $e:expr, $at:ident, $by:expr) => {
        #[wave_graph]
        mod $name {
            pub struct Data {
                #[topology]
                g: Csr,
                #[output(per = node)]
                y: u32,
            }

            #[device]
            fn scale($x: u32, x: u32) -> u32 {
                let k = x * 10;
                $e + k
            }

            #[wave(nodes)]
            fn write($at: Node, y: &mut u32) {
                let v = 50;
                *y = scale($by, 1) + v;
            }
        }
    };
}

own_graph!(own_in_graph, k, k * 2, v, v + 1);

/// A helper of another module, with names of the macro and of its caller.
mod own_helper {
    use vyre::prelude::*;

    macro_rules! helper {
        ($x:ident, $e:expr) => {
            #[device]
            pub(crate) fn own($x: u32) -> u32 {
                let k = 100;
                $e + k
            }
        };
    }

    helper!(k, k + 1);
}

#[kernel]
fn calls_own(i: Index, out: &mut u32) {
    *out = own_helper::own(i);
}

/// Items are found from every context, as rustc has it.
macro_rules! own_items {
    ($name:ident, $e:expr) => {
        #[kernel]
        fn $name(i: Index, out: &mut u32) {
            const OFFSET: u32 = 3;
            *out = $e + OFFSET * 100 + i;
        }
    };
}

own_items!(own_item, OFFSET);

fn names_of_a_macro_are_its_own(runtime: &Runtime) {
    agree! { runtime,
        in_let plain_in_let, in_for plain_in_for, in_match plain_in_match, in_parameter plain_in_parameter,
        in_block plain_in_block, in_assignment plain_in_assignment, in_statement plain_in_statement,
        in_own_block plain_in_own_block, in_labels plain_in_labels
    }
    let g = Csr::from_edges(3, &[]).expect("a graph");
    let mut session = own_in_graph::Session::new(runtime, &g).expect("it fits");
    let out = session.run(own_in_graph::Run {}).expect("no trap");
    assert_eq!(out.y, [62, 64, 66]);
    let mut out = [0; 3];
    calls_own::run(runtime, &mut out).expect("no trap");
    assert_eq!(out, [101, 102, 103]);
    own_item::run(runtime, &mut out).expect("no trap");
    assert_eq!(out, [303, 304, 305]);
}

/// Blocks where statements, arms and ranges end, without what an expression needs there.
macro_rules! blocks {
    ($i:ident, $x:ident, $one:block, $ten:block, $if:expr, $three:expr) => {
        twice! { block_statements, plain_block_statements, $i,
            let mut $x = $i as i64;
            $one let y = $x;
            $one $ten (_, $x) = (0, $x + y);
            let at = [1, 2, 3];
            for _k in at $ten $if
            if $x > 3 $one else $ten $one
            loop { $ten break; }
            $x
        }
        twice! { block_arms, plain_block_arms, $i,
            let mut $x = $i as i64;
            match $i { 0 => $one 1 => $one, 2..=5 => $ten _ => $if }
            match ($i, 1) { (3, _) => $one (_, 0) => {} _ => $ten }
            $x
        }
        twice! { block_ranges, plain_block_ranges, $i,
            let mut $x = $i as i64;
            for k in 0..$three { $x += k + 1; }
            for k in 0..=$three { $x += k * 100; }
            for k in (0..$three).rev() { $x = $x * 2 + k; }
            for k in $three..$three + 2 { $x += k; }
            $x + $three
        }
    };
}

blocks!(
    i,
    x,
    {
        x += 1;
    },
    {
        x += 10;
    },
    if x % 2 == 0 {
        x += 100;
    },
    { 3 }
);

fn blocks_end_statements(runtime: &Runtime) {
    agree! { runtime,
        block_statements plain_block_statements, block_arms plain_block_arms, block_ranges plain_block_ranges
    }
}

backend_tests!(
    blocks_end_statements,
    names_of_a_macro_are_its_own,
    expressions_stay_together,
    every_kind_of_fragment_is_taken,
    graphs_are_written_by_macros,
    device_modules_are_written_by_macros,
);
