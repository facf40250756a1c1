//! Tokens: where they stand, what they are to rustc, and how they are written.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The same place, as of what the macro has written. rustc's lints pass that over, and no `allow` is needed, which a
/// `forbid` of the user's would refuse.
pub(crate) fn generated(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// The number of the syntax context of a token: a name of a `macro_rules!` is another one than the same name of its
/// caller. Stable Rust says so only where a span is shown, as `#5 bytes(1..2)`. `None` where it is not known: outside
/// of the compiler.
pub(crate) fn context(span: Span) -> Option<u32> {
    if !proc_macro::is_available() {
        return None;
    }
    let shown = format!("{:?}", span.unwrap());
    let (number, _) = shown.strip_prefix('#')?.split_once(' ')?;
    number.parse().ok()
}

/// Whether two names of the same text are one name, as far as is known.
pub(crate) fn same_context(a: Option<u32>, b: Option<u32>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Whether two identifiers are one name to rustc.
pub(crate) fn same_name(a: &Ident, b: &Ident) -> bool {
    a == b && same_context(context(a.span()), context(b.span()))
}

/// An identifier of this text, which may be that of a raw one.
pub(crate) fn ident(text: &str, span: Span) -> Ident {
    match text.strip_prefix("r#") {
        Some(word) => Ident::new_raw(word, span),
        None => Ident::new(text, span),
    }
}

/// Whether a token passes a test, in groups too.
pub(crate) fn any_token(stream: TokenStream, test: &impl Fn(&TokenTree) -> bool) -> bool {
    stream.into_iter().any(|t| match t {
        TokenTree::Group(g) => any_token(g.stream(), test),
        other => test(&other),
    })
}

/// The span of the first token of something: where rustc says an expression starts.
pub(crate) fn first_token(tokens: &impl ToTokens) -> Span {
    fn first(stream: TokenStream) -> Option<Span> {
        stream.into_iter().next().map(|t| match t {
            TokenTree::Group(g) => g.span_open(),
            other => other.span(),
        })
    }
    first(tokens.to_token_stream()).unwrap_or_else(Span::call_site)
}

/// As [`first_token`] for an expression, without printing it.
pub(crate) fn start(e: &syn::Expr) -> Span {
    use syn::Expr;
    match e {
        Expr::Assign(e) => start(&e.left),
        Expr::Await(e) => start(&e.base),
        Expr::Binary(e) => start(&e.left),
        Expr::Call(e) => start(&e.func),
        Expr::Cast(e) => start(&e.expr),
        Expr::Field(e) => start(&e.base),
        Expr::If(e) => e.if_token.span,
        Expr::Index(e) => start(&e.expr),
        Expr::Lit(e) => e.lit.span(),
        Expr::MethodCall(e) => start(&e.receiver),
        Expr::Paren(e) => e.paren_token.span.open(),
        Expr::Path(e) if e.qself.is_none() && e.path.leading_colon.is_none() => {
            match e.path.segments.first() {
                Some(s) => s.ident.span(),
                None => Span::call_site(),
            }
        }
        Expr::Block(e) if e.label.is_none() => e.block.brace_token.span.open(),
        Expr::Try(e) => start(&e.expr),
        Expr::Match(e) => e.match_token.span,
        other => first_token(other),
    }
}

/// A type as the user wrote it, for messages.
pub(crate) fn show(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        ("& ", "&"),
        (" < ", "<"),
        (" > ", ">"),
        (" >", ">"),
        ("< ", "<"),
        (" ,", ","),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}

/// An expression as one would write it, from its tokens.
pub(crate) fn source_text(tokens: &impl ToTokens) -> String {
    let mut text = String::new();
    spaced(tokens.to_token_stream(), &mut text);
    text
}

/// Appends tokens, with spaces where rustfmt has them in expressions.
fn spaced(tokens: TokenStream, text: &mut String) {
    // Whether the next token follows without a space, whether an operand has just ended, and whether an operator goes
    // on.
    let (mut tight, mut operand, mut goes_on) = (true, false, false);
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                let call = operand && matches!(open, "(" | "[");
                if !tight && !call {
                    text.push(' ');
                }
                text.push_str(open);
                spaced(group.stream(), text);
                text.push_str(close);
                (tight, operand) = (false, true);
            }
            TokenTree::Punct(punct) => {
                let c = punct.as_char();
                let glued = matches!(c, '.' | ',' | ';' | '?' | ':');
                let prefix = !operand && !goes_on && matches!(c, '!' | '-' | '*' | '&');
                if !tight && !glued {
                    text.push(' ');
                }
                text.push(c);
                let joint = punct.spacing() == Spacing::Joint;
                tight = prefix || joint || matches!(c, '.' | ':');
                operand = c == '?';
                goes_on = joint;
                continue;
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                if !tight {
                    text.push(' ');
                }
                text.push_str(&tree.to_string());
                operand = !matches!(
                    tree.to_string().as_str(),
                    "if" | "else" | "match" | "return" | "in" | "as"
                );
                tight = false;
            }
        }
        goes_on = false;
    }
}
