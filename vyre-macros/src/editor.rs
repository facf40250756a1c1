//! What an editor reads of a graph's attributes. rust-analyzer expands the macro with a name of its own at the cursor,
//! looks for that name in the expansion, and offers what fits where it stands there; but arguments of attributes are
//! not in an expansion. Such a name is unknown, so the expansion is one with errors: only there the arguments are
//! written again, as code that says what they mean.
//!
//! Tokens are taken as they are, for what is being written rarely parses, and what rust-analyzer makes of it with and
//! without its name must look alike: it finds the one in the other by its distance from the beginning. They go through
//! a macro, [`crate::written`]: rustc sees neither it nor, without it, that they do not parse.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// The arguments of attributes, as statements.
struct Statements<'a> {
    /// Parameters for what a condition can ask for.
    asked: &'a TokenStream,
    made: TokenStream,
}

/// The arguments of the attributes in a module whose names are looked up there, as code in it: of all that is written,
/// with the module of each, those of `s`. `asked`: parameters for what a condition can ask for.
pub(crate) fn arguments(
    (written, s): (&[(usize, TokenStream)], usize),
    asked: &TokenStream,
    private: &TokenStream,
) -> TokenStream {
    let mut statements = Statements {
        asked,
        made: TokenStream::new(),
    };
    for (scope, arguments) in written {
        if *scope == s {
            statements.arguments(arguments);
        }
    }
    let Statements { made, .. } = statements;
    if made.is_empty() {
        return made;
    }
    quote! {
        #[allow(unexpected_cfgs, unused)]
        const _: () = {
            #[cfg(rust_analyzer)]
            #private::written! { #made }
        };
    }
}

impl Statements<'_> {
    fn arguments(&mut self, tokens: &TokenStream) {
        for argument in parts(tokens) {
            match &argument[..] {
                [TokenTree::Ident(word), TokenTree::Group(list), ..]
                    if list.delimiter() == Delimiter::Parenthesis =>
                {
                    self.list(&word.to_string(), list);
                }
                [TokenTree::Ident(word), TokenTree::Punct(p), value @ ..] if p.as_char() == '=' => {
                    self.value(&word.to_string(), value);
                }
                _ => {}
            }
        }
    }

    /// `word(..)`
    fn list(&mut self, word: &str, list: &Group) {
        match word {
            "until" | "range" => self.expression(list.stream()),
            "after" => {
                for name in parts(&list.stream()) {
                    self.made.extend(quote! { use self::#(#name)*; });
                }
            }
            "edges" | "edge" | "items" | "nodes" | "swap" => {
                for part in parts(&list.stream()) {
                    match &part[..] {
                        [_, TokenTree::Punct(p), value @ ..] if p.as_char() == '=' => {
                            self.field(value);
                        }
                        [TokenTree::Ident(new)] if word == "items" && new == "new" => {}
                        name => self.field(name),
                    }
                }
            }
            _ => {}
        }
    }

    /// `word = value`
    fn value(&mut self, word: &str, value: &[TokenTree]) {
        match (word, value) {
            ("per" | "capacity", [TokenTree::Ident(size)]) if size == "node" => {}
            ("per" | "capacity", [TokenTree::Ident(of), TokenTree::Group(list)]) => {
                self.list(&of.to_string(), list);
            }
            ("reset", [TokenTree::Ident(round)]) if round == "round" => {}
            ("per" | "capacity" | "bits" | "init" | "max_rounds" | "edges", _) => {
                self.expression(value.iter().cloned().collect());
            }
            // `reverse_of`, or a field of an included graph.
            _ => self.field(value),
        }
    }

    /// A field of `Data`.
    fn field(&mut self, name: &[TokenTree]) {
        self.made
            .extend(quote! { |data: Data| { data.#(#name)* }; });
    }

    /// Constants, and what a condition can ask for.
    fn expression(&mut self, tokens: TokenStream) {
        let asked = self.asked;
        self.made.extend(quote! { |#asked| { #tokens }; });
    }
}

/// What stands between commas; one part that is empty where nothing is written.
fn parts(tokens: &TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for tree in tokens.clone() {
        match (tree, parts.last_mut()) {
            (TokenTree::Punct(p), _) if p.as_char() == ',' => parts.push(Vec::new()),
            (tree, Some(last)) => last.push(tree),
            (_, None) => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::Imports;

    fn expanded(until: TokenStream) -> String {
        let graph = quote! {
            mod g {
                pub struct Data { #[reduce(or)] changed: bool, n: u32 }
                #[fixpoint(until(#until))]
                mod turns {
                    #[wave(once)]
                    fn turn(changed: &Reduce<Or<bool>>) { changed.or(false); }
                }
            }
        };
        crate::wave_graph::expand(TokenStream::new(), graph, Imports::default()).to_string()
    }

    #[test]
    fn arguments_are_written_again_only_beside_errors() {
        assert!(!expanded(quote! { !changed }).contains("written !"));
        for until in [quote! { !chan }, quote! { n. }, TokenStream::new()] {
            let out = expanded(until.clone());
            let closure = quote! {
                |changed: ::core::primitive::bool, n: ::core::primitive::u32, round: ::core::primitive::u32| { #until };
            };
            assert!(out.contains(&closure.to_string()), "{out}");
            syn::parse_str::<syn::File>(&out).expect("rustc parses it");
        }
    }
}
