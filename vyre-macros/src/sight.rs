//! What the source file around an item says about a function that the item calls. A macro sees its own item only, and asks for
//! the rest by a macro of the function's name; rustc says of a function without `#[device]` that there is no such macro, and
//! drops the item. The file is looked into before that, and what is certain is said in our words.

use crate::source;
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::cell::OnceCell;
use syn::{Attribute, Item, UseTree};

/// What is certain about a function or struct of another module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It may be there, and marked.
    Open,
    /// It, or the module of a struct, is there without `#[device]`.
    Unmarked,
    /// The item's module has no such name.
    Absent,
}

/// The source file around an item.
pub(crate) struct Around {
    item: String,
    text: String,
    parsed: OnceCell<Option<syn::File>>,
}

impl Around {
    /// `None` where the file is not known: outside of a compiler, in some editors.
    pub(crate) fn new(item: Ident) -> Option<Around> {
        if !proc_macro::is_available() {
            return None;
        }
        let file = item.span().unwrap().local_file()?;
        Some(Around {
            item: item.to_string(),
            text: std::fs::read_to_string(file).ok()?,
            parsed: OnceCell::new(),
        })
    }

    /// Looks a path up from the module around the item, which one of our attributes marks.
    pub(crate) fn look(&self, path: &TokenStream) -> Sight {
        let names = path.clone().into_iter().filter_map(|t| match t {
            TokenTree::Ident(i) => Some(i.to_string()),
            _ => None,
        });
        let names: Vec<String> = names.skip_while(|n| n == "self").collect();
        if names.iter().any(|n| n == "super" || n == "crate") || plainly_open(&self.text, &names) {
            return Sight::Open;
        }
        let file = self.parsed.get_or_init(|| parse(&self.text));
        let said = file
            .as_ref()
            .and_then(|f| of_items(&f.items, &self.item, &names));
        said.unwrap_or(Sight::Open)
    }
}

impl Around {
    /// Whether a function of this name is certainly beside the item: marked, unmarked, or brought by a `use` of its name.
    pub(crate) fn has(&self, name: &str) -> bool {
        let names = [name.to_owned()];
        let file = || self.parsed.get_or_init(|| parse(&self.text)).as_ref();
        plainly_open(&self.text, &names)
            || file().and_then(|f| of_items(&f.items, &self.item, &names)) == Some(Sight::Unmarked)
    }
}

/// The file, if syn's recursion does not end the stack on it.
fn parse(text: &str) -> Option<syn::File> {
    let tokens: TokenStream = text.parse().ok()?;
    source::check_depth(tokens.clone(), 0).ok()?;
    syn::parse2(tokens).ok()
}

/// Whether a look at the text is enough, as it is in code that compiles: the function is marked, or comes by a `use`, or from a
/// module in another file. Parsing a file costs more.
fn plainly_open(text: &str, names: &[String]) -> bool {
    let Some((name, modules)) = names.split_last() else {
        return true;
    };
    let word = |line: &str, name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        line.split(|c| !is_part(c)).any(|w| w == name)
    };
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            marked |= word(line, "device");
        } else if line.starts_with("use super::") {
            // From there, which says nothing about what is there.
        } else if line.starts_with("use ") || line.starts_with("pub") && line.contains(" use ") {
            // Not a path through it, but the name itself.
            if word(line, &names[0]) && !line.contains(&format!("{}::", names[0])) {
                return true;
            }
        } else if !line.starts_with("//") {
            let declares = ["fn", "struct"].iter().any(|w| word(line, w)) && word(line, name);
            if declares && (marked || word(line, "device")) {
                return true;
            }
            marked = false;
        }
    }
    let inline = |m: &String| text.contains(&format!("mod {m} {{"));
    !modules.iter().all(inline)
}

/// What all modules say that have the item; `None` if there is none.
fn of_items(items: &[Item], item: &str, names: &[String]) -> Option<Sight> {
    let mut said = None;
    let mut say = |sight: Option<Sight>| {
        said = match (said, sight) {
            (Some(a), Some(b)) if a != b => Some(Sight::Open),
            (a, b) => a.or(b),
        };
    };
    let is_ours = |i: &Item| match i {
        Item::Fn(f) => f.sig.ident == item && marked(&f.attrs, &["kernel", "device"]),
        Item::Mod(m) => m.ident == item && marked(&m.attrs, &["wave_graph", "device"]),
        _ => false,
    };
    if items.iter().any(is_ours) {
        say(Some(resolve(items, names, true)));
    }
    for i in items {
        if let Item::Mod(m) = i
            && let Some((_, items)) = &m.content
        {
            say(of_items(items, item, names));
        }
    }
    said
}

/// A path from a module with these items. `device`: structs in it need no mark.
fn resolve(items: &[Item], names: &[String], device: bool) -> Sight {
    let [first, rest @ ..] = names else {
        return Sight::Open;
    };
    if !rest.is_empty() {
        let inner = items.iter().find_map(|i| match i {
            Item::Mod(m) if m.ident == first => {
                let device = marked(&m.attrs, &["device", "cfg_attr"]);
                m.content.as_ref().map(|(_, items)| (items, device))
            }
            _ => None,
        });
        return inner.map_or(Sight::Open, |(items, device)| {
            match resolve(items, rest, device) {
                // rustc knows best what else a module could have.
                Sight::Absent => Sight::Open,
                sight => sight,
            }
        });
    }
    let mut found = Sight::Absent;
    for i in items {
        match i {
            Item::Fn(f) if f.sig.ident == first => {
                if marked(&f.attrs, &["device", "cfg_attr"]) {
                    return Sight::Open;
                }
                found = Sight::Unmarked;
            }
            Item::Struct(s) if s.ident == first => {
                return if device { Sight::Open } else { Sight::Unmarked };
            }
            Item::Use(u) if brings(&u.tree, first) => return Sight::Open,
            // It may define anything.
            Item::Macro(_) | Item::Verbatim(_) | Item::ForeignMod(_) => return Sight::Open,
            _ => {}
        }
    }
    found
}

fn marked(attrs: &[Attribute], words: &[&str]) -> bool {
    let last = |a: &Attribute| a.path().segments.last().map(|s| s.ident.to_string());
    attrs
        .iter()
        .any(|a| last(a).is_some_and(|l| words.contains(&l.as_str())))
}

/// Whether a `use` may bring the name. Our prelude has no functions.
fn brings(tree: &UseTree, name: &str) -> bool {
    match tree {
        UseTree::Path(p) if p.ident == "prelude" && matches!(*p.tree, UseTree::Glob(_)) => false,
        UseTree::Path(p) => brings(&p.tree, name),
        UseTree::Name(n) => n.ident == name,
        UseTree::Rename(r) => r.rename == name,
        UseTree::Glob(_) => true,
        UseTree::Group(g) => g.items.iter().any(|t| brings(t, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(source: &str, path: &str) -> Sight {
        let around = Around {
            item: "k".to_owned(),
            text: source.to_owned(),
            parsed: OnceCell::new(),
        };
        around.look(&path.parse().expect("a path"))
    }

    const USE: &str = "use vyre_cuda::prelude::*;\n";

    #[test]
    fn a_function_without_its_mark_is_seen() {
        let kernel = "#[kernel]\nfn k(i: Index) { f(i); }\n";
        assert_eq!(
            sight(&format!("{USE}fn f() {{}}\n{kernel}"), "f"),
            Sight::Unmarked
        );
        assert_eq!(
            sight(
                &format!("{USE}mod m {{\npub fn f() {{}}\n}}\n{kernel}"),
                "m::f"
            ),
            Sight::Unmarked
        );
        assert_eq!(sight(&format!("{USE}{kernel}"), "f"), Sight::Absent);
    }

    #[test]
    fn what_may_be_there_is_left_open() {
        let kernel = "#[kernel]\nfn k(i: Index) { f(i); }\n";
        for before in [
            "#[device]\nfn f() {}",
            "#[device] fn f() {}",
            "#[device]\n/// Halves.\n#[inline]\npub fn f() {}",
            "use math::f;",
            "use math::{\n    e,\n    f,\n};",
            "use math::*;",
            "functions! { f }",
            "mod other {\n#[kernel]\nfn k() {}\n#[vyre_cuda::device]\nfn f() {}\n}\nfn f() {}",
        ] {
            assert_eq!(
                sight(&format!("{before}\n{kernel}"), "f"),
                Sight::Open,
                "{before}"
            );
        }
        assert_eq!(sight(kernel, "m::f"), Sight::Open);
        assert_eq!(
            sight("fn f() {}\nfn g() {\n#[kernel]\nfn k() {}\n}", "f"),
            Sight::Open
        );
    }
}
