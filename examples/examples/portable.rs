//! The passes of all examples for other programs: their shaders as WGSL, SPIR-V and MSL, with the plan of each as JSON.
//!
//! `cargo run -p vyre-examples --features wgpu --example portable -- --export shaders`; docs/WGPU.md says what the plan's
//! fields mean.

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};
use vyre_wgpu::export::{self, Export};

macro_rules! passes_of {
    ($($name:ident $path:literal;)*) => {$(
        #[path = $path]
        #[allow(dead_code, unreachable_pub, missing_docs, reason = "an example's own crate, as a module")]
        mod $name;
    )*};
}

passes_of! {
    bellman_ford "bellman_ford.rs";
    betweenness "betweenness.rs";
    bitonic "bitonic.rs";
    calibrate "calibrate.rs";
    dfa "dfa.rs";
    kcore "kcore.rs";
    mis "mis.rs";
    msf "msf.rs";
    reachability "reachability.rs";
    sssp "sssp.rs";
}

/// Writes the shaders and plans of all examples' passes, or says where they run
#[derive(Parser)]
#[command(name = "portable")]
pub struct Portable {
    /// Write ID.wgsl, ID.spv, ID.metal and ID.json of each pass; no GPU is needed for it
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
}

fn main() -> ExitCode {
    let portable = Portable::parse();
    match portable.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

impl Portable {
    /// Prints where each pass runs, and writes what is asked for.
    ///
    /// # Errors
    /// A pass that cannot be exported, or a file that cannot be written.
    pub fn run(&self) -> Result<(), String> {
        if let Some(folder) = &self.export {
            fs::create_dir_all(folder).map_err(|e| unwritten(folder, &e))?;
        }
        for pass in vyre::passes() {
            let id = pass.manifest().id;
            let export =
                export::export(&pass.plan().program()).map_err(|e| format!("{id}: {e}"))?;
            match export.refused.is_empty() {
                true => println!("{id}: any WebGPU adapter"),
                false => println!("{id}: adapters that have more than WebGPU promises"),
            }
            for refusal in &export.refused {
                println!("  {refusal}");
            }
            if let Some(folder) = &self.export {
                write(folder, &id, &export)?;
            }
        }
        Ok(())
    }
}

fn write(folder: &Path, id: &str, export: &Export) -> Result<(), String> {
    let put = |extension: &str, bytes: &[u8]| {
        let path = folder.join(format!("{id}.{extension}"));
        fs::write(&path, bytes).map_err(|e| unwritten(&path, &e))
    };
    let spirv: Vec<u8> = export
        .spirv
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    put("wgsl", export.wgsl.as_bytes())?;
    put("spv", &spirv)?;
    if let Some(msl) = &export.msl {
        put("metal", msl.as_bytes())?;
    }
    put("json", format!("{:#}\n", export.plan).as_bytes())
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}
