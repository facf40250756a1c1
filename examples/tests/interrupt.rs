//! Ctrl-C: an example ends at once, with one line and the exit code of a program that SIGINT ends.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the example has to say from its start to its end, its exit code, and how long it took from the signal on.
struct Ended {
    said: Vec<String>,
    complained: String,
    code: Option<i32>,
    took: Duration,
}

/// Runs an endless pass, and interrupts it so long after it begins.
fn interrupted(backend: &str, after: Duration) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endless"));
    let command = command.args(["--backend", backend]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let out = child.stdout.take().expect("it is piped");
    let mut err = child.stderr.take().expect("it is piped");
    let mut lines = BufReader::new(out)
        .lines()
        .map(|line| line.expect("it is text"));
    let mut said: Vec<String> = Vec::new();
    while !said.last().is_some_and(|line| line.contains("begins")) {
        said.push(lines.next().expect("it says that it begins"));
    }
    std::thread::sleep(after);
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("there is `kill`").success());
    let began = Instant::now();
    let code = child.wait().expect("it ends").code();
    let took = began.elapsed();
    said.extend(lines);
    let mut complained = String::new();
    err.read_to_string(&mut complained).expect("it is text");
    Ended {
        said,
        complained,
        code,
        took,
    }
}

/// Where other processes have the machine, one of some calls is still in time.
fn ends_at_ctrl_c(backend: &str) {
    let in_time = [0, 20, 200].map(|ms| {
        let ended = interrupted(backend, Duration::from_millis(ms));
        assert_eq!(ended.code, Some(130), "{:?}", ended.said);
        assert_eq!(ended.complained, "stopped by Ctrl-C\n");
        // The pass was stopped. Otherwise the process ends without it, after some patience.
        let stopped = ended
            .said
            .last()
            .is_some_and(|line| line == "  ended     the run was cancelled");
        stopped && ended.took < Duration::from_secs(1)
    });
    assert!(in_time.contains(&true), "{in_time:?}");
}

#[test]
fn a_native_pass_ends_at_ctrl_c() {
    ends_at_ctrl_c("native");
}

#[test]
fn an_interpreted_pass_ends_at_ctrl_c() {
    ends_at_ctrl_c("vir0");
}
