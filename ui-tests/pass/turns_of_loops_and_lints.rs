//! What is written into loops is no matter of the user's lints.
#![forbid(unreachable_code, unused_braces)]
#![deny(warnings)]

use vyre::prelude::*;

#[device]
#[rustfmt::skip]
fn halvings(n: u32) -> u32 {
    let (parts, mut k) = ([n], 0);
    let left;
    loop { if k > n { left = parts; break; } k += 1 }
    while k > 9 { k /= 2 }
    loop { return k + left[0]; }
}

#[wave_graph]
mod graph {
    use super::*;

    pub struct Data {
        #[output(per = n)]
        out: u32,
        n: u32,
    }

    #[wave(range(n))]
    #[rustfmt::skip]
    fn sum(i: Index, out: &mut u32) {
        'rows: for row in 0..i { while *out < i { *out += 1; if *out == row { continue 'rows; } } }
        *out += halvings(i);
    }
}

#[kernel]
#[rustfmt::skip]
fn count(i: Index, out: &mut u32) { while *out < i { *out += 1 } }

fn main() -> Result<(), vyre::Error> {
    let mut session = graph::Session::new(&Runtime::native(), ())?;
    assert_eq!(session.run(graph::Run { n: 3 })?.out, [1, 4, 7]);
    let mut out = [0; 3];
    count::run(&Runtime::native(), &mut out)?;
    assert_eq!(out, [0, 1, 2]);
    Ok(())
}
