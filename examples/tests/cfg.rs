//! Control-flow graphs: by hand, of a real program, through the cache.

use std::path::{Path, PathBuf};
use std::process::Command;
use vyre_examples::cfg::{CacheError, Cfg};
use vyre_examples::elf::ElfErrorKind;
use vyre_examples::graph::GraphSpec;
use vyre_examples::oracle;
use vyre_tests::random::cases;

const RAX: u64 = 1;
const RCX: u64 = 1 << 1;
const RSP: u64 = 1 << 4;
const RSI: u64 = 1 << 6;
const RDI: u64 = 1 << 7;
const R12: u64 = 1 << 12;
const ZF: u64 = 1 << 18;
const CF: u64 = 1 << 20;
const XMM0: u64 = 1 << 24;
const XMM9: u64 = 1 << 33;

/// An executable of one loaded segment: header, program header, then code at `ENTRY` and data behind it.
fn elf(code: &[u8], data: &[u8]) -> Vec<u8> {
    let size = (0xb0 + code.len() + data.len()) as u64;
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |bytes: &mut Vec<u8>, words: &[u16]| {
        words.iter().for_each(|w| bytes.extend(w.to_le_bytes()))
    };
    half(&mut bytes, &[2, 62]);
    bytes.extend(1u32.to_le_bytes());
    for word in [ENTRY, 64, 0] {
        bytes.extend(u64::to_le_bytes(word));
    }
    bytes.extend(0u32.to_le_bytes());
    half(&mut bytes, &[64, 56, 2, 64, 0, 0]);
    // The code, executable; then everything, readable.
    for (flags, offset, len) in [
        (5u32, 0xb0u64, code.len() as u64),
        (4, 0xb0 + code.len() as u64, data.len() as u64),
    ] {
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        for word in [offset, BASE + offset, BASE + offset, len, len, 1] {
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes.extend(code);
    bytes.extend(data);
    assert_eq!(bytes.len() as u64, size);
    bytes
}

const BASE: u64 = 0x40_0000;
const ENTRY: u64 = BASE + 0xb0;

fn edges(cfg: &Cfg) -> Vec<Vec<u32>> {
    (0..cfg.uses.len() as u32)
        .map(|v| cfg.successors.neighbors(v).iter().collect())
        .collect()
}

#[test]
fn a_loop_with_a_call() {
    #[rustfmt::skip]
    let code = [
        0x31, 0xc0,                         // 0: xor eax, eax
        0x48, 0x01, 0xf0,                   // 1: add rax, rsi
        0x48, 0xff, 0xcf,                   //    dec rdi
        0x75, 0xf8,                         //    jne 1
        0xe8, 0x04, 0, 0, 0,                // 2: call 4 and one on
        0x88, 0xc1,                         // 3: mov cl, al
        0xc3,                               //    ret
        0x90,                               // 4: nop
        0x45, 0x31, 0xe4,                   //    xor r12d, r12d
        0xc3,                               //    ret
    ];
    let cfg = Cfg::of_elf(&elf(&code, &[])).unwrap();
    // What is called is a function's start, not a block of this one.
    assert_eq!(edges(&cfg), [vec![1], vec![1, 2], vec![3], vec![], vec![]]);
    assert_eq!(cfg.uses[0], 0);
    assert_eq!(cfg.defs[0] & (RAX | RCX), RAX);
    assert_eq!(cfg.uses[1] & !ZF, RAX | RSI | RDI);
    assert_eq!(cfg.defs[1] & (RAX | RSI | RDI | ZF), RAX | RDI | ZF);
    // `dec` keeps the carry, but `add` wrote it.
    assert_eq!(cfg.defs[1] & CF, CF);
    // Arguments; the callee may spoil what is not saved.
    assert_eq!(
        cfg.uses[2] & (RAX | RCX | RDI | RSP | R12 | XMM0 | XMM9),
        RCX | RDI | RSP | XMM0
    );
    assert_eq!(
        cfg.defs[2] & (RAX | RCX | RDI | R12 | XMM9),
        RAX | RCX | RDI | XMM9
    );
    // Writing `cl` leaves the rest of rcx alone.
    assert_eq!(cfg.defs[3] & RCX, 0);
    assert_eq!(cfg.uses[3] & (RAX | RCX | R12 | XMM0), RAX | R12 | XMM0);
    assert_eq!(cfg.uses[4] & R12, 0);
    assert_eq!(cfg.defs[4] & R12, R12);

    let live = oracle::liveness(&cfg.successors, &cfg.uses, &cfg.defs);
    assert_eq!(live[0] & (RAX | RSI | RDI | R12), RSI | RDI | R12);
    assert_eq!(live[4] & R12, 0);
}

#[test]
fn a_switch_follows_its_table() {
    #[rustfmt::skip]
    let code = [
        0x48, 0x8d, 0x15, 0x15, 0, 0, 0,    // 0: lea rdx, [rip + table]
        0x48, 0x63, 0x04, 0xba,             //    movsxd rax, dword ptr [rdx + 4 * rdi]
        0x48, 0x01, 0xd0,                   //    add rax, rdx
        0xff, 0xe0,                         //    jmp rax
        0x31, 0xc9,                         // 1: xor ecx, ecx
        0xc3,                               //    ret
        0x31, 0xf6,                         // 2: xor esi, esi
        0xc3,                               //    ret
        0x90,                               // 3: nop
        0x90,                               //    nop
        0xff, 0xe1,                         //    jmp rcx: its table is empty, as the first one is taken by then
        0xc3, 0xc3,
    ];
    let table = ENTRY as i64 + code.len() as i64;
    let case = |offset: i64| (ENTRY as i64 + offset - table) as i32;
    let data: Vec<u8> = [case(16), case(19), case(16), 0x7fff_ffff]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    let cfg = Cfg::of_elf(&elf(&code, &data)).unwrap();
    assert_eq!(edges(&cfg)[0], [1, 2]);
    assert_eq!(edges(&cfg)[1], [0u32; 0]);
}

/// `cmp edi, 1`; `ja` says that the table has two entries, whatever comes behind them.
#[test]
fn a_comparison_bounds_the_table() {
    #[rustfmt::skip]
    let code = [
        0x83, 0xff, 0x01,                   // 0: cmp edi, 1
        0x77, 0x16,                         //    ja 4
        0x48, 0x8d, 0x15, 0x11, 0, 0, 0,    // 1: lea rdx, [rip + table]
        0x89, 0xff,                         //    mov edi, edi
        0x48, 0x63, 0x04, 0xba,             //    movsxd rax, dword ptr [rdx + 4 * rdi]
        0x48, 0x01, 0xd0,                   //    add rax, rdx
        0x3e, 0xff, 0xe0,                   //    notrack jmp rax
        0x90, 0xc3,                         // 2: nop; ret
        0xc3,                               // 3: ret
        0x90, 0xc3,                         // 4: nop; ret
    ];
    // The `ja` leads to 4.
    assert_eq!(5 + 0x16, 27);
    let table = ENTRY as i64 + code.len() as i64;
    let case = |offset: i64| (ENTRY as i64 + offset - table) as i32;
    let data: Vec<u8> = [case(24), case(26), case(0)]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    let cfg = Cfg::of_elf(&elf(&code, &data)).unwrap();
    assert_eq!(
        edges(&cfg),
        [vec![1, 4], vec![2, 3], vec![], vec![], vec![]]
    );
    assert_eq!(cfg.functions, [0, 5]);
    assert_eq!(cfg.names, ["_start"]);
    let starts = [0, 5, 24, 26, 27].map(|offset| ENTRY + offset);
    assert_eq!(cfg.addresses, starts);
    assert_eq!(cfg.describe(2), "_start+0x18");
}

/// The address of the table comes by a jump, not from the code before.
#[test]
fn a_table_is_known_where_paths_meet() {
    #[rustfmt::skip]
    let code = [
        0x48, 0x8d, 0x15, 0x0f, 0, 0, 0,    // 0: lea rdx, [rip + table]
        0xeb, 0x02,                         //    jmp 2
        0x31, 0xd2,                         // 1: xor edx, edx
        0x48, 0x63, 0x04, 0xba,             // 2: movsxd rax, dword ptr [rdx + 4 * rdi]
        0x48, 0x01, 0xd0,                   //    add rax, rdx
        0xff, 0xe0,                         //    jmp rax
        0xc3, 0xc3,                         // 3, 4: ret
    ];
    let data: Vec<u8> = [-2i32, -1, 0x7fff_ffff]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    let cfg = Cfg::of_elf(&elf(&code, &data)).unwrap();
    assert_eq!(edges(&cfg), [vec![2], vec![2], vec![3, 4], vec![], vec![]]);
}

/// Blocks are in order, those of a function side by side, and no edge leads out of one.
fn assert_sound(cfg: &Cfg) {
    let blocks = cfg.uses.len() as u32;
    assert_eq!(
        (cfg.defs.len(), cfg.addresses.len()),
        (cfg.uses.len(), cfg.uses.len())
    );
    assert_eq!(cfg.functions.len(), cfg.names.len() + 1);
    assert!(cfg.addresses.is_sorted_by(|a, b| a < b));
    assert_eq!(
        (cfg.functions[0], *cfg.functions.last().unwrap()),
        (0, blocks)
    );
    for part in cfg.parts() {
        assert!(!part.is_empty());
        for block in part.clone() {
            assert!(
                cfg.successors
                    .neighbors(block)
                    .iter()
                    .is_sorted_by(|a, b| a < b)
            );
            assert!(
                cfg.successors
                    .neighbors(block)
                    .iter()
                    .all(|s| part.contains(&s))
            );
        }
    }
}

/// What gcc makes of this source; `None` where there is no gcc.
fn compiled(name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let there = Command::new("gcc").arg("--version").output().is_ok();
    if !there || !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (c, out) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&c, source).unwrap();
    let done = Command::new("gcc")
        .args(flags)
        .arg(&c)
        .arg("-o")
        .arg(&out)
        .status();
    assert!(done.unwrap().success(), "{name}");
    Some(out)
}

const SWITCHES: &str = "
    extern int f0(int), f1(int), f2(int), f3(int), f4(int), f5(int), f6(int), f7(int);
    int first(int which, int x) {
        switch (which) {
            case 0: return f0(x) + 1;
            case 1: return f1(x) * 3;
            case 2: return f2(x) - 7;
            case 3: return f3(x) ^ x;
            case 4: return f4(x) / 3;
            case 5: return f5(x) & 9;
            case 6: return f6(x) | 3;
            default: return f7(x) + 5;
        }
    }
    int second(unsigned char which, int x) {
        int sum = 0;
        for (int i = 0; i < x; i++) {
            switch (which + i) {
                case 10: sum += f7(i); break;
                case 11: sum -= f6(i); break;
                case 12: sum *= f5(i); break;
                case 13: sum ^= f4(i); break;
                case 14: sum |= f3(i); break;
                case 15: sum &= f2(i); break;
            }
        }
        return sum;
    }
    int tail(int x) { return x ? f0(x) : f1(1); }
";

fn blocks_of<'a>(cfg: &'a Cfg, function: &str) -> impl Iterator<Item = u32> + Clone + use<'a> {
    let at = cfg.names.iter().position(|n| n == function).unwrap();
    cfg.functions[at]..cfg.functions[at + 1]
}

#[test]
fn switches_of_gcc_are_followed() {
    let library = ["-shared", "-fPIC"];
    let program = [
        "-no-pie",
        "-fno-pie",
        "-nostdlib",
        "-Wl,-e,first",
        "-Wl,--unresolved-symbols=ignore-all",
    ];
    for (name, flags) in [
        ("o0", [&library[..], &["-O0"]].concat()),
        ("o1", [&library[..], &["-O1"]].concat()),
        ("o2", [&library[..], &["-O2"]].concat()),
        (
            "o3",
            [&library[..], &["-O3", "-fcf-protection=full"]].concat(),
        ),
        ("os", [&library[..], &["-Os", "-fjump-tables"]].concat()),
        ("fixed", [&program[..], &["-O2"]].concat()),
        ("fixed-o0", [&program[..], &["-O0"]].concat()),
    ] {
        let Some(file) = compiled(name, SWITCHES, &flags) else {
            return;
        };
        let cfg = Cfg::of_file(&file, None).unwrap();
        assert_sound(&cfg);
        for (function, cases) in [("first", 7), ("second", 6)] {
            let most = blocks_of(&cfg, function).map(|b| cfg.successors.degree(b));
            assert_eq!(most.max(), Some(cases), "{function} of {name}");
            // Every block can be reached, but for padding.
            let entry = blocks_of(&cfg, function).next().unwrap();
            let depth = oracle::bfs(&cfg.successors, entry);
            let reached = blocks_of(&cfg, function).filter(|&b| depth[b as usize] != u32::MAX);
            assert!(reached.count() > cases as usize, "{function} of {name}");
        }
    }
}

/// A jump to another function leaves the graph, with its arguments.
#[test]
fn tail_calls_leave_the_function() {
    let Some(file) = compiled("tails", SWITCHES, &["-shared", "-fPIC", "-O2"]) else {
        return;
    };
    let cfg = Cfg::of_file(&file, None).unwrap();
    let live = oracle::liveness(&cfg.successors, &cfg.uses, &cfg.defs);
    let blocks = blocks_of(&cfg, "tail");
    let jumps = blocks.clone().filter(|&b| cfg.successors.degree(b) == 0);
    assert!(jumps.clone().count() >= 2);
    for block in jumps {
        let known = cfg.uses[block as usize] | cfg.defs[block as usize];
        assert_eq!(known & (RDI | RSI | R12), RDI | RSI | R12);
    }
    let entry = blocks.clone().next().unwrap() as usize;
    assert_eq!(live[entry] & (RDI | R12), RDI | R12);
}

/// Nothing follows a call of what never returns, be that told by its name or seen in its code.
#[test]
fn nothing_follows_a_call_that_does_not_return() {
    let source = "
        extern void exit(int);
        extern int other(int);
        void leave(int x) { exit(x + 1); }
        int checked(int x) { if (x < 0) leave(x); return x + 1; }
        int back(int x) { if (x < 0) other(x); return x + 1; }
    ";
    let Some(file) = compiled("leaves", source, &["-shared", "-fPIC", "-O0"]) else {
        return;
    };
    let cfg = Cfg::of_file(&file, None).unwrap();
    assert_sound(&cfg);
    let ends = |function: &str| {
        let blocks = blocks_of(&cfg, function);
        blocks.filter(|&b| cfg.successors.degree(b) == 0).count()
    };
    // The return and the call; the return alone.
    assert_eq!((ends("checked"), ends("back")), (2, 1));
}

#[test]
fn damaged_programs_never_panic() {
    let path = compiled("damaged", SWITCHES, &["-shared", "-fPIC", "-O2"]);
    let good = match &path {
        Some(path) => std::fs::read(path).unwrap(),
        None => elf(
            &[0x48, 0x8d, 0x15, 1, 0, 0, 0, 0xff, 0xe0, 0xc3],
            &[1, 2, 3, 4],
        ),
    };
    cases(300, |u| {
        let mut bytes = good.clone();
        for _ in 0..u.int_in_range(1..=16)? {
            let at = u.choose_index(bytes.len())?;
            let any = u.arbitrary()?;
            bytes[at] = *u.choose(&[0, 1, 0x7f, 0x80, 0xff, any])?;
        }
        if u.ratio(1, 4)? {
            bytes.truncate(u.choose_index(bytes.len())?);
        }
        if let Ok(cfg) = Cfg::of_elf(&bytes) {
            assert_sound(&cfg);
        }
        Ok(())
    });
}

#[test]
fn own_executable() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return;
    }
    let cfg = Cfg::of_file(&std::env::current_exe().unwrap(), None).unwrap();
    assert_sound(&cfg);
    let (blocks, edges) = (cfg.uses.len(), cfg.successors.edge_count());
    assert!(blocks > 10_000, "{blocks} blocks");
    assert!(
        edges > blocks && edges < 2 * blocks,
        "{edges} edges, {blocks} blocks"
    );
    // The stack pointer is read by every return, and nothing ends its life.
    let ends = (0..blocks as u32).filter(|&b| cfg.successors.degree(b) == 0);
    assert!(ends.clone().count() > 100);
    assert!(cfg.defs.iter().filter(|&&d| d & RSP == 0).count() > blocks / 2);
    let mut bytes = Vec::new();
    cfg.write(&mut bytes).unwrap();
    assert!(bytes.len() < 8 * blocks, "{} bytes", bytes.len());
    assert_eq!(Cfg::read(&bytes).unwrap(), cfg);
}

#[test]
fn damaged_caches_are_refused() {
    let mut bytes = Vec::new();
    let good = Cfg::generated(50, 3);
    good.write(&mut bytes).unwrap();
    assert!(matches!(Cfg::read(b"CSRBIN01"), Err(CacheError::Io(_))));
    for len in 0..bytes.len() {
        assert!(
            Cfg::read(&bytes[..len]).is_err(),
            "{len} of {} bytes",
            bytes.len()
        );
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // Some bits of gzip's header mean nothing; what the checksum covers is the same or refused.
            if let Ok(cfg) = Cfg::read(&damaged) {
                assert_eq!(cfg, good, "bit {bit} of byte {at}");
            }
        }
    }
    assert!(matches!(Cfg::of_elf(b"no"), Err(ElfErrorKind::NotElf)));
}

#[test]
fn a_program_is_decoded_once() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{}", std::process::id()));
    let program = folder.with_extension("elf");
    // test eax, eax; je; nop; ret
    std::fs::write(&program, elf(&[0x85, 0xc0, 0x74, 1, 0x90, 0xc3], &[])).unwrap();
    let decoded = Cfg::of_file(&program, None).unwrap();
    assert_eq!(edges(&decoded), [vec![1, 2], vec![2], vec![]]);
    assert_eq!(Cfg::of_file(&program, Some(&folder)).unwrap(), decoded);
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    let [file] = &files[..] else {
        panic!("one file: {files:?}");
    };
    // Another graph in its place is what we get, so nothing was decoded. It is behind the program's hash.
    let other = Cfg::generated(30, 1);
    let mut bytes = std::fs::read(file).unwrap();
    bytes.truncate(16);
    other.write(&mut bytes).unwrap();
    std::fs::write(file, &bytes).unwrap();
    assert_eq!(Cfg::of_file(&program, Some(&folder)).unwrap(), other);
    let spec = GraphSpec::ElfCfg(program.clone());
    let graph = spec.load_through(Some(&folder)).unwrap();
    assert_eq!((graph.csr.node_count(), graph.node_kind()), (30, "blocks"));
    // A damaged one is decoded anew, and replaced.
    bytes.truncate(bytes.len() - 9);
    for damage in [&bytes[..], b"", b"CFGBIN01"] {
        std::fs::write(file, damage).unwrap();
        assert_eq!(Cfg::of_file(&program, Some(&folder)).unwrap(), decoded);
        assert_eq!(
            Cfg::read(&std::fs::read(file).unwrap()[16..]).unwrap(),
            decoded
        );
    }
    // So is a program that has changed, in the same file.
    std::fs::write(&program, elf(&[0x90, 0xc3], &[])).unwrap();
    let changed = Cfg::of_file(&program, Some(&folder)).unwrap();
    assert_eq!(edges(&changed), [vec![0u32; 0]]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    // Where no file can be made, there is no cache.
    let blocked = program.join("folder");
    assert_eq!(Cfg::of_file(&program, Some(&blocked)).unwrap(), changed);
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_file(program).unwrap();
}
