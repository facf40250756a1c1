//! An example whose pass never ends, for tests of Ctrl-C.

use std::process::ExitCode;
use vyre_examples::cli::{self, Example, Failure, Job, Shared};
use vyre_examples::graph::GraphSpec;
use vyre_tests::endless::spin;

/// Loops for ever
#[derive(clap::Parser)]
#[command(name = "endless")]
struct Endless {
    #[command(flatten)]
    shared: Shared,
}

impl Example for Endless {
    const NAME: &'static str = "endless";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn default_graph(&self) -> Result<Option<GraphSpec>, Failure> {
        Ok(None)
    }

    fn run(&self, job: &mut Job<'_>) -> Result<(), Failure> {
        let mut session = spin::Session::new(job.runtime(), ())?;
        job.say("begins", job.runtime().backend().to_owned());
        let ended = session.run(spin::Run { items: 9, turns: 1 }).map(drop);
        let how = ended
            .as_ref()
            .map_or_else(ToString::to_string, |()| "by itself".to_owned());
        job.say("ended", how);
        Ok(ended?)
    }
}

fn main() -> ExitCode {
    cli::main::<Endless>()
}
