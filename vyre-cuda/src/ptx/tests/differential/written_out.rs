//! Loops that are written out, because their turns are counted while the text is made.

use super::*;

/// `for i in 0..turns { for j in 0..i { x = x * 3 + j; if x & 1 { y += i; k = j } } y ^= i << 1 }`, with i, j and k
/// stored behind it.
fn nested(turns: u32) -> Vec<Word> {
    let (x, y, i, j, c, k) = (1, 2, 3, 4, 5, 6);
    vec![
        word(Op::Ld32, x, 0, 0, OWN32 << 16),
        word(Op::Mov32, y, IMM, 0, 0),
        word(Op::Mov32, k, IMM, 0, 9),
        word(Op::Mov32, i, IMM, 0, 0),
        word(Op::Loop, 0, 0, 0, 25),
        word(Op::LtU32, c, i, IMM, turns),
        word(Op::BreakUnless, 0, c, 0, 0),
        word(Op::Mov32, j, IMM, 0, 0),
        word(Op::Loop, 0, 0, 0, 21),
        word(Op::LeU32, c, i, j, 0),
        word(Op::BreakIf, 0, c, 0, 0),
        word(Op::Mul32, x, x, IMM, 3),
        word(Op::Add32, x, x, j, 0),
        word(Op::And32, c, x, IMM, 1),
        word(Op::If, 0, c, 0, 17),
        word(Op::Add32, y, y, i, 0),
        word(Op::Mov32, k, j, 0, 0),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::Add32, x, x, k, 0),
        word(Op::Add32, j, j, IMM, 1),
        word(Op::EndLoop, 0, 0, 0, 8),
        word(Op::Shl32, c, i, IMM, 1),
        word(Op::Xor32, y, y, c, 0),
        word(Op::Add32, i, i, IMM, 1),
        word(Op::EndLoop, 0, 0, 0, 4),
        word(Op::Add32, y, y, i, 0),
        word(Op::Mul32, y, y, IMM, 7),
        word(Op::Add32, y, y, j, 0),
        word(Op::Mul32, y, y, IMM, 7),
        word(Op::Add32, y, y, k, 0),
        word(Op::AtomAdd32, IMM, 0, x, OWN32 << 16),
        word(Op::AtomXor32, IMM, 0, y, OWN32 << 16),
        word(Op::Ret, 0, 0, 0, 0),
    ]
}

#[test]
fn loops_written_out_mean_the_same() {
    let mut state = 11;
    for (turns, is_counted) in [(1, true), (2, true), (6, true), (60, false)] {
        let program = of_kernel(nested(turns), 7);
        let text = text_of(&program);
        assert_eq!(!text.contains("$T0_"), is_counted, "{turns} turns: {text}");
        let given = buffers(&program, |_, _| interesting(&mut state));
        for (items, count) in [(1, 32), (4, 127), (SWEEP, 31), (SWEEP, 130)] {
            let meant = meant(&program, 0, count, &given);
            let made = emulated(&program, 0, items, count, &given);
            assert_eq!(made, meant, "{turns} turns, {items} items a lane");
        }
    }
}

/// What only some items do, and how often, is not counted.
#[test]
fn a_count_that_a_condition_changes_is_none() {
    let mut code = nested(6);
    code[16] = word(Op::Mov32, 3, 4, 0, 0);
    let text = text_of(&of_kernel(code, 7));
    assert!(text.contains("$T0_4:") && text.contains("$T0_8:"), "{text}");
}
