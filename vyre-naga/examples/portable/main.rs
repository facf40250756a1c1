//! Which target gets which pass of the examples, and their shaders as files.
//!
//! `cargo run -p vyre-naga --example portable -- bfs --export /tmp/bfs`

mod passes;

use clap::Parser;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vyre_naga::{File, Options, export, lines};

/// Which target gets which pass, and its shaders as files
#[derive(Parser)]
#[command(name = "portable")]
struct Portable {
    /// The pass, by the name of its module or by its id; all of them without it
    pass: Option<String>,
    /// Write shaders and plans to this folder, a folder for each target
    #[arg(long, value_name = "DIR", requires = "pass")]
    export: Option<PathBuf>,
    /// Turns of loops that an invocation may take in a dispatch
    #[arg(long, value_name = "N", default_value_t = Options::default().turns, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
}

fn main() -> ExitCode {
    let asked = Portable::parse();
    match run(&asked, &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has read enough.
        Err(e) if is_broken_pipe(&*e) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("portable: {e}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(e: &(dyn Error + 'static)) -> bool {
    let kind = e.downcast_ref::<io::Error>().map(io::Error::kind);
    kind == Some(io::ErrorKind::BrokenPipe)
}

fn run(asked: &Portable, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let passes = vyre::passes();
    let wanted = passes.iter().filter(|pass| match &asked.pass {
        Some(name) => *name == pass.plan().program().name || *name == pass.manifest().id,
        None => true,
    });
    let wanted: Vec<_> = wanted.collect();
    match (&asked.pass, wanted.len()) {
        (Some(name), 0) => {
            let mut names: Vec<_> = passes.iter().map(|p| p.plan().program().name).collect();
            names.sort();
            let names = names.join(", ");
            return Err(format!("there is no pass `{name}`; there are {names}").into());
        }
        (Some(name), 2..) if asked.export.is_some() => {
            return Err(format!("several passes are called `{name}`: give one by its id").into());
        }
        _ => {}
    }
    for pass in wanted {
        let program = pass.plan().program();
        writeln!(out, "{} ({})", program.name, pass.manifest().id)?;
        for line in lines(&program).lines() {
            writeln!(out, "    {line}")?;
        }
        let Some(folder) = &asked.export else {
            continue;
        };
        let options = Options {
            turns: asked.turns,
            ..Options::default()
        };
        let export = export(&program, options)?;
        for File { path, bytes } in &export.files {
            write(&folder.join(path), bytes)?;
        }
        writeln!(out, "{} files in {}", export.files.len(), folder.display())?;
        for (target, refusal) in export.refused {
            writeln!(out, "not for {target}: {refusal}")?;
        }
    }
    Ok(())
}

/// Writes a file, and makes the folders that it lies in.
fn write(to: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| fs::write(to, bytes));
    written.map_err(|e| format!("{}: {e}", to.display()))
}
