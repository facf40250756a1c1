//! `#[pass(...)]`: what a pass claims about itself.

use crate::report::Report;
use crate::wave_graph::syntax::{Arg, Form, int_literal, parse_args, str_literal, unknown_arg};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Item, Lit, Meta};
use vyre_core::module::Manifest;

/// A pass's manifest and where its parts were written.
pub(crate) struct Claim {
    /// What goes into the container.
    pub(crate) manifest: Manifest,
    /// The evidence file's name, for the checks that read it.
    #[allow(dead_code, reason = "read by the evidence check")]
    pub(crate) evidence: Option<Span>,
}

const ARGS: [&str; 8] = [
    "id",
    "min_frontier_items",
    "min_reuse",
    "min_avoided_readback",
    "speedup",
    "evidence",
    "mandatory",
    "unproven",
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
    let mut said_unproven = None;
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
            "speedup" => speedup = basis_points(&arg, report).map(|bps| (bps, arg.name.span())),
            "mandatory" | "unproven" => {
                if let Form::Value(_) | Form::List(..) = arg.form {
                    report.error(arg.name.span(), format!("`{word}` takes no value"));
                }
                if word == "mandatory" {
                    claim.manifest.mandatory = true;
                } else {
                    said_unproven = Some(arg.name.span());
                }
            }
            _ => unknown_arg(&arg, "pass", &ARGS, report),
        }
    }
    if let Some((bps, _)) = speedup {
        claim.manifest.speedup_bps = bps;
    }
    claim.manifest.unproven = claim.evidence.is_none();
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
    claim
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
            format!("write `{} = N` with an integer literal", arg.name),
        ),
    }
}

/// `1.8` is 18,000 basis points; digits after the fourth are dropped.
fn basis_points(arg: &Arg, report: &mut Report) -> Option<u64> {
    let digits = match &arg.form {
        Form::Value(Expr::Lit(l)) => match &l.lit {
            Lit::Float(f) if f.suffix().is_empty() => Some(f.base10_digits().to_owned()),
            Lit::Int(i) if i.suffix().is_empty() => Some(i.base10_digits().to_owned()),
            _ => None,
        },
        _ => None,
    };
    let parsed = digits.and_then(|d| {
        let (whole, part) = d.split_once('.').unwrap_or((&d, ""));
        let part: String = part.chars().chain("0000".chars()).take(4).collect();
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
            let span = match &arg.form {
                Form::Value(e) => e.span(),
                Form::Flag | Form::List(..) => arg.name.span(),
            };
            report.error(span, "a claimed speedup is above 1.0");
            None
        }
        Some(bps) => Some(bps),
    }
}

/// `#[pass]` when it runs by itself: above `#[wave_graph]` or `#[kernel]` it moves below it, elsewhere it is misplaced.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = syn::parse2::<Item>(item.clone());
    let attrs = match parsed {
        Ok(Item::Mod(ref m)) => &m.attrs[..],
        Ok(Item::Fn(ref f)) => &f.attrs[..],
        _ => &[],
    };
    let at = attrs.iter().position(|a| {
        let name = crate::wave_graph::syntax::attr_name(a);
        name == "wave_graph" || name == "kernel"
    });
    let Some(at) = at else {
        let mut report = Report::default();
        report.error_help(
            Span::call_site(),
            "`#[pass]` describes a whole pass",
            "put it on a `#[wave_graph]` module or a `#[kernel]` function",
        );
        let errors = report.into_tokens();
        return quote::quote! { #item #errors };
    };
    let moved: Attribute = {
        let tokens = quote_spanned! { Span::call_site() => #[pass(#attr)] };
        match syn::parse::Parser::parse2(Attribute::parse_outer, tokens) {
            Ok(mut list) => list.remove(0),
            Err(e) => {
                let errors = e.to_compile_error();
                return quote::quote! { #item #errors };
            }
        }
    };
    let reorder = |attrs: &mut Vec<Attribute>| attrs.insert(at + 1, moved);
    match parsed {
        Ok(Item::Mod(mut m)) => {
            reorder(&mut m.attrs);
            m.into_token_stream()
        }
        Ok(Item::Fn(mut f)) => {
            reorder(&mut f.attrs);
            f.into_token_stream()
        }
        _ => item,
    }
}
