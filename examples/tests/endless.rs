//! An example whose pass never ends, for tests of Ctrl-C and of deadlines.

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;
use vyre_examples::cli::{self, Example, Failure, Job, Shared};
use vyre_examples::graph::GraphSpec;
use vyre_tests::endless::later;

/// Loops for ever
#[derive(clap::Parser)]
#[command(name = "endless")]
struct Endless {
    #[command(flatten)]
    shared: Shared,
    /// Do not end with the run, either
    #[arg(long)]
    deaf: bool,
}

impl Example for Endless {
    const NAME: &'static str = "endless";

    /// Whatever else the machine does, the run stops before that, and the test ends.
    const PATIENCE: Duration = Duration::from_secs(3_600);

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    /// Says when the run is about to begin, when it is where it never ends, and how it ended.
    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let mut session = later::Session::new(job.runtime(), ())?;
        let progress = session.progress().expect("CPUs tell how far they are");
        thread::spawn(move || {
            while progress.rounds() == 0 {
                thread::yield_now();
            }
            // Nothing is left to do about a closed stdout.
            let _ = writeln!(io::stdout(), "  under way");
        });
        job.say("begins", job.runtime().backend().to_owned());
        let ended = session.run(later::Run { items: 9 }).map(drop);
        let how = ended
            .as_ref()
            .map_or_else(ToString::to_string, |()| "by itself".to_owned());
        job.say("ended", how);
        if self.deaf {
            loop {
                thread::park();
            }
        }
        Ok(ended?)
    }
}

fn main() -> ExitCode {
    cli::main::<Endless>()
}
