//! `#[pass(...)]`: what a pass claims about itself.

use crate::args::{Arg, Form, attr_name, int_literal, parse_args, str_literal, unknown_arg};
use crate::report::Report;
use crate::sight;
use crate::source;
use crate::tables::ModuleTables;
use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Item, Lit, Meta};
use vyre_core::plan::evidence::{self, Binding, EvidenceError, Sample, Verdict};
use vyre_core::vir0::manifest::{Manifest, Proof, Stale};

/// The samples of a file that holds, and what they prove of what they were measured of.
struct Measurements {
    samples: Vec<Sample>,
    verdict: Verdict,
}

/// A pass's manifest and where its parts were written.
pub(crate) struct Claim {
    /// What goes into the container.
    pub(crate) manifest: Manifest,
    /// Where the evidence file is named.
    pub(crate) evidence: Option<Span>,
    /// What is in it, if that is at least the claim. Whether it is about this pass is not known before the pass is
    /// compiled.
    measured: Option<Measurements>,
    /// Where the id is written; `None` when the module's name is the id.
    pub(crate) id: Option<Span>,
    /// `same_result(..)`.
    pub(crate) same: Vec<SameResult>,
}

/// That every run gives a field alike: `dist = "distances are unique"`.
pub(crate) struct SameResult {
    pub(crate) field: Ident,
    pub(crate) reason: String,
    /// The included graph that says it, with those that it includes: from this one up to that.
    pub(crate) of: Option<(usize, usize)>,
}

impl Claim {
    /// Completes the manifest of the compiled pass: its evidence proves something if it was measured of this program. A
    /// build goes on without, since it has to run to be measured again.
    pub(crate) fn prove(&self, manifest: &mut Manifest, program_hash: u64, report: &mut Report) {
        manifest.program_hash = Some(program_hash);
        let Some(measured) = &self.measured else {
            return;
        };
        match measured.proof(program_hash) {
            Ok(proof) => {
                manifest.unproven = false;
                manifest.proof = Some(proof);
            }
            Err(why) => {
                manifest.disprove(why);
                report.warning(
                    self.evidence.unwrap_or_else(Span::call_site),
                    "stale_evidence",
                    measured.stale(why, manifest, program_hash),
                );
            }
        }
    }

    /// Items that come with the pass: the evidence as a file that the crate depends on, so that an edit recompiles; and
    /// a name that can be there once a crate, so that a second pass of the same id is an error.
    pub(crate) fn items(&self) -> TokenStream {
        let evidence = self.evidence.map(|span| {
            let mut path = Literal::string(&self.manifest.evidence);
            path.set_span(span);
            quote! { const _: &[::core::primitive::u8] = ::core::include_bytes!(#path); }
        });
        let once = self.id.map(|span| {
            let mut name = String::from("only_one_pass_has_the_id_");
            for c in self.manifest.id.chars() {
                if c.is_ascii_alphanumeric() {
                    name.push(c);
                } else {
                    name.push_str(&format!("_{:x}_", u32::from(c)));
                }
            }
            let name = Ident::new(&name, span);
            quote_spanned! { span =>
                #[doc(hidden)]
                #[allow(non_local_definitions)]
                #[macro_export]
                macro_rules! #name { () => {}; }
            }
        });
        quote! { #evidence #once }
    }
}

impl Measurements {
    /// What they prove of the program with this hash.
    fn proof(&self, program_hash: u64) -> Result<Proof, Stale> {
        let Binding {
            fingerprint,
            measured,
            rival,
        } = evidence::bind(&self.samples, program_hash)?;
        Ok(Proof {
            samples: u32::try_from(self.verdict.samples).unwrap_or(u32::MAX),
            min_speedup_bps: self.verdict.min_speedup_bps(),
            max_speedup_bps: (self.verdict.max_ratio * 10_000.0) as u64,
            constants_hash: fingerprint.constants,
            measured: *measured,
            rival: rival.clone(),
        })
    }

    /// What to do about samples of something else.
    fn stale(&self, why: Stale, manifest: &Manifest, program_hash: u64) -> String {
        let path = &manifest.evidence;
        let what = match why {
            Stale::Unbound => format!("evidence `{path}` does not say what was measured"),
            Stale::Program => {
                let bound = self.samples.iter().filter_map(|s| s.binding.as_ref());
                let mut hashes = bound.map(|b| b.fingerprint.program);
                let other = hashes.find(|&h| h != program_hash).unwrap_or(0);
                format!(
                    "the pass has changed since evidence `{path}` was measured: program_hash is {program_hash:#018x}, and {other:#018x} in the file"
                )
            }
            Stale::Constants => {
                format!("samples of evidence `{path}` differ in constants_hash")
            }
        };
        format!(
            "{what}; pass `{}` counts as unproven until new samples, with the hashes of `PLAN.fingerprint()`, replace it",
            manifest.id
        )
    }
}

/// How the named constants of a pass are written: where waves and conditions use them, and where the pass's own modules
/// declare them. Tokens count, not the space between them.
pub(crate) fn spelling<'a>(
    tables: &[ModuleTables],
    limits: impl IntoIterator<Item = &'a Expr>,
    items: impl IntoIterator<Item = &'a Item>,
) -> String {
    let mut text = String::new();
    let mut names = HashSet::new();
    for constant in tables.iter().flat_map(|t| &t.constants) {
        for module in &constant.home.inside {
            spell(module.to_token_stream(), &mut text, &mut names);
        }
        spell(constant.value.clone(), &mut text, &mut names);
        text.push_str(constant.scalar.name());
        text.push('\n');
    }
    for limit in limits {
        spell(limit.to_token_stream(), &mut text, &mut names);
        text.push('\n');
    }
    let mut declared: Vec<_> = items
        .into_iter()
        .filter_map(|item| match item {
            Item::Const(c) => Some(c),
            _ => None,
        })
        .collect();
    // A constant may be made of others.
    while let Some(at) = declared
        .iter()
        .position(|c| names.contains(&c.ident.to_string()))
    {
        let constant = declared.remove(at);
        spell(constant.ident.to_token_stream(), &mut text, &mut names);
        spell(constant.expr.to_token_stream(), &mut text, &mut names);
        text.push('\n');
    }
    text
}

/// Tokens, one space after each, and the identifiers among them.
fn spell(tokens: TokenStream, text: &mut String, names: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(g) => {
                let (open, close) = match g.delimiter() {
                    Delimiter::Parenthesis => ("( ", ") "),
                    Delimiter::Brace => ("{ ", "} "),
                    Delimiter::Bracket => ("[ ", "] "),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                spell(g.stream(), text, names);
                text.push_str(close);
            }
            TokenTree::Ident(i) => {
                text.push_str(&format!("{i} "));
                names.insert(i.to_string());
            }
            TokenTree::Punct(p) => text.push_str(&format!("{p} ")),
            TokenTree::Literal(l) => text.push_str(&format!("{l} ")),
        }
    }
}

const ARGS: [&str; 9] = [
    "id",
    "min_frontier_items",
    "min_reuse",
    "min_avoided_readback",
    "speedup",
    "evidence",
    "mandatory",
    "unproven",
    "same_result",
];

/// Reads the `#[pass]` attributes of an item. Without one the pass is unproven, and its id is the item's name.
pub(crate) fn parse(attrs: &[Attribute], title: String, name: &str, report: &mut Report) -> Claim {
    let mut claim = Claim {
        manifest: Manifest {
            id: name.to_owned(),
            title,
            unproven: true,
            ..Manifest::default()
        },
        evidence: None,
        measured: None,
        id: None,
        same: Vec::new(),
    };
    let Some((attr, more)) = attrs.split_first() else {
        return claim;
    };
    for second in more {
        report.error(second.span(), "`#[pass]` is given twice");
    }
    let tokens = match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(nv) => {
            report.error(nv.span(), "the arguments of `#[pass]` go in parentheses");
            return claim;
        }
    };
    let errors = report.len();
    let (mut said_unproven, mut said_mandatory) = (None, None);
    let mut speedup = None;
    for arg in parse_args(tokens, report) {
        let word = arg.name.to_string();
        match word.as_str() {
            "id" => {
                if let Some((id, span)) = text(&arg, report) {
                    if id.trim().is_empty() {
                        report.error(span, "a pass needs an id that is not empty");
                    }
                    claim.manifest.id = id;
                    claim.id = Some(span);
                }
            }
            "evidence" => {
                if let Some((path, span)) = text(&arg, report) {
                    if path.is_empty() {
                        report.error(span, "the path of the evidence file is empty");
                    }
                    claim.manifest.evidence = path;
                    claim.evidence = Some(span);
                }
            }
            "min_frontier_items" => integer(&arg, &mut claim.manifest.min_frontier_items, report),
            "min_reuse" => integer(&arg, &mut claim.manifest.min_reuse, report),
            "min_avoided_readback" => integer(&arg, &mut claim.manifest.min_readback_bytes, report),
            "speedup" => {
                let span = match &arg.form {
                    Form::Value(e) => e.span(),
                    Form::Flag | Form::List(..) => arg.name.span(),
                };
                speedup = basis_points(&arg, report).map(|bps| (bps, span));
            }
            "mandatory" | "unproven" => {
                if let Form::Value(_) | Form::List(..) = arg.form {
                    report.error(arg.name.span(), format!("`{word}` takes no value"));
                }
                if word == "mandatory" {
                    claim.manifest.mandatory = true;
                    said_mandatory = Some(arg.name.span());
                } else {
                    said_unproven = Some(arg.name.span());
                }
            }
            "same_result" => claim.same = same_results(arg, report),
            _ => unknown_arg(&arg, "pass", &ARGS, report),
        }
    }
    if let Some((bps, _)) = speedup {
        claim.manifest.speedup_bps = bps;
    }
    if report.len() > errors {
        return claim;
    }
    match (claim.evidence, said_unproven) {
        (Some(_), Some(span)) => report.error_help(
            span,
            "this pass says `unproven` and names evidence",
            "remove one of the two",
        ),
        (None, None) => report.error_help(
            attr.path().span(),
            format!("pass `{}` has no evidence", claim.manifest.id),
            "name the file with `evidence = \"evidence/NAME.csv\"`, or say `unproven`",
        ),
        (Some(span), None) if speedup.is_none() => report.error_help(
            span,
            "evidence without a claim",
            "say what it proves: `speedup = 1.8`",
        ),
        _ => {}
    }
    if let (Some((_, span)), Some(_)) = (speedup, said_unproven) {
        report.error_help(
            span,
            "an unproven pass claims no speedup",
            "remove `speedup`, or name the evidence",
        );
    }
    if let (Some(span), Some(_)) = (said_mandatory, said_unproven) {
        report.error_help(
            span,
            "an unproven pass cannot be `mandatory`: pipelines take only passes whose speedup was measured",
            "remove `mandatory`, or replace `unproven` by the speedup and the measurement: \
             `speedup = 1.8, evidence = \"evidence/NAME.csv\"`",
        );
    }
    if report.len() == errors
        && let (Some(named), Some((bps, claimed))) = (claim.evidence, speedup)
    {
        // Outside a compiler, and in editors that do not say where the source is, nothing is proved.
        if let Some(text) = read_beside(named, &claim.manifest.evidence) {
            let judged = text.map_err(Fault::Unreadable).and_then(|t| judge(&t, bps));
            match judged {
                Ok(measured) => claim.measured = Some(measured),
                Err(fault) => {
                    fault.report(&claim.manifest.evidence, (named, claimed), report);
                    claim.evidence = None;
                }
            }
        }
    }
    claim
}

/// `same_result(dist = "distances are unique")`.
fn same_results(arg: Arg, report: &mut Report) -> Vec<SameResult> {
    let name = arg.name;
    let Form::List(_, tokens) = arg.form else {
        report.error_help(
            name.span(),
            "a claim is about one result of the pass",
            "write `same_result(field = \"why every run gives the same\")`",
        );
        return Vec::new();
    };
    let errors = report.len();
    let mut all = Vec::new();
    for Arg { name: field, form } in parse_args(tokens, report) {
        let reason = match &form {
            Form::Value(e) => str_literal(e),
            Form::Flag | Form::List(..) => None,
        };
        match reason {
            None => report.error_help(
                field.span(),
                format!("the claim about `{field}` has no reason"),
                format!("write `{field} = \"why every run gives the same\"`"),
            ),
            Some((reason, span)) if reason.trim().is_empty() => report.error_help(
                span,
                format!("the reason why `{field}` is the same in every run is empty"),
                "say why the order of items does not show: `\"distances are unique\"`",
            ),
            Some((reason, _)) => all.push(SameResult {
                field,
                // It is shown on one line.
                reason: reason.split_whitespace().collect::<Vec<_>>().join(" "),
                of: None,
            }),
        }
    }
    if all.is_empty() && report.len() == errors {
        report.error_help(
            name.span(),
            "`same_result` names no result",
            "write `same_result(field = \"why every run gives the same\")`, or leave it out",
        );
    }
    all
}

/// The text of a file, by its path from the source file of a token; `None` where that is not known.
fn read_beside(token: Span, path: &str) -> Option<std::io::Result<String>> {
    if !proc_macro::is_available() {
        return None;
    }
    let source = token.unwrap().local_file()?;
    Some(sight::read(&source.parent()?.join(path)))
}

/// Why a file does not prove a claim.
enum Fault {
    Unreadable(std::io::Error),
    Refused(EvidenceError),
    TooLittle { claimed_bps: u64, proved_bps: u64 },
}

impl Fault {
    fn report(self, path: &str, (named, claimed): (Span, Span), report: &mut Report) {
        match self {
            Fault::Unreadable(e) => {
                let why = match e.kind() {
                    std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                    _ => e.to_string(),
                };
                report.error_help(
                    named,
                    format!("evidence `{path}` cannot be read: {why}"),
                    "the path starts at the directory of this source file; a pass without measurements says `unproven`",
                );
            }
            Fault::Refused(e) => {
                report.error(named, format!("evidence `{path}` proves nothing: {e}"))
            }
            Fault::TooLittle {
                claimed_bps,
                proved_bps,
            } => report.error_help(
                claimed,
                format!(
                    "a speedup of {} is claimed; the smallest in `{path}` is {}",
                    times(claimed_bps),
                    times(proved_bps)
                ),
                "claim what every sample shows",
            ),
        }
    }
}

/// Basis points as a factor.
fn times(bps: u64) -> String {
    format!("{}.{:04}", bps / 10_000, bps % 10_000)
}

/// What a file holds, if it proves at least the claim of what was measured.
fn judge(text: &str, claimed_bps: u64) -> Result<Measurements, Fault> {
    let samples = evidence::read(text).map_err(Fault::Refused)?;
    // First whether it is evidence at all, then of what.
    let verdict = evidence::check(&samples, f64::MIN_POSITIVE).map_err(Fault::Refused)?;
    let proved_bps = verdict.min_speedup_bps();
    if proved_bps < claimed_bps {
        return Err(Fault::TooLittle {
            claimed_bps,
            proved_bps,
        });
    }
    Ok(Measurements { samples, verdict })
}

fn text(arg: &Arg, report: &mut Report) -> Option<(String, Span)> {
    let found = match &arg.form {
        Form::Value(e) => str_literal(e),
        Form::Flag | Form::List(..) => None,
    };
    if found.is_none() {
        let name = &arg.name;
        report.error(name.span(), format!("write `{name} = \"...\"`"));
    }
    found
}

fn integer(arg: &Arg, slot: &mut u64, report: &mut Report) {
    let found = match &arg.form {
        Form::Value(e) => int_literal(e),
        Form::Flag | Form::List(..) => None,
    };
    match found {
        Some(n) => *slot = n,
        None => report.error(
            arg.name.span(),
            format!(
                "write `{} = N` with an integer literal below 2^64",
                arg.name
            ),
        ),
    }
}

/// `1.8` is 18,000 basis points.
fn basis_points(arg: &Arg, report: &mut Report) -> Option<u64> {
    let span = match &arg.form {
        Form::Value(e) => e.span(),
        Form::Flag | Form::List(..) => arg.name.span(),
    };
    let digits = match &arg.form {
        Form::Value(Expr::Lit(l)) => match &l.lit {
            Lit::Float(f) if f.suffix().is_empty() => Some(f.base10_digits().to_owned()),
            Lit::Int(i) if i.suffix().is_empty() => Some(i.base10_digits().to_owned()),
            _ => None,
        },
        _ => None,
    };
    let part = digits.as_ref().and_then(|d| Some(d.split_once('.')?.1));
    if part.is_some_and(|part| part.len() > 4) {
        report.error(span, "a speedup has at most four digits behind the point");
        return None;
    }
    let parsed = digits.and_then(|d| {
        let (whole, part) = d.split_once('.').unwrap_or((&d, ""));
        let part = format!("{part:0<4}");
        let whole: u64 = whole.parse().ok()?;
        whole
            .checked_mul(10_000)?
            .checked_add(part.parse::<u64>().ok()?)
    });
    match parsed {
        None => {
            report.error(
                arg.name.span(),
                "write `speedup = 1.8`: a plain decimal number",
            );
            None
        }
        Some(bps) if bps <= 10_000 => {
            report.error(span, "a claimed speedup is above 1.0");
            None
        }
        Some(bps) => Some(bps),
    }
}

/// `#[pass]` when it runs by itself: above `#[wave_graph]` or `#[kernel]` it moves below it, elsewhere it is misplaced.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let Some((attr, item)) = source::take(attr, item.clone(), &mut report) else {
        let errors = report.errors();
        return quote! { #item #errors };
    };
    let parsed = syn::parse2::<Item>(item.clone());
    let attrs = match parsed {
        Ok(Item::Mod(ref m)) => &m.attrs[..],
        Ok(Item::Fn(ref f)) => &f.attrs[..],
        _ => &[],
    };
    let at = attrs.iter().position(|a| {
        let name = attr_name(a);
        name == "wave_graph" || name == "kernel"
    });
    let Some(at) = at else {
        report.error_help(
            Span::call_site(),
            "`#[pass]` describes a whole pass",
            "put it on a `#[wave_graph]` module or a `#[kernel]` function",
        );
        let errors = report.errors();
        return quote! { #item #errors };
    };
    let moved: Attribute = {
        let tokens = quote_spanned! { Span::call_site() => #[pass(#attr)] };
        match syn::parse::Parser::parse2(Attribute::parse_outer, tokens) {
            Ok(mut list) => list.remove(0),
            Err(e) => {
                let errors = e.to_compile_error();
                return quote! { #item #errors };
            }
        }
    };
    let errors = report.errors();
    let reorder = |attrs: &mut Vec<Attribute>| attrs.insert(at + 1, moved);
    match parsed {
        Ok(Item::Mod(mut m)) => {
            reorder(&mut m.attrs);
            quote! { #m #errors }
        }
        Ok(Item::Fn(mut f)) => {
            reorder(&mut f.attrs);
            quote! { #f #errors }
        }
        _ => item,
    }
}

#[cfg(test)]
impl Claim {
    /// The claim as it is where a file with this text was read.
    pub(crate) fn with_evidence(mut self, text: &str) -> Claim {
        self.measured = judge(text, self.manifest.speedup_bps).ok();
        assert!(self.measured.is_some(), "the file proves the claim");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vyre_core::vir0::fingerprint::Fingerprint;
    use vyre_core::vir0::manifest::Measured;

    fn sample(ns: f64, program: u64, constants: u64) -> Sample {
        Sample {
            backend_id: "cuda".into(),
            host_orchestrated_ns: ns,
            binding: Some(Binding {
                fingerprint: Fingerprint { program, constants },
                measured: Measured::Shared,
                rival: "naive".into(),
            }),
            ..Sample::EXAMPLE
        }
    }

    fn judged(bps: u64, file: &str) -> Result<Measurements, String> {
        let mut report = Report::default();
        let spans = (Span::call_site(), Span::call_site());
        judge(file, bps).map_err(|fault| {
            fault.report("e.csv", spans, &mut report);
            report.messages().remove(0).1
        })
    }

    fn claimed(bps: u64, file: &str) -> Result<Proof, String> {
        judged(bps, file).map(|measured| measured.proof(7).expect("of this program"))
    }

    #[test]
    fn a_claim_is_at_most_the_smallest_measured_speedup() {
        let write = |samples: &[Sample]| evidence::write(samples).expect("plain names");
        let file = write(&[sample(1.8, 7, 8), sample(2.5, 7, 8)]);
        let proof = Proof {
            samples: 2,
            min_speedup_bps: 18_000,
            max_speedup_bps: 25_000,
            constants_hash: 8,
            measured: Measured::Shared,
            rival: "naive".into(),
        };
        assert_eq!(claimed(18_000, &file), Ok(proof.clone()));
        assert_eq!(claimed(10_001, &file), Ok(proof));
        assert_eq!(
            claimed(18_001, &file),
            Err("a speedup of 1.8001 is claimed; the smallest in `e.csv` is 1.8000\n\nhelp: claim what every sample shows".into())
        );
        let one = write(&[sample(9.0, 7, 8)]);
        assert_eq!(
            claimed(10_001, &one),
            Err("evidence `e.csv` proves nothing: there are 1 samples; 2 are needed".into())
        );
        assert_eq!(
            claimed(10_001, ""),
            Err("evidence `e.csv` proves nothing: the file is empty".into())
        );
    }

    #[test]
    fn samples_of_something_else_prove_nothing() {
        let unbound = Sample {
            binding: None,
            ..sample(2.0, 7, 8)
        };
        let claim = "; pass `p` counts as unproven until new samples, with the hashes of `PLAN.fingerprint()`, replace it";
        for (second, why, says) in [
            (
                unbound.clone(),
                Stale::Unbound,
                "evidence `e.csv` does not say what was measured",
            ),
            (
                sample(2.0, 6, 8),
                Stale::Program,
                "the pass has changed since evidence `e.csv` was measured: program_hash is 0x0000000000000007, and 0x0000000000000006 in the file",
            ),
            (
                sample(2.0, 7, 9),
                Stale::Constants,
                "samples of evidence `e.csv` differ in constants_hash",
            ),
        ] {
            // Samples with and without a rival are not of one kind: that is said first.
            let first = match why {
                Stale::Unbound => unbound.clone(),
                Stale::Program | Stale::Constants => sample(2.0, 7, 8),
            };
            let file = evidence::write(&[first, second]).expect("plain names");
            let measured = judged(10_001, &file);
            let claim_of = |measured| Claim {
                manifest: Manifest {
                    id: "p".into(),
                    evidence: "e.csv".into(),
                    unproven: true,
                    ..Manifest::default()
                },
                evidence: None,
                measured: Some(measured),
                id: None,
                same: Vec::new(),
            };
            let unproven = claim_of(measured.unwrap_or_else(|e| panic!("{e}")));
            let (mut manifest, mut report) = (unproven.manifest.clone(), Report::default());
            unproven.prove(&mut manifest, 7, &mut report);
            assert_eq!(report.warnings(), [format!("{says}{claim}")]);
            assert!(report.is_empty());
            assert_eq!(
                (manifest.unproven, manifest.proof, manifest.stale),
                (true, None, Some(why))
            );
        }
    }
}
