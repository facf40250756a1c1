//! Writes the JavaScript that a page needs beside a module: `bindgen MODULE.wasm DIRECTORY`.

use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let mut given = std::env::args_os().skip(1);
    let (Some(module), Some(directory)) = (given.next(), given.next()) else {
        eprintln!("usage: bindgen MODULE.wasm DIRECTORY");
        std::process::exit(2);
    };
    let mut bindgen = Bindgen::new();
    let bindgen = bindgen.input_path(&module).typescript(false);
    let made = bindgen.web(true).and_then(|b| b.generate(&directory));
    if let Err(e) = made {
        eprintln!("{}: {e:#}", module.display());
        std::process::exit(1);
    }
}
