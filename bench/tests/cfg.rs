//! The control-flow graph of a program, written and read back.

use std::ffi::OsString;
use std::path::PathBuf;

/// An executable of one loaded segment: header, program header, code.
fn elf(code: &[u8]) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    let len = 120 + code.len() as u64;
    let header = [
        u64::from_le_bytes(*b"\x7fELF\x02\x01\x01\0"),
        0,
        2 | 62 << 16 | 1 << 32,
        BASE + 120,
        64,
        0,
        64 << 32 | 56 << 48,
        1 | 64 << 16,
    ];
    let program = [1 | 5 << 32, 0, BASE, BASE, len, len, 1];
    let mut bytes: Vec<u8> = header
        .iter()
        .chain(&program)
        .flat_map(|w| w.to_le_bytes())
        .collect();
    bytes.extend(code);
    bytes
}

#[test]
fn the_cache_travels() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (program, file) = (dir.join("travels.elf"), dir.join("travels.cfg"));
    // test eax, eax; je; nop; ret
    std::fs::write(&program, elf(&[0x85, 0xc0, 0x74, 1, 0x90, 0xc3])).unwrap();
    let run = |args: &[&str]| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = ["bench"].iter().chain(args).map(OsString::from);
        let code = vyre_bench::run(args, &mut out, &mut err);
        assert_eq!((code, String::from_utf8(err).unwrap()), (0, String::new()));
        String::from_utf8(out).unwrap()
    };
    let (program, file) = (program.to_str().unwrap(), file.to_str().unwrap());
    let written = run(&["cfg", "--out", file, "--elf", program]);
    assert!(written.starts_with("3 blocks, 3 edges ("), "{written}");
    let read = run(&[
        "--workloads",
        "liveness",
        "--rivals",
        "native",
        "--cfg",
        file,
    ]);
    assert!(read.contains("liveness: 3 items, 3 edges ("), "{read}");
}
