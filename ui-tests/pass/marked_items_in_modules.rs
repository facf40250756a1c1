//! Functions with loops and macros of their own, in modules that another macro takes.

#[vyre::device]
mod shared {
    use vyre::prelude::*;

    #[kernel]
    pub fn count(i: Index, out: &mut u32) {
        while *out < i {
            *out += 1;
        }
    }

    pub mod inner {
        #[vyre::device]
        pub fn first_from(n: u32) -> u32 {
            let mut k = 0;
            loop {
                k += 1;
                if k >= n {
                    break k;
                }
            }
        }
    }
}

#[vyre::wave_graph]
mod graph {
    use super::shared::inner::first_from;
    use vyre::prelude::*;

    pub struct Data {
        #[output(per = n)]
        out: u32,
        n: u32,
    }

    pub mod inner {
        use vyre::prelude::*;

        #[kernel]
        pub fn double(i: Index, out: &mut u32) {
            for _ in 0..i {
                *out += 2;
            }
        }
    }

    #[wave(range(n))]
    fn sum(i: Index, out: &mut u32) {
        *out = first_from(i);
    }
}

fn main() -> Result<(), vyre::Error> {
    let runtime = vyre::Runtime::native();
    let mut session = graph::Session::new(&runtime, ())?;
    assert_eq!(session.run(graph::Run { n: 3 })?.out, [1, 1, 2]);
    let mut out = [0; 3];
    shared::count::run(&runtime, &mut out)?;
    graph::inner::double::run(&runtime, &mut out)?;
    assert_eq!(out, [0, 3, 6]);
    Ok(())
}
