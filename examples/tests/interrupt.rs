//! Ctrl-C: what an example runs is stopped, and it ends with one line and the exit code of a program that SIGINT ends.
//! What becomes of SIGINT before the example starts, the tests say themselves, and inherit nothing.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use vyre_tests::happens;

/// An example that runs, and what it says.
struct Endless {
    child: Child,
    lines: Vec<String>,
    said: Receiver<String>,
    listening: JoinHandle<()>,
}

impl Endless {
    /// Starts it by a command that sets SIGINT and becomes it.
    fn start(by: &[&str], args: &[&str]) -> Endless {
        let mut command = Command::new(by[0]);
        let command = command.args(&by[1..]).arg(env!("CARGO_BIN_EXE_endless"));
        let command = command.args(args).stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let out = child.stdout.take().expect("it is piped");
        let (says, said) = mpsc::channel();
        let listening = thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                says.send(line.expect("it is text"))
                    .expect("the test listens");
            }
        });
        Endless {
            child,
            lines: Vec::new(),
            said,
            listening,
        }
    }

    /// Waits until it says this, for no longer than a minute, which turns a hang into a failure.
    fn wait_for(&mut self, what: &str) {
        while !self.lines.last().is_some_and(|line| line.contains(what)) {
            match self.said.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => self.lines.push(line),
                Err(e) => {
                    self.child.kill().expect("it is there");
                    panic!("it does not say `{what}`, but {:?}: {e}", self.lines);
                }
            }
        }
    }

    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        // Every shell has a `kill` of its own.
        let mut tell = Command::new("sh");
        let told = tell.args(["-c", "kill -INT \"$0\"", &pid]).status();
        assert!(told.expect("there is a shell").success());
    }

    /// It ends with this code and these words on stderr.
    fn ends(mut self, code: i32, words: &str) {
        let child = &mut self.child;
        let ended = happens(|| child.try_wait().expect("it is a child").is_some());
        if !ended {
            child.kill().expect("it is there");
        }
        let status = child.wait().expect("it has ended");
        self.listening.join().expect("the test listens to all");
        self.lines.extend(self.said);
        let mut complained = String::new();
        let err = child.stderr.as_mut().expect("it is piped");
        err.read_to_string(&mut complained).expect("it is text");
        assert_eq!(
            (status.code(), complained.as_str()),
            (Some(code), words),
            "{:?}",
            self.lines
        );
    }
}

/// SIGINT ends a program.
const BY_DEFAULT: &[&str] = &["env", "--default-signal=INT"];

/// It is ignored, as in jobs of a shell without a terminal.
const IGNORED: &[&str] = &["sh", "-c", "trap '' INT; exec \"$0\" \"$@\""];

const STOPPED: &str = "stopped by Ctrl-C or a signal\n";

/// Runs a pass that never ends, and interrupts it once it has said this: it stops, and says so in one line.
fn ends_at_ctrl_c(by: &[&str], backend: &str, once: &str) {
    let mut endless = Endless::start(by, &["--backend", backend]);
    endless.wait_for(once);
    endless.interrupt();
    endless.wait_for("ended     the run was cancelled");
    endless.ends(130, STOPPED);
}

/// Before the run begins, or while it does.
#[test]
fn a_native_pass_that_begins_ends_at_ctrl_c() {
    ends_at_ctrl_c(BY_DEFAULT, "native", "begins");
}

#[test]
fn a_native_pass_that_is_under_way_ends_at_ctrl_c() {
    ends_at_ctrl_c(BY_DEFAULT, "native", "under way");
}

#[test]
fn an_interpreted_pass_that_begins_ends_at_ctrl_c() {
    ends_at_ctrl_c(BY_DEFAULT, "vir0", "begins");
}

#[test]
fn an_interpreted_pass_that_is_under_way_ends_at_ctrl_c() {
    ends_at_ctrl_c(BY_DEFAULT, "vir0", "under way");
}

#[test]
fn a_pass_that_was_started_without_sigint_ends_at_ctrl_c() {
    ends_at_ctrl_c(IGNORED, "native", "under way");
}

/// What does not end with its run is not waited for.
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let mut endless = Endless::start(BY_DEFAULT, &["--backend", "native", "--deaf"]);
    endless.wait_for("under way");
    endless.interrupt();
    endless.wait_for("ended     the run was cancelled");
    endless.interrupt();
    endless.ends(130, STOPPED);
}

#[test]
fn a_deadline_ends_a_run() {
    for backend in ["native", "vir0"] {
        let args = ["--backend", backend, "--deadline", "0.02"];
        let mut endless = Endless::start(BY_DEFAULT, &args);
        endless.wait_for("ended");
        let words = "error: the run was stopped after 20ms, the time that it was given\n";
        endless.ends(1, words);
    }
}
