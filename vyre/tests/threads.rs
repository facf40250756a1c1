//! How many threads the environment may ask for. The test runs itself again, with an environment of its own.

use std::process::Command;
use vyre::prelude::*;
use vyre_tests::passes::doubled;

const INSIDE: &str = "VYRE_TEST_INSIDE";

#[test]
fn absurd_numbers_of_threads_are_errors() {
    if std::env::var_os(INSIDE).is_some() {
        for runtime in [Runtime::native(), Runtime::vir0()] {
            match doubled::Session::new(&runtime, ()) {
                Ok(mut session) => {
                    let out = session.run(doubled::Run { n: 100_000 }).expect("runs");
                    assert_eq!(out.twice[99_999], 199_998);
                    println!("runs");
                }
                Err(e) => println!("{e:?}"),
            }
        }
        return;
    }
    let with = |threads: &str| {
        let mut again = Command::new(std::env::current_exe().expect("a test is a program"));
        again.args([
            "--exact",
            "absurd_numbers_of_threads_are_errors",
            "--nocapture",
        ]);
        again.env(INSIDE, "1").env("RAYON_NUM_THREADS", threads);
        let output = again.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("it prints text")
    };
    let refused = with("1000000");
    let says = "RAYON_NUM_THREADS asks for 1000000 threads; at most ";
    assert_eq!(refused.matches(says).count(), 2, "{refused}");
    // What is no number asks for nothing, as rayon has it.
    for threads in ["3", "abc", "0"] {
        assert_eq!(with(threads).matches("runs").count(), 2, "{threads}");
    }
}
