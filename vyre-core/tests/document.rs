//! The generated tables of `docs/VIR0.md` are those of the code. `VYRE_BLESS=1 cargo test` rewrites them.

use std::path::Path;
use vyre_core::vir0::{container, isa};

fn with_block(document: &str, name: &str, contents: &str) -> String {
    let begin = format!("<!-- {name}: generated -->\n");
    let (before, rest) = document.split_once(&begin).expect("the marker exists");
    let (_, after) = rest.split_once("<!-- end -->").expect("the block ends");
    format!("{before}{begin}\n{contents}\n<!-- end -->{after}")
}

fn tags() -> String {
    let mut out = String::from("| enum | tags |\n| --- | ---");
    let mut open = "";
    for (ty, variant, tag) in container::TAGS {
        if *ty == open {
            out.push_str(&format!(", {tag} {variant}"));
        } else {
            out.push_str(&format!(" |\n| {ty} | {tag} {variant}"));
            open = ty;
        }
    }
    out + " |\n"
}

#[test]
fn the_tables_of_the_document_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/VIR0.md");
    let document = std::fs::read_to_string(&path).expect("docs/VIR0.md is readable");
    let expected = with_block(&document, "opcodes", &isa::markdown_table());
    let expected = with_block(&expected, "tags", &tags());
    if std::env::var_os("VYRE_BLESS").is_some() {
        std::fs::write(&path, expected).expect("docs/VIR0.md is writable");
    } else {
        assert!(
            document == expected,
            "docs/VIR0.md is out of date; run with VYRE_BLESS=1"
        );
    }
}
