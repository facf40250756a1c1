//! What the macro says about a module, through the same stages as in a compiler.

mod least;
mod mutations;
mod programs;
mod refusals;

use super::build::*;
use super::graph::*;
use super::*;
use crate::import::{self, Asker};
use crate::source;
use crate::tokens::source_text;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote;
use std::str::FromStr;
use syn::{Expr, Ident};
use vyre_core::plan::evidence::{self, Binding, Sample};
use vyre_core::vir0::fingerprint::Fingerprint;
use vyre_core::vir0::manifest::{Measured, Stale};
use vyre_core::vir0::module::{
    Agreement, ConstantId, Domain, FixpointId, FrontierId, Least, Mode, Program, Proviso, ReduceOp,
    ReductionId, Resource, Step, UpdateOp, WaveId, Why,
};

const DATA: &str = "pub struct Data {
    #[topology] graph: Csr,
    #[topology(per = edge(graph))] weight: u32,
    #[topology(reverse_of = graph)] back: Csr,
    #[frontier] front: Frontier,
    #[frontier(unique)] once: Frontier,
    #[output(per = node)] dist: u32,
    #[scratch(per = node)] mark: u32,
    #[scratch(per = node)] rank: f32,
    #[scratch(per = n)] line: u32,
    #[input(per = node)] prior: f32,
    #[reduce(sum)] total: f32,
    #[reduce(count)] changed: u64,
    source: u32,
    n: u32,
}";

fn parse(body: &str, attr: TokenStream) -> (Graph, Report) {
    let mut report = Report::default();
    let module = syn::parse_str(&format!("pub mod g {{ {body} }}")).expect("the test parses");
    let mut graph = syntax::graph(attr, module, &mut report);
    super::fill::write_out(&mut graph);
    (graph, report)
}

/// Messages of a module whose `Data` is [`DATA`].
fn errors(waves: &str) -> Vec<String> {
    all_errors(&format!("{DATA} {waves}"))
}

fn all_errors(body: &str) -> Vec<String> {
    let (graph, mut report) = parse(body, TokenStream::new());
    let parsed = report.is_empty();
    let built = build(&graph, Imports::default(), parsed, &mut report);
    let messages: Vec<String> = report.messages().into_iter().map(|(_, m)| m).collect();
    if messages.is_empty() {
        assert!(built.skeleton.is_some(), "neither a program nor a message");
        check_plan(&built.program);
    }
    // Whatever happened, what is emitted is Rust.
    let tokens = expand::module(&built.expansion(&graph), report);
    syn::parse2::<syn::File>(tokens).expect("the expansion parses");
    messages
}

/// The one message, without its help.
fn error(waves: &str) -> String {
    let messages = errors(waves);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let message = messages[0].split("\n\nhelp: ").next().unwrap_or_default();
    message.to_owned()
}

/// The one message's help.
fn help(waves: &str) -> String {
    let messages = errors(waves);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let help = messages[0].split("\n\nhelp: ").nth(1).unwrap_or_default();
    help.to_owned()
}

fn program(waves: &str) -> Program {
    let (graph, mut report) = parse(&format!("{DATA} {waves}"), TokenStream::new());
    let built = build(&graph, Imports::default(), true, &mut report);
    assert!(built.skeleton.is_some(), "{:#?}", report.messages());
    check_plan(&built.program);
    built.program
}

/// Another judge than the stage that wrote the schedule.
fn check_plan(program: &Program) {
    let wrong = vyre_core::plan::check::program(program);
    assert!(wrong.is_empty(), "{wrong:#?}\n{:#?}", program.schedule);
}
