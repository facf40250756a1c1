//! Control-flow graphs: by hand, of a real program, through the cache.

use vyre_analyses::{CacheError, Cfg, liveness};
use vyre_examples::elf::ElfErrorKind;

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
        .map(|v| cfg.successors.neighbors(v).collect())
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

    let live = liveness(&cfg);
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

#[test]
fn own_executable() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return;
    }
    let cfg = Cfg::of_file(&std::env::current_exe().unwrap()).unwrap();
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
    Cfg::generated(50, 3).write(&mut bytes).unwrap();
    assert!(matches!(Cfg::read(b"CSRBIN01"), Err(CacheError::Magic)));
    for len in 8..bytes.len() {
        assert!(
            Cfg::read(&bytes[..len]).is_err(),
            "{len} of {} bytes",
            bytes.len()
        );
    }
    for at in 8..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // It may decode to another graph, but never panics.
            let _ = Cfg::read(&damaged);
        }
    }
    assert!(matches!(Cfg::of_elf(b"no"), Err(ElfErrorKind::NotElf)));
}
