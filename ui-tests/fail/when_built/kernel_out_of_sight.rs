//! What rustc finds and the macro does not see is no kernel without bytecode: the build fails, and says what to write.

use vyre::prelude::*;

#[allow(non_upper_case_globals)]
const low: u32 = 2;

#[kernel]
fn lower(i: Index, y: &mut u32) {
    *y = i + low;
}

#[kernel]
fn defaults(y: &mut u32) {
    #[derive(Clone, Copy, Default)]
    struct Pair {
        a: u32,
    }
    *y = Pair::default().a;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::native();
    lower::run(&runtime, &mut [0; 4])?;
    defaults::run(&runtime, &mut [0; 4])?;
    Ok(())
}
