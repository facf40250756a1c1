//! Items whose syntax is broken. rustc parses an item before a macro sees it and says what is wrong, but hands the
//! tokens on as they are written. One missing `;` must not take `Session`, `Run` and every attribute inside with it:
//! what parses is kept, a function that does not keeps its signature, and the rest is left out.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Expr, Field, Ident, Item, Meta, Signature, Token, Type, UseTree, Visibility,
    parse_quote,
};

/// The item without what does not parse; `None` where nothing can be kept.
pub(crate) fn item(tokens: TokenStream) -> Option<TokenStream> {
    let mended = items.parse2(attributes(tokens)).ok()?;
    syn::parse2::<Item>(mended.clone()).ok().map(|_| mended)
}

/// Attributes that do not parse, as `word(..)`: an item that has one would not parse either.
fn attributes(tokens: TokenStream) -> TokenStream {
    let mut hash = false;
    let trees = tokens.into_iter().map(|tree| match tree {
        TokenTree::Group(g) => {
            let mut inner = attributes(g.stream());
            if hash
                && g.delimiter() == Delimiter::Bracket
                && syn::parse2::<Meta>(inner.clone()).is_err()
            {
                let mut rest = inner.clone().into_iter();
                if let Some(TokenTree::Ident(word)) = rest.next() {
                    inner = quote! { #word(#(#rest)*) };
                }
            }
            hash = false;
            let mut group = Group::new(g.delimiter(), inner);
            group.set_span(g.span());
            TokenTree::Group(group)
        }
        tree => {
            let inner = hash && matches!(&tree, TokenTree::Punct(p) if p.as_char() == '!');
            hash = inner || matches!(&tree, TokenTree::Punct(p) if p.as_char() == '#');
            tree
        }
    });
    trees.collect()
}

/// All that parses of some items.
fn items(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    all_items(input, false)
}

/// The same of a module's.
fn items_inside(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    all_items(input, true)
}

fn all_items(input: ParseStream<'_>, inside: bool) -> syn::Result<TokenStream> {
    let mut kept = TokenStream::new();
    if let Ok(attrs) = ahead(input, Attribute::parse_inner) {
        attrs.iter().for_each(|a| a.to_tokens(&mut kept));
    }
    while !input.is_empty() {
        if let Ok(item) = ahead(input, Item::parse) {
            item.to_tokens(&mut kept);
        } else if let Ok(part) = ahead(input, |input| part_of_item(input, inside)) {
            kept.extend(part);
        } else {
            skip(input);
        }
    }
    Ok(kept)
}

/// Parses, and goes on only where that succeeds.
fn ahead<T>(
    input: ParseStream<'_>,
    parse: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let fork = input.fork();
    let parsed = parse(&fork)?;
    input.advance_to(&fork);
    Ok(parsed)
}

/// What can be kept of a module, a function or a struct, or of a constant or `use` without its `;`.
fn part_of_item(input: ParseStream<'_>, inside: bool) -> syn::Result<TokenStream> {
    let attrs = Attribute::parse_outer(input)?;
    let vis: Visibility = input.parse()?;
    let content;
    if input.peek(Token![mod]) {
        let (word, name): (Token![mod], Ident) = (input.parse()?, input.parse()?);
        syn::braced!(content in input);
        let inner = items_inside(&content)?;
        return Ok(quote! { #(#attrs)* #vis #word #name { #inner } });
    }
    if input.peek(Token![struct]) {
        let (word, name): (Token![struct], Ident) = (input.parse()?, input.parse()?);
        syn::braced!(content in input);
        let fields = fields(&content);
        return Ok(quote! { #(#attrs)* #vis #word #name { #(#fields),* } });
    }
    if input.peek(Token![use]) {
        let (word, tree): (Token![use], UseTree) = (input.parse()?, input.parse()?);
        return Ok(quote! { #(#attrs)* #vis #word #tree; });
    }
    if input.peek(Token![const]) && input.peek3(Token![:]) {
        let (word, name): (Token![const], Ident) = (input.parse()?, input.parse()?);
        let (colon, ty): (Token![:], Type) = (input.parse()?, input.parse()?);
        let (equals, value): (Token![=], Expr) = (input.parse()?, input.parse()?);
        return Ok(quote! { #(#attrs)* #vis #word #name #colon #ty #equals #value; });
    }
    let signature: Signature = match ahead(input, Signature::parse) {
        Ok(signature) => signature,
        // Its name is known, and what it is marked with.
        Err(_) if inside => {
            let (word, name): (Token![fn], Ident) = (input.parse()?, input.parse()?);
            while !input.is_empty() && !input.peek(syn::token::Brace) {
                input.parse::<TokenTree>()?;
            }
            parse_quote!(#word #name())
        }
        Err(e) => return Err(e),
    };
    syn::braced!(content in input);
    let _: TokenStream = content.parse()?;
    let body = match signature.output {
        syn::ReturnType::Default => quote! { {} },
        syn::ReturnType::Type(..) => quote! { { loop {} } },
    };
    Ok(quote! { #(#attrs)* #vis #signature #body })
}

/// The fields that parse, a comma between them or not.
fn fields(input: ParseStream<'_>) -> Vec<Field> {
    let mut all = Vec::new();
    while !input.is_empty() {
        match ahead(input, Field::parse_named).or_else(|_| ahead(input, part_of_field)) {
            Ok(field) => all.push(field),
            Err(_) => drop(input.parse::<TokenTree>()),
        }
        let _ = input.parse::<Option<Token![,]>>();
    }
    all
}

/// A field without its `:`, or without its type, which is `_` then.
fn part_of_field(input: ParseStream<'_>) -> syn::Result<Field> {
    let attrs = Attribute::parse_outer(input)?;
    let (vis, ident): (Visibility, Ident) = (input.parse()?, input.parse()?);
    let colon: Option<Token![:]> = input.parse()?;
    let ty: Type = if input.is_empty() || input.peek(Token![,]) || input.peek(Token![#]) {
        parse_quote!(_)
    } else if colon.is_some() || input.peek(Ident) {
        input.parse()?
    } else {
        return Err(input.error("no field"));
    };
    Ok(parse_quote! { #(#attrs)* #vis #ident: #ty })
}

/// Passes over tokens to where an item can begin: behind braces or a `;`.
fn skip(input: ParseStream<'_>) {
    while let Ok(tree) = input.parse::<TokenTree>() {
        match tree {
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(p) if p.as_char() == ';' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(source: &str) -> Option<String> {
        item(source.parse().expect("tokens")).map(|t| t.to_string())
    }

    #[test]
    fn functions_that_do_not_parse_keep_their_signatures() {
        let kept = kept(
            "mod g { const A: u32 = 1; #[wave(nodes)] fn a(v: Node) { x = 1 if y {} } fn b() -> u32 { + } fn c() { d(); } }",
        );
        let expected = "mod g { const A: u32 = 1; #[wave(nodes)] fn a(v: Node) {} fn b() -> u32 { loop {} } fn c() { d(); } }";
        let expected: TokenStream = expected.parse().expect("tokens");
        assert_eq!(kept, Some(expected.to_string()));
    }

    #[test]
    fn fields_around_a_missing_comma_are_kept() {
        let kept = kept(
            "mod g { pub struct Data { #[topology] g: Csr #[frontier] f: Frontier, + n: u32 } type B = }",
        );
        let expected =
            "mod g { pub struct Data { #[topology] g: Csr, #[frontier] f: Frontier, n: u32 } }";
        let expected: TokenStream = expected.parse().expect("tokens");
        assert_eq!(kept, Some(expected.to_string()));
    }

    #[test]
    fn a_constant_without_its_semicolon_does_not_take_what_follows() {
        let kept = kept("mod g { use a::b const A: u32 = 1 + 2 #[wave(once)] fn a() {} }");
        let expected = "mod g { use a::b; const A: u32 = 1 + 2; #[wave(once)] fn a() {} }";
        let expected: TokenStream = expected.parse().expect("tokens");
        assert_eq!(kept, Some(expected.to_string()));
    }

    #[test]
    fn of_anything_else_nothing_is_kept() {
        assert_eq!(kept("impl + {}"), None);
        assert_eq!(kept("mod g"), None);
    }
}
