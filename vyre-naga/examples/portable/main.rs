//! Which target gets which pass of the examples, and their shaders as files.
//!
//! `cargo run -p vyre-naga --example portable -- bfs --export /tmp/bfs`

mod passes;

use clap::Parser;
use std::fs;
use std::path::PathBuf;
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
    #[arg(long, value_name = "N", default_value_t = Options::default().turns)]
    turns: u32,
}

fn main() -> ExitCode {
    let asked = Portable::parse();
    match run(&asked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("portable: {e}");
            ExitCode::from(2)
        }
    }
}

fn run(asked: &Portable) -> Result<(), Box<dyn std::error::Error>> {
    let passes = vyre::passes();
    let wanted = passes.iter().filter(|pass| match &asked.pass {
        Some(name) => *name == pass.plan().program().name || *name == pass.manifest().id,
        None => true,
    });
    let wanted: Vec<_> = wanted.collect();
    match (&asked.pass, wanted.len()) {
        (Some(name), 0) => return Err(format!("there is no pass `{name}`").into()),
        (Some(name), 2..) if asked.export.is_some() => {
            return Err(format!("several passes are called `{name}`: give one by its id").into());
        }
        _ => {}
    }
    for pass in wanted {
        let program = pass.plan().program();
        println!("{} ({})", program.name, pass.manifest().id);
        for line in lines(&program).lines() {
            println!("    {line}");
        }
        let Some(folder) = &asked.export else {
            continue;
        };
        let options = Options { turns: asked.turns };
        let export = export(&program, options)?;
        for File { path, bytes } in &export.files {
            let to = folder.join(path);
            fs::create_dir_all(to.parent().unwrap_or(folder))?;
            fs::write(to, bytes)?;
        }
        println!("{} files in {}", export.files.len(), folder.display());
        for (target, refusal) in export.refused {
            println!("not for {target}: {refusal}");
        }
    }
    Ok(())
}
