//! What instructions mean: each form of the text by name. A form that is not here is an error, never a guess.

use crate::text::{Instr, NOWHERE, Operand, Place, Src};
use std::collections::HashMap;

/// Type of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Ty {
    Pred,
    Bits(u8),
    Unsigned(u8),
    Signed(u8),
    F32,
    F64,
}

impl Ty {
    fn of(word: &str) -> Option<Ty> {
        if word == "pred" {
            return Some(Ty::Pred);
        }
        let (letter, bits) = word.split_at_checked(1)?;
        let bits: u8 = bits.parse().ok()?;
        match (letter, bits) {
            ("b", 8 | 16 | 32 | 64) => Some(Ty::Bits(bits)),
            ("u", 8 | 16 | 32 | 64) => Some(Ty::Unsigned(bits)),
            ("s", 8 | 16 | 32 | 64) => Some(Ty::Signed(bits)),
            ("f", 32) => Some(Ty::F32),
            ("f", 64) => Some(Ty::F64),
            _ => None,
        }
    }

    pub(crate) fn bits(self) -> u8 {
        match self {
            Ty::Pred => 1,
            Ty::Bits(bits) | Ty::Unsigned(bits) | Ty::Signed(bits) => bits,
            Ty::F32 => 32,
            Ty::F64 => 64,
        }
    }

    pub(crate) fn bytes(self) -> u32 {
        u32::from(self.bits()).div_ceil(8)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Round {
    Near,
    Zero,
    Down,
    Up,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bin {
    Add,
    Sub,
    MulLo,
    MulHi,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    CopySign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Un {
    Not,
    Neg,
    Abs,
    Brev,
    Clz,
    Popc,
    /// Position of the highest bit that tells, or how far it is from the top.
    Find {
        shift: bool,
    },
    Sqrt,
    /// The approximations of the hardware, which are excepted from bit-exactness.
    Approx(Approx),
}

/// Instructions whose results are the hardware's own: here those of the host's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approx {
    Ex2,
    Lg2,
    Sin,
    Cos,
    Sqrt,
    Rsqrt,
    Rcp,
    RcpHigh,
    Tanh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    /// Shared memory of any CTA of the cluster.
    Cluster,
    Local,
    Param,
}

/// Order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// A plain access, which must not meet others.
    Weak,
    /// Topology that never changes.
    Constant,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

impl Order {
    pub(crate) fn is_strong(self) -> bool {
        !matches!(self, Order::Weak | Order::Constant)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) ty: Ty,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
    /// Added to the address.
    pub(crate) offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rmw {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Inc,
    Dec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    Any,
    All,
    Uni,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Special {
    Tid,
    Ntid,
    Ctaid,
    Nctaid,
    Zero,
    One,
    Lane,
    Warp,
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
    LaneBit,
    Clock,
    GlobalTimer,
    ClusterCtas,
    ClusterRank,
}

impl Special {
    pub(crate) fn of(name: &str) -> Option<Special> {
        Some(match name {
            "%tid.x" => Special::Tid,
            "%ntid.x" => Special::Ntid,
            "%ctaid.x" => Special::Ctaid,
            "%nctaid.x" => Special::Nctaid,
            "%tid.y" | "%tid.z" | "%ctaid.y" | "%ctaid.z" => Special::Zero,
            "%ntid.y" | "%ntid.z" | "%nctaid.y" | "%nctaid.z" => Special::One,
            "%laneid" => Special::Lane,
            "%warpid" => Special::Warp,
            "%lanemask_lt" => Special::LanesBelow,
            "%lanemask_le" => Special::LanesUpTo,
            "%lanemask_gt" => Special::LanesAbove,
            "%lanemask_ge" => Special::LanesFrom,
            "%lanemask_eq" => Special::LaneBit,
            "%clock" | "%clock64" => Special::Clock,
            "%globaltimer" | "%globaltimer_lo" => Special::GlobalTimer,
            "%cluster_nctaid.x" => Special::ClusterCtas,
            "%cluster_ctarank" | "%cluster_ctaid.x" => Special::ClusterRank,
            _ => return None,
        })
    }
}

/// A call: the function by name, arguments and results in the caller's parameter space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) args: Vec<Place>,
    pub(crate) results: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Bin(Bin, Ty, Round),
    /// With carries in and out.
    Carry {
        op: Bin,
        ty: Ty,
        takes: bool,
        gives: bool,
    },
    MulWide(Ty),
    Mad {
        high: bool,
        ty: Ty,
        takes: bool,
        gives: bool,
    },
    MadWide(Ty),
    Fma(Ty, Round),
    Un(Un, Ty),
    DivApprox,
    Shf {
        left: bool,
        wrap: bool,
    },
    Prmt,
    Bfi(Ty),
    Bfe(Ty),
    Lop3,
    Setp {
        cmp: Cmp,
        ty: Ty,
        unordered: bool,
        with: Option<Bin>,
    },
    Selp,
    Mov,
    /// Parts of this number of bits to one value, and back.
    Pack(u8),
    Unpack(u8),
    Cvt {
        to: Ty,
        from: Ty,
        round: Option<Round>,
        sat: bool,
    },
    /// Between a window of generic addresses and the space.
    ToSpace(Space),
    ToGeneric(Space),
    Ld(Access),
    St(Access),
    /// With the old value, or without.
    Atom(Rmw, Access),
    Red(Rmw, Access),
    Bra(u32, String),
    Brx(Vec<u32>, String),
    Call(Box<Call>),
    Ret,
    Exit,
    Trap,
    /// Of the CTA: a number, and how many threads (0: all).
    BarSync {
        threads: bool,
    },
    BarWarp,
    Shfl(Shuffle),
    Vote(Vote),
    /// Who has the same value; all: only if all have.
    Match {
        all: bool,
        ty: Ty,
    },
    Redux(Rmw, Ty),
    ActiveMask,
    Fence(Scope),
    Nanosleep,
    Prefetch(Space),
    CpAsync {
        bytes: u32,
        to: i64,
        from: i64,
    },
    CpWait,
    Mapa,
    MbarInit(i64),
    MbarArrive {
        scope: Scope,
        expects: bool,
        at: i64,
    },
    MbarTryWait {
        scope: Scope,
        at: i64,
    },
    MbarInitFence,
    StAsync {
        to: i64,
        bar: i64,
    },
    ClusterArrive,
    ClusterWait,
}

impl Op {
    /// Puts places in the code for labels.
    pub(crate) fn link(
        &mut self,
        labels: &HashMap<String, u32>,
        tables: &HashMap<String, Vec<String>>,
    ) -> Result<(), String> {
        let find = |name: &String| {
            let place = labels.get(name).copied();
            place.ok_or_else(|| format!("no label `{name}`"))
        };
        match self {
            Op::Bra(target, name) => *target = find(name)?,
            Op::Brx(targets, name) => {
                let table = tables
                    .get(name)
                    .ok_or_else(|| format!("no table `{name}`"))?;
                *targets = table.iter().map(find).collect::<Result<_, _>>()?;
            }
            _ => {}
        }
        Ok(())
    }
}

type Decoded<T> = Result<T, String>;

/// Words of an instruction, taken from the front.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn one_of<T: Copy>(&mut self, among: &[(&str, T)]) -> Option<T> {
        let word = self.words.get(self.at)?;
        let found = among.iter().find(|(name, _)| name == word)?.1;
        self.at += 1;
        Some(found)
    }

    fn ty(&mut self) -> Decoded<Ty> {
        let word = self.words.get(self.at).ok_or("a type is missing")?;
        self.at += 1;
        Ty::of(word).ok_or_else(|| format!("`{word}` is no type"))
    }

    fn round(&mut self) -> Option<Round> {
        let rounds = [
            ("rn", Round::Near),
            ("rz", Round::Zero),
            ("rm", Round::Down),
            ("rp", Round::Up),
        ];
        self.one_of(&rounds)
    }

    fn scope(&mut self) -> Option<Scope> {
        let scopes = [
            ("cta", Scope::Cta),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Gpu),
            ("sys", Scope::Sys),
        ];
        self.one_of(&scopes)
    }

    fn space(&mut self) -> Space {
        let spaces = [
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("shared::cluster", Space::Cluster),
            ("local", Space::Local),
            ("param", Space::Param),
        ];
        self.one_of(&spaces).unwrap_or(Space::Generic)
    }

    fn rmw(&mut self) -> Decoded<Rmw> {
        let ops = [
            ("add", Rmw::Add),
            ("min", Rmw::Min),
            ("max", Rmw::Max),
            ("and", Rmw::And),
            ("or", Rmw::Or),
            ("xor", Rmw::Xor),
            ("exch", Rmw::Exch),
            ("cas", Rmw::Cas),
            ("inc", Rmw::Inc),
            ("dec", Rmw::Dec),
        ];
        self.one_of(&ops)
            .ok_or_else(|| "no atomic operation".to_owned())
    }

    fn end(&self) -> Decoded<()> {
        match self.words.get(self.at) {
            None => Ok(()),
            Some(word) => Err(format!("unknown form: `.{word}`")),
        }
    }
}

/// Operands, sorted into registers to write and values to read.
struct Operands<'a> {
    all: &'a [Operand],
    to: Vec<u32>,
    widths: Vec<u8>,
    from: Vec<Src>,
    at: usize,
}

impl Operands<'_> {
    fn next(&mut self) -> Decoded<&Operand> {
        self.at += 1;
        self.all
            .get(self.at - 1)
            .ok_or_else(|| "an operand is missing".to_owned())
    }

    fn dest_of(operand: &Operand) -> Decoded<(u32, u8)> {
        match operand {
            Operand::Src(Src::Reg(reg), width) => Ok((*reg, *width)),
            Operand::Nowhere => Ok((NOWHERE, 0)),
            other => Err(format!("{other:?} is no register")),
        }
    }

    fn dest(&mut self) -> Decoded<()> {
        let all = match self.next()? {
            Operand::Vector(parts) => parts
                .iter()
                .map(Self::dest_of)
                .collect::<Decoded<Vec<_>>>()?,
            Operand::Pair(a, b) => vec![(*a, 64), (*b, 1)],
            one => vec![Self::dest_of(one)?],
        };
        for (reg, width) in all {
            self.to.push(reg);
            self.widths.push(width);
        }
        Ok(())
    }

    fn src_of(operand: &Operand, ty: Ty) -> Decoded<Src> {
        Ok(match *operand {
            Operand::Src(src, _) => src,
            Operand::Number(x) if ty == Ty::F32 => Src::Imm(((x as i64) as f32).to_bits().into()),
            Operand::Number(x) if ty == Ty::F64 => Src::Imm(((x as i64) as f64).to_bits()),
            Operand::Number(x) => Src::Imm(x & mask(ty.bits())),
            Operand::F32(x) => Src::Imm(x.into()),
            Operand::F64(x) => Src::Imm(x),
            ref other => return Err(format!("{other:?} is no value")),
        })
    }

    fn src(&mut self, ty: Ty) -> Decoded<()> {
        let sources = match self.next()? {
            Operand::Vector(parts) => {
                let parts = parts.iter().map(|p| Self::src_of(p, ty));
                parts.collect::<Decoded<Vec<_>>>()?
            }
            one => vec![Self::src_of(one, ty)?],
        };
        self.from.extend(sources);
        Ok(())
    }

    /// An address; its base is read.
    fn address(&mut self) -> Decoded<i64> {
        match *self.next()? {
            Operand::Address(base, offset) => {
                self.from.push(base);
                Ok(offset)
            }
            Operand::Param(at) => {
                self.from.push(Src::Imm(at.into()));
                Ok(0)
            }
            ref other => Err(format!("{other:?} is no address")),
        }
    }

    fn has_more(&self) -> bool {
        self.at < self.all.len()
    }
}

pub(crate) fn mask(bits: u8) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

const U32: Ty = Ty::Unsigned(32);
/// The register that carries go through.
const CARRY: u32 = 0;

/// Decodes one instruction. `places`: bytes of parameters, by place, for calls.
pub(crate) fn decode(
    word: &str,
    operands: &[Operand],
    places: &HashMap<u32, u32>,
) -> Decoded<Instr> {
    let mut w = Words {
        words: word.split('.').collect(),
        at: 0,
    };
    let mut o = Operands {
        all: operands,
        to: Vec::new(),
        widths: Vec::new(),
        from: Vec::new(),
        at: 0,
    };
    let name = w.words[0];
    w.at = 1;
    let found = match arithmetic(name, &mut w, &mut o)? {
        Some(op) => Some(op),
        None => match memory(name, &mut w, &mut o)? {
            Some(op) => Some(op),
            None => control(name, &mut w, &mut o, places)?,
        },
    };
    let op = found.ok_or("unknown form")?;
    w.end()?;
    if o.has_more() {
        return Err("unknown form: too many operands".to_owned());
    }
    Ok(Instr {
        guard: None,
        op,
        to: o.to,
        widths: o.widths,
        from: o.from,
        line: 0,
    })
}

fn arithmetic(name: &str, w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Option<Op>> {
    let operands = |o: &mut Operands<'_>, types: &[Ty]| -> Decoded<()> {
        o.dest()?;
        types.iter().try_for_each(|&ty| o.src(ty))
    };
    let op = match name {
        "add" | "sub" | "addc" | "subc" => {
            let op = if name.starts_with("add") {
                Bin::Add
            } else {
                Bin::Sub
            };
            let takes = name.ends_with('c');
            let round = w.round();
            let gives = w.take("cc");
            let ty = w.ty()?;
            operands(o, &[ty, ty])?;
            if takes || gives {
                carries(o, takes, gives);
                Op::Carry {
                    op,
                    ty,
                    takes,
                    gives,
                }
            } else {
                Op::Bin(op, ty, round.unwrap_or(Round::Near))
            }
        }
        "mul" => {
            let kind = w.one_of(&[("lo", 0), ("hi", 1), ("wide", 2)]);
            let round = w.round();
            let ty = w.ty()?;
            operands(o, &[ty, ty])?;
            match kind {
                Some(0) => Op::Bin(Bin::MulLo, ty, Round::Near),
                Some(1) => Op::Bin(Bin::MulHi, ty, Round::Near),
                Some(_) => Op::MulWide(ty),
                None if ty.is_float() => Op::Bin(Bin::Mul, ty, round.unwrap_or(Round::Near)),
                None => return Ok(None),
            }
        }
        "mad" | "madc" => {
            let takes = name == "madc";
            let kind = w.one_of(&[("lo", 0), ("hi", 1), ("wide", 2)]);
            let gives = w.take("cc");
            let ty = w.ty()?;
            let double = match ty {
                Ty::Signed(bits) => Ty::Signed(bits.saturating_mul(2)),
                ty => Ty::Unsigned(ty.bits().saturating_mul(2)),
            };
            match kind {
                Some(2) => {
                    operands(o, &[ty, ty, double])?;
                    Op::MadWide(ty)
                }
                Some(kind) => {
                    operands(o, &[ty, ty, ty])?;
                    carries(o, takes, gives);
                    let high = kind == 1;
                    Op::Mad {
                        high,
                        ty,
                        takes,
                        gives,
                    }
                }
                None => return Ok(None),
            }
        }
        "fma" => {
            let round = w.round().ok_or("a rounding is missing")?;
            let ty = w.ty()?;
            operands(o, &[ty, ty, ty])?;
            if ty == Ty::F64 && round != Round::Near {
                return Ok(None);
            }
            Op::Fma(ty, round)
        }
        "div" if w.take("approx") => {
            let _ = w.take("ftz");
            let ty = w.ty()?;
            operands(o, &[ty, ty])?;
            if ty != Ty::F32 {
                return Ok(None);
            }
            Op::DivApprox
        }
        "div" | "rem" | "min" | "max" | "and" | "or" | "xor" | "copysign" => {
            let round = w.round();
            let ty = w.ty()?;
            if round.is_some_and(|r| r != Round::Near) || round.is_some() && name != "div" {
                return Ok(None);
            }
            let mut types = [ty, ty];
            let op = match name {
                "div" => Bin::Div,
                "rem" => Bin::Rem,
                "min" => Bin::Min,
                "max" => Bin::Max,
                "and" => Bin::And,
                "or" => Bin::Or,
                "xor" => Bin::Xor,
                _ => Bin::CopySign,
            };
            if ty == Ty::Pred {
                types = [Ty::Unsigned(8); 2];
            }
            operands(o, &types)?;
            Op::Bin(op, ty, Round::Near)
        }
        "shl" | "shr" => {
            let ty = w.ty()?;
            operands(o, &[ty, U32])?;
            Op::Bin(
                if name == "shl" { Bin::Shl } else { Bin::Shr },
                ty,
                Round::Near,
            )
        }
        "not" | "neg" | "abs" | "brev" | "clz" | "popc" => {
            let ty = w.ty()?;
            operands(o, &[ty])?;
            let op = match name {
                "not" => Un::Not,
                "neg" => Un::Neg,
                "abs" => Un::Abs,
                "brev" => Un::Brev,
                "clz" => Un::Clz,
                _ => Un::Popc,
            };
            Op::Un(op, ty)
        }
        "bfind" => {
            let shift = w.take("shiftamt");
            let ty = w.ty()?;
            operands(o, &[ty])?;
            Op::Un(Un::Find { shift }, ty)
        }
        "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
            let approx = w.take("approx");
            let round = w.round();
            let _ = w.take("ftz");
            let ty = w.ty()?;
            operands(o, &[ty])?;
            let op = match (name, approx, ty) {
                ("sqrt", false, _) if round == Some(Round::Near) => Un::Sqrt,
                ("sqrt", true, Ty::F32) => Un::Approx(Approx::Sqrt),
                ("rsqrt", true, _) => Un::Approx(Approx::Rsqrt),
                ("rcp", true, Ty::F32) => Un::Approx(Approx::Rcp),
                ("rcp", true, Ty::F64) => Un::Approx(Approx::RcpHigh),
                ("ex2", true, Ty::F32) => Un::Approx(Approx::Ex2),
                ("lg2", true, Ty::F32) => Un::Approx(Approx::Lg2),
                ("sin", true, Ty::F32) => Un::Approx(Approx::Sin),
                ("cos", true, Ty::F32) => Un::Approx(Approx::Cos),
                ("tanh", true, Ty::F32) => Un::Approx(Approx::Tanh),
                _ => return Ok(None),
            };
            Op::Un(op, ty)
        }
        "shf" => {
            let left = w
                .one_of(&[("l", true), ("r", false)])
                .ok_or("a direction is missing")?;
            let wrap = w
                .one_of(&[("wrap", true), ("clamp", false)])
                .ok_or("a manner is missing")?;
            let ty = w.ty()?;
            operands(o, &[ty, ty, U32])?;
            Op::Shf { left, wrap }
        }
        "prmt" => {
            let ty = w.ty()?;
            operands(o, &[ty, ty, ty])?;
            Op::Prmt
        }
        "bfi" => {
            let ty = w.ty()?;
            operands(o, &[ty, ty, U32, U32])?;
            Op::Bfi(ty)
        }
        "bfe" => {
            let ty = w.ty()?;
            operands(o, &[ty, U32, U32])?;
            Op::Bfe(ty)
        }
        "lop3" => {
            let ty = w.ty()?;
            operands(o, &[ty, ty, ty, U32])?;
            Op::Lop3
        }
        "setp" => setp(w, o)?,
        "selp" => {
            let ty = w.ty()?;
            operands(o, &[ty, ty, Ty::Pred])?;
            Op::Selp
        }
        "mov" => mov(w, o)?,
        "cvt" => return cvt(w, o),
        "cvta" => {
            let to = w.take("to");
            let space = w.space();
            let ty = w.ty()?;
            operands(o, &[ty])?;
            match to {
                true => Op::ToSpace(space),
                false => Op::ToGeneric(space),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(op))
}

fn carries(o: &mut Operands<'_>, takes: bool, gives: bool) {
    if takes {
        o.from.push(Src::Reg(CARRY));
    }
    if gives {
        o.to.push(CARRY);
        o.widths.push(1);
    }
}

fn setp(w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Op> {
    let word = w.words.get(w.at).copied().unwrap_or_default();
    w.at += 1;
    let (cmp, unordered) = match word {
        "eq" => (Cmp::Eq, false),
        "ne" => (Cmp::Ne, false),
        "lt" | "lo" => (Cmp::Lt, false),
        "le" | "ls" => (Cmp::Le, false),
        "gt" | "hi" => (Cmp::Gt, false),
        "ge" | "hs" => (Cmp::Ge, false),
        "equ" => (Cmp::Eq, true),
        "neu" => (Cmp::Ne, true),
        "ltu" => (Cmp::Lt, true),
        "leu" => (Cmp::Le, true),
        "gtu" => (Cmp::Gt, true),
        "geu" => (Cmp::Ge, true),
        _ => return Err(format!("unknown form: `{word}`")),
    };
    let with = w.one_of(&[("and", Bin::And), ("or", Bin::Or), ("xor", Bin::Xor)]);
    let ty = w.ty()?;
    o.dest()?;
    o.src(ty)?;
    o.src(ty)?;
    if with.is_some() {
        o.src(Ty::Pred)?;
    }
    Ok(Op::Setp {
        cmp,
        ty,
        unordered,
        with,
    })
}

fn mov(w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Op> {
    let ty = w.ty()?;
    let parts = |operand: Option<&Operand>| match operand {
        Some(Operand::Vector(parts)) => parts.len() as u8,
        _ => 0,
    };
    let (to, from) = (parts(o.all.first()), parts(o.all.get(1)));
    o.dest()?;
    o.src(if ty == Ty::Pred { Ty::Unsigned(8) } else { ty })?;
    Ok(match (to, from) {
        (0, 0) => Op::Mov,
        (0, n) => Op::Pack(ty.bits() / n),
        (n, 0) => Op::Unpack(ty.bits() / n),
        _ => return Err("unknown form: two vectors".to_owned()),
    })
}

fn cvt(w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Option<Op>> {
    let rounds = [
        ("rn", Round::Near),
        ("rni", Round::Near),
        ("rz", Round::Zero),
        ("rzi", Round::Zero),
        ("rm", Round::Down),
        ("rmi", Round::Down),
        ("rp", Round::Up),
        ("rpi", Round::Up),
    ];
    let word = w.words.get(w.at).copied().unwrap_or_default();
    let round = w.one_of(&rounds);
    let _ = w.take("ftz");
    let sat = w.take("sat");
    let (to, from) = (w.ty()?, w.ty()?);
    o.dest()?;
    o.src(from)?;
    // To floats only the nearest is here; to integers and whole numbers all are.
    let whole = word.ends_with('i');
    let known = match (to.is_float(), from.is_float()) {
        (true, true) => to != from || whole || sat,
        (true, false) => round == Some(Round::Near),
        (false, true) => whole,
        (false, false) => round.is_none(),
    };
    let near = to == Ty::F32 && from == Ty::F64 && round != Some(Round::Near);
    Ok((known && !near).then_some(Op::Cvt {
        to,
        from,
        round,
        sat,
    }))
}

/// Order, scope and space of a load, store or atomic; then what is left is the type.
fn access(w: &mut Words<'_>, default: Order) -> Access {
    let volatile = w.take("volatile");
    let orders = [
        ("weak", Order::Weak),
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Acquire),
        ("release", Order::Release),
        ("acq_rel", Order::AcqRel),
    ];
    let order = w.one_of(&orders);
    let scope = w.scope();
    let space = w.space();
    let constant = w.take("nc");
    let order = match (volatile, constant) {
        (true, _) => Order::Relaxed,
        (_, true) => Order::Constant,
        _ => order.unwrap_or(default),
    };
    let scope = scope.unwrap_or(if volatile { Scope::Sys } else { Scope::Gpu });
    Access {
        space,
        ty: Ty::Pred,
        order,
        scope,
        offset: 0,
    }
}

fn memory(name: &str, w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Option<Op>> {
    let op = match name {
        "ld" | "st" if !(name == "st" && w.take("async")) => {
            let mut access = access(w, Order::Weak);
            let parts = w.one_of(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
            access.ty = w.ty()?;
            if name == "ld" {
                o.dest()?;
                access.offset = o.address()?;
            } else {
                access.offset = o.address()?;
                o.src(access.ty)?;
            }
            if o.to.len().max(o.from.len() - 1) != parts {
                return Ok(None);
            }
            match name {
                "ld" => Op::Ld(access),
                _ => Op::St(access),
            }
        }
        "st" => {
            let known = w.take("shared::cluster")
                && w.take("mbarrier::complete_tx::bytes")
                && matches!(w.ty()?, Ty::Unsigned(32) | Ty::Bits(32));
            let to = o.address()?;
            o.src(U32)?;
            let bar = o.address()?;
            if !known {
                return Ok(None);
            }
            Op::StAsync { to, bar }
        }
        "atom" | "red" => {
            let mut access = access(w, Order::Relaxed);
            let op = w.rmw()?;
            access.ty = w.ty()?;
            if name == "atom" {
                o.dest()?;
            }
            access.offset = o.address()?;
            o.src(access.ty)?;
            if op == Rmw::Cas {
                o.src(access.ty)?;
            }
            match name {
                "atom" => Op::Atom(op, access),
                _ => Op::Red(op, access),
            }
        }
        "cp" => {
            if !w.take("async") {
                return Ok(None);
            }
            if w.take("wait_all") {
                return Ok(Some(Op::CpWait));
            }
            let _ = w.take("ca") || w.take("cg");
            if !(w.take("shared") && w.take("global")) {
                return Ok(None);
            }
            let to = o.address()?;
            let from = o.address()?;
            let Operand::Number(bytes @ (4 | 8 | 16)) = *o.next()? else {
                return Ok(None);
            };
            Op::CpAsync {
                bytes: bytes as u32,
                to,
                from,
            }
        }
        "prefetch" => {
            let space = w.space();
            let _ = w.take("L1") || w.take("L2");
            o.address()?;
            Op::Prefetch(space)
        }
        "mapa" => {
            if !w.take("shared::cluster") {
                return Ok(None);
            }
            let ty = w.ty()?;
            o.dest()?;
            o.src(ty)?;
            o.src(U32)?;
            Op::Mapa
        }
        "mbarrier" => return mbarrier(w, o),
        _ => return Ok(None),
    };
    Ok(Some(op))
}

fn mbarrier(w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Option<Op>> {
    let here = |w: &mut Words<'_>| w.take("shared::cta") && w.take("b64");
    if w.take("init") {
        let known = here(w);
        let at = o.address()?;
        o.src(U32)?;
        return Ok(known.then_some(Op::MbarInit(at)));
    }
    if w.take("arrive") {
        let expects = w.take("expect_tx");
        let known = w.take("release");
        let scope = w.scope().unwrap_or(Scope::Cta);
        let known = known && here(w);
        o.dest()?;
        let at = o.address()?;
        if expects {
            o.src(U32)?;
        }
        return Ok(known.then_some(Op::MbarArrive { scope, expects, at }));
    }
    let known = w.take("try_wait") && w.take("parity") && w.take("acquire");
    let scope = w.scope().unwrap_or(Scope::Cta);
    let known = known && here(w);
    if !known {
        return Ok(None);
    }
    o.dest()?;
    let at = o.address()?;
    o.src(U32)?;
    Ok(Some(Op::MbarTryWait { scope, at }))
}

fn control(
    name: &str,
    w: &mut Words<'_>,
    o: &mut Operands<'_>,
    places: &HashMap<u32, u32>,
) -> Decoded<Option<Op>> {
    let label = |o: &mut Operands<'_>| match o.next()? {
        Operand::Name(name) => Ok(name.clone()),
        other => Err(format!("{other:?} is no name")),
    };
    let op = match name {
        "bra" => {
            let _ = w.take("uni");
            Op::Bra(0, label(o)?)
        }
        "brx" => {
            if !w.take("idx") {
                return Ok(None);
            }
            let _ = w.take("uni");
            o.src(U32)?;
            Op::Brx(Vec::new(), label(o)?)
        }
        "call" => {
            let _ = w.take("uni");
            let list = |operand: &Operand| match operand {
                Operand::List(parts) => (parts.iter())
                    .map(|part| match part {
                        Operand::Param(at) => Ok(Place {
                            at: *at,
                            bytes: places.get(at).copied().unwrap_or(0),
                        }),
                        other => Err(format!("{other:?} is no parameter")),
                    })
                    .collect::<Decoded<Vec<_>>>(),
                other => Err(format!("{other:?} is no list")),
            };
            let mut results = Vec::new();
            if matches!(o.all.first(), Some(Operand::List(_))) {
                results = list(o.next()?)?;
            }
            let function = label(o)?;
            let args = if o.has_more() {
                list(o.next()?)?
            } else {
                Vec::new()
            };
            Op::Call(Box::new(Call {
                function,
                args,
                results,
            }))
        }
        "ret" => {
            let _ = w.take("uni");
            Op::Ret
        }
        "exit" => Op::Exit,
        "trap" => Op::Trap,
        "bar" | "barrier" => return barrier(name, w, o),
        "shfl" => {
            let modes = [
                ("up", Shuffle::Up),
                ("down", Shuffle::Down),
                ("bfly", Shuffle::Bfly),
                ("idx", Shuffle::Idx),
            ];
            if !w.take("sync") {
                return Ok(None);
            }
            let mode = w.one_of(&modes).ok_or("a mode is missing")?;
            w.ty()?;
            o.dest()?;
            (0..4).try_for_each(|_| o.src(U32))?;
            Op::Shfl(mode)
        }
        "vote" => {
            let modes = [
                ("any", Vote::Any),
                ("all", Vote::All),
                ("uni", Vote::Uni),
                ("ballot", Vote::Ballot),
            ];
            if !w.take("sync") {
                return Ok(None);
            }
            let mode = w.one_of(&modes).ok_or("a mode is missing")?;
            w.ty()?;
            o.dest()?;
            o.src(Ty::Pred)?;
            o.src(U32)?;
            Op::Vote(mode)
        }
        "match" => {
            let all = w.one_of(&[("all", true), ("any", false)]);
            let Some(all) = all.filter(|_| w.take("sync")) else {
                return Ok(None);
            };
            let ty = w.ty()?;
            o.dest()?;
            o.src(ty)?;
            o.src(U32)?;
            Op::Match { all, ty }
        }
        "redux" => {
            if !w.take("sync") {
                return Ok(None);
            }
            let op = w.rmw()?;
            let ty = w.ty()?;
            o.dest()?;
            o.src(ty)?;
            o.src(U32)?;
            Op::Redux(op, ty)
        }
        "activemask" => {
            w.ty()?;
            o.dest()?;
            Op::ActiveMask
        }
        "membar" => {
            let scopes = [("cta", Scope::Cta), ("gl", Scope::Gpu), ("sys", Scope::Sys)];
            let scope = w.one_of(&scopes).ok_or("a scope is missing")?;
            Op::Fence(scope)
        }
        "fence" => {
            if w.take("mbarrier_init") {
                let known = w.take("release") && w.take("cluster");
                return Ok(known.then_some(Op::MbarInitFence));
            }
            // A fence for one order of all is more than the checker's model knows: it takes it for the weaker one.
            if !w.take("acq_rel") && !w.take("sc") {
                return Ok(None);
            }
            let scope = w.scope().ok_or("a scope is missing")?;
            Op::Fence(scope)
        }
        "nanosleep" => {
            w.ty()?;
            o.src(U32)?;
            Op::Nanosleep
        }
        _ => return Ok(None),
    };
    Ok(Some(op))
}

fn barrier(name: &str, w: &mut Words<'_>, o: &mut Operands<'_>) -> Decoded<Option<Op>> {
    if w.take("warp") {
        if !w.take("sync") {
            return Ok(None);
        }
        o.src(U32)?;
        return Ok(Some(Op::BarWarp));
    }
    if name == "barrier" && w.take("cluster") {
        if w.take("arrive") {
            return Ok(w.take("release").then_some(Op::ClusterArrive));
        }
        return Ok((w.take("wait") && w.take("acquire")).then_some(Op::ClusterWait));
    }
    let _ = w.take("cta");
    if !w.take("sync") {
        return Ok(None);
    }
    let _ = w.take("aligned");
    o.src(U32)?;
    let threads = o.has_more();
    if threads {
        o.src(U32)?;
    }
    Ok(Some(Op::BarSync { threads }))
}
