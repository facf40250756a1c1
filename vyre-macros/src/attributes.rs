//! Attributes that change what rustc compiles. A macro sees what is written, rustc what `#[cfg]` leaves of it: bytecode
//! of the one would be another program than the other. So nothing that is compiled has an attribute that could change
//! it.

use crate::report::Report;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Item, Meta};

/// Attributes that leave a program as it is.
const HARMLESS: [&str; 18] = [
    "allow",
    "clippy",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "device",
    "diagnostic",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "pass",
    "repr",
    "rust_analyzer",
    "rustfmt",
    "warn",
];

/// Reports attributes that could change what is compiled: of a `#[kernel]` or `#[device] fn`, of a wave graph or
/// `#[device] mod`. Those of whole items are taken away.
pub(crate) fn refuse(item: &mut Item, above: &'static str, report: &mut Report) {
    let mut refuser = Refuser {
        above,
        function: false,
        report,
    };
    match item {
        Item::Mod(module) => refuser.module(module),
        item => refuser.item(item),
    }
}

struct Refuser<'r> {
    /// The attribute that is being expanded.
    above: &'static str,
    /// In a function, its parameters included.
    function: bool,
    report: &'r mut Report,
}

impl Refuser<'_> {
    fn module(&mut self, module: &mut syn::ItemMod) {
        self.whole(&mut module.attrs);
        let content = module.content.iter_mut();
        for item in content.flat_map(|(_, items)| items) {
            match item {
                Item::Mod(m) if m.attrs.iter().any(|a| is_device(a) || names(a, "fixpoint")) => {
                    self.module(m);
                }
                Item::Fn(f) if f.attrs.iter().any(|a| is_device(a) || names(a, "wave")) => {
                    self.item(item);
                }
                Item::Const(_) | Item::Struct(_) | Item::Type(_) => self.item(item),
                Item::Impl(i) if i.trait_.is_none() => self.item(item),
                // The macro does not look into these.
                _ => {}
            }
        }
    }

    fn item(&mut self, item: &mut Item) {
        match item {
            Item::Fn(f) => {
                self.whole(&mut f.attrs);
                self.visit_signature_mut(&mut f.sig);
                self.visit_block_mut(&mut f.block);
            }
            Item::Const(c) => self.whole(&mut c.attrs),
            Item::Type(t) => self.whole(&mut t.attrs),
            Item::Struct(s) => {
                self.whole(&mut s.attrs);
                for field in &mut s.fields {
                    self.whole(&mut field.attrs);
                }
            }
            Item::Impl(i) => {
                self.whole(&mut i.attrs);
                for item in &mut i.items {
                    self.visit_impl_item_mut(item);
                }
            }
            _ => {}
        }
    }

    /// Attributes of a whole item, or of a field.
    fn whole(&mut self, attrs: &mut Vec<Attribute>) {
        attrs.retain(|attr| {
            let kept = !(names(attr, "cfg") || names(attr, "cfg_attr"));
            if kept {
                self.arguments(attr);
            } else {
                self.one(attr);
            }
            kept
        });
    }

    fn one(&mut self, attr: &Attribute) {
        let Some(first) = attr.path().segments.first() else {
            return;
        };
        if HARMLESS.iter().all(|h| first.ident != h) {
            self.say(&first.ident.to_string(), first.ident.span());
        }
    }

    fn say(&mut self, name: &str, at: Span) {
        let above = self.above;
        let (message, help) = match name {
            "cfg" | "cfg_attr" if self.function => (
                format!("`#[{name}]` cannot switch a part of a function of the kernel language"),
                "bytecode is compiled before rustc evaluates it: write `if FAST { .. }` with a `const FAST: bool = cfg!(..);` outside, or two functions with the attribute above the macro"
                    .to_owned(),
            ),
            "cfg" | "cfg_attr" => (
                format!("`#[{name}]` cannot switch a part of what `#[{above}]` compiles"),
                format!("bytecode is compiled before rustc evaluates it: put it above `#[{above}]`, which it then switches as a whole"),
            ),
            _ => (
                format!("`#[{name}]` inside a function is not in the kernel language"),
                "it could change what is compiled natively, and bytecode would not follow: leave it out".to_owned(),
            ),
        };
        self.report.error_help(at, message, help);
    }

    /// Expressions in an attribute: `until({ .. })`.
    fn arguments(&mut self, attr: &Attribute) {
        if let Meta::List(list) = &attr.meta
            && !names(attr, "doc")
        {
            let outside = std::mem::replace(&mut self.function, true);
            self.tokens(&list.tokens);
            self.function = outside;
        }
    }

    /// Tokens that syn does not take apart, as those of `assert!`.
    fn tokens(&mut self, stream: &TokenStream) {
        let mut hash = false;
        for tree in stream.clone() {
            match &tree {
                TokenTree::Punct(p) if p.as_char() == '#' => hash = true,
                TokenTree::Punct(p) if p.as_char() == '!' && hash => {}
                TokenTree::Group(g) if hash && g.delimiter() == Delimiter::Bracket => {
                    if let Some(TokenTree::Ident(word)) = g.stream().into_iter().next()
                        && HARMLESS.iter().all(|h| word != h)
                    {
                        self.say(&word.to_string(), word.span());
                    }
                    hash = false;
                }
                TokenTree::Group(g) => {
                    self.tokens(&g.stream());
                    hash = false;
                }
                _ => hash = false,
            }
        }
    }
}

impl VisitMut for Refuser<'_> {
    fn visit_signature_mut(&mut self, s: &mut syn::Signature) {
        let outside = std::mem::replace(&mut self.function, true);
        visit_mut::visit_signature_mut(self, s);
        self.function = outside;
    }

    fn visit_block_mut(&mut self, b: &mut syn::Block) {
        let outside = std::mem::replace(&mut self.function, true);
        visit_mut::visit_block_mut(self, b);
        self.function = outside;
    }

    fn visit_attribute_mut(&mut self, attr: &mut Attribute) {
        self.one(attr);
    }

    fn visit_token_stream_mut(&mut self, stream: &mut TokenStream) {
        self.tokens(stream);
    }
}

fn names(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|s| s.ident == name)
}

/// Whether an attribute is `#[device]`, by whatever path.
pub(crate) fn is_device(attr: &syn::Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|s| s.ident == "device")
}

/// Takes `#[device]` off what stands in a `#[device] mod`.
pub(crate) fn unmark(items: &mut [Item]) {
    for item in items {
        match item {
            Item::Fn(f) => f.attrs.retain(|a| !is_device(a)),
            Item::Struct(s) => s.attrs.retain(|a| !is_device(a)),
            Item::Impl(i) => {
                i.attrs.retain(|a| !is_device(a));
                for item in &mut i.items {
                    if let syn::ImplItem::Fn(f) = item {
                        f.attrs.retain(|a| !is_device(a));
                    }
                }
            }
            Item::Mod(m) if m.attrs.iter().any(is_device) => {
                m.attrs.retain(|a| !is_device(a));
                if let Some((_, items)) = &mut m.content {
                    unmark(items);
                }
            }
            _ => {}
        }
    }
}

/// A function without the `#[device]` on the functions inside it, which are its own.
pub(crate) fn without_inner_devices(f: &syn::ItemFn) -> syn::ItemFn {
    let mut f = f.clone();
    for stmt in &mut f.block.stmts {
        if let syn::Stmt::Item(Item::Fn(inner)) = stmt {
            inner.attrs.retain(|a| !is_device(a));
        }
    }
    f
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(source: &str) -> Vec<String> {
        let mut report = Report::default();
        let mut item = syn::parse_str(source).expect("an item");
        refuse(&mut item, "kernel", &mut report);
        let messages = report.messages().into_iter();
        messages
            .map(|(_, m)| m.lines().next().unwrap_or_default().to_owned())
            .collect()
    }

    /// Each position of an attribute in a function is seen, and those that change nothing are let be.
    #[test]
    fn every_position_is_seen() {
        let bodies = [
            "# let i = 5;",
            "# { *o = 1; }",
            "# if i > 1 { *o = 1; }",
            "# for k in 0..3 { *o = k; }",
            "# while i > 3 { break; }",
            "match i { # 0 => {} _ => {} }",
            "assert!(# false);",
            "assert!(i > 0, # \"text\");",
            "let a = [1, # 2];",
            "let a = f(1, # 2);",
            "let a = (1, # 2);",
            "let p = P { x: 1, # y: 2 };",
            "let P { x, # y } = p;",
            "# const C: u32 = 1;",
            "# *o = 1;",
            "# o.add(1);",
            "let c = |# x: u32| x;",
            "struct P { # x: u32 }",
            "impl P { # fn new() -> u32 { 1 } }",
            "impl P { fn new() -> u32 { # let a = 1; 1 } }",
            "#[device] fn f() { # let a = 1; }",
            "{ { if i > 0 { let a = # { 1 }; } } }",
        ];
        for body in bodies {
            for (attribute, count) in [
                ("#[cfg(any())]", 1),
                ("#[cfg_attr(all(), cfg(any()))]", 1),
                ("#[other::thing]", 1),
                ("#[allow(unused)]", 0),
                ("#[rustfmt::skip]", 0),
            ] {
                let body = body.replacen("# ", &format!("{attribute} "), 1);
                let said = said(&format!("fn k(i: Index, o: &mut u32) {{ {body} }}"));
                assert_eq!(said.len(), count, "{body}: {said:?}");
            }
        }
        let parameter = said("fn k(i: Index, #[cfg(any())] n: u32) {}");
        assert_eq!(parameter.len(), 1);
    }

    #[test]
    fn modules_are_searched_where_they_are_compiled() {
        let refused = [
            "#[cfg(a)] const C: u32 = 1;",
            "#[cfg(a)] type T = u32;",
            "#[cfg(a)] struct P { x: u32 }",
            "struct P { #[cfg(a)] x: u32 }",
            "#[cfg(a)] impl P {}",
            "impl P { #[cfg(a)] const C: u32 = 1; }",
            "#[device] #[cfg(a)] fn f() {}",
            "#[wave(once)] fn w() { #[cfg(a)] return; }",
            "#[fixpoint(until({ #[cfg(a)] { } true }))] mod f {}",
            "#[fixpoint(until(x))] mod f { #[wave(once)] fn w() { #[cfg(a)] return; } }",
            "#[device] mod d { impl P { fn f() { #[cfg(a)] return; } } }",
            "#[device] #[cfg(a)] mod d {}",
        ];
        for item in refused {
            assert_eq!(said(&format!("mod m {{ {item} }}")).len(), 1, "{item}");
        }
        let free = [
            "#[cfg(a)] use x::y;",
            "#[cfg(test)] mod tests { fn f() { #[cfg(a)] g(); } }",
            "fn on_the_host() { #[cfg(a)] g(); }",
            "impl Drop for P { fn drop(&mut self) { #[cfg(a)] g(); } }",
            "#[derive(Clone)] #[repr(C)] struct P { #[scratch(per = node)] x: u32 }",
        ];
        for item in free {
            let said = said(&format!("mod m {{ {item} }}"));
            assert!(said.is_empty(), "{item}: {said:?}");
        }
    }
}
