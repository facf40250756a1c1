//! Bodies that rustc and the kernel compiler both compile. A body's value is the u64 that is compared.

#![allow(
    clippy::all,
    unused,
    unconditional_panic,
    arithmetic_overflow,
    reason = "the bodies are examples of what users write"
)]

use super::*;

macro_rules! cases {
    (
        given { $a:ident $b:ident $i:ident $j:ident $p:ident $q:ident $x:ident $y:ident $z:ident $t:ident
            $xs:ident $at:ident $bytes:ident $g:ident $out:ident }
        helpers { $($helper:item)* }
        $($name:ident $body:block)*
    ) => {
        cases!(@ [$a $b $i $j $p $q $x $y $z $t $xs $at $bytes $g $out] { $($helper)* } $($name $body)*);
    };
    (@ $given:tt { $($helper:item)* } $($name:ident $body:block)*) => {
        $($helper)*
        const HELPERS: &str = concat!($(stringify!($helper), "\n"),*);
        $(
            #[test]
            fn $name() {
                case!($given $body);
                quietly(|| compare(stringify!($name), HELPERS, stringify!($body), body));
            }
        )*
    };
}

macro_rules! case {
    ([$a:ident $b:ident $i:ident $j:ident $p:ident $q:ident $x:ident $y:ident $z:ident $t:ident
        $xs:ident $at:ident $bytes:ident $g:ident $out:ident] $body:block) => {
        fn body(
            input: Input,
            $xs: &Buf<u32>,
            $at: &Buf<Atomic<u32>>,
            $bytes: &Buf<u8>,
            $g: &Csr,
            $out: &Push,
        ) -> u64 {
            let Input {
                a: $a,
                b: $b,
                i: $i,
                j: $j,
                p: $p,
                q: $q,
                x: $x,
                y: $y,
                z: $z,
                t: $t,
            } = input;
            $body
        }
    };
}

cases! {
    given { a b i j p q x y z t xs at bytes g out }
    helpers {
        fn bits(x: f32) -> u64 { if x.is_nan() { 1 } else { x.to_bits() as u64 } }
        fn bits64(x: f64) -> u64 { if x.is_nan() { 1 } else { x.to_bits() } }
        fn log(out: &Push, n: u32) -> u32 { out.push(n); n }
        fn yes(out: &Push, n: u32) -> bool { out.push(n); true }
        fn no(out: &Push, n: u32) -> bool { out.push(n); false }
        fn mix(mut h: u64, k: u32) -> u64 {
            h ^= k as u64;
            h = h.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            h ^ (h >> 29)
        }
        fn sign(v: i32) -> i32 {
            if v < 0 { return -1; }
            if v == 0 { return 0; }
            1
        }
        fn gcd(mut m: u32, mut n: u32) -> u32 {
            while n != 0 {
                let r = m % n;
                m = n;
                n = r;
            }
            return m;
        }
        fn first_above(xs: &Buf<u32>, limit: u32) -> u32 {
            for k in 0..xs.len() {
                if xs[k] > limit { return k; }
            }
            u32::MAX
        }
        fn twice(at: &Buf<Atomic<u32>>, k: u32) -> u32 { at[k].fetch_add(1); at[k].fetch_add(1) }
        fn divided(v: u32) -> (u32, u32) { (v / 3, v % 3) }
        fn n_times(out: &Push, n: u32) { for k in 0..n { out.push(k); } }
        fn nothing(out: &Push) { out.push(0); }
        fn nested(v: u32) -> u64 { mix(mix(1, v), gcd(v, 12)) }
        fn dead(a: u32, b: u32, t: bool) -> u64 {
            let k = if a > 5 { let m = { return 7; 5 }; m + 1 } else { 3 };
            let n: u32 = loop { if t { break 4; } else { return 8; } 5; };
            if b == 3 { let c = return 9; c; }
            if b == 5 { let c = loop { return 10; }; 5; }
            if b == 7 { let c: u32 = panic!(); c + 1; }
            k as u64 + n as u64
        }
        #[derive(Clone, Copy, PartialEq)]
        struct Point { x: i32, y: i32 }
        #[derive(Clone, Copy, PartialEq)]
        struct Pair(u32, f32);
        #[derive(Clone, Copy)]
        struct Stack { items: [u32; 4], len: u32, top: Point }
        const ORIGIN: Point = Point { x: 1, y: -1 };
        impl Point {
            const UNIT: i32 = 3;
            fn new(x: i32, y: i32) -> Self { Self { x, y } }
            fn dot(self, other: Point) -> i32 { self.x.wrapping_mul(other.x).wrapping_add(self.y.wrapping_mul(other.y)) }
            fn flipped(&self) -> Point { let Point { x, y } = *self; Point { x: y, y: x } }
            fn shift(&mut self, by: i32) -> i32 {
                if by == 0 { return -7; }
                self.x = self.x.wrapping_add(by);
                self.y ^= by;
                self.x
            }
            fn unit() -> Point { Point::new(Self::UNIT, Point::UNIT) }
        }
        impl Stack {
            fn empty() -> Stack { Stack { items: [0; 4], len: 0, top: Point::new(0, 0) } }
            fn push(&mut self, v: u32) { self.items[self.len as usize] = v; self.len += 1; self.top.x = v as i32; }
            fn pop(&mut self) -> u32 { self.len = self.len.wrapping_sub(1); self.items[self.len as usize] }
        }
        fn sorted(mut v: [u32; 5]) -> [u32; 5] {
            for k in 1..5 {
                let mut n = k;
                while n > 0 && v[n - 1] > v[n] { v.swap(n - 1, n); n -= 1; }
            }
            v
        }
        fn sum(v: [u32; 5]) -> u32 { let mut s = 0u32; for n in v { if n == 7 { continue; } s = s.wrapping_add(n); } s }
        fn weird(v: u32) -> u32 {
            loop {
                if v > 3 { return 7; }
                break;
            }
            match v { 0 => return 1, 1 | 2 => {} _ => return 9 }
            v + 100
        }
    }

    wrapping_methods {
        let s = a.wrapping_add(b).wrapping_mul(3).wrapping_sub(7);
        let u = i.wrapping_neg().wrapping_add(j).wrapping_mul(i).wrapping_abs();
        s as u64 ^ (u as u64).wrapping_mul(31) ^ p.wrapping_add(q as u64).wrapping_pow(3)
    }
    operators {
        let m = (a & b) | (a ^ 0xff) & !b;
        let n = (i & j) | i ^ !j;
        (m as u64) << 32 | n as u32 as u64
    }
    division { (a / b) as u64 * 7 + (a % b) as u64 }
    signed_division { (i / j) as u64 ^ ((i % j) as u64) << 1 }
    wide_division { (p / (b as u64)) ^ (q / (i as i64)) as u64 ^ (q % j as i64) as u64 }
    constant_divisors { (a / 3 + a % 10) as u64 + (i / -1i32.wrapping_add(0)) as u64 + (q / 7) as u64 }
    shifts {
        let r = a.wrapping_shl(b) ^ a.wrapping_shr(i as u32);
        (r as u64) ^ (i >> (b & 31)) as u64 ^ (q >> (a & 63)) as u64 ^ (p << (j & 63)) ^ p >> 3u8
    }
    rotations { a.rotate_left(b) as u64 ^ p.rotate_right(b) ^ (q.rotate_left(3) as u64) ^ i.rotate_right(a) as u64 }
    bit_counts {
        (a.count_ones() + b.leading_zeros() * 3 + i.trailing_zeros() * 5 + p.count_zeros() * 7
            + q.leading_ones() * 11 + a.trailing_ones() * 13 + p.leading_zeros() + q.trailing_zeros()) as u64
            + a.is_power_of_two() as u64
    }
    min_max_abs {
        let m = a.min(b).max(3);
        let n = i.max(j).min(100);
        m as u64 ^ n as u64 ^ a.abs_diff(b) as u64 ^ i.abs_diff(j) as u64 ^ q.unsigned_abs() ^ u32::min(a, 9) as u64
            ^ std::cmp::max(i, j) as u64 ^ i.signum() as u64 ^ q.is_negative() as u64
    }
    saturating {
        a.saturating_add(b) as u64 ^ (a.saturating_sub(b) as u64) << 7 ^ i.saturating_add(j) as u64 ^ (i.saturating_sub(j) as u64) << 9
            ^ q.saturating_add(i as i64) as u64 ^ q.saturating_sub(p as i64) as u64 ^ p.saturating_add(q as u64) ^ p.saturating_sub(q as u64)
    }
    more_integer_methods {
        let c = bytes[a & 7];
        a.saturating_mul(b) as u64 ^ (i.saturating_mul(j) as u64) << 3 ^ p.saturating_mul(5) ^ q.saturating_mul(-7) as u64 ^ (c.saturating_mul(3) as u64) << 9
            ^ a.swap_bytes() as u64 ^ p.swap_bytes() ^ (i.reverse_bits() as u64) << 7 ^ p.reverse_bits() ^ (c.reverse_bits() as u64) << 30 ^ (c.swap_bytes() as u64) << 20
            ^ a.is_multiple_of(b) as u64 ^ (b.is_multiple_of(3) as u64) << 1 ^ a.cast_signed() as u64 ^ (q.cast_unsigned() >> 3)
            ^ a.clamp(3, 40) as u64 ^ i.clamp(-5, 5) as u64 ^ (c.is_multiple_of(2) as u64) << 33
    }
    euclid { a.div_euclid(b) as u64 ^ i.rem_euclid(j) as u64 ^ (i.div_euclid(j) as u64) << 8 ^ (q.rem_euclid(i as i64) as u64) << 16 ^ (p.div_ceil(b as u64)) << 3 }
    wrapping_division { i.wrapping_div(j) as u64 ^ (a.wrapping_rem(b) as u64) << 5 ^ (q.wrapping_rem(j as i64) as u64) << 9 ^ (q.wrapping_div(-1)) as u64 }
    float_euclid { bits(x.rem_euclid(y)) ^ bits64(z.div_euclid(y as f64)) << 1 ^ bits64(z.rem_euclid(3.5)) << 2 }
    logarithms { a.ilog2() as u64 + i.ilog2() as u64 * 3 + p.ilog2() as u64 * 5 }
    powers_of_two { if a < 1 << 31 { a.next_power_of_two() as u64 ^ (p >> 1).next_power_of_two() } else { 0 } }
    clamps_check_their_bounds { a.clamp(b, 40) as u64 ^ i.clamp(j, 7) as u64 }
    float_clamps_check_their_bounds { bits(x.clamp(y, 3.0)) ^ bits64(z.clamp(-1.0, 1e9)) }
    more_float_methods { bits(x.round_ties_even()) ^ bits64(z.signum()) ^ bits(y.signum()) << 1 ^ bits(x.to_radians()) << 2 ^ bits64(z.to_degrees()) << 3 ^ bits(y.to_degrees()) << 4 }
    powers { a.wrapping_pow(5) as u64 ^ p.wrapping_pow(b) ^ i.wrapping_pow(a & 15) as u64 ^ a.wrapping_pow(0) as u64 }
    float_arithmetic { bits(x + y * 2.0 - x / y) ^ bits(-x) ^ bits(x % y) ^ bits64(z * 0.1 + x as f64) }
    float_methods {
        bits(x.abs().sqrt().floor()) ^ bits(x.ceil()) << 1 ^ bits(y.round()) << 2 ^ bits(y.trunc()) << 3 ^ bits(x.fract()) << 4
            ^ bits(x.mul_add(y, 1.0)) << 5 ^ bits(x.copysign(y)) << 6 ^ bits64(z.recip())
            ^ x.is_finite() as u64 ^ y.is_infinite() as u64 ^ x.is_nan() as u64 ^ z.is_sign_negative() as u64 ^ y.is_sign_positive() as u64
    }
    float_min_max { let m = if x == y { x } else { x.min(y) }; bits(m) ^ bits(if x == y { y } else { f32::max(x, y) }) }
    float_bits { bits(f32::from_bits(x.to_bits() ^ 0x8000_0000)) ^ bits64(f64::from_bits(z.to_bits())) ^ bits(f32::from_bits(a)) }
    float_to_int_saturates {
        (x as u32) as u64 ^ (x as i32) as u64 ^ (y as u64) ^ (y as i64) as u64 ^ (z as u32) as u64 ^ (z as i32) as u64 ^ (z as u64) ^ (z as i64) as u64
            ^ (x as u8) as u64 ^ (z as u8) as u64
    }
    int_to_float { bits(a as f32) ^ bits(i as f32) ^ bits(p as f32) ^ bits(q as f32) ^ bits64(a as f64) ^ bits64(i as f64) ^ bits64(p as f64) ^ bits64(q as f64) ^ bits(z as f32) }
    casts { (i as u32) as u64 ^ i as u64 ^ (i as i64) as u64 ^ (p as u32) as u64 ^ (p as i32) as u64 ^ (t as u32) as u64 ^ (q as u8) as u64 ^ (a as u8 as i32) as u64 ^ 3_000_000_000 as u64 }
    conversions { let w: u64 = a.into(); let v: f64 = x.into(); w ^ u64::from(b) ^ bits64(v) ^ u64::from(t) ^ bits64(f64::from(i)) }
    literals_infer_from_use {
        let big = 5_000_000_000;
        let mut sum = 0;
        let small = 1;
        for k in 0..small + 3 { sum += k; }
        let w: u64 = big;
        let h = 1.5;
        let g: f32 = h;
        w + sum as u64 + bits(g)
    }
    literals_fall_back {
        let k = 7;
        let h = 0.1;
        (k as u64) ^ ((k - 9) as u64) ^ (h as f32).to_bits() as u64
    }
    associated_constants {
        u32::MAX as u64 ^ i32::MIN as u64 ^ u64::MAX ^ i64::MIN as u64 ^ bits(f32::INFINITY) ^ bits(f32::MAX) ^ bits64(f64::EPSILON)
            ^ u32::BITS as u64 ^ bits(std::f32::NEG_INFINITY) ^ u8::MAX as u64 ^ bits(f32::NAN)
    }
    named_constants {
        const HERE: u32 = 1 << 4;
        let scaled: f32 = x * SCALE;
        let off = i.wrapping_add(OFFSET);
        let l = if a > LIMIT { LIMIT } else { a };
        let pi: f32 = std::f32::consts::PI;
        bits(scaled) ^ off as u64 ^ l as u64 ^ HERE as u64 ^ (YES && t) as u64 ^ LIMIT as u64 ^ bits(pi)
    }
    comparisons {
        (a < b) as u64 | ((a <= b) as u64) << 1 | ((i > j) as u64) << 2 | ((i >= j) as u64) << 3 | ((p == 5) as u64) << 4
            | ((q != -1) as u64) << 5 | ((x < y) as u64) << 6 | ((x >= y) as u64) << 7 | ((x == x) as u64) << 8 | ((z != z) as u64) << 9
            | ((t == true) as u64) << 10 | ((t < (a > b)) as u64) << 11 | (!(x < y) as u64) << 12
    }
    bools { let u = t & (a > b) | t ^ (i < j); (u ^ !t) as u64 }
    negative_literals { let m = -1; let k: i64 = -5; (m as u64) ^ k as u64 ^ (-2147483648i32) as u64 ^ bits(-0.0) }
    if_is_a_value {
        let m = if a > b { a } else if a == b { 7 } else { b - a };
        let k = if t { xs[a & 7] } else { xs[b % 8] + 1 };
        m as u64 + k as u64
    }
    branches_may_trap_alone { let k = if a < 8 { xs[a] } else { 100 / b }; k as u64 }
    blocks_are_values { let k = { let m = a & 15; let n = m * 2; n + 1 }; let k = { k + 1 }; k as u64 }
    shadowing { let a = a & 3; let a = a as u64 + 1; { let a = 5u32; } let a = a * 2; a }
    deferred { let k; let m: u32; if t { k = 1u32; m = 2; } else { k = a; m = b; } (k as u64) << 32 | m as u64 }
    compound {
        let mut m = a & 0xffff;
        m += 3; m *= 2; m -= 1; m <<= 2; m >>= 1; m ^= b; m |= 1; m &= 0xff_ffff; m %= 1000; m /= 3;
        let mut f = x; f *= 2.0; f += 1.0; f -= y; f /= 3.0;
        m as u64 ^ bits(f)
    }
    while_loops { let mut n = a & 31; let mut s = 0u64; while n > 0 && s < 100 { s += n as u64; n -= 1; } s }
    loops_break_with_values {
        let mut n = a & 63;
        let k = loop { if n % 7 == 0 { break n * 2; } n += 1; };
        k as u64
    }
    ranges {
        let mut s = 0u64;
        for k in 0..a & 15 { s = s * 3 + k as u64; }
        for k in i & 7..=5 { s = s.wrapping_mul(5).wrapping_add(k as u64); }
        for k in (1..b & 7).rev() { s = s.wrapping_mul(7).wrapping_add(k as u64); }
        for k in (2u64..=p & 7).rev() { s = s.wrapping_mul(11).wrapping_add(k); }
        for _ in 0..3 { s += 1; }
        s
    }
    ranges_to_the_largest_value {
        let mut s = 0u64;
        for k in u32::MAX - (a & 3)..=u32::MAX { s += k as u64; }
        for k in (i32::MIN..=i32::MIN + 2).rev() { s ^= k as u64; }
        for k in 250u8..=255 { s += k as u64; }
        s
    }
    range_ends_are_evaluated_once {
        let mut n = a & 7;
        let mut s = 0u64;
        for mut k in 0..n { n += 1; k += 10; s += k as u64; }
        s + n as u64
    }
    continue_and_labels {
        let mut s = 0u64;
        'rows: for r in 0..6u32 {
            for c in 0..6u32 {
                if c == (a & 7) { continue 'rows; }
                if r * c > (b & 15) { break 'rows; }
                if c % 2 == 1 { continue; }
                s += (r * 10 + c) as u64;
            }
            s += 1000;
        }
        let mut n = 0;
        while n < 9 { n += 1; if n % 3 == 0 { continue; } s += n; }
        s
    }
    labelled_blocks {
        let k = 'find: { for n in 0..8u32 { if xs[n] == (a & 15) { break 'find n; } } 99 };
        'skip: { if t { break 'skip; } out.push(1); }
        k as u64
    }
    matches_integers {
        let k = match a { 0 => 10, 1 | 2 => 20, 3..=31 => a * 2, LIMIT => 1, n if n > 1000 && n % 2 == 0 => n / 2, 32..256 => 5, _ => 7 };
        let m = match i { i32::MIN..=-1 => -1, 0 => 0, _ => 1 };
        let w = match t { true => 1, false => { out.push(1); 2 } };
        let c = match i { -3 => 1u64, n @ 1..=5 => n as u64, n => n as u64 & 7 };
        k as u64 ^ (m as u64) << 8 ^ w << 40 ^ c << 44
    }
    long_matches_are_trees {
        let k = match a {
            0 => 1, 1 => xs[b & 7], 2 => 30, 3 => { out.push(3); 4 }, 4 | 6 => 5, 5 => 7,
            n if n > 300 && xs[n & 7] > 2 => 8,
            7..=31 => 9, 32 => 10, 33 => 11, 255 => 12, 256 => xs[b], n if n % 2 == 0 => n / 2, _ => 14,
        };
        let m = if a == 0 { 1 } else if a == 1 { 2 } else if a == 2 { 3 } else if a == 3 { 4 } else if a == 5 { xs[b & 3] }
            else if a == 7 { 6 } else if b < 8 && xs[b] == 1 { 7 } else if a == 31 { 8 } else if a == 32 { 9 } else { 10 };
        if xs[a & 7] == 3 { out.push(1) } else if b == 1 { out.push(2) } else if b == 2 { out.push(3) } else if b == 3 { out.push(4) }
            else if b == 5 { out.push(5) } else if b == 7 { out.push(6) }
        match b { 0 => {} 1 => out.push(1), 2 => { n_times(out, 2); } 3 => out.push(3), 5 => {} 7 => out.push(7), _ => out.push(0) }
        (k as u64) << 32 | m as u64
    }
    neighbours {
        let mut s = 0u64;
        for w in g.neighbors(a & 7) { s = s * 10 + w as u64; }
        for e in g.edges(b & 7) { if e == 3 { continue; } s = s * 10 + g.target(e) as u64; }
        s * 10 + g.degree(a & 7) as u64
    }
    ends_of_edges {
        let (mut k, mut n) = (g.edges(a & 7).start, g.edges(b & 7).start);
        let mut s = 0u64;
        while k < g.edges(a & 7).end && n < g.edges(b & 7).end {
            let (v, w) = (g.target(k), g.target(n));
            s = s * 10 + (v == w) as u64;
            if v <= w { k += 1; }
            if w <= v { n += 1; }
        }
        s
    }
    ends_of_edges_are_checked { (g.edges(a).start + g.edges(b).end) as u64 }
    rows_are_values {
        let row = g.edges(a & 7);
        let other = row;
        let mut near = g.neighbors(b & 7);
        let mut s = (row.len() + other.end - row.start) as u64 * 3 + near.is_empty() as u64;
        for e in row { s = s * 10 + g.target(e) as u64; }
        for w in near { if w == 3 { continue; } s = s * 7 + w as u64; }
        near = if row.is_empty() { near } else { g.neighbors(a & 7) };
        for w in near { s = s * 5 + w as u64; }
        if !near.is_empty() { s += near.at(near.len() - 1) as u64 + row.at(row.len() / 2) as u64; }
        s
    }
    places_of_rows_are_checked { g.edges(a & 7).at(b) as u64 + g.neighbors(b & 7).at(a & 3) as u64 * 100 }
    parts_of_rows {
        let mut s = 0u64;
        let row = g.neighbors(a & 7).part(0..g.degree(a & 7) / 2);
        for w in row { s = s * 10 + w as u64; }
        for e in g.edges(b & 7).part(1..2).rev() { s = s * 10 + e as u64; }
        for w in g.neighbors(a & 7).part(a & 3..b & 3) { s += w as u64; }
        s + row.len() as u64
    }
    loops_over_places {
        let mut s = 0u64;
        for (i, w) in g.neighbors(a & 7).enumerate() { s = s * 10 + (i as u64 * 3 + w as u64); }
        for (e, w) in g.edges(a & 7).zip(g.neighbors(a & 7)) { s = s * 3 + (g.target(e) == w) as u64; }
        for (e, w) in g.edges(a & 7).zip(g.neighbors(b & 7).rev()) { if e == 1 { continue; } s = s * 3 + (e * w) as u64; }
        for e in g.edges(b & 7).rev() { s = s * 10 + e as u64; }
        for (n, (k, x)) in (0..a & 15).rev().zip([4, 7, 1]).enumerate() { s = s * 10 + (n as u64 + k as u64 * x); if k == 5 { break; } }
        for (k, w) in (i64::from(b) - 4..i64::from(a & 3)).zip(g.neighbors(3)) { s = s.wrapping_add((k * i64::from(w)) as u64); }
        for (x, k) in [1u32, 2, 3].into_iter().rev().zip(0..a & 3) { s += u64::from(x * k); }
        for (i, k) in (0..u64::from(b & 3)).enumerate() { s = s * 2 + k * (i as u64 + 1); }
        s
    }
    sums_with_carries {
        let (p, o) = a.overflowing_add(b << 20);
        let (q, c) = (a << 24).carrying_add(b << 28, o || t);
        let (r, d) = (a as u64).carrying_add(u64::MAX - b as u64, t);
        let (i, e) = (a as i32).overflowing_add(i32::MAX - b as i32);
        let (h, f) = (a as u8).overflowing_add(b as u8);
        let (j, k) = i64::MIN.overflowing_add(b as i64 - 3);
        p as u64 ^ (q as u64) << 8 ^ r ^ (i as u64) << 3 ^ (h as u64) << 40 ^ j as u64
            ^ (o as u64) << 50 ^ (c as u64) << 51 ^ (d as u64) << 52 ^ (e as u64) << 53 ^ (f as u64) << 54 ^ (k as u64) << 55
    }
    neighbours_are_checked { let mut s = 0; for w in g.neighbors(a) { s += w; } s as u64 + g.degree(b) as u64 + g.target(a + b) as u64 }
    indexing { xs[a] as u64 + xs[xs[b]] as u64 + xs.len() as u64 + bytes[a & 7] as u64 + xs.is_empty() as u64 }
    bytes_widen {
        let c = bytes[a & 7];
        let d = c.wrapping_add(200).wrapping_mul(3);
        let e = (c >> 1) ^ (c << 3) ^ !c;
        d as u64 ^ (e as u64) << 8 ^ (c.count_ones() as u64) << 16 ^ (c.leading_zeros() as u64) << 20 ^ (c.trailing_zeros() as u64) << 24
            ^ (c.rotate_left(3) as u64) << 32 ^ (c.rotate_right(b) as u64) << 40 ^ (c.saturating_add(9) as u64) << 48 ^ (c.abs_diff(77) as u64) << 56
            ^ (c == b'*') as u64 ^ (c.leading_ones() + c.trailing_ones() + c.count_zeros()) as u64
    }
    atomics {
        let k = a & 7;
        let mut s = at[k].fetch_add(5) as u64;
        s = s * 3 + at[k].fetch_sub(1) as u64;
        s = s * 3 + at[k].fetch_min(b) as u64;
        s = s * 3 + at[k].fetch_max(3) as u64;
        s = s * 3 + at[k].fetch_and(0xf0f) as u64;
        s = s * 3 + at[k].fetch_or(0x30) as u64;
        s = s * 3 + at[k].fetch_xor(b) as u64;
        s = s * 3 + at[k].swap(a) as u64;
        at[b & 7].store(9);
        s = s.wrapping_mul(3).wrapping_add(at[k].compare_exchange(9, 11) as u64);
        s ^ at[k].load() as u64
    }
    atomic_indices_are_checked_before_arguments { at[a].fetch_add(10 / b) as u64 + at[b].fetch_add(log(out, 1)) as u64 }
    atomic_stores_check_first { at[a].store(xs[b]); if at[b].compare_exchange(xs[a], 7 / i as u32) { out.push(2); } 1 }
    pushes_are_checked { out.push(a & 7); out.push(b); 1 }
    short_circuit {
        let m = a > 3 && yes(out, 1) || no(out, 2) && yes(out, 3);
        let n = b == 0 || 100 / b > 3;
        let k = a < 8 && xs[a] > 3 && b < 8 && xs[b] > 1;
        if a < 8 && xs[a] > 2 { out.push(6); }
        if a < 8 && xs[a] > 2 && t { out.push(7); } else { out.push(5); }
        m as u64 | (n as u64) << 1 | (k as u64) << 2
    }
    operands_are_evaluated_left_to_right {
        let s = log(out, 1) + log(out, 2) * log(out, 3) - { out.push(4); 1 };
        let u = xs[log(out, 5)] + if t { log(out, 6) } else { log(out, 7) };
        s as u64 + u as u64 + (log(out, 1).min(log(out, 2))) as u64
    }
    operands_see_the_value_of_their_time {
        let mut n = a & 3;
        let s = n + { n += 10; n } * 2 + { n = 100; 1 } + n;
        let m = at[0].load() + at[0].fetch_add(5) + if t { at[0].store(1); 3 } else { 4 } + at[0].load();
        (s as u64) << 32 | m as u64
    }
    faults_come_in_order { let k = xs[a] + { out.push(1); 10 / b } + xs[b]; k as u64 }
    compound_right_side_first {
        let mut n = a & 7;
        n += { n = 5; 1 };
        n *= log(out, 2) + { n += 1; n };
        n as u64
    }
    helpers_inline { nested(a) ^ mix(7, b) ^ sign(i) as u64 ^ weird(a) as u64 ^ (weird(weird(b)) as u64) << 20 }
    helpers_loop_and_return { gcd(a, b) as u64 ^ (first_above(xs, a & 15) as u64) << 16 }
    helpers_take_handles { let k = twice(at, a & 7) + twice(at, 3); nothing(out); k as u64 }
    tuples {
        let (m, n) = divided(a);
        let mut w = (m, t, x);
        w.0 += 1;
        w.1 = !w.1;
        let (mut c, mut d) = (a & 3, b & 5);
        (c, d) = (d, c);
        let v = if t { (1u32, 2u64) } else { (c, p) };
        let r = ((1u32, 2i32), 3u64);
        (w.0 as u64) ^ (w.1 as u64) << 8 ^ bits(w.2) ^ (c as u64) << 40 ^ (d as u64) << 48 ^ v.0 as u64 ^ v.1 ^ (r.0).1 as u64 ^ r.1
    }
    tuple_swap_in_place { let mut v = (a, b); v = (v.1, v.0); (v.0 as u64) << 32 | v.1 as u64 }
    empty_statements { ;;; let k = a; ; if t {;} else { out.push(k); ;; } ; k as u64 }
    early_return_of_never { let k: u32 = if t { 5 } else { match a { 0 => 1, _ => 2 } }; k as u64 }
    asserts { assert!(a < 200); assert!(b != 33, "assertion about b"); assert_eq!(i & 1, i & 1); assert_ne!(a, 7); debug_assert!(b != 31); 1 }
    panics { if a == 5 { panic!("five"); } if b == 7 { unreachable!() } let k = if t { 1u64 } else if a == 7 { todo!() } else { 2 }; k }
    discarded_values_still_fault { xs[a]; let _ = 10 / b; { 5 }; 3; 1 }
    nothing_after_a_break {
        let mut s = 0u64;
        loop { s += 1; if s > 3 { break; } else { continue; } }
        for k in 0..4u32 { if k == 2 { break; } s += { if k == 1 { continue; } 5 }; }
        s
    }
    arithmetic_with_diverging_operands {
        let mut s = 0u32;
        for k in 0..5 { s += if k == 3 { break } else { k }; let m = if k == 1 { continue } else { k * 2 }; s += m; }
        s as u64
    }
    code_behind_a_return_is_dead { dead(a, b, t) }
    while_conditions_with_statements {
        let mut n = 0u32;
        while { n += 1; n < (a & 7) } && { out.push(n & 7); true } {}
        n as u64
    }
    arrays {
        let mut v = [a, b, 3, 4, 5];
        let w: [u64; 3] = [7; 3];
        v[(a & 3) as usize] = 9;
        v[2] += b & 7;
        v[(b & 3) as usize] ^= v[4];
        let mut s = w[(b % 3) as usize];
        for k in 0..v.len() { s = s.wrapping_mul(31).wrapping_add(v[k] as u64); }
        for n in [1u32, 2, 3] { s = s.wrapping_mul(3) + n as u64; }
        s
    }
    array_indices_are_checked { let mut v = [1u32, 2, 3, 4]; v[(a >> 1) as usize] = 7; let k = v[b as usize]; k as u64 + v[0] as u64 }
    array_indices_of_any_width { let v = [1u32, 2, 3, 4]; v[(p & 0xffff_ffff) as usize] as u64 + v[(i & 7) as usize] as u64 }
    array_rows {
        let mut m = [[0u32; 3]; 4];
        for r in 0..4 { for c in 0..3 { m[r][c] = (r * 10 + c) as u32 + (a & 1); } }
        m[(a & 3) as usize][(b & 3) as usize] += 100;
        let row = m[(b & 3) as usize];
        m[0] = row;
        let mut s = 0u64;
        for r in m { for v in r { s = s.wrapping_mul(7).wrapping_add(v as u64); } }
        s
    }
    arrays_are_values {
        let v = sorted([a, b, xs[0], xs[1], 7]);
        let mut w = if t { v } else { sorted([5, 4, 3, 2, 1]) };
        w = [w[4], w[3], w[2], w[1], w[0]];
        let u = w;
        w.fill(3);
        let (k, n) = (v == u, w != u);
        sum(v) as u64 ^ (sum(u) as u64) << 20 ^ (u[0] as u64) << 30 ^ (w[1] as u64) << 50 ^ k as u64 ^ (n as u64) << 1
    }
    arrays_of_pairs {
        let mut v = [(a, x), (b, y), (1, 0.5)];
        v[(a % 3) as usize].0 = 77;
        v[1].1 += 1.0;
        v.swap((b % 3) as usize, 0);
        let (k, f) = v[(b & 3) as usize];
        k as u64 ^ bits(f) ^ (v[0].0 as u64) << 9
    }
    usize_counts {
        let n = xs[a & 7] as usize;
        let m = (n * 3 + 1).min(usize::MAX) as u64;
        let mut v = [0u32; 16];
        let mut k = n;
        while k < v.len() { v[k] = k as u32; k += 2; }
        let mut s = m;
        for q in (0..v.len()).rev() { s = s.wrapping_mul(3).wrapping_add(v[q] as u64); }
        for q in 2..=5 { v[q] += 1; s += v[q] as u64; }
        s
    }
    steps {
        let mut s = 0u64;
        for k in (0..a & 31).step_by(3) { s = s * 5 + k as u64; if s > 1 << 40 { break; } }
        for k in (i & 7..=20).step_by(4) { s = s.wrapping_mul(7).wrapping_add(k as u64); }
        for k in (0..b & 15).rev().step_by(2) { s = s.wrapping_mul(11).wrapping_add(k as u64); }
        for k in (250u8..=255).step_by(2) { s = s.wrapping_mul(13).wrapping_add(k as u64); }
        for k in (i32::MIN..=i32::MAX).step_by((1 << 30) + (a & 3) as usize) { s = s.wrapping_mul(3) ^ k as u64; }
        for k in (3..=u64::MAX).rev().step_by(1 << 62) { s = s.wrapping_mul(3) ^ k; }
        for k in (5..5u32).step_by(2) { s += 1; }
        s
    }
    structs {
        let c = Point::new(i, j);
        let mut d = Point { y: 2, ..c.flipped() };
        let e = d.shift(i & 3);
        d.y = d.y.wrapping_add(ORIGIN.y);
        let f = c.dot(d).wrapping_add(Point::unit().x);
        let Pair(m, n) = Pair(a, x);
        let mut g = Pair(b, y);
        g.0 ^= m;
        g.1 = n;
        let h = d == c || c != Point::new(i, 0);
        (e as u64) << 3 ^ f as u64 ^ g.0 as u64 ^ bits(g.1) ^ (h as u64) << 50 ^ (d.x as u64) << 5 ^ d.y as u64 ^ (g == Pair(b, 0.0)) as u64
    }
    structs_with_arrays {
        let mut s = Stack::empty();
        for k in 0..a & 7 { s.push(k * 3); }
        if s.len > 1 && t { s.pop(); s.items[0] += 5; }
        let copy = s;
        s.items[1] = 50;
        let top = s.pop();
        (top as u64) << 40 ^ s.items[0] as u64 ^ (s.items[1] as u64) << 8 ^ (copy.items[1] as u64) << 16 ^ (copy.len as u64) << 32 ^ (s.top.x as u64) << 50
    }
    struct_fields_are_evaluated_as_written {
        let v = Point { y: log(out, 1) as i32 + { out.push(2); 3 }, x: log(out, 4) as i32 };
        let w = Point { y: at[0].fetch_add(5) as i32, x: at[0].load() as i32 };
        v.x as u64 ^ (v.y as u64) << 8 ^ (w.x as u64) << 16 ^ (w.y as u64) << 24
    }
    names_in_alternatives {
        let k = match (a & 3, b & 3) { (0, n) | (n, 0) => n, (n, 1) | (1, n) if n != 2 => { out.push(n); n * 10 } (n, m) => n + m };
        let m = match Pair(b, x) { Pair(1, _) => 0, Pair(.., f) if f > 0.0 => 1, Pair(k, ..) => k };
        let n = match (a, i, t) { (0, ..) => 1, (.., true) => 2, (k, .., false) if k > 7 => k, (..) => 4 };
        k as u64 ^ (m as u64) << 8 ^ (n as u64) << 30
    }
    constants_of_structs_are_patterns {
        let p = Point::new((a & 1) as i32, if t { -1 } else { 0 });
        let k = match (p, b & 1) { (ORIGIN, 0) => 1u64, (ORIGIN, _) => 2, (q, 1) | (q, 0) if q.x == 1 => 3, _ => 4 };
        k + matches!(p, ORIGIN) as u64 * 10
    }
    matches_is_a_match {
        let k = matches!(a, 1 | 3..=9) as u64;
        let m = matches!((i, t), (n, true) if n > 0) as u64;
        k | m << 1 | (!matches!(b, LIMIT, ) as u64) << 2
    }
    matches_tuples {
        let k = match (a & 3, t) { (0, _) => 1, (1 | 2, true) => b, (n, true) if n > 2 => n + 7, (n, _) => n * 100 };
        let m = match (i.signum(), Point::new(j, 3)) {
            (-1, Point { x: 0, .. }) => 1,
            (0..=1, Point { x, y: 3 }) if x > 1 => x,
            (_, p) => p.x ^ p.y,
        };
        let n = match Pair(b, x) { Pair(0, _) => 5, Pair(k @ 1..=7, f) => k + (f > 0.0) as u32, Pair(k, _) => k >> 1 };
        (k as u64) << 40 ^ (m as u64) << 8 ^ n as u64
    }
}
