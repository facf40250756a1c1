//! Arithmetic of one lane, bit for bit but for the instructions named in [`Approx`] and `div.approx`.

use crate::decode::{Approx, Bin, Cmp, Rmw, Round, Ty, Un, mask};

fn signed(x: u64, bits: u8) -> i64 {
    let shift = 64 - u32::from(bits);
    ((x << shift) as i64) >> shift
}

fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

/// Results of single precision that are no number all have the same bits.
fn f32_bits(x: f32) -> u64 {
    if x.is_nan() {
        0x7fff_ffff
    } else {
        x.to_bits().into()
    }
}

fn f64_of(x: u64) -> f64 {
    f64::from_bits(x)
}

/// The number one step away from zero or towards it, among those of double precision.
fn step(x: f64, towards_zero: bool) -> f64 {
    f64::from_bits(if towards_zero {
        x.to_bits() - 1
    } else {
        x.to_bits() + 1
    })
}

/// Sum of two numbers, and what rounding took from it, exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    (sum, error)
}

/// The sum, not nearest but odd where it is not exact: rounding it again to fewer bits, in any direction, then gives
/// what rounding the exact sum would have given.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    step(sum, (error < 0.0) != (sum < 0.0))
}

fn to_f32(x: f64, round: Round) -> f32 {
    let near = x as f32;
    if x.is_nan() || f64::from(near) == x {
        return near;
    }
    let wide = f64::from(near);
    match round {
        Round::Near => near,
        Round::Zero if wide.abs() > x.abs() => f32::from_bits(near.to_bits() - 1),
        Round::Zero => near,
        Round::Down if wide > x => near.next_down(),
        Round::Up if wide < x => near.next_up(),
        Round::Down | Round::Up => near,
    }
}

fn add_f64(a: f64, b: f64, round: Round) -> f64 {
    let (sum, error) = two_sum(a, b);
    if !sum.is_finite() || error == 0.0 {
        return sum;
    }
    match round {
        Round::Near => sum,
        Round::Zero if (error < 0.0) != (sum < 0.0) => step(sum, true),
        Round::Zero => sum,
        Round::Down if error < 0.0 => sum.next_down(),
        Round::Up if error > 0.0 => sum.next_up(),
        Round::Down | Round::Up => sum,
    }
}

fn add_f32(a: f32, b: f32, round: Round) -> f32 {
    match round {
        Round::Near => a + b,
        round => to_f32(sum_to_odd(f64::from(a), f64::from(b)), round),
    }
}

fn mul_f32(a: f32, b: f32, round: Round) -> f32 {
    to_f32(f64::from(a) * f64::from(b), round)
}

pub(crate) fn fma(ty: Ty, round: Round, [a, b, c]: [u64; 3]) -> u64 {
    if ty == Ty::F64 {
        return f64_of(a).mul_add(f64_of(b), f64_of(c)).to_bits();
    }
    let product = f64::from(f32_of(a)) * f64::from(f32_of(b));
    f32_bits(to_f32(sum_to_odd(product, f64::from(f32_of(c))), round))
}

/// The smaller or larger one; a number rather than what is none, and +0 above -0.
macro_rules! extreme {
    ($name:ident, $float:ty) => {
        fn $name(a: $float, b: $float, max: bool) -> $float {
            if a.is_nan() {
                return b;
            }
            if b.is_nan() {
                return a;
            }
            let a_first = if a == b { a.is_sign_negative() } else { a < b };
            if a_first != max { a } else { b }
        }
    };
}
extreme!(extreme_f32, f32);
extreme!(extreme_f64, f64);

/// `None`: the form is not one of floats.
fn float(op: Bin, ty: Ty, round: Round, a: u64, b: u64) -> Option<u64> {
    if op == Bin::CopySign {
        // The sign of the first, the rest of the second.
        let sign = 1u64 << (ty.bits() - 1);
        return Some(a & sign | b & (sign - 1));
    }
    if ty == Ty::F32 {
        let (x, y) = (f32_of(a), f32_of(b));
        return Some(f32_bits(match op {
            Bin::Add => add_f32(x, y, round),
            Bin::Sub => add_f32(x, -y, round),
            Bin::Mul => mul_f32(x, y, round),
            Bin::Div => x / y,
            Bin::Min => extreme_f32(x, y, false),
            Bin::Max => extreme_f32(x, y, true),
            _ => return None,
        }));
    }
    let (x, y) = (f64_of(a), f64_of(b));
    Some(
        match op {
            Bin::Add => add_f64(x, y, round),
            Bin::Sub => add_f64(x, -y, round),
            Bin::Mul => x * y,
            Bin::Div => x / y,
            Bin::Min => extreme_f64(x, y, false),
            Bin::Max => extreme_f64(x, y, true),
            _ => return None,
        }
        .to_bits(),
    )
}

pub(crate) fn binary(op: Bin, ty: Ty, round: Round, a: u64, b: u64) -> u64 {
    if ty.is_float() {
        return float(op, ty, round, a, b).expect("decoded forms of floats are known");
    }
    let bits = ty.bits();
    let is_signed = matches!(ty, Ty::Signed(_));
    let (a, amount) = (a & mask(bits), b as u32);
    let b = b & mask(bits);
    let (sa, sb) = (signed(a, bits), signed(b, bits));
    let out = match op {
        Bin::Add => a.wrapping_add(b),
        Bin::Sub => a.wrapping_sub(b),
        Bin::MulLo | Bin::Mul => a.wrapping_mul(b),
        Bin::MulHi if is_signed => ((i128::from(sa) * i128::from(sb)) >> bits) as u64,
        Bin::MulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        // The hardware gives all ones, and the dividend for the remainder.
        Bin::Div if b == 0 => u64::MAX,
        Bin::Rem if b == 0 => a,
        Bin::Div if is_signed => sa.wrapping_div(sb) as u64,
        Bin::Rem if is_signed => sa.wrapping_rem(sb) as u64,
        Bin::Div => a / b,
        Bin::Rem => a % b,
        Bin::Min if is_signed => sa.min(sb) as u64,
        Bin::Max if is_signed => sa.max(sb) as u64,
        Bin::Min => a.min(b),
        Bin::Max => a.max(b),
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        // Amounts are not cut to the width.
        Bin::Shl if amount >= u32::from(bits) => 0,
        Bin::Shl => a << amount,
        Bin::Shr if is_signed => (sa >> amount.min(63)) as u64,
        Bin::Shr if amount >= u32::from(bits) => 0,
        Bin::Shr => a >> amount,
        Bin::CopySign => unreachable!("copysign is of floats"),
    };
    out & mask(bits)
}

/// Sum or difference with a carry in, and the carry out.
pub(crate) fn carry(op: Bin, ty: Ty, a: u64, b: u64, with: bool) -> (u64, bool) {
    let (bits, ones) = (ty.bits(), u128::from(mask(ty.bits())));
    let (a, b, with) = (u128::from(a) & ones, u128::from(b) & ones, u128::from(with));
    let wide = match op {
        Bin::Add => a + b + with,
        // The borrow is what is carried.
        _ => a.wrapping_sub(b).wrapping_sub(with),
    };
    ((wide & ones) as u64, wide >> bits & 1 != 0)
}

pub(crate) fn mul_wide(ty: Ty, a: u64, b: u64) -> u64 {
    let bits = ty.bits();
    let wide = match ty {
        Ty::Signed(_) => signed(a, bits).wrapping_mul(signed(b, bits)) as u64,
        _ => (a & mask(bits)).wrapping_mul(b & mask(bits)),
    };
    wide & mask(bits * 2)
}

pub(crate) fn unary(op: Un, ty: Ty, a: u64) -> u64 {
    let bits = ty.bits();
    let a = a & mask(bits);
    let sign = 1u64 << (bits - 1);
    let out = match (op, ty) {
        (Un::Not, _) => !a,
        (Un::Neg, Ty::F32 | Ty::F64) => a ^ sign,
        (Un::Neg, _) => a.wrapping_neg(),
        (Un::Abs, Ty::F32 | Ty::F64) => a & !sign,
        (Un::Abs, _) => signed(a, bits).unsigned_abs(),
        (Un::Brev, _) => a.reverse_bits() >> (64 - bits),
        (Un::Clz, _) => u64::from(a.leading_zeros()) - (64 - u64::from(bits)),
        (Un::Popc, _) => a.count_ones().into(),
        (Un::Find { shift }, _) => {
            let negative = matches!(ty, Ty::Signed(_)) && a & sign != 0;
            let tells = if negative { !a & mask(bits) } else { a };
            return match tells {
                0 => u64::from(u32::MAX),
                x if shift => u64::from(x.leading_zeros()) - (64 - u64::from(bits)),
                x => u64::from(63 - x.leading_zeros()),
            };
        }
        (Un::Sqrt, Ty::F32) => f32_bits(f32_of(a).sqrt()),
        (Un::Sqrt, _) => f64_of(a).sqrt().to_bits(),
        (Un::Approx(op), Ty::F64) => {
            let (x, high) = (f64_of(a & !0xffff_ffff), !0xffff_ffffu64);
            let out = if op == Approx::Rsqrt {
                x.sqrt().recip()
            } else {
                x.recip()
            };
            out.to_bits() & high
        }
        (Un::Approx(op), _) => f32_bits(approximate(op, f32_of(a))),
    };
    out & mask(bits)
}

fn approximate(op: Approx, x: f32) -> f32 {
    match op {
        Approx::Ex2 => x.exp2(),
        Approx::Lg2 => x.log2(),
        Approx::Sin => x.sin(),
        Approx::Cos => x.cos(),
        Approx::Sqrt => x.sqrt(),
        Approx::Rsqrt => x.sqrt().recip(),
        Approx::Rcp | Approx::RcpHigh => x.recip(),
        Approx::Tanh => x.tanh(),
    }
}

pub(crate) fn div_approx(a: u64, b: u64) -> u64 {
    f32_bits(f32_of(a) / f32_of(b))
}

pub(crate) fn shf(left: bool, wrap: bool, low: u64, high: u64, amount: u64) -> u64 {
    let both = high << 32 | low & mask(32);
    let amount = if wrap {
        amount & 31
    } else {
        (amount & mask(32)).min(32)
    };
    match left {
        true => ((both << amount) >> 32) & mask(32),
        false => (both >> amount) & mask(32),
    }
}

pub(crate) fn prmt(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (a & mask(32) | b << 32).to_le_bytes();
    let out: [u8; 4] = std::array::from_fn(|i| {
        let nibble = (selector >> (4 * i)) as usize & 15;
        let byte = bytes[nibble & 7];
        match nibble & 8 {
            0 => byte,
            _ => ((byte as i8) >> 7) as u8,
        }
    });
    u32::from_le_bytes(out).into()
}

pub(crate) fn bfi(ty: Ty, a: u64, b: u64, at: u64, len: u64) -> u64 {
    let bits = u64::from(ty.bits());
    let (at, len) = (at & 255, len & 255);
    if at >= bits || len == 0 {
        return b;
    }
    let field = mask(len.min(64) as u8) << at & mask(ty.bits());
    b & !field | a << at & field
}

pub(crate) fn bfe(ty: Ty, a: u64, at: u64, len: u64) -> u64 {
    let bits = u64::from(ty.bits());
    let (at, len) = (at & 255, len & 255);
    let is_signed = matches!(ty, Ty::Signed(_));
    let a = a & mask(ty.bits());
    if len == 0 {
        return 0;
    }
    let wide = if is_signed {
        i128::from(signed(a, ty.bits()))
    } else {
        i128::from(a)
    };
    let top = (at + len - 1).min(bits - 1);
    let len = mask(len.min(bits) as u8);
    let field = (wide >> at.min(100)) as u64 & len;
    let fills = is_signed && a >> top & 1 != 0;
    (if fills { field | !len } else { field }) & mask(ty.bits())
}

pub(crate) fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..8u32).filter(|i| table >> i & 1 != 0).fold(0, |out, i| {
        let pick = |x: u64, bit: u32| if i >> bit & 1 != 0 { x } else { !x };
        out | pick(a, 2) & pick(b, 1) & pick(c, 0)
    }) & mask(32)
}

pub(crate) fn compare(cmp: Cmp, ty: Ty, unordered: bool, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let bits = ty.bits();
    let order = match ty {
        Ty::F32 => f32_of(a).partial_cmp(&f32_of(b)),
        Ty::F64 => f64_of(a).partial_cmp(&f64_of(b)),
        Ty::Signed(_) => Some(signed(a, bits).cmp(&signed(b, bits))),
        _ => Some((a & mask(bits)).cmp(&(b & mask(bits)))),
    };
    let Some(order) = order else {
        return unordered;
    };
    match cmp {
        Cmp::Eq => order == Equal,
        Cmp::Ne => order != Equal,
        Cmp::Lt => order == Less,
        Cmp::Le => order != Greater,
        Cmp::Gt => order == Greater,
        Cmp::Ge => order != Less,
    }
}

fn whole(x: f64, round: Round) -> f64 {
    match round {
        Round::Near => x.round_ties_even(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    }
}

pub(crate) fn convert(to: Ty, from: Ty, round: Option<Round>, sat: bool, x: u64) -> u64 {
    let round_or = round.unwrap_or(Round::Near);
    match (from.is_float(), to.is_float()) {
        (false, false) => {
            let wide = match from {
                Ty::Signed(bits) => i128::from(signed(x, bits)),
                ty => i128::from(x & mask(ty.bits())),
            };
            let out = match (sat, to) {
                (true, Ty::Signed(bits)) => wide.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                (true, ty) => wide.clamp(0, i128::from(mask(ty.bits()))),
                (false, _) => wide,
            };
            out as u64 & mask(to.bits())
        }
        (false, true) => match (from, to) {
            (Ty::Signed(bits), Ty::F32) => (signed(x, bits) as f32).to_bits().into(),
            (Ty::Signed(bits), _) => (signed(x, bits) as f64).to_bits(),
            (ty, Ty::F32) => ((x & mask(ty.bits())) as f32).to_bits().into(),
            (ty, _) => ((x & mask(ty.bits())) as f64).to_bits(),
        },
        (true, false) => {
            let value = if from == Ty::F32 {
                f32_of(x).into()
            } else {
                f64_of(x)
            };
            if value.is_nan() {
                // Zero, where neither side has 64 bits.
                let wide = from == Ty::F64 || to.bits() == 64;
                return if wide { 1 << (to.bits() - 1) } else { 0 };
            }
            let value = whole(value, round_or);
            match to {
                Ty::Signed(bits) => {
                    let limit = 1i128 << (bits - 1);
                    (value as i128).clamp(-limit, limit - 1) as u64 & mask(bits)
                }
                ty => (value as i128).clamp(0, i128::from(mask(ty.bits()))) as u64,
            }
        }
        (true, true) => {
            let value = if from == Ty::F32 {
                f32_of(x).into()
            } else {
                f64_of(x)
            };
            let value = if to == from && round.is_some() {
                whole(value, round_or)
            } else {
                value
            };
            let value = match sat {
                true if value.is_nan() => 0.0,
                true => value.clamp(0.0, 1.0) + 0.0,
                false => value,
            };
            if to == Ty::F64 {
                return value.to_bits();
            }
            f32_bits(value as f32)
        }
    }
}

/// What an atomic leaves, given what was there.
pub(crate) fn rmw(op: Rmw, ty: Ty, old: u64, x: u64, swap: u64) -> u64 {
    let plain = |op| binary(op, ty, Round::Near, old, x);
    match op {
        Rmw::Add => plain(Bin::Add),
        Rmw::Min => plain(Bin::Min),
        Rmw::Max => plain(Bin::Max),
        Rmw::And => plain(Bin::And),
        Rmw::Or => plain(Bin::Or),
        Rmw::Xor => plain(Bin::Xor),
        Rmw::Exch => x & mask(ty.bits()),
        Rmw::Cas => {
            let same = (old ^ x) & mask(ty.bits()) == 0;
            (if same { swap } else { old }) & mask(ty.bits())
        }
        Rmw::Inc => (if old >= x { 0 } else { old + 1 }) & mask(ty.bits()),
        Rmw::Dec => (if old == 0 || old > x { x } else { old - 1 }) & mask(ty.bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(x: f32) -> u64 {
        x.to_bits().into()
    }

    #[test]
    fn sums_are_rounded_once_in_every_direction() {
        let (one, tiny) = (bits(1.0), bits(1e-30));
        let add = |round, a, b| binary(Bin::Add, Ty::F32, round, a, b);
        assert_eq!(add(Round::Near, one, tiny), one);
        assert_eq!(add(Round::Zero, one, tiny), one);
        assert_eq!(add(Round::Up, one, tiny), one + 1);
        let minus = bits(-1e-30);
        assert_eq!(add(Round::Zero, one, minus), bits(1.0f32.next_down()));
        assert_eq!(add(Round::Down, one, minus), bits(1.0f32.next_down()));
        assert_eq!(add(Round::Up, one, minus), one);
    }

    #[test]
    fn fused_products_agree_with_the_hosts_on_random_bits() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state >> 32
        };
        for _ in 0..200_000 {
            let [a, b, c] = [random(), random(), random()];
            let ours = fma(Ty::F32, Round::Near, [a, b, c]);
            let hosts = f32_of(a).mul_add(f32_of(b), f32_of(c));
            assert_eq!(ours, f32_bits(hosts), "{a:x} {b:x} {c:x}");
        }
    }

    #[test]
    fn conversions_saturate_and_take_no_number_for_what_the_manual_says() {
        let to = |to, from, x| convert(to, from, Some(Round::Zero), false, x);
        assert_eq!(to(Ty::Signed(32), Ty::F32, bits(f32::NAN)), 0);
        assert_eq!(to(Ty::Signed(64), Ty::F32, bits(f32::NAN)), 1 << 63);
        assert_eq!(to(Ty::Unsigned(32), Ty::F32, bits(-1.0)), 0);
        assert_eq!(to(Ty::Signed(32), Ty::F32, bits(3e9)), 0x7fff_ffff);
        assert_eq!(
            convert(Ty::Signed(32), Ty::F32, Some(Round::Near), false, bits(2.5)),
            2
        );
        assert_eq!(convert(Ty::F32, Ty::F32, None, true, bits(-0.0)), 0);
    }

    #[test]
    fn least_and_largest_prefer_numbers_and_order_zeros() {
        let max = |a, b| binary(Bin::Max, Ty::F32, Round::Near, a, b);
        assert_eq!(max(bits(f32::NAN), bits(1.0)), bits(1.0));
        assert_eq!(max(bits(-0.0), bits(0.0)), 0);
        assert_eq!(
            binary(Bin::Min, Ty::F32, Round::Near, 0, bits(-0.0)),
            bits(-0.0)
        );
        assert_eq!(max(bits(f32::NAN), bits(f32::NAN)), 0x7fff_ffff);
    }

    #[test]
    fn shifts_by_the_width_and_more_give_nothing_but_signs() {
        let of = |op, ty, a, b| binary(op, ty, Round::Near, a, b);
        assert_eq!(of(Bin::Shl, Ty::Bits(32), 1, 32), 0);
        assert_eq!(of(Bin::Shr, Ty::Unsigned(32), u64::MAX, 40), 0);
        assert_eq!(of(Bin::Shr, Ty::Signed(32), 0x8000_0000, 40), 0xffff_ffff);
        assert_eq!(
            of(Bin::Div, Ty::Signed(32), 0x8000_0000, 0xffff_ffff),
            0x8000_0000
        );
    }

    #[test]
    fn bits_are_moved_as_the_manual_says() {
        assert_eq!(prmt(0x8000_1234, 0, 0x8888), 0);
        assert_eq!(prmt(0x8000_1234, 0, 0xbbbb), 0xffff_ffff);
        assert_eq!(prmt(0x4433_2211, 0x8877_6655, 0x7410), 0x8855_2211);
        assert_eq!(bfi(Ty::Bits(32), 0xff, 0x1234_5678, 8, 4), 0x1234_5f78);
        assert_eq!(bfe(Ty::Signed(32), 0x0000_0f00, 8, 4), 0xffff_ffff);
        assert_eq!(unary(Un::Find { shift: true }, Ty::Unsigned(32), 1), 31);
        assert_eq!(
            unary(Un::Find { shift: false }, Ty::Unsigned(32), 0),
            0xffff_ffff
        );
        assert_eq!(shf(true, true, 0x8000_0001, 0x8000_0001, 1), 3);
        assert_eq!(lop3(0xf0, 0xcc, 0xaa, 0xe8) & 0xff, 0xe8);
    }
}
