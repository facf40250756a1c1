//! Ctrl-C: what an example runs is stopped, and it ends with one line and the exit code of a program that SIGINT ends.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What turns a hang into a failure. As long waits `endless` for its run to stop.
const MINUTE: Duration = Duration::from_secs(60);

/// Runs a pass that never ends, and interrupts it once it has said this: it stops, and says so in one line.
///
/// It does so, too, where SIGINT was ignored when it was started, as it is in jobs of a shell without a terminal.
fn ends_at_ctrl_c(backend: &str, once: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endless"));
    let command = command.args(["--backend", backend]).stdin(Stdio::null());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let out = child.stdout.take().expect("it is piped");
    let mut err = child.stderr.take().expect("it is piped");
    let (says, said) = mpsc::channel();
    let listening = thread::spawn(move || {
        for line in BufReader::new(out).lines() {
            says.send(line.expect("it is text"))
                .expect("the test listens");
        }
    });
    let mut lines: Vec<String> = Vec::new();
    while !lines.last().is_some_and(|line| line.contains(once)) {
        match said.recv_timeout(MINUTE) {
            Ok(line) => lines.push(line),
            Err(e) => {
                child.kill().expect("it is there");
                panic!("it does not say `{once}`, but {lines:?}: {e}");
            }
        }
    }
    let pid = child.id().to_string();
    // Every shell has a `kill` of its own.
    let mut tell = Command::new("sh");
    let told = tell.args(["-c", "kill -INT \"$0\"", &pid]).status();
    assert!(told.expect("there is a shell").success());
    // Where the run does not stop, it ends without it after a while.
    let code = child.wait().expect("it ends").code();
    listening.join().expect("the test listens to all");
    lines.extend(said);
    let mut complained = String::new();
    err.read_to_string(&mut complained).expect("it is text");
    assert_eq!(
        (code, complained.as_str()),
        (Some(130), "stopped by Ctrl-C\n"),
        "{lines:?}"
    );
    let stopped = "  ended     the run was cancelled".to_owned();
    assert!(lines.contains(&stopped), "{lines:?}");
}

/// Before the run begins, or while it does.
#[test]
fn a_native_pass_that_begins_ends_at_ctrl_c() {
    ends_at_ctrl_c("native", "begins");
}

#[test]
fn a_native_pass_that_is_under_way_ends_at_ctrl_c() {
    ends_at_ctrl_c("native", "under way");
}

#[test]
fn an_interpreted_pass_that_begins_ends_at_ctrl_c() {
    ends_at_ctrl_c("vir0", "begins");
}

#[test]
fn an_interpreted_pass_that_is_under_way_ends_at_ctrl_c() {
    ends_at_ctrl_c("vir0", "under way");
}
