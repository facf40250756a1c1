//! The text of some bodies as it stands, and what ptxas says of it where there is one.

mod differential;

use super::*;
use crate::code::MEGAKERNEL_PTX;
use crate::image::tests::{program, room, search};
use crate::neighbor_loop::words::word;
use crate::splice::{Changes, splice};
use expect_test::{expect, expect_file};
use std::path::{Path, PathBuf};
use std::process::Command;
use vyre_core::plan::footprint::Allocation;
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{IMM, Op, UNIFORM_BASE};
use vyre_core::vir0::module::{
    Agreement, Buffer, Domain, Extent, FrontierId, ItemRows, Queue, ReduceOp, Reduction, Role,
    SiteId, TopologyId, Uniform,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Site;

fn layout(program: &Program) -> Layout {
    Layout::new((program, Allocation::Separate), room(200), &[4.0], 4).expect("it is small")
}

fn buffer(name: &str, scalar: Scalar, extent: Extent) -> Buffer {
    Buffer {
        name: name.into(),
        scalar,
        extent,
        role: Role::InOut,
        init: None,
        reset: None,
    }
}

fn frontier() -> Queue {
    Queue {
        name: "front".into(),
        fields: vec![],
        capacity: Extent::Nodes,
        unique: false,
        stays: false,
        owner: None,
        output: false,
        reset: None,
    }
}

/// `if dist[dst].fetch_min(dist[src] + weight[edge]) > that { front.push(dst) }`.
fn relaxes() -> Program {
    let mut program = program(
        vec![
            word(Op::Ld32, 3, 0, 0, 0),
            word(Op::Ld32, 4, 2, 0, 1 << 16),
            word(Op::Add32, 3, 3, 4, 0),
            word(Op::AtomMinU32, 5, 1, 3, 0),
            word(Op::LtU32, 5, 3, 5, 0),
            word(Op::If, 0, 5, 0, 7),
            word(Op::Push, 0, 1, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ],
        6,
    );
    program.buffers = vec![
        buffer("dist", Scalar::U32, Extent::Nodes),
        buffer("weight", Scalar::U32, Extent::Edges(TopologyId(0))),
    ];
    program.frontiers = vec![frontier()];
    program.kernels[0].item = ItemRows {
        index: Some(2),
        src: Some(0),
        dst: Some(1),
        ..ItemRows::default()
    };
    program.waves[0].domain = Domain::EdgesFrom(TopologyId(0), FrontierId(0));
    program
}

/// `rank[v] = 0.15 + 0.85 * sum of share[u]`, and what that changes. The sum is in order, so that no loop is lifted.
fn ranks() -> Program {
    let mut program = program(
        vec![
            word(Op::Mov32, 1, IMM, 0, 0),
            word(Op::CsrBegin, 2, 0, 0, 0),
            word(Op::CsrEnd, 3, 0, 0, 0),
            word(Op::Loop, 0, 0, 0, 11),
            word(Op::LeU32, 4, 3, 2, 0),
            word(Op::BreakIf, 0, 4, 0, 0),
            word(Op::CsrTarget, 4, 2, 0, 0),
            word(Op::Ld32, 4, 4, 0, 0),
            word(Op::AddF32, 1, 1, 4, 0),
            word(Op::Add32, 2, 2, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 3),
            word(Op::MulF32, 1, 1, IMM, 0.85f32.to_bits()),
            word(Op::AddF32, 1, 1, IMM, 0.15f32.to_bits()),
            word(Op::Ld32, 2, 0, 0, 1 << 16),
            word(Op::SubF32, 2, 1, 2, 0),
            word(Op::St32, 0, 0, 1, 1 << 16),
            word(Op::Reduce32, 0, 2, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ],
        5,
    );
    program.agreement = Agreement::Bits;
    program.buffers = vec![
        buffer("share", Scalar::F32, Extent::Nodes),
        buffer("rank", Scalar::F32, Extent::Nodes),
    ];
    program.reductions = vec![Reduction {
        name: "change".into(),
        op: ReduceOp::Max,
        scalar: Scalar::F32,
        owner: None,
        output: true,
    }];
    program
}

/// The same without order: the warp's lanes share the neighbours.
fn shared() -> Program {
    Program {
        agreement: Agreement::Open(vec![]),
        ..ranks()
    }
}

/// A loop whose turns a warp shares, and afterwards a local array that takes rows of it.
fn shared_beside_an_array() -> Program {
    let mut program = program(
        vec![
            word(Op::Mov32, 1, IMM, 0, 0),
            word(Op::And32, 4, 0, IMM, 1),
            word(Op::If, 0, 4, 0, 13),
            word(Op::CsrBegin, 2, 0, 0, 0),
            word(Op::CsrEnd, 3, 0, 0, 0),
            word(Op::Loop, 0, 0, 0, 13),
            word(Op::LeU32, 4, 3, 2, 0),
            word(Op::BreakIf, 0, 4, 0, 0),
            word(Op::CsrTarget, 4, 2, 0, 0),
            word(Op::Ld32, 4, 4, 0, 0),
            word(Op::Or32, 1, 1, 4, 0),
            word(Op::Add32, 2, 2, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 5),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Mov32, 2, IMM, 0, 3),
            word(Op::Mov32, 3, IMM, 0, 5),
            word(Op::Mov32, 4, IMM, 0, 7),
            word(Op::RowLd32, 1, 1, 0, 3 << 8 | 2),
            word(Op::St32, 0, 0, 1, 1 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ],
        5,
    );
    let bits = |name| buffer(name, Scalar::U32, Extent::Nodes);
    program.buffers = vec![bits("of"), bits("any")];
    program
}

/// Names of rows, such as `%w3_0`.
fn row_names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '%';
    let names = text.split(move |c| !is_part(c));
    names.filter(|name| {
        let row = name.strip_prefix("%w").or(name.strip_prefix("%sw"));
        row.is_some_and(|row| row.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[test]
fn a_row_of_a_local_array_has_no_register_anywhere() {
    let mut without = shared_beside_an_array();
    without.kernels[0].code.remove(17);
    assert!(text_of(&without).contains("%sw"), "its loop is shared");
    let programs = examples().into_iter().map(|(_, program)| program);
    for program in programs.chain([shared_beside_an_array()]) {
        let text = text_of(&program);
        let declared = |line: &&str| line.trim_start().starts_with(".reg");
        let declared: Vec<&str> = text.lines().filter(declared).flat_map(row_names).collect();
        for name in row_names(&text) {
            // Declared as `%w3_<4>`.
            let row = name.trim_end_matches(|c: char| c.is_ascii_digit());
            assert!(declared.contains(&row), "{name} is not declared: {text}");
        }
    }
}

/// Live variables of a block, of 64: what its successors need, less what it makes, and what it needs itself.
fn lives() -> Program {
    let mut program = program(
        vec![
            word(Op::Mov64, 2, IMM, 0, 0),
            word(Op::CsrBegin, 4, 0, 0, 0),
            word(Op::CsrEnd, 5, 0, 0, 0),
            word(Op::Loop, 0, 0, 0, 12),
            word(Op::LtU32, 6, 4, 5, 0),
            word(Op::BreakUnless, 0, 6, 0, 0),
            word(Op::CsrTarget, 6, 4, 0, 0),
            word(Op::AtomLd64, 8, 6, 0, 0),
            word(Op::Or64, 2, 2, 8, 0),
            word(Op::Add32, 4, 4, IMM, 1),
            word(Op::Continue, 0, 0, 0, 0),
            word(Op::EndLoop, 0, 0, 0, 3),
            word(Op::Ld64, 8, 0, 0, 1 << 16),
            word(Op::Xor64, 8, 8, IMM, u32::MAX),
            word(Op::And64, 2, 2, 8, 0),
            word(Op::Ld64, 8, 0, 0, 2 << 16),
            word(Op::Or64, 2, 2, 8, 0),
            word(Op::AtomOr64, 8, 0, 2, 0),
            word(Op::Eq64, 4, 2, 8, 0),
            word(Op::If, 0, 4, 0, 21),
            word(Op::Ret, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Push, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ],
        10,
    );
    let lives = |name| buffer(name, Scalar::U64, Extent::Nodes);
    program.buffers = vec![lives("live"), lives("makes"), lives("needs")];
    program.frontiers = vec![frontier()];
    program
}

#[test]
fn a_loop_is_shared_where_its_pair_is_taken_apart_elsewhere() {
    let mut program = lives();
    let code = &mut program.kernels[0].code;
    // Turns that are counted as `for` counts them.
    code[4] = word(Op::LeU32, 6, 5, 4, 0);
    code[5] = word(Op::BreakIf, 0, 6, 0, 0);
    code[9] = word(Op::Mov32, 7, IMM, 0, 0);
    code[10] = word(Op::Add32, 4, 4, IMM, 1);
    let last = code.len() - 2;
    code.insert(last, word(Op::Xor32, 2, 2, 3, 0));
    code.insert(last + 1, word(Op::Push, 0, 2, 0, 0));
    let text = text_of(&program);
    assert!(text.contains("mov.b64 {%sw2_0, %sw3_0}, "), "{text}");
    // Words of its turns are another matter.
    program.kernels[0].code[8] = word(Op::Or32, 2, 2, 8, 0);
    assert!(!text_of(&program).contains("%sw2_0, %sw3_0"));
}

/// Rounds of a mixing function, divided by a uniform, in a local array.
fn hashes() -> Program {
    let x = 2;
    let mut program = program(
        vec![
            word(Op::Zext64, x, 0, 0, 0),
            word(Op::Mul64, x, x, IMM, 0x9e37_79b9),
            word(Op::Rotl64, x, x, IMM, 27),
            word(Op::ShrU64, 4, x, IMM, 33),
            word(Op::Xor64, x, x, 4, 0),
            word(Op::MulHiU64, x, x, UNIFORM_BASE, 0),
            word(Op::RowFill32, 0, 0, 0, 4 << 8 | 8),
            word(Op::Wrap32, 4, x, 0, 0),
            word(Op::RemU32, 5, 4, IMM, 4),
            word(Op::RowSt32, 0, 5, 4, 4 << 8 | 8),
            word(Op::RemU32, 5, 0, UNIFORM_BASE + 1, 0),
            word(Op::RowLd32, 5, 5, 0, 4 << 8 | 8),
            word(Op::Rotl32, 5, 5, 4, 0),
            word(Op::St32, 0, 0, 5, 0),
            word(Op::Reduce64, 0, x, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ],
        12,
    );
    program.buffers = vec![buffer("out", Scalar::U32, Extent::Fixed(1000))];
    program.kernels[0].uniforms = vec![Uniform::Nodes, Uniform::Nodes];
    program.waves[0].domain = Domain::Range(Extent::Fixed(1000));
    program.reductions = vec![Reduction {
        name: "all".into(),
        op: ReduceOp::Sum,
        scalar: Scalar::U64,
        owner: None,
        output: true,
    }];
    program
}

/// Four steps of a mixing function that count.
fn mixes() -> Program {
    let mut program = program(
        vec![
            word(Op::Xor32, 1, 0, UNIFORM_BASE, 0),
            word(Op::Mov32, 2, IMM, 0, 0),
            word(Op::Loop, 0, 0, 0, 12),
            word(Op::LeU32, 3, IMM, 2, 4),
            word(Op::BreakIf, 0, 3, 0, 0),
            word(Op::ShrU32, 3, 1, IMM, 15),
            word(Op::Xor32, 1, 1, 3, 0),
            word(Op::Mul32, 1, 1, IMM, 0x2c1b_3c6d),
            word(Op::Rotl32, 1, 1, IMM, 13),
            word(Op::Add32, 1, 1, 2, 0),
            word(Op::Add32, 2, 2, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 2),
            word(Op::St32, 0, 0, 1, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ],
        4,
    );
    program.kernels[0].uniforms = vec![Uniform::Nodes];
    program.buffers = vec![buffer("out", Scalar::U32, Extent::Nodes)];
    program
}

fn examples() -> [(&'static str, Program); 7] {
    [
        ("mixes", mixes()),
        ("search", search()),
        ("relaxes", relaxes()),
        ("ranks", ranks()),
        ("shared", shared()),
        ("lives", lives()),
        ("hashes", hashes()),
    ]
}

/// What is between the braces of the functions, one after the other.
fn text_of(program: &Program) -> String {
    let bodies = bodies(program, &layout(program));
    let of_one = |(name, body): (String, String)| format!("// {name}\n{body}");
    bodies.into_iter().map(of_one).collect()
}

#[test]
fn bodies_are_as_they_were_read() {
    for (name, program) in examples() {
        expect_file![format!("snapshots/{name}.ptx")].assert_eq(&text_of(&program));
    }
}

/// Those that have a thread form; the others say why not.
#[test]
fn bodies_in_thread_form_are_as_they_were_read() {
    let of_one = |(name, program): (&str, Program)| {
        let text = match thread::body(&program, &layout(&program), 0) {
            Ok(body) => format!("\n{}", body.text),
            Err(why) => format!(" {why}\n"),
        };
        format!("// {name}:{text}")
    };
    let all: String = examples().into_iter().map(of_one).collect();
    expect_file!["snapshots/thread.ptx"].assert_eq(&all);
}

#[test]
fn what_bodies_are_like_is_said() {
    let of = |program: &Program| described(program, &layout(program));
    let said = |program: &Program, what: &str| assert_eq!(of(program), format!("k: {what}"));
    said(
        &mixes(),
        "in its sweep, 4 of 4 items a lane side by side, 4 rows, 2 addresses and lengths held, a loop written out",
    );
    said(
        &ranks(),
        "in its sweep, 4 of 4 items a lane side by side, 5 rows, 8 addresses and lengths held",
    );
    said(
        &relaxes(),
        "called a tile, 4 of 4 items a lane side by side, 3 rows, 5 addresses and lengths held",
    );
}

/// The compiler of `scripts/build-ptx`, where it was unpacked.
fn ptxas() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ptxas = root.join(".cuda-toolchain/nvidia/cu13/bin/ptxas");
    if !ptxas.exists() {
        println!("no ptxas in .cuda-toolchain: scripts/build-ptx unpacks it; this is skipped");
    }
    ptxas.exists().then_some(ptxas)
}

/// What ptxas says of a text, and the machine code.
fn assemble(ptxas: &Path, name: &str, text: &str) -> (String, Vec<u8>) {
    let folder = std::env::temp_dir().join(format!("vyre-ptx-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for temporary files");
    let (from, to) = (folder.join("module.ptx"), folder.join("module.cubin"));
    std::fs::write(&from, text).expect("there is room for temporary files");
    let mut command = Command::new(ptxas);
    command
        .args(["-v", "-arch=sm_90", "-o"])
        .arg(&to)
        .arg(&from);
    let done = command.output().expect("ptxas runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{name}: {said}");
    let code = std::fs::read(&to).expect("ptxas wrote it");
    std::fs::remove_dir_all(&folder).expect("the files are ours");
    (said, code)
}

/// Instructions of a cubin, and those that are calls.
fn calls(elf: &[u8]) -> (usize, usize) {
    let half = |at: usize| u16::from_le_bytes(elf[at..at + 2].try_into().unwrap());
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap()) as usize;
    let long = |at: usize| u64::from_le_bytes(elf[at..at + 8].try_into().unwrap()) as usize;
    let (headers, size, count) = (long(40), usize::from(half(58)), usize::from(half(60)));
    let names = long(headers + size * usize::from(half(62)) + 24);
    let (mut instructions, mut calls) = (0, 0);
    for header in (0..count).map(|i| headers + size * i) {
        if elf[names + word(header)..].starts_with(b".text.") {
            let (at, bytes) = (long(header + 24), long(header + 32));
            for instruction in elf[at..at + bytes].chunks(16) {
                let opcode = u16::from_le_bytes([instruction[0], instruction[1]]) & 0xfff;
                instructions += 1;
                // CALL.ABS and CALL.REL.
                calls += usize::from(matches!(opcode, 0x943 | 0x944));
            }
        }
    }
    (instructions, calls)
}

#[test]
fn ptxas_takes_every_body() {
    let Some(ptxas) = ptxas() else { return };
    let mut out = String::new();
    for (name, program) in examples() {
        // What is around the bodies is not looked at: one entry calls them all.
        let bodies = bodies(&program, &layout(&program));
        let mut text = MEGAKERNEL_PTX.to_owned();
        text += ".visible .entry bodies()\n{\n";
        for (name, _) in &bodies {
            text += "\t{\n";
            if name == flat::NAME {
                for i in 0..3 {
                    text += &format!("\t.param .b64 arg{i};\n\tst.param.b64 [arg{i}], 0;\n");
                }
                text += &format!("\tcall.uni {name}, (arg0, arg1, arg2);\n\t}}\n");
                continue;
            }
            let arguments = if name.contains("ILi1E") { 6 } else { 5 };
            for i in 0..arguments {
                text += &format!("\t.param .b32 arg{i};\n\tst.param.b32 [arg{i}], 0;\n");
            }
            let names: Vec<String> = (0..arguments).map(|i| format!("arg{i}")).collect();
            text += "\t.param .b32 result;\n";
            text += &format!(
                "\tcall.uni (result), {name}, ({});\n\t}}\n",
                names.join(", ")
            );
        }
        text += "\tret;\n}\n";
        let changes = Changes {
            entry: "bodies",
            bodies,
            functions: String::new(),
            known: None,
            left_out: vec![],
            shape: None,
        };
        let text = splice(&text, &changes).expect("the module has these functions");
        let (said, code) = assemble(&ptxas, name, &text);
        let (instructions, calls) = calls(&code);
        let spills = said.matches("bytes spill stores").count();
        assert_eq!(
            said.matches(" 0 bytes spill stores").count(),
            spills,
            "{said}"
        );
        let lines = text.lines().count();
        writeln!(
            out,
            "{name}: {lines} lines, {instructions} instructions, {calls} calls"
        )
        .unwrap();
    }
    expect![[r#"
        mixes: 227 lines, 152 instructions, 1 calls
        search: 1517 lines, 920 instructions, 5 calls
        relaxes: 1533 lines, 920 instructions, 5 calls
        ranks: 611 lines, 496 instructions, 3 calls
        shared: 6844 lines, 4584 instructions, 31 calls
        lives: 1748 lines, 1520 instructions, 5 calls
        hashes: 591 lines, 424 instructions, 6 calls
    "#]]
    .assert_eq(&out);
}

/// Time goes by lines: the driver takes about 0.1 ms for each. A search has rounds that pull besides.
#[test]
fn modules_have_few_lines() {
    let passes = [
        (search(), 13_500),
        (relaxes(), 9_000),
        (ranks(), 9_000),
        (lives(), 9_000),
    ];
    for (program, most) in passes {
        let text = crate::compiled::pass_ptx(&program, 4.0, None).expect("it fits");
        let lines = text.lines().count();
        let name = &program.waves[0].name;
        assert!(lines <= most, "{name}: {lines} lines");
        assert_eq!(
            text,
            crate::compiled::pass_ptx(&program, 4.0, None).expect("it fits")
        );
    }
}

/// Every word of each kernel on a line of its own of a file that is not there, but for the first word that has this
/// opcode: that is where this place is.
fn placed(mut program: Program, opcode: Op, (file, line): (&str, u32)) -> Program {
    let site = |file: &str, line| Site {
        file: file.to_owned(),
        line,
        column: 5,
    };
    for kernel in &mut program.kernels {
        let at = kernel.code.iter().position(|word| op(word) == opcode);
        for pc in 0..kernel.code.len() {
            kernel
                .sites
                .push((pc as u32, SiteId(program.sites.len() as u16)));
            program.sites.push(match at == Some(pc) {
                true => site(file, line),
                false => site("no/such/file.rs", 1 + pc as u32),
            });
        }
    }
    program
}

#[test]
fn the_users_lines_are_comments_of_a_module_and_nothing_else_in_it_changes() {
    use crate::compiled::{for_large_gpu, pass_ptx, text};
    let here = (file!(), line!()); // the line that comments show
    let says = format!(
        "// {}:{}  let here = (file!(), line!()); // the line",
        here.0, here.1
    );
    let shows = [
        (search(), Op::AtomCas32, "atom."),
        (relaxes(), Op::AtomMinU32, "atom."),
        (lives(), Op::Push, "push"),
        (mixes(), Op::Xor32, "xor.b32"),
    ];
    let rest = [ranks(), shared(), hashes()].map(|program| (program, Op::Ret, ""));
    for (plain, opcode, becomes) in shows.into_iter().chain(rest) {
        let name = plain.waves[0].name.clone();
        let driver = |program: &Program| {
            let (changes, clusters) = for_large_gpu(program, 4.0, None).expect("it fits");
            text(&changes, clusters).expect("the module has these functions")
        };
        let program = placed(plain.clone(), opcode, here);
        let shown = pass_ptx(&program, 4.0, None).expect("it fits");
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let bare = shown.lines().filter(|line| !is_comment(line));
        let bare: String = bare.flat_map(|line| [line, "\n"]).collect();
        assert_eq!(bare, driver(&program), "{name}");
        // The driver's cache keeps a module wherever the lines are.
        assert_eq!(bare, driver(&plain), "{name}");
        assert!(shown.contains("// no/such/file.rs:"), "{name}");
        if becomes.is_empty() {
            continue;
        }
        // What stands behind such a comment, up to the next one.
        let behind = shown.split(&says).skip(1);
        let mut code = behind.map(|text| text.lines().skip(1).take_while(|l| !is_comment(l)));
        let found = code.any(|mut code| code.any(|line| line.contains(becomes)));
        assert!(found, "{name} has no {becomes} behind {says}:\n{shown}");
    }
}

/// The whole module of a pass, as the driver gets it.
#[test]
fn ptxas_takes_the_module_of_a_search() {
    let Some(ptxas) = ptxas() else { return };
    let text = crate::compiled::pass_ptx(&search(), 4.0, None).expect("it fits");
    let start = std::time::Instant::now();
    let (said, code) = assemble(&ptxas, "module", &text);
    let (lines, took) = (text.lines().count(), start.elapsed());
    println!(
        "{lines} lines, {took:?}, instructions and calls {:?}\n{said}",
        calls(&code)
    );
    assert!(lines <= 13_500, "{lines}");
}

#[test]
fn the_megakernel_takes_what_bodies_expect() {
    for items in WIDTHS {
        let header = format!("{}(\n", name(items));
        let (_, rest) = MEGAKERNEL_PTX.split_once(&header).expect("it is there");
        let (parameters, _) = rest.split_once(')').expect("they end");
        let last = *super::parameters(items).last().expect("there are three") as usize;
        assert_eq!(parameters.matches(".param .b32").count(), last + 1);
    }
}
