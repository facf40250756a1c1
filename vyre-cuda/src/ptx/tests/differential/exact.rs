//! Exact sums: what bodies add to them, and how they are rounded.

use super::*;
use vyre_core::vir0::exact::Exact;

/// Items add a float of theirs to a sum, and some of them another one to the other sum.
#[test]
fn exact_sums_take_in_what_they_mean() {
    let mut state = 5;
    let code = vec![
        word(Op::Ld32, 1, 0, 0, OWN32 << 16),
        word(Op::Ld64, 2, 0, 0, OWN64 << 16),
        word(Op::Reduce32, 0, 1, 0, 2 << 16),
        word(Op::And32, 4, 1, IMM, 1),
        word(Op::If, 0, 4, 0, 6),
        word(Op::Reduce64, 0, 2, 0, 3 << 16),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::Reduce32, 0, 1, 0, 1 << 16),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let program = of_kernel(code, 5);
    assert!(!text_of(&program).contains(SHIPPED), "they are in the body");
    for finite in [true, true, true, false] {
        let float = |size: usize, bits: u64| match (size, finite) {
            (4, true) => bits & !(1 << 30),
            (8, true) => bits & !(1 << 62),
            _ => bits,
        };
        let size_of = sizes(&program);
        let given = buffers(&program, |i, _| float(size_of[i], interesting(&mut state)));
        for (items, count) in [(1, 32), (1, 19), (4, 128), (4, 99), (SWEEP, 99)] {
            let meant = meant(&program, 0, count, &given);
            let made = emulated(&program, 0, items, count, &given);
            assert_eq!(made, meant, "{items} items a lane");
        }
    }
}

/// What the megakernel makes of an exact sum's words, in the emulator.
fn exact_value(module: &Rc<Module>, kind: u32, words: &[i64]) -> u64 {
    let launch = Launch {
        ctas: 1,
        threads: 32,
        cluster: 1,
        shared_bytes: 0,
    };
    let args = [kind.into(), words.len() as u64, DATA, CONTROL];
    let mut machine = Machine::launch(Rc::clone(module), "rounds", launch, &args);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    machine.memory.map(DATA, &bytes);
    machine.memory.map(CONTROL, &[0; 8]);
    machine.run_up_to(0, 100_000).expect("it ends");
    u64::from_le_bytes(machine.memory.bytes(CONTROL, 8).try_into().unwrap())
}

#[test]
fn exact_sums_are_rounded_as_on_the_host() {
    let entry = "
.visible .entry rounds(.param .u32 p0, .param .u32 p1, .param .u64 p2, .param .u64 p3)
{
	.reg .b32 %kind, %words;
	.reg .b64 %slot, %out, %value;
	ld.param.u32 %kind, [p0];
	ld.param.u32 %words, [p1];
	ld.param.u64 %slot, [p2];
	ld.param.u64 %out, [p3];
	{
	.param .b32 a0;
	st.param.b32 [a0], %kind;
	.param .b32 a1;
	st.param.b32 [a1], %words;
	.param .b64 a2;
	st.param.b64 [a2], %slot;
	.param .b64 result;
	call.uni (result), _Z11exact_valuejjy, (a0, a1, a2);
	ld.param.b64 %value, [result];
	}
	st.global.b64 [%out], %value;
	ret;
}
";
    let changes = Changes {
        entry: "rounds",
        bodies: vec![],
        functions: String::new(),
        known: None,
        left_out: vec![],
        shape: None,
    };
    let text = splice(&(MEGAKERNEL_PTX.to_owned() + entry), &changes).expect("it has all that");
    let module = Rc::new(Module::parse(&text).expect("it is PTX"));
    let mut state = 11;
    for scalar in [Scalar::F32, Scalar::F64] {
        let kind = u32::from(ReduceOp::ExactSum.tag()) * 8 + u32::from(scalar.tag());
        let infinity = if scalar == Scalar::F32 {
            0xff << 23
        } else {
            0x7ff << 52
        };
        for number in 0..200 {
            let mut sum = Exact::new(scalar);
            for term in 0..number % 7 {
                let mut bits = interesting(&mut state);
                if scalar == Scalar::F32 {
                    bits &= u64::from(u32::MAX);
                }
                // Most are finite; some of these cancel, and ties are among them.
                if bits & infinity == infinity && number % 5 != 0 {
                    bits &= !infinity;
                }
                sum.add(bits);
                if term % 2 == 1 {
                    sum.add(bits ^ 1 ^ (infinity + (infinity & infinity.wrapping_neg())));
                }
            }
            let made = exact_value(&module, kind, sum.words());
            assert_eq!(made, sum.value(), "{scalar:?}: {:x?}", sum.words());
        }
    }
}
