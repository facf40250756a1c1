//! The scalar types of VIR0, and how their values are kept in 64 bits.

/// Element type of buffers, scalars, constants and reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Scalar {
    /// One byte, 0 or 1.
    Bool = 0,
    /// One byte.
    U8 = 1,
    /// Four bytes.
    U32 = 2,
    /// Four bytes.
    I32 = 3,
    /// Four bytes.
    F32 = 4,
    /// Eight bytes.
    U64 = 5,
    /// Eight bytes.
    I64 = 6,
    /// Eight bytes.
    F64 = 7,
}

impl Scalar {
    /// Every scalar type.
    pub const ALL: [Scalar; 8] = [
        Scalar::Bool,
        Scalar::U8,
        Scalar::U32,
        Scalar::I32,
        Scalar::F32,
        Scalar::U64,
        Scalar::I64,
        Scalar::F64,
    ];

    /// Bytes of one element in a buffer.
    pub const fn size_bytes(self) -> u64 {
        match self {
            Scalar::Bool | Scalar::U8 => 1,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => 8,
        }
    }

    /// Register rows of a value: 1 or 2.
    pub const fn rows(self) -> u8 {
        if self.size_bytes() == 8 { 2 } else { 1 }
    }

    /// A value of this type from its raw bits, as Rust writes it.
    pub fn show(self, bits: u64) -> String {
        match self {
            Scalar::Bool => (bits & 1 != 0).to_string(),
            Scalar::U8 => (bits as u8).to_string(),
            Scalar::U32 => (bits as u32).to_string(),
            Scalar::I32 => (bits as i32).to_string(),
            Scalar::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Scalar::U64 => bits.to_string(),
            Scalar::I64 => (bits as i64).to_string(),
            Scalar::F64 => format!("{:?}", f64::from_bits(bits)),
        }
    }

    /// Rust's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::U8 => "u8",
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::F32 => "f32",
            Scalar::U64 => "u64",
            Scalar::I64 => "i64",
            Scalar::F64 => "f64",
        }
    }
}

/// The Rust type of a [`Scalar`].
pub trait ScalarType: Copy + PartialEq + std::fmt::Debug + 'static {
    /// Which one.
    const SCALAR: Scalar;
    /// Raw bits, as [`super::module::Constant`] stores them.
    fn to_bits64(self) -> u64;
    /// Inverse of [`ScalarType::to_bits64`]; higher bits are dropped.
    fn from_bits64(bits: u64) -> Self;
}

macro_rules! scalar_types {
    ($($variant:ident $ty:ident |$x:ident| $to:expr, |$bits:ident| $from:expr;)*) => {$(
        impl ScalarType for $ty {
            const SCALAR: Scalar = Scalar::$variant;
            #[inline]
            fn to_bits64(self) -> u64 {
                let $x = self;
                $to
            }
            #[inline]
            fn from_bits64($bits: u64) -> $ty {
                $from
            }
        }
    )*};
}

scalar_types! {
    Bool bool |x| x.into(), |b| b & 1 != 0;
    U8 u8 |x| x.into(), |b| b as u8;
    U32 u32 |x| x.into(), |b| b as u32;
    I32 i32 |x| x as i64 as u64, |b| b as i32;
    F32 f32 |x| x.to_bits().into(), |b| f32::from_bits(b as u32);
    U64 u64 |x| x, |b| b;
    I64 i64 |x| x as u64, |b| b as i64;
    F64 f64 |x| x.to_bits(), |b| f64::from_bits(b);
}
