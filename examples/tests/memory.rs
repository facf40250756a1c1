//! What an option asks for and the system has no memory for: one error, whatever memory the machine has.

use std::ffi::OsString;
use vyre_examples::cli::{self, Example};
use vyre_tests::heap;

#[global_allocator]
static HEAP: heap::Heap = heap::Heap;

macro_rules! examples {
    ($($name:ident $path:literal;)*) => {$(
        #[path = $path]
        #[allow(dead_code, unreachable_pub, missing_docs, reason = "an example's own crate, as a module")]
        mod $name;
    )*};
}

examples! {
    bfs "../examples/bfs.rs";
    bitonic "../examples/bitonic.rs";
    dfa "../examples/dfa.rs";
    saxpy "../examples/saxpy.rs";
    select "../examples/select.rs";
}

/// Exit code and stderr, where allocations of `from_bytes` bytes or more are refused.
fn starved<E: Example>(from_bytes: usize, args: &str) -> (u8, String) {
    let _alone = heap::alone();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["example", "--backend", "native"]
        .into_iter()
        .chain(args.split_whitespace());
    let args: Vec<OsString> = args.map(OsString::from).collect();
    let code = heap::starved_from(from_bytes, || cli::run::<E>(args, &mut out, &mut err));
    (code, String::from_utf8(err).expect("text"))
}

fn is_refused<E: Example>(from_bytes: usize, args: &str, option: &str, gib: &str) {
    let (code, err) = starved::<E>(from_bytes, args);
    let starts = format!("error: `{option}` needs {gib} GiB of memory; ");
    assert!(code == 1 && err.starts_with(&starts), "{code}: {err}");
    assert!(err.ends_with(" GiB are available\n"), "{err}");
}

#[test]
fn vectors_that_do_not_fit_are_an_error() {
    // 48 GiB where the system says that it has less; else the first of three vectors is refused.
    let (code, err) = starved::<saxpy::Saxpy>(1 << 30, "--len 4294967295");
    let starts = "error: `--len 4294967295` needs ";
    assert!(code == 1 && err.starts_with(starts), "{code}: {err}");
    is_refused::<bitonic::Bitonic>(1 << 22, "--len 1100000", "--len 1100000", "0.0");
    is_refused::<dfa::Dfa>(1 << 22, "--len 5000000", "--len 5000000", "0.0");
}

#[test]
fn queries_that_do_not_fit_are_an_error() {
    let (code, err) = starved::<bfs::Bfs>(1 << 30, "--graph chain:9 --batch 4294967295");
    let starts = "error: `--batch 4294967295` needs ";
    assert!(code == 1 && err.starts_with(starts), "{code}: {err}");
    let (code, err) = starved::<select::Select>(1 << 30, "--graph chain:9 --searches 4294967295");
    let starts = "error: `--searches 4294967295` needs ";
    assert!(code == 1 && err.starts_with(starts), "{code}: {err}");
}
