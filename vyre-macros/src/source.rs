//! What a macro is given, before anything else looks at it.
//!
//! syn parses by recursion, as do the stages after it: what nests so deeply that rustc's stack would end is refused
//! first, by weighing tokens.
//!
//! Inside a `macro_rules!`, what a fragment such as `$e:expr` has matched stands in a group without delimiters. rustc
//! ignores such groups in what a macro gives back, so that `$e * 2` would mean one thing natively and another in
//! bytecode. They are taken away in the syntax tree: an expression gets parentheses where it is an operand, everything
//! else stands as it is. Tokens alone do not tell an expression from a type, a visibility or a statement.

use crate::kernel::param::scalar_of;
use crate::report::Report;
use crate::tokens::generated;
use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Item, Meta, Pat, Token, Type};

/// The most that may be around one token. In a debug build of the macros, syn ends the stack of rustc's thread at twice
/// that.
const MAX_DEPTH: usize = 1_200;

/// What a bracket weighs beyond an operator.
const BRACKET: usize = 4;

/// Tokens of an attribute and of its item, fit to be parsed: bodies that nest too deeply are reported, and left empty.
/// `None` where something else nests too deeply.
pub(crate) fn take(
    attr: TokenStream,
    item: TokenStream,
    report: &mut Report,
) -> Option<(TokenStream, TokenStream)> {
    let item = match check_depth(item.clone(), 0) {
        Ok(()) => item,
        Err(_) => without_deep_bodies(item, report),
    };
    for stream in [&attr, &item] {
        if let Err(deep) = check_depth(stream.clone(), 0) {
            too_deep(deep, report);
            return None;
        }
    }
    let [attr, item] = [attr, item].map(|stream| {
        if has_raw(&stream) {
            without_raw(stream)
        } else {
            stream
        }
    });
    let attr = if has_groups(&attr) {
        arguments(attr)
    } else {
        attr
    };
    let item = if has_groups(&item) {
        ungrouped(item, report)
    } else {
        item
    };
    Some((attr, item))
}

fn too_deep((at, depth): (Span, usize), report: &mut Report) {
    report.error_help(
        at,
        format!("operators and brackets nest too deeply: to {depth}, and the limit is {MAX_DEPTH}"),
        "give parts of it names with `let`, or move them into functions",
    );
}

/// An item whose functions end where their bodies nest too deeply.
fn without_deep_bodies(stream: TokenStream, report: &mut Report) -> TokenStream {
    let mut all = TokenStream::new();
    let mut function = false;
    for tree in stream {
        match &tree {
            TokenTree::Ident(i) if i == "fn" => function = true,
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => {
                let inner = g.stream();
                let inner = match check_depth(inner.clone(), BRACKET) {
                    Err(deep) if function => {
                        too_deep(deep, report);
                        quote! { #![allow(unused)] loop {} }
                    }
                    Err(_) => without_deep_bodies(inner, report),
                    Ok(()) => inner,
                };
                all.extend([regroup(g, Delimiter::Brace, inner)]);
                function = false;
                continue;
            }
            _ => {}
        }
        all.extend([tree]);
    }
    all
}

/// Weighs what is around each token: the operators up to the next separators, and those around the brackets that it is
/// in.
pub(crate) fn check_depth(stream: TokenStream, outside: usize) -> Result<(), (Span, usize)> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut rest = &tokens[..];
    while !rest.is_empty() {
        let (run, after) = rest.split_at(run_length(rest));
        let weights = (0..run.len()).map(|i| weight(&run[..i], &run[i]));
        let depth = outside + weights.sum::<usize>();
        if depth > MAX_DEPTH {
            return Err((run[0].span(), depth));
        }
        for token in run {
            if let TokenTree::Group(g) = token {
                if depth + BRACKET > MAX_DEPTH {
                    return Err((g.span_open(), depth + BRACKET));
                }
                check_depth(g.stream(), depth + BRACKET)?;
            }
        }
        rest = after;
    }
    Ok(())
}

/// The number of tokens up to the end of a statement, an element or an arm.
fn run_length(tokens: &[TokenTree]) -> usize {
    let ends = |i: usize| match &tokens[i] {
        TokenTree::Punct(p) if matches!(p.as_char(), ',' | ';') => true,
        TokenTree::Punct(p) if p.as_char() == '>' => {
            matches!(i.checked_sub(1).map(|b| &tokens[b]), Some(TokenTree::Punct(b)) if b.as_char() == '=')
        }
        TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => match tokens.get(i + 1) {
            Some(TokenTree::Ident(next)) => next != "else" && next != "as",
            Some(TokenTree::Punct(next)) => matches!(next.as_char(), '#' | '\''),
            Some(TokenTree::Group(_) | TokenTree::Literal(_)) => true,
            None => false,
        },
        _ => false,
    };
    (0..tokens.len())
        .find(|&i| ends(i))
        .map_or(tokens.len(), |i| i + 1)
}

/// What a token weighs: by how much of the stack parsing it takes, an operator between operands being 1.
fn weight(before: &[TokenTree], token: &TokenTree) -> usize {
    let punct = |back: usize| match before.len().checked_sub(back).map(|i| &before[i]) {
        Some(TokenTree::Punct(p)) => Some(p),
        _ => None,
    };
    let c = match token {
        TokenTree::Literal(_) => return 0,
        // A word after a word: `as u32`, `else if`.
        TokenTree::Ident(_) => {
            return 3 * usize::from(matches!(before.last(), Some(TokenTree::Ident(_))));
        }
        TokenTree::Group(g) => {
            let attribute = punct(1).is_some_and(|p| matches!(p.as_char(), '#' | '!'))
                && g.delimiter() == Delimiter::Bracket;
            return (!attribute).into();
        }
        TokenTree::Punct(p) if p.as_char() == '<' && p.spacing() == Spacing::Alone => {
            let shift = punct(1).is_some_and(|b| b.as_char() == '<');
            return if shift { 1 } else { 10 };
        }
        TokenTree::Punct(p) => p.as_char(),
    };
    let pointer = matches!(before.last(), Some(TokenTree::Ident(i)) if i == "const" || i == "mut");
    let prefix =
        pointer || punct(1).is_some_and(|p| p.spacing() == Spacing::Alone || punct(2).is_some());
    match c {
        '#' | '\'' => 0,
        '&' | '*' if prefix => 10,
        '!' | '-' | '|' if prefix => 5,
        '=' if !prefix => 3,
        _ => 1,
    }
}

/// An identifier without an `r#` that it does not need: `r#dist` is `dist`, as it is to rustc.
fn plain(ident: Ident) -> Ident {
    let text = ident.to_string();
    match text.strip_prefix("r#") {
        // A keyword only of some editions.
        Some("gen") | None => ident,
        Some(word) => match syn::parse_str::<Ident>(word) {
            Ok(_) => Ident::new(word, ident.span()),
            Err(_) => ident,
        },
    }
}

/// Tokens without needless `r#`.
fn without_raw(stream: TokenStream) -> TokenStream {
    let plain = |tree| match tree {
        TokenTree::Ident(i) => plain(i).into(),
        TokenTree::Group(g) => regroup(&g, g.delimiter(), without_raw(g.stream())),
        other => other,
    };
    stream.into_iter().map(plain).collect()
}

fn is_none(group: &Group) -> bool {
    group.delimiter() == Delimiter::None
}

/// Whether there is such a token, or one in brackets: few sources have what is looked for here.
fn any(stream: &TokenStream, test: &impl Fn(&TokenTree) -> bool) -> bool {
    stream
        .clone()
        .into_iter()
        .any(|t| test(&t) || matches!(&t, TokenTree::Group(g) if any(&g.stream(), test)))
}

fn has_groups(stream: &TokenStream) -> bool {
    any(stream, &|t| matches!(t, TokenTree::Group(g) if is_none(g)))
}

fn has_raw(stream: &TokenStream) -> bool {
    any(
        stream,
        &|t| matches!(t, TokenTree::Ident(i) if i.to_string().starts_with("r#")),
    )
}

/// An item without groups; as it is where it is none.
fn ungrouped(item: TokenStream, report: &mut Report) -> TokenStream {
    match syn::parse2::<Item>(statements(item.clone())) {
        Ok(mut parsed) => {
            Ungroup.visit_item_mut(&mut parsed);
            parsed.into_token_stream()
        }
        Err(e) => {
            // rustc may well be able to, and would not say anything.
            report.error_help(
                e.span(),
                format!("what the macro writes here cannot be parsed: {e}"),
                "put a `;`, a comma or parentheses where a fragment ends",
            );
            item
        }
    }
}

/// Does what syn does not do for groups: opens what `$s:stmt` matched where it is a `let`, and a block (an `if`, a
/// loop) where a statement or an arm begins, which ends there without a `;` or a comma; and puts a block at the end of
/// a range in parentheses.
fn statements(stream: TokenStream) -> TokenStream {
    let mut all = TokenStream::new();
    let mut before = Before::Start;
    for tree in stream {
        let at = before;
        before = before.then(&tree);
        let TokenTree::Group(g) = tree else {
            all.extend([tree]);
            continue;
        };
        let inner = statements(g.stream());
        let first = inner.clone().into_iter().next();
        let word = |word: &str| matches!(&first, Some(TokenTree::Ident(i)) if i == word);
        let brace =
            matches!(&first, Some(TokenTree::Group(f)) if f.delimiter() == Delimiter::Brace);
        if !is_none(&g) {
            all.extend([regroup(&g, g.delimiter(), inner)]);
        } else if word("let") || at == Before::Start && is_block(&inner) {
            all.extend(inner);
        } else if at == Before::RangeEnd && brace {
            let mut parens = Group::new(Delimiter::Parenthesis, inner);
            parens.set_span(generated(g.span()));
            all.extend([TokenTree::from(parens)]);
        } else {
            all.extend([regroup(&g, Delimiter::None, inner)]);
        }
    }
    all
}

/// What the tokens before one make of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A statement or an arm's body can begin.
    Start,
    Dot,
    /// `..` or `..=` stands before it.
    RangeEnd,
    Equals,
    Other,
}

impl Before {
    fn then(self, token: &TokenTree) -> Before {
        match token {
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => Before::Start,
            TokenTree::Group(g) if is_none(g) && is_block(&g.stream()) => Before::Start,
            TokenTree::Punct(p) => match (p.as_char(), self) {
                (';', _) | ('>', Before::Equals) => Before::Start,
                ('.', Before::Dot) | ('=', Before::RangeEnd) => Before::RangeEnd,
                ('.', _) => Before::Dot,
                ('=', _) => Before::Equals,
                _ => Before::Other,
            },
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => Before::Other,
        }
    }
}

/// Whether these tokens are an expression that is a statement without a `;`.
fn is_block(tokens: &TokenStream) -> bool {
    let begins = match tokens.clone().into_iter().next() {
        Some(TokenTree::Group(g)) => {
            g.delimiter() == Delimiter::Brace || is_none(&g) && is_block(&g.stream())
        }
        Some(TokenTree::Ident(i)) => ["if", "match", "while", "loop", "for"]
            .iter()
            .any(|w| i == w),
        Some(TokenTree::Punct(p)) => p.as_char() == '\'',
        _ => false,
    };
    let block = |mut e: Expr| {
        dissolve(&mut e);
        matches!(
            e,
            Expr::Block(_)
                | Expr::If(_)
                | Expr::Match(_)
                | Expr::While(_)
                | Expr::Loop(_)
                | Expr::ForLoop(_)
        )
    };
    begins && syn::parse2(tokens.clone()).is_ok_and(block)
}

fn regroup(group: &Group, delimiter: Delimiter, inner: TokenStream) -> TokenTree {
    let mut new = Group::new(delimiter, inner);
    new.set_span(group.span());
    new.into()
}

/// Arguments of an attribute or a macro without groups: expressions with separators, or anything.
fn arguments(tokens: TokenStream) -> TokenStream {
    if !has_groups(&tokens) {
        return tokens;
    }
    let separated = |input: ParseStream<'_>| {
        let mut all = TokenStream::new();
        while !input.is_empty() {
            let mut e: Expr = input.parse()?;
            Ungroup.visit_expr_mut(&mut e);
            e.to_tokens(&mut all);
            if input.peek(Token![;]) {
                input.parse::<Token![;]>()?.to_tokens(&mut all);
            } else if !input.is_empty() {
                input.parse::<Token![,]>()?.to_tokens(&mut all);
            }
        }
        Ok(all)
    };
    separated
        .parse2(tokens.clone())
        .unwrap_or_else(|_| in_parentheses(tokens))
}

/// `matches!(value, pattern if guard)`.
fn match_arguments(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut value: Expr = input.parse()?;
    Ungroup.visit_expr_mut(&mut value);
    let comma: Token![,] = input.parse()?;
    let mut pattern = Pat::parse_multi_with_leading_vert(input)?;
    Ungroup.visit_pat_mut(&mut pattern);
    let mut guard = TokenStream::new();
    if input.peek(Token![if]) {
        input.parse::<Token![if]>()?.to_tokens(&mut guard);
        let mut e: Expr = input.parse()?;
        Ungroup.visit_expr_mut(&mut e);
        e.to_tokens(&mut guard);
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(quote! { #value #comma #pattern #guard })
}

/// Tokens of which nothing is known: expressions of several parts get parentheses wherever they stand.
fn in_parentheses(tokens: TokenStream) -> TokenStream {
    let mut all = TokenStream::new();
    for tree in tokens {
        let TokenTree::Group(g) = tree else {
            all.extend([tree]);
            continue;
        };
        let inner = in_parentheses(g.stream());
        if !is_none(&g) {
            all.extend([regroup(&g, g.delimiter(), inner)]);
        } else if syn::parse2::<Expr>(inner.clone()).is_ok_and(|e| has_parts(&e)) {
            all.extend([regroup(&g, Delimiter::Parenthesis, inner)]);
        } else {
            all.extend(inner);
        }
    }
    all
}

/// Whether an expression is another one as an operand than alone.
fn has_parts(e: &Expr) -> bool {
    !matches!(
        e,
        Expr::Array(_)
            | Expr::Call(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Lit(_)
            | Expr::Macro(_)
            | Expr::MethodCall(_)
            | Expr::Paren(_)
            | Expr::Path(_)
            | Expr::Repeat(_)
            | Expr::Tuple(_)
    )
}

/// `a += b`, whose value takes no parentheses.
fn is_assignment(op: syn::BinOp) -> bool {
    use syn::BinOp::*;
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// Takes groups away.
struct Ungroup;

impl Ungroup {
    /// An operand: parentheses take the place of a group.
    fn operand(&mut self, e: &mut Expr) {
        let grouped = matches!(e, Expr::Group(_));
        dissolve(e);
        if grouped && has_parts(e) {
            // Of the expression's own place: that is where a trap in it, or in what it begins, points to.
            let mut paren = Group::new(Delimiter::Parenthesis, TokenStream::new());
            paren.set_span(first_span(e.to_token_stream()));
            *e = Expr::Paren(syn::ExprParen {
                attrs: Vec::new(),
                paren_token: syn::token::Paren(paren.delim_span()),
                expr: Box::new(take_expr(e)),
            });
        }
    }

    fn operands(&mut self, e: &mut Expr) {
        match e {
            Expr::Await(e) => self.operand(&mut e.base),
            Expr::Binary(e) if !is_assignment(e.op) => {
                self.operand(&mut e.left);
                self.operand(&mut e.right);
            }
            Expr::Call(e) => self.operand(&mut e.func),
            Expr::Cast(e) => self.operand(&mut e.expr),
            Expr::Field(e) => self.operand(&mut e.base),
            Expr::Index(e) => self.operand(&mut e.expr),
            Expr::MethodCall(e) => self.operand(&mut e.receiver),
            Expr::Reference(e) => self.operand(&mut e.expr),
            Expr::Try(e) => self.operand(&mut e.expr),
            Expr::Unary(e) => self.operand(&mut e.expr),
            // Around the others' parts, and around the ends of a range, rustc warns of parentheses; syn prints those
            // that are needed.
            _ => {}
        }
    }
}

/// The place of the first token, groups opened.
fn first_span(stream: TokenStream) -> Span {
    match stream.into_iter().next() {
        Some(TokenTree::Group(g)) if is_none(&g) => first_span(g.stream()),
        Some(TokenTree::Group(g)) => g.span_open(),
        Some(other) => other.span(),
        None => Span::call_site(),
    }
}

fn take_expr(e: &mut Expr) -> Expr {
    std::mem::replace(e, Expr::Verbatim(TokenStream::new()))
}

/// Puts what is in a group in its place.
fn dissolve(e: &mut Expr) {
    while let Expr::Group(g) = e {
        *e = take_expr(&mut g.expr);
    }
}

impl VisitMut for Ungroup {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        dissolve(e);
        self.operands(e);
        visit_mut::visit_expr_mut(self, e);
    }

    fn visit_expr_path_mut(&mut self, e: &mut syn::ExprPath) {
        visit_mut::visit_expr_path_mut(self, e);
        // `<$t>::MAX`, as a type of a fragment has to be written, is `u32::MAX`.
        if let Some(syn::QSelf {
            ty, as_token: None, ..
        }) = &e.qself
            && scalar_of(ty).is_some()
            && let Type::Path(syn::TypePath {
                qself: None, path, ..
            }) = &**ty
        {
            let rest = std::mem::replace(&mut e.path, path.clone());
            e.path.segments.extend(rest.segments);
            e.qself = None;
        }
    }

    fn visit_pat_mut(&mut self, p: &mut Pat) {
        // The ends of a range of patterns take no parentheses.
        if let Pat::Range(range) = p {
            let ends = range.start.iter_mut().chain(&mut range.end);
            ends.for_each(|e| dissolve(e));
        } else {
            visit_mut::visit_pat_mut(self, p);
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        while let Type::Group(g) = ty {
            *ty = std::mem::replace(&mut g.elem, Type::Verbatim(TokenStream::new()));
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_macro_mut(&mut self, m: &mut syn::Macro) {
        let tokens = std::mem::take(&mut m.tokens);
        let is_matches = m.path.segments.last().is_some_and(|s| s.ident == "matches");
        m.tokens = match match_arguments.parse2(tokens.clone()) {
            Ok(matched) if is_matches => matched,
            _ => arguments(tokens),
        };
    }

    fn visit_attribute_mut(&mut self, attribute: &mut syn::Attribute) {
        match &mut attribute.meta {
            Meta::Path(_) => {}
            Meta::List(list) => list.tokens = arguments(std::mem::take(&mut list.tokens)),
            Meta::NameValue(nv) => self.visit_expr_mut(&mut nv.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Asker, expand};

    /// Statements that nest `n` deep, each in its own way.
    fn nested(n: usize) -> Vec<String> {
        let around = |open: &str, inner: &str, close: &str| {
            format!("{}{inner}{}", open.repeat(n), close.repeat(n))
        };
        let value = |e: String| format!("let a = {e};");
        vec![
            value(around("{ ", "1", " }")),
            value(around("(", "1", ")")),
            value(around("if i == 0 { 1 } else { ", "2", " }")),
            value(around("-", "1", "")),
            value(around("- ", "1", "")),
            value(around("!", "i", "")),
            value(around("a = ", "1", "")),
            value(around("return ", "1", "")),
            value(around("break ", "1", "")),
            value(around("|x| ", "1", "")),
            value(around("& ", "1", "")),
            value(around("match ", "1", " {}")),
            value(around("[", "1", "]")),
            value(around("f(", "1", ")")),
            value(around("", "i", " + i")),
            value(around("", "i", " + i * i")),
            value(around("", "i", " && i > 1")),
            value(around("", "i", " << 1")),
            value(around("", "i", " as u32")),
            value(around("", "i", ".min(i)")),
            value(around("", "i", "[0]")),
            value(around("", "i", "()")),
            value(around("", "i", ".x")),
            value(around("", "i", "?")),
            value(around("", "a", "::b")),
            value(format!(
                "if i == 0 {{ 1 }} {} else {{ 2 }}",
                around("", "", "else if i == 1 { 2 } ")
            )),
            format!("let a: {} = 1;", around("&", "u32", "")),
            format!("let a: {} = 1;", around("& ", "u32", "")),
            format!("let a: {} = 1;", around("*const ", "u32", "")),
            format!("let a: {} = 1;", around("V<", "u32", " >")),
            format!("let a: {} = 1;", around("[", "u32", "; 2]")),
            format!("let {} = 1;", around("(", "a", ",)")),
            format!("let {} = 1;", around("& ", "a", "")),
            format!("let {} = 1;", around("a @ ", "b", "")),
            format!(
                "match i {{ 0 {} => {{}} _ => {{}} }}",
                around("", "", "| 1 ")
            ),
            format!("use a{};", around("", "", "::b")),
            format!("use {};", around("a::{", "b", "}")),
            around("if i > 3 { ", "", " }"),
            around("unsafe { ", "", " }"),
            around("mod m { ", "", " }"),
            around("fn f() { ", "", " }"),
        ]
    }

    fn is_accepted(statement: &str) -> bool {
        let tokens: TokenStream = statement.parse().expect("tokens");
        check_depth(quote! { fn deep(i: Index, out: &mut u32) { #tokens } }, 0).is_ok()
    }

    /// Whatever is accepted is expanded on a stack of the size that rustc has, however it nests.
    #[test]
    fn what_is_accepted_fits_the_stack() {
        let ways = nested(0).len();
        let deepest: Vec<String> = (0..ways)
            .map(|way| {
                let (mut accepted, mut refused) = (0, 4_000);
                while accepted + 1 < refused {
                    let middle = (accepted + refused) / 2;
                    if is_accepted(&nested(middle)[way]) {
                        accepted = middle;
                    } else {
                        refused = middle;
                    }
                }
                assert!((60..1_300).contains(&accepted), "{}", nested(2)[way]);
                nested(accepted).swap_remove(way)
            })
            .collect();
        let expanding = std::thread::Builder::new()
            .stack_size(8 << 20)
            .spawn(move || {
                for statement in deepest {
                    let tokens: TokenStream = statement.parse().expect("tokens");
                    let item = quote! { fn deep(i: Index, out: &mut u32) { #tokens } };
                    assert!(!expand(Asker::Kernel, TokenStream::new(), item).is_empty());
                }
            });
        expanding.expect("a thread").join().expect("nothing panics");
    }

    /// What stands side by side does not nest, however much of it there is.
    #[test]
    fn many_arms_fit_the_stack() {
        let numbers = |sep: &str| {
            (0..1_200)
                .map(|n| n.to_string())
                .collect::<Vec<_>>()
                .join(sep)
        };
        let arms = format!("{} => 1, _ => 2", numbers(" => 0, "));
        let guarded = format!("{} => 1, n if n / i > 3 => 4, _ => 2", numbers(" => 0, "));
        let alternatives = format!("{} => 1, _ => 2", numbers(" | "));
        let expanding = std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(move || {
                for arms in [arms, guarded, alternatives] {
                    let arms: TokenStream = arms.parse().expect("tokens");
                    let item =
                        quote! { fn flat(i: Index, out: &mut u32) { *out = match i { #arms }; } };
                    assert!(!expand(Asker::Kernel, TokenStream::new(), item).is_empty());
                }
            });
        expanding.expect("a thread").join().expect("nothing panics");
    }

    /// rustc takes more from a macro than syn does: what is left fails the build.
    #[test]
    fn what_a_macro_writes_is_parsed_or_reported() {
        let parse = |tokens| {
            let mut report = Report::default();
            let taken = take(TokenStream::new(), tokens, &mut report);
            let (_, item) = taken.expect("nothing nests deeply");
            let messages = report.messages().into_iter().map(|m| m.1.clone());
            (item.to_string(), messages.collect::<Vec<_>>())
        };
        let none = |inner| TokenTree::from(Group::new(Delimiter::None, inner));
        let (block, three) = (none(quote! { { a += 1; } }), none(quote! { { 3 } }));
        let (item, messages) = parse(quote! { fn f() { #block *o = 1; for i in 0..#three {} } });
        assert_eq!(messages, [""; 0]);
        let expected = quote! { fn f() { { a += 1; } *o = 1; for i in 0..({ 3 }) {} } };
        assert_eq!(item, expected.to_string());
        let (_, messages) = parse(quote! { fn f() { let a = 1 #three 2; } });
        assert_eq!(messages.len(), 1);
        assert!(
            messages[0].starts_with("what the macro writes here cannot be parsed: expected `;`")
        );
    }

    /// A body that nests too deeply is one error; what is around it goes on.
    #[test]
    fn deep_bodies_are_left_empty() {
        let sum = " + i".repeat(3_000);
        let source = format!("mod m {{ fn deep(i: u32) -> u32 {{ i{sum} }} const C: u32 = 1; }}");
        let mut report = Report::default();
        let taken = take(
            TokenStream::new(),
            source.parse().expect("tokens"),
            &mut report,
        );
        let (_, item) = taken.expect("the module can be parsed");
        let expected = quote! { mod m { fn deep(i: u32) -> u32 { #![allow(unused)] loop {} } const C: u32 = 1; } };
        assert_eq!(item.to_string(), expected.to_string());
        let messages = report.messages();
        assert_eq!(messages.len(), 1);
        assert!(
            messages[0]
                .1
                .starts_with("operators and brackets nest too deeply: to 300")
        );
    }
}
