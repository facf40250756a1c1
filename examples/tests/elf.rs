//! Call graphs: of hand-made ELF files, instruction by instruction, and of this test's own executable.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::path::Path;
use vyre_examples::elf::{call_graph, call_graph_of};
use vyre_examples::graph::{Functions, Graph};
use vyre_examples::oracle::{UNREACHED, bfs};
use vyre_tests::random::cases;

/// A piece of a hand-made program.
#[derive(Clone, Copy)]
enum Piece {
    Label(&'static str),
    /// `call label`.
    Call(&'static str),
    /// `jmp label`.
    Jump(&'static str),
    /// `lea rax, [rip + label]`.
    Lea(&'static str),
    /// `call [rip + label]`.
    CallSlot(&'static str),
    Ret,
    /// Bytes up to a multiple of 16.
    Align,
    /// The 8-byte address of a label.
    Pointer(&'static str),
}
use Piece::*;

const BASE: u64 = 0x40_0000;
const HEADERS: usize = 64 + 3 * 56;

/// An executable of one segment of code and one of data, without sections. Functions of `unwind` are in the unwind
/// table.
fn program(code: &[Piece], data: &[Piece], unwind: &[(&str, &str)]) -> Vec<u8> {
    let len = |piece: &Piece, at: usize| match piece {
        Label(_) => 0,
        Call(_) | Jump(_) => 5,
        Lea(_) => 7,
        CallSlot(_) => 6,
        Ret => 1,
        Align => at.next_multiple_of(16) - at,
        Pointer(_) => 8,
    };
    let mut labels = BTreeMap::new();
    let mut at = HEADERS;
    let mut ends = Vec::new();
    for part in [code, data] {
        for piece in part {
            if let Label(name) = piece {
                labels.insert(*name, at);
            }
            at += len(piece, at);
        }
        at = at.next_multiple_of(16);
        ends.push(at);
    }
    let [code_end, data_end] = ends[..] else {
        unreachable!()
    };

    let mut bytes = vec![0; HEADERS];
    for (part, end) in [(code, code_end), (data, data_end)] {
        for piece in part {
            let at = bytes.len();
            let next = at + len(piece, at);
            let rel = |label| (labels[label] as i32 - next as i32).to_le_bytes();
            match piece {
                Label(_) => {}
                Call(l) => bytes.extend([&[0xe8][..], &rel(l)].concat()),
                Jump(l) => bytes.extend([&[0xe9][..], &rel(l)].concat()),
                Lea(l) => bytes.extend([&[0x48, 0x8d, 0x05][..], &rel(l)].concat()),
                CallSlot(l) => bytes.extend([&[0xff, 0x15][..], &rel(l)].concat()),
                Ret => bytes.push(0xc3),
                Align => bytes.resize(next, 0xcc),
                Pointer(l) => bytes.extend((BASE + labels[l] as u64).to_le_bytes()),
            }
        }
        bytes.resize(end, 0xcc);
    }
    // .eh_frame_hdr, then one record a function.
    let table = bytes.len();
    let records = table + 12 + 8 * unwind.len();
    bytes.extend([1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0]);
    bytes.extend((unwind.len() as u32).to_le_bytes());
    for (i, (first, _)) in unwind.iter().enumerate() {
        bytes.extend((labels[first] as i32 - table as i32).to_le_bytes());
        bytes.extend(((records + 16 * i - table) as i32).to_le_bytes());
    }
    for (i, (first, end)) in unwind.iter().enumerate() {
        let pc = records + 16 * i + 8;
        bytes.extend(12u32.to_le_bytes());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend((labels[first] as i32 - pc as i32).to_le_bytes());
        bytes.extend(((labels[end] - labels[first]) as u32).to_le_bytes());
    }

    bytes[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    let mut put = |at: usize, value: u64, width: usize| {
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    };
    put(16, 2, 2); // ET_EXEC
    put(18, 62, 2); // x86-64
    put(20, 1, 4);
    put(24, BASE + labels["entry"] as u64, 8);
    put(32, 64, 8); // program headers
    put(52, 64, 2);
    put(54, 56, 2);
    put(56, 3, 2);
    let end = records + 16 * unwind.len();
    let segments = [
        (1u64, 5u64, 0, code_end),
        (1, 4, code_end, end),
        (0x6474_e550, 4, table, end),
    ];
    for (i, (kind, flags, start, end)) in segments.into_iter().enumerate() {
        let at = 64 + 56 * i;
        put(at, kind, 4);
        put(at + 4, flags, 4);
        put(at + 8, start as u64, 8);
        put(at + 16, BASE + start as u64, 8);
        put(at + 32, (end - start) as u64, 8);
        put(at + 40, (end - start) as u64, 8);
    }
    bytes
}

fn functions(graph: &Graph) -> &Functions {
    graph.functions.as_ref().unwrap()
}

/// Edges by name.
fn edges(graph: &Graph) -> BTreeSet<(&str, &str)> {
    let names = &functions(graph).names;
    let nodes = 0..graph.csr.node_count() as u32;
    let pairs = nodes.flat_map(|v| graph.csr.neighbors(v).iter().map(move |t| (v, t)));
    pairs
        .map(|(v, t)| (names[v as usize].as_str(), names[t as usize].as_str()))
        .collect()
}

/// Programs where function `f` is at a fixed address, so that names are known: one slot of 16 bytes each.
fn name(slot: u64) -> String {
    format!(
        "fn_{:x}",
        BASE + (HEADERS as u64).next_multiple_of(16) + 16 * slot
    )
}

#[test]
fn a_stripped_program_shows_its_functions_by_calls_and_taken_addresses() {
    let code = [
        Align,
        Label("entry"),
        Call("called"),
        Lea("taken"),
        Ret,
        Align,
        Label("called"),
        CallSlot("slot"),
        Ret,
        Align,
        Label("taken"),
        Lea("table"),
        Ret,
        Align,
        Label("in_slot"),
        Ret,
        Align,
        Label("in_table"),
        Jump("entry"),
        Align,
    ];
    let data = [
        Label("slot"),
        Pointer("in_slot"),
        Label("table"),
        Pointer("indirect"),
        Label("indirect"),
        Pointer("in_table"),
    ];
    let graph = call_graph_of(&program(&code, &data, &[])).unwrap();
    let names = [0, 1, 2, 3, 4].map(name);
    let [_, called, taken, in_slot, in_table] = names.each_ref().map(String::as_str);
    assert_eq!(
        functions(&graph).names,
        ["_start", called, taken, in_slot, in_table]
    );
    assert_eq!(functions(&graph).entry, Some(0));
    let expected = [
        ("_start", called),
        ("_start", taken),
        (called, in_slot),
        (taken, in_table),
        (in_table, "_start"),
    ];
    assert_eq!(edges(&graph), expected.into());
}

#[test]
fn the_unwind_table_names_functions_that_nothing_calls() {
    let code = [
        Align,
        Label("entry"),
        Jump("tail"),
        Align,
        Label("dead"),
        Call("deader"),
        Ret,
        Align,
        Label("deader"),
        Ret,
        Align,
        Label("tail"),
        Ret,
        Align,
        Label("end"),
    ];
    let unwind = [
        ("entry", "dead"),
        ("dead", "deader"),
        ("deader", "tail"),
        ("tail", "end"),
    ];
    let graph = call_graph_of(&program(&code, &[], &unwind)).unwrap();
    let names = [1, 2, 3].map(name);
    let [dead, deader, tail] = names.each_ref().map(String::as_str);
    assert_eq!(edges(&graph), [("_start", tail), (dead, deader)].into());
    assert_eq!(functions(&graph).sizes_bytes, [16, 16, 16, 16]);
    assert_eq!(bfs(&graph.csr, 0), [0, UNREACHED, UNREACHED, 1]);
}

#[test]
fn a_call_into_the_middle_of_a_known_function_belongs_to_it() {
    let code = [
        Align,
        Label("entry"),
        Call("middle"),
        Ret,
        Align,
        Label("function"),
        Ret,
        Label("middle"),
        Ret,
        Align,
        Label("end"),
    ];
    let unwind = [("entry", "function"), ("function", "end")];
    let graph = call_graph_of(&program(&code, &[], &unwind)).unwrap();
    assert_eq!(edges(&graph), [("_start", name(1).as_str())].into());
}

#[test]
fn what_is_no_program_is_refused_by_name() {
    let error = |bytes: &[u8]| call_graph_of(bytes).unwrap_err().to_string();
    assert_eq!(error(b""), "not a 64-bit ELF file");
    assert_eq!(error(b"#!/bin/sh\n"), "not a 64-bit ELF file");
    let good = program(&[Label("entry"), Ret], &[], &[]);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        error(&bytes)
    };
    assert_eq!(with(4, 1), "not a 64-bit ELF file");
    assert_eq!(with(16, 1), "a relocatable object file; link it first");
    assert_eq!(with(18, 183), "machine 183 is not x86-64 (62)");
    assert_eq!(with(24, 0xff).len(), "no functions".len());
    let missing = call_graph(Path::new("/no/such/program"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("/no/such/program: No such file"),
        "{missing}"
    );
}

#[test]
fn damaged_programs_never_panic() {
    let code = [
        Align,
        Label("entry"),
        Call("f"),
        Lea("table"),
        Ret,
        Align,
        Label("f"),
        CallSlot("table"),
        Ret,
        Align,
        Label("end"),
    ];
    let data = [
        Label("table"),
        Pointer("f"),
        Pointer("entry"),
        Pointer("table"),
    ];
    let good = program(&code, &data, &[("entry", "f"), ("f", "end")]);
    assert_eq!(call_graph_of(&good).unwrap().csr.edge_count(), 3);
    cases(300, |u| {
        let mut bytes = good.clone();
        for _ in 0..u.int_in_range(1..=8)? {
            let at = u.choose_index(bytes.len())?;
            let any = u.arbitrary()?;
            bytes[at] = *u.choose(&[0, 1, 0x7f, 0x80, 0xff, any])?;
        }
        if u.ratio(1, 4)? {
            bytes.truncate(u.choose_index(bytes.len())?);
        }
        if let Ok(graph) = call_graph_of(&bytes) {
            let functions = graph.functions.as_ref().unwrap();
            assert_eq!(functions.names.len(), graph.csr.node_count());
        }
        Ok(())
    });
}

#[inline(never)]
fn tail_callee(x: u64) -> u64 {
    black_box(x + 1)
}

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        tail_callee(black_box(self.0 * self.0))
    }
}

#[inline(never)]
fn called_by_the_forgotten() -> u64 {
    black_box(41)
}

#[inline(never)]
fn forgotten() -> u64 {
    called_by_the_forgotten() + 1
}

/// Keeps the linker from dropping a function that nothing calls.
#[used]
static KEPT: fn() -> u64 = forgotten;

#[test]
fn the_test_executable_itself() {
    let shape: Box<dyn Shape> = black_box(Box::new(Square(3)));
    assert_eq!(shape.area(), 10);

    let path = std::env::current_exe().unwrap();
    let graph = call_graph(&path).unwrap();
    let functions = functions(&graph);
    let entry = functions.entry.unwrap();
    assert_eq!(functions.names[entry as usize], "_start");
    let levels = bfs(&graph.csr, entry);
    let level = |name: &str| {
        let at = functions.names.iter().position(|n| n == name);
        levels[at.unwrap_or_else(|| panic!("no function {name}"))]
    };
    assert_eq!(level("_start"), 0);
    assert_eq!(level("main"), 1);
    assert_ne!(level("elf::the_test_executable_itself"), UNREACHED);
    assert_ne!(level("<elf::Square as elf::Shape>::area"), UNREACHED);
    assert_ne!(level("elf::tail_callee"), UNREACHED);
    assert_eq!(level("elf::forgotten"), UNREACHED);
    assert_eq!(level("elf::called_by_the_forgotten"), UNREACHED);
    assert!(functions.sizes_bytes.iter().sum::<u64>() > 100_000);
    // Functions of other files are behind those of this one.
    let own = functions.addresses.iter().position(|&a| a == 0);
    let (own, others) = functions.addresses.split_at(own.unwrap());
    assert!(own.is_sorted() && others.iter().all(|&a| a == 0));
    assert_ne!(level("getenv"), UNREACHED);
}
