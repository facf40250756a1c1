//! Every program becomes shaders that naga accepts, or is refused before, by the table.

use std::path::Path;
use vyre_core::vir0::isa::{Op, Word};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::{Site, TrapKind};
use vyre_tests::{passes, programs, random};
use vyre_wgpu::layout::Layout;
use vyre_wgpu::program::module;
use vyre_wgpu::shader::{bodies, refusals};
use vyre_wgpu::target::Target;

fn targets() -> [Target; 4] {
    [(false, false), (false, true), (true, false), (true, true)].map(|(f64, wide_atomics)| Target {
        f64,
        wide_atomics,
        ..Target::webgpu()
    })
}

fn accepted(program: &Program) {
    for target in targets() {
        if refusals(program, &target).is_empty() {
            let made = module(program, &Layout::new(program), &target);
            assert!(made.is_ok(), "{target:?}: {}", made.unwrap_err());
        }
    }
}

fn plans() -> [Program; 9] {
    [
        passes::bfs::PLAN,
        passes::sssp::PLAN,
        passes::tight::PLAN,
        passes::phases::PLAN,
        passes::work::PLAN,
        passes::mixed::PLAN,
        passes::doubled::PLAN,
        passes::three_waves::PLAN,
        passes::walks::PLAN,
    ]
    .map(|plan| plan.program())
}

#[test]
fn naga_accepts_every_pass_of_the_tests() {
    plans().iter().for_each(accepted);
}

#[test]
fn naga_accepts_random_programs() {
    random::cases(25, |u| {
        accepted(&programs::program(u)?);
        Ok(())
    });
}

fn word(op: Op, d: u8, a: u8, b: u8, imm: u32) -> Word {
    Word {
        op: op as u8,
        d,
        a,
        b,
        imm,
    }
}

/// A kernel of one item that these words are.
fn kernel(code: Vec<Word>, rows: u8, sites: Vec<(u32, SiteId)>) -> Program {
    let buffer = |name: &str, scalar| Buffer {
        name: name.to_owned(),
        scalar,
        extent: Extent::Fixed(8),
        role: Role::Output,
        init: None,
    };
    let kernel = Kernel {
        name: "k".to_owned(),
        code,
        rows,
        frames: 6,
        item: ItemRows {
            index: Some(0),
            ..ItemRows::default()
        },
        uniforms: vec![Uniform::Nodes],
        sites,
    };
    let wave = Wave {
        name: "k".to_owned(),
        kernel: KernelId(0),
        domain: Domain::Nodes,
        accesses: Vec::new(),
        fixpoint: None,
        after: Vec::new(),
    };
    Program {
        buffers: vec![buffer("small", Scalar::U32), buffer("large", Scalar::U64)],
        kernels: vec![kernel],
        waves: vec![wave],
        schedule: vec![Step::Wave(WaveId(0)), Step::End],
        sites: vec![Site {
            file: "src/main.rs".to_owned(),
            line: 7,
            column: 5,
        }],
        ..Program::default()
    }
}

#[test]
fn atomics_of_64_bits_are_refused_where_there_are_none() {
    let add = word(Op::AtomAdd64, 255, 0, 2, 1 << 16);
    let one = word(Op::Mov64, 2, 255, 0, 1);
    let program = kernel(
        vec![one, add, add, word(Op::Ret, 0, 0, 0, 0)],
        4,
        vec![(1, SiteId(0)), (2, SiteId(0))],
    );
    let said: Vec<String> = refusals(&program, &Target::webgpu())
        .iter()
        .map(ToString::to_string)
        .collect();
    let why = "wave `k` accesses `large` with atomics of 64 bits, and the target has only those of 32 (src/main.rs:7:5)";
    assert_eq!(said, [why]);
    assert!(refusals(&program, &Target::full()).is_empty());
    accepted(&program);
}

/// Nested loops that are left and gone on with from inside, a local array that is used as rows too, and a pair.
fn loops() -> Program {
    let trap = TrapKind::Assert as u32;
    let array = 2 | 4 << 8;
    let code = vec![
        word(Op::RowFill32, 0, 0, 0, array),
        word(Op::Mov64, 6, 255, 0, u32::MAX),
        word(Op::Loop, 0, 0, 0, 18),
        word(Op::Loop, 0, 0, 0, 14),
        word(Op::LtU32, 1, 0, 255, 10),
        word(Op::BreakUnless, 0, 1, 0, 1),
        word(Op::RowLd32, 1, 0, 0, array),
        word(Op::If, 0, 1, 0, 10),
        word(Op::Add32, 3, 3, 192, 0),
        word(Op::Else, 0, 0, 0, 11),
        word(Op::Continue, 0, 0, 0, 1),
        word(Op::EndIf, 0, 0, 0, 0),
        word(Op::RowSt32, 0, 0, 3, array),
        word(Op::EndLoop, 0, 0, 0, 3),
        word(Op::Add64, 6, 6, 6, 0),
        word(Op::DivU32, 0, 0, 255, 0),
        word(Op::Add32, 0, 0, 255, 1),
        word(Op::EndLoop, 0, 0, 0, 2),
        word(Op::St64, 0, 0, 6, 1 << 16),
        word(Op::Assert, 0, 3, 0, trap),
        word(Op::Ret, 0, 0, 0, 0),
    ];
    let sites = [6, 12, 15, 18, 19].map(|pc| (pc, SiteId(0)));
    kernel(code, 8, sites.to_vec())
}

#[test]
fn naga_accepts_jumps_out_of_several_loops() {
    accepted(&loops());
}

/// People read the export. What changes here, they see: run with `VYRE_BLESS=1` and look at the difference.
#[test]
fn bodies_read_like_this() {
    let shown = [("bfs", passes::bfs::PLAN.program()), ("loops", loops())];
    for (name, program) in shown {
        let text = bodies(&program, &Layout::new(&program), &Target::webgpu());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/bodies/{name}.wgsl"));
        if std::env::var_os("VYRE_BLESS").is_some() {
            std::fs::write(&path, &text).expect("the folder is there");
        }
        let kept = std::fs::read_to_string(&path).expect("the file is there");
        assert!(
            kept == text,
            "tests/bodies/{name}.wgsl is not what bodies say: run with VYRE_BLESS=1\n{text}"
        );
    }
}
