//! Attributes and their arguments, as written: `name`, `name = value`, `name(..)`.

use crate::report::{Report, did_you_mean, listed};
use crate::tokens::source_text;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Lit, LitInt, Meta, Token};

/// One argument of an attribute: `name`, `name = value` or `name(...)`.
pub(crate) struct Arg {
    pub(crate) name: Ident,
    pub(crate) form: Form,
}

/// What follows an argument's name.
pub(crate) enum Form {
    Flag,
    Value(Expr),
    List(Span, TokenStream),
}

impl Parse for Arg {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let name = Ident::parse_any(input)?;
        let form = if input.peek(Token![=]) {
            let equals: Token![=] = input.parse()?;
            if input.is_empty() || input.peek(Token![,]) {
                let message = format!("a value is missing behind `{name} =`");
                return Err(syn::Error::new(equals.span, message));
            }
            let value = input.parse()?;
            if name == "budget" && input.peek(Ident) {
                let help = "write the budget as a string, `budget = \"4 GiB\"`";
                return Err(input.error(help));
            }
            Form::Value(value)
        } else if input.peek(syn::token::Paren) {
            let content;
            let paren = syn::parenthesized!(content in input);
            Form::List(paren.span.join(), content.parse()?)
        } else {
            Form::Flag
        };
        Ok(Arg { name, form })
    }
}

impl Arg {
    /// The expression after `=`, or an error that shows how to write it.
    pub(crate) fn value(self, shape: &str, report: &mut Report) -> Option<Expr> {
        match self.form {
            Form::Value(e) => Some(e),
            Form::Flag | Form::List(..) => {
                report.error(self.name.span(), format!("write `{shape}`"));
                None
            }
        }
    }

    /// The tokens in parentheses, or an error that shows how to write it.
    pub(crate) fn list(self, shape: &str, report: &mut Report) -> Option<(Span, TokenStream)> {
        match self.form {
            Form::List(span, tokens) => Some((span, tokens)),
            Form::Flag => {
                report.error(self.name.span(), format!("write `{shape}`"));
                None
            }
            Form::Value(value) => {
                let value = source_text(&value);
                report.error(self.name.span(), format!("write `{}({value})`", self.name));
                None
            }
        }
    }

    /// No value may follow.
    pub(crate) fn flag(self, report: &mut Report) {
        if let Form::Value(_) | Form::List(..) = self.form {
            report.error(
                self.name.span(),
                format!("`{}` takes no value here", self.name),
            );
        }
    }
}

/// Parses what stands in an attribute. A keyword that is meant as a name is reported, and read as one.
pub(crate) fn parse_named<T>(
    tokens: TokenStream,
    parse: impl Fn(TokenStream) -> syn::Result<T>,
    report: &mut Report,
) -> syn::Result<T> {
    fn idents(tokens: TokenStream, all: &mut Vec<Ident>) {
        for tree in tokens {
            match tree {
                TokenTree::Ident(i) => all.push(i),
                TokenTree::Group(g) => idents(g.stream(), all),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    fn with_raw(tokens: TokenStream, keyword: &Ident) -> TokenStream {
        let trees = tokens.into_iter().map(|tree| match tree {
            TokenTree::Ident(i) if i == *keyword => Ident::new_raw(&i.to_string(), i.span()).into(),
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), with_raw(g.stream(), keyword));
                group.set_span(g.span());
                group.into()
            }
            other => other,
        });
        trees.collect()
    }
    parse(tokens.clone()).or_else(|error| {
        let mut all = Vec::new();
        idents(tokens.clone(), &mut all);
        for keyword in all.iter().filter(|i| is_keyword(i)) {
            if let Ok(parsed) = parse(with_raw(tokens.clone(), keyword)) {
                keyword_as_name(keyword, report);
                return Ok(parsed);
            }
        }
        Err(error)
    })
}

/// Whether this is a keyword that has a raw form.
pub(crate) fn is_keyword(word: &Ident) -> bool {
    let word = word.to_string();
    syn::parse_str::<Ident>(&word).is_err() && syn::parse_str::<Ident>(&format!("r#{word}")).is_ok()
}

pub(crate) fn keyword_as_name(keyword: &Ident, report: &mut Report) {
    report.error_help(
        keyword.span(),
        format!("`{keyword}` is a keyword of Rust, and cannot name anything"),
        format!("write `r#{keyword}`, here and where it is declared, or choose another name"),
    );
}

/// Parses the arguments of an attribute; a repeated one is reported and dropped.
pub(crate) fn parse_args(tokens: TokenStream, report: &mut Report) -> Vec<Arg> {
    let parse = |tokens| Punctuated::<Arg, Token![,]>::parse_terminated.parse2(tokens);
    match parse_named(tokens, parse, report) {
        Ok(args) => {
            let mut seen: Vec<Arg> = Vec::new();
            for arg in args {
                // `swap(a, b), swap(c, d)` repeats, and so does `index(a), index(b)`. `after = field` of an included graph is
                // not `after(..)`.
                let same = |s: &Arg| {
                    let form = std::mem::discriminant(&s.form);
                    s.name == arg.name && form == std::mem::discriminant(&arg.form)
                };
                if arg.name != "swap" && arg.name != "index" && seen.iter().any(same) {
                    report.error(arg.name.span(), format!("`{}` is given twice", arg.name));
                } else {
                    seen.push(arg);
                }
            }
            seen
        }
        Err(e) => {
            report.syn(e);
            Vec::new()
        }
    }
}

pub(crate) fn attribute_args(attr: &Attribute, report: &mut Report) -> Vec<Arg> {
    match &attr.meta {
        Meta::Path(_) => Vec::new(),
        Meta::List(list) => parse_args(list.tokens.clone(), report),
        Meta::NameValue(nv) => {
            report.error(
                nv.span(),
                "the arguments of this attribute go in parentheses",
            );
            Vec::new()
        }
    }
}

/// Reports an argument that an attribute does not have.
pub(crate) fn unknown_arg(arg: &Arg, attribute: &str, known: &[&str], report: &mut Report) {
    let message = format!("`{attribute}` has no argument `{}`", arg.name);
    let help = match did_you_mean(&arg.name.to_string(), known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "it takes {}",
            listed(known.iter().map(|k| format!("`{k}`")))
        ),
    };
    report.error_help(arg.name.span(), message, help);
}

/// The last segment of an attribute's path: `wave` of `#[vyre::wave(...)]`.
pub(crate) fn attr_name(attr: &Attribute) -> String {
    attr.path()
        .segments
        .last()
        .map(|s| s.ident.to_string())
        .unwrap_or_default()
}

/// Removes and returns the attributes with this name.
pub(crate) fn take_attrs(attrs: &mut Vec<Attribute>, name: &str) -> Vec<Attribute> {
    let (taken, kept) = std::mem::take(attrs)
        .into_iter()
        .partition(|a| attr_name(a) == name);
    *attrs = kept;
    taken
}

/// An integer literal, of any size.
pub(crate) fn int_digits(e: &Expr) -> Option<&LitInt> {
    match e {
        Expr::Lit(l) => match &l.lit {
            Lit::Int(i) => Some(i),
            _ => None,
        },
        _ => None,
    }
}

/// A u64 literal.
pub(crate) fn int_literal(e: &Expr) -> Option<u64> {
    int_digits(e)?.base10_parse().ok()
}

/// A string literal.
pub(crate) fn str_literal(e: &Expr) -> Option<(String, Span)> {
    match e {
        Expr::Lit(l) => match &l.lit {
            Lit::Str(s) => Some((s.value(), s.span())),
            _ => None,
        },
        _ => None,
    }
}

/// A single name.
pub(crate) fn ident_of(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::Path(p) if p.qself.is_none() => p.path.get_ident(),
        _ => None,
    }
}

/// First line of a doc comment.
pub(crate) fn title_of(attrs: &[Attribute]) -> String {
    attrs
        .iter()
        .filter(|a| a.path().is_ident("doc"))
        .filter_map(|a| match &a.meta {
            Meta::NameValue(nv) => str_literal(&nv.value),
            _ => None,
        })
        .map(|(line, _)| line.trim().to_owned())
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

/// Exactly N names in parentheses.
pub(crate) fn some_names<const N: usize>(
    span: Span,
    tokens: TokenStream,
    shape: &str,
    report: &mut Report,
) -> Option<[Ident; N]> {
    let parse = |tokens| Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens);
    let names = parse_named(tokens, parse, report)
        .ok()
        .map(|p| p.into_iter().collect::<Vec<_>>());
    match names.map(<[Ident; N]>::try_from) {
        Some(Ok(names)) => Some(names),
        _ => {
            report.error(span, format!("write `{shape}`"));
            None
        }
    }
}
