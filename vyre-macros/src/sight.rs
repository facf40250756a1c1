//! What the source files around an item say about what the item names: a function that it calls, a wave graph that it
//! includes, the words of the prelude. A macro sees its own item only, and asks for the rest by a macro of the
//! function's or graph's name; rustc says that there is no such macro, and drops the item. The files are looked into
//! before that, and what is certain is said in our words.

use crate::calls::{hoist, is_include, named};
use crate::kernel::param::WORDS;
use crate::report::did_you_mean;
use crate::source;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syn::ext::IdentExt;
use syn::{Attribute, Item, ItemUse, UseTree};

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

/// What is certain about a wave graph that another includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Included {
    /// It may be there.
    Open,
    /// It is there.
    Graph,
    /// It is there, and private to the module around it.
    Private,
    /// There is no module of this name at a place of the path.
    Absent {
        /// The place.
        at: usize,
        /// Where it was looked for: a module, or the file.
        within: Option<String>,
        /// What has a name like it.
        near: Option<String>,
    },
    /// The module is there without `#[wave_graph]`.
    Unmarked {
        /// A graph in it.
        inside: Option<String>,
    },
    /// It includes the graph that includes it, by way of these, which begin and end with that.
    Itself(Vec<String>),
}

/// Reads a text file. Refused are devices and pipes, which may never end and are not even opened.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        let why = "it is not a regular file; copy what the device or pipe gives to one";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    std::fs::read_to_string(path)
}

/// A word of the kernel language that nothing brings into scope.
pub(crate) struct Lacking {
    pub(crate) word: Ident,
    /// No item before it in its module lacks one.
    pub(crate) first: bool,
}

/// The source file around an item.
pub(crate) struct Around {
    item: String,
    file: PathBuf,
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
            text: read(&file).ok()?,
            file,
            parsed: OnceCell::new(),
        })
    }

    fn parsed(&self) -> Option<&syn::File> {
        self.parsed.get_or_init(|| parse(&self.text)).as_ref()
    }

    /// Looks a path up from the module around the item, which one of our attributes marks.
    pub(crate) fn look(&self, path: &TokenStream) -> Sight {
        let names = path.clone().into_iter().filter_map(|t| match t {
            TokenTree::Ident(i) => Some(i.unraw().to_string()),
            _ => None,
        });
        let names: Vec<String> = names.skip_while(|n| n == "self").collect();
        let ups = names.iter().take_while(|n| *n == "super").count();
        let from_crate = names.first().is_some_and(|n| n == "crate");
        let rest = &names[ups + usize::from(from_crate)..];
        if plainly_open(&self.text, rest) {
            return Sight::Open;
        }
        if ups > 0 || from_crate {
            return self.look_around(rest, (!from_crate).then_some(ups));
        }
        let said = self
            .parsed()
            .and_then(|f| of_items(&f.items, &self.item, &names, false));
        said.unwrap_or(Sight::Open)
    }

    /// Looks a path up from a module of this file around the item's module, the crate's if that is not said.
    fn look_around(&self, names: &[String], ups: Option<usize>) -> Sight {
        let Some((chain, of)) = self.home() else {
            return Sight::Open;
        };
        let is_root = ["main", "lib"]
            .iter()
            .any(|r| self.file.file_stem().is_some_and(|stem| stem == *r));
        let at = match ups {
            Some(ups) => (chain.len() - 1).checked_sub(ups),
            None => (is_root || chain[0].iter().any(is_main)).then_some(0),
        };
        at.map_or(Sight::Open, |at| {
            let around = at.checked_sub(1).map_or(&[][..], |before| chain[before]);
            let is_device =
                |i: &Item| matches!(i, Item::Mod(m) if m.ident == of[at - 1] && is_device(m));
            resolve(chain[at], names, around.iter().any(is_device))
        })
    }

    /// Whether a function of this name is certainly beside the item: marked, unmarked, or brought by a `use` of its
    /// name.
    pub(crate) fn has(&self, name: &str) -> bool {
        let names = [name.to_owned()];
        let file = || self.parsed();
        plainly_open(&self.text, &names)
            || file().and_then(|f| of_items(&f.items, &self.item, &names, false))
                == Some(Sight::Unmarked)
    }

    /// A word that the item has and its module does not. `attribute`: that of the item, unless it is written with the
    /// path of this crate, and can stand where the prelude is not in scope.
    pub(crate) fn lacks(&self, item: &TokenStream, attribute: Option<&str>) -> Option<Lacking> {
        if attribute.is_some() && self.text.contains("prelude::*") {
            return None;
        }
        let (chain, _) = self.home()?;
        // A file that `include!` takes in sees what is in scope there.
        let is_module = |i: &Item| is_main(i) || matches!(i, Item::Use(_));
        let seen = attribute.is_none_or(|a| chain_brings(&chain, a));
        if !seen || !chain[0].iter().any(is_module) {
            return None;
        }
        let word = lacking(item.clone(), &chain)?;
        let mut beside = chain.last()?.iter().filter(|i| ours(i).is_some());
        let first = beside.find(|i| lacking(i.to_token_stream(), &chain).is_some());
        Some(Lacking {
            word,
            first: first.and_then(ours).is_some_and(|name| *name == self.item),
        })
    }

    /// The items of the modules of this file around the item, from the file's own to those beside it, and the names of
    /// the modules; `None` unless that is one place.
    fn home(&self) -> Option<(Vec<&[Item]>, Vec<String>)> {
        let mut homes = Vec::new();
        let mut at = (vec![&self.parsed()?.items[..]], Vec::new());
        find_homes(&self.item, &mut at, &mut homes);
        match homes.len() {
            1 => homes.pop(),
            _ => None,
        }
    }

    /// Looks up the path of a `use` in the item, a module, that includes what it names.
    pub(crate) fn included(&self, path: &[Ident]) -> Included {
        let path: Vec<String> = path.iter().map(Ident::to_string).collect();
        self.find(&path).unwrap_or(Included::Open)
    }

    /// `None`: nothing is certain.
    fn find(&self, path: &[String]) -> Option<Included> {
        let own = self.own()?;
        let graph = match own.find(path)? {
            Ok(graph) => graph,
            Err(not) => return Some(not),
        };
        if let Some(chain) = graph.place.includes(&own, &mut Vec::new()) {
            return Some(Included::Itself([vec![self.item.clone()], chain].concat()));
        }
        let (_, around) = graph.place.names.split_last()?;
        let private = graph.place.file == own.file && !own.names.starts_with(around);
        Some(match private && graph.is_private {
            true => Included::Private,
            false => Included::Graph,
        })
    }

    /// The first name of a path in the item, a module, that is certainly not there.
    pub(crate) fn lacks_path<'p>(&self, path: &'p syn::Path) -> Option<&'p Ident> {
        let names = path.segments.iter().map(|s| s.ident.unraw().to_string());
        let names: Vec<String> = names.collect();
        let own = self.own()?;
        let at = match (path.leading_colon, own.find(&names)?) {
            (Some(_), _) => 0,
            (None, Err(Included::Absent { at, .. })) => at,
            (None, _) => return None,
        };
        let is_crate =
            at == 0 && (may_be_a_crate(&names[0]) || own.root()?.declares(&names[0], &[]));
        (!is_crate).then(|| &path.segments[at].ident)
    }

    /// Whether a `use` brings the item, a function, to where the module around it stands, which has its name.
    pub(crate) fn brings_beside_its_module(&self) -> bool {
        let beside = || {
            let module = self.place()?;
            let parent = (module.name()? == self.item).then(|| module.parent())??;
            let mut uses = parent?.items.into_iter().filter_map(|i| match i {
                Item::Use(u) => Some(u),
                _ => None,
            });
            uses.find(|u| {
                let mut named = named(u).into_iter();
                named.any(|(name, path)| {
                    let ends = path.iter().rev().take(2).all(|p| *p == self.item);
                    name == self.item && path.len() > 1 && ends
                })
            })
        };
        beside().is_some()
    }

    /// The module around the item.
    fn place(&self) -> Option<Place> {
        let (chain, names) = self.home()?;
        let mut place = Place::file(&self.file, self.parsed()?.items.clone());
        for (items, name) in chain[1..].iter().zip(&names) {
            place = place.inside(name, items.to_vec());
        }
        Some(place)
    }

    /// The item, a module.
    fn own(&self) -> Option<Place> {
        let place = self.place()?;
        let own = place.items.iter().find_map(|i| match i {
            Item::Mod(m) if m.ident == self.item => m.content.as_ref().map(|(_, i)| i.clone()),
            _ => None,
        })?;
        Some(place.inside(&self.item, own))
    }
}

/// A wave graph, where a path leads.
struct Found {
    place: Place,
    is_private: bool,
}

impl Place {
    /// Looks up the path of a `use` in this module; `None` where nothing is certain.
    fn find(&self, path: &[String]) -> Option<Result<Found, Included>> {
        let mut place = self.clone();
        let mut at = 0;
        if path.first()? == "crate" {
            at = 1;
            place = place.root()?;
        } else {
            let mut above = false;
            while at < path.len() && (path[at] == "super" || path[at] == "self") {
                if path[at] == "super" {
                    place = place.parent()??;
                    above = true;
                }
                at += 1;
            }
            // By its `use super::*`, the module around it.
            if !above && !place.declares(path.get(at)?, path) {
                place = place.parent()??;
            }
        }
        for (at, name) in path.iter().enumerate().skip(at) {
            let last = at + 1 == path.len();
            let module = place.items.iter().find_map(|i| match i {
                Item::Mod(m) if m.ident == name => Some(m.clone()),
                _ => None,
            });
            // Which of several it is, or where, rustc knows.
            let switched = |m: &syn::ItemMod| marked(&m.attrs, &["cfg", "cfg_attr", "path"]);
            if module.as_ref().is_some_and(switched) {
                return None;
            }
            let Some(module) = module else {
                if place.items.iter().any(|i| may_bring(i, name)) {
                    return None;
                }
                let wanted = place.items.iter().filter_map(|i| match i {
                    Item::Mod(m) if !last || marked(&m.attrs, &["wave_graph"]) => {
                        Some(m.ident.to_string())
                    }
                    _ => None,
                });
                let own = self.names.last();
                let wanted: Vec<String> = wanted.filter(|n| Some(n) != own).collect();
                let same = wanted.iter().find(|n| n.eq_ignore_ascii_case(name));
                let near = || did_you_mean(name, wanted.iter().map(String::as_str));
                let near = same.map(String::as_str).or_else(near).map(str::to_owned);
                if at == 0 && !last && near.is_none() && may_be_a_crate(name) {
                    return None;
                }
                return Some(Err(Included::Absent {
                    at,
                    within: place.name(),
                    near,
                }));
            };
            if last {
                let (_, inner) = module.content.as_ref()?;
                if !marked(&module.attrs, &["wave_graph", "wavegraph"]) {
                    let inside = inner.iter().find_map(|i| match i {
                        Item::Mod(m) if marked(&m.attrs, &["wave_graph"]) => {
                            Some(m.ident.to_string())
                        }
                        _ => None,
                    });
                    return Some(Err(Included::Unmarked { inside }));
                }
                return Some(Ok(Found {
                    is_private: matches!(module.vis, syn::Visibility::Inherited),
                    place: place.inside(name, inner.clone()),
                }));
            }
            place = match &module.content {
                Some((_, items)) => place.inside(name, items.clone()),
                None => place.outside(name)?,
            };
        }
        None
    }

    /// By which graphs this one includes another, from this one's name to the other's, if it does. `seen`: those that
    /// were looked at.
    fn includes(&self, other: &Place, seen: &mut Vec<Place>) -> Option<Vec<String>> {
        let is = |a: &Place, b: &Place| a.file == b.file && a.names == b.names;
        let name = self.names.last()?.clone();
        if is(self, other) {
            return Some(vec![name]);
        }
        if seen.iter().any(|s| is(s, self)) {
            return None;
        }
        seen.push(self.clone());
        let mut items = self.items.clone();
        hoist(&mut items);
        let includes = items.iter().filter_map(|i| match i {
            Item::Use(u) if u.attrs.iter().any(is_include) => Some(named(u)),
            _ => None,
        });
        includes.flatten().find_map(|(_, path)| {
            let path: Vec<String> = path.iter().map(Ident::to_string).collect();
            let graph = self.find(&path)?.ok()?;
            let chain = graph.place.includes(other, seen)?;
            Some([vec![name.clone()], chain].concat())
        })
    }
}

/// Whether a crate may have the name. rustc is told of those that are linked; an editor that expands is not.
fn may_be_a_crate(name: &str) -> bool {
    let mut args = std::env::args();
    let mut linked = Vec::new();
    while let Some(arg) = args.next() {
        let value = match arg.strip_prefix("--extern") {
            Some("") => args.next(),
            Some(joined) => joined.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        linked.extend(value);
    }
    // `priv,noprelude:name=path`, of which all but the name may be missing.
    let names = linked.iter().map(|value| {
        let name = value.split('=').next().unwrap_or_default();
        name.rsplit(':').next().unwrap_or_default()
    });
    linked.is_empty() || names.chain(["std", "core", "alloc"]).any(|n| n == name)
}

/// A module, as far as it is read.
#[derive(Clone)]
struct Place {
    items: Vec<Item>,
    file: PathBuf,
    /// Its inline modules around this one, and this one.
    names: Vec<String>,
    around: Option<Rc<Place>>,
}

impl Place {
    fn file(file: &Path, items: Vec<Item>) -> Place {
        Place {
            items,
            file: file.to_owned(),
            names: Vec::new(),
            around: None,
        }
    }

    fn read(file: &Path) -> Option<Place> {
        let text = read(file).ok()?;
        Some(Place::file(file, parse(&text)?.items))
    }

    fn inside(self, name: &str, items: Vec<Item>) -> Place {
        let mut names = self.names.clone();
        names.push(name.to_owned());
        Place {
            items,
            file: self.file.clone(),
            names,
            around: Some(Rc::new(self)),
        }
    }

    /// The module of `mod name;`.
    fn outside(&self, name: &str) -> Option<Place> {
        let folder = self.folder()?;
        let files = [format!("{name}.rs"), format!("{name}/mod.rs")];
        let mut place = files.iter().find_map(|f| Place::read(&folder.join(f)))?;
        place.around = Some(Rc::new(self.clone()));
        Some(place)
    }

    /// Where files of its modules are.
    fn folder(&self) -> Option<PathBuf> {
        let (folder, stem) = (self.file.parent()?, self.file.file_stem()?);
        let own = folder.join(stem);
        let root = ["main", "lib", "mod"].iter().any(|r| stem == *r);
        // The root of a crate can have any name.
        let mut path = if root || !own.is_dir() {
            folder.to_owned()
        } else {
            own
        };
        path.extend(&self.names);
        Some(path)
    }

    /// The module of its crate; `None` where that is not known.
    fn root(&self) -> Option<Place> {
        let mut place = self.clone();
        while let Some(parent) = place.parent() {
            place = parent?;
        }
        Some(place)
    }

    /// The module around it; `None` for a crate, and nothing in it where that is not known.
    fn parent(&self) -> Option<Option<Place>> {
        if let Some(around) = &self.around {
            return Some(Some(Place::clone(around)));
        }
        let (Some(mut folder), Some(mut stem)) = (self.file.parent(), self.file.file_stem()) else {
            return Some(None);
        };
        if stem == "main" || stem == "lib" {
            return None;
        }
        if stem == "mod" {
            (folder, stem) = match (folder.parent(), folder.file_name()) {
                (Some(folder), Some(stem)) => (folder, stem),
                _ => return Some(None),
            };
        }
        let stem = stem.to_string_lossy();
        let names = ["main.rs", "lib.rs", "mod.rs"].map(|f| folder.join(f));
        let files = names.into_iter().chain([folder.with_extension("rs")]);
        let mut having = files.filter_map(|f| Place::read(&f)).filter(|p| {
            let is_it =
                |i: &Item| matches!(i, Item::Mod(m) if m.ident == *stem && m.content.is_none());
            p.items.iter().any(is_it)
        });
        match (having.next(), having.next()) {
            // The file of an example or a test.
            (None, _) if self.items.iter().any(is_main) => None,
            (Some(one), None) => Some(Some(one)),
            _ => Some(None),
        }
    }

    /// Its name, if it is not a crate.
    fn name(&self) -> Option<String> {
        let file = || {
            self.parent()?;
            let stem = self.file.file_stem()?;
            let folder = || self.file.parent()?.file_name();
            let name = if stem == "mod" { folder()? } else { stem };
            Some(name.to_str()?.to_owned())
        };
        self.names.last().cloned().or_else(file)
    }

    /// Whether it may have the name without the module around it, and without the `use` of this path, which brings
    /// nothing that is not there.
    fn declares(&self, name: &str, path: &[String]) -> bool {
        self.items.iter().any(|i| match i {
            Item::Mod(m) => m.ident == name,
            Item::Use(u) if is_super_glob(&u.tree) => false,
            Item::Use(u) if named(u).iter().any(|(_, p)| p.iter().eq(path)) => false,
            other => may_bring(other, name),
        })
    }
}

fn is_main(item: &Item) -> bool {
    matches!(item, Item::Fn(f) if f.sig.ident == "main")
}

/// Whether an item that is no module of this name may bring one.
fn may_bring(item: &Item, name: &str) -> bool {
    match item {
        Item::Use(u) => brings(&u.tree, name),
        Item::Macro(_) | Item::Verbatim(_) => true,
        Item::ExternCrate(e) => e.rename.as_ref().map_or(&e.ident, |(_, name)| name) == name,
        // No graph, as will be said of it.
        Item::Fn(f) => f.sig.ident == name,
        _ => false,
    }
}

/// The name of an item that one of our attributes marks.
fn ours(item: &Item) -> Option<&Ident> {
    match item {
        Item::Fn(f) if marked(&f.attrs, &["kernel", "device"]) => Some(&f.sig.ident),
        Item::Mod(m) if marked(&m.attrs, &["wave_graph", "wavegraph", "device"]) => Some(&m.ident),
        _ => None,
    }
}

type Home<'f> = (Vec<&'f [Item]>, Vec<String>);

fn find_homes<'f>(item: &str, at: &mut Home<'f>, found: &mut Vec<Home<'f>>) {
    let items: &'f [Item] = at.0[at.0.len() - 1];
    if items
        .iter()
        .any(|i| ours(i).is_some_and(|name| name == item))
    {
        found.push(at.clone());
    }
    for i in items {
        if let Item::Mod(m) = i
            && let Some((_, items)) = &m.content
        {
            at.0.push(items);
            at.1.push(m.ident.to_string());
            find_homes(item, at, found);
            at.0.pop();
            at.1.pop();
        }
    }
}

/// A word of the kernel language in a module of its own scope that nothing in it brings.
pub(crate) fn lacks_inside(module: &syn::ItemMod) -> Option<Ident> {
    let tokens = module.to_token_stream();
    let (mut words, mut uses, mut declared) = (Vec::new(), Vec::new(), Vec::new());
    scan(tokens.clone(), &mut words, &mut uses, &mut declared);
    let mut items = module.content.iter().flat_map(|(_, items)| items);
    // It may define anything.
    let is_macro = |i: &Item| matches!(i, Item::Macro(_) | Item::Verbatim(_));
    if uses.iter().any(is_super_glob) || items.any(is_macro) {
        return None;
    }
    lacking(tokens, &[&[]])
}

/// The first word of the kernel language, in a type, that neither these tokens bring nor the modules around them.
fn lacking(tokens: TokenStream, chain: &[&[Item]]) -> Option<Ident> {
    let (mut words, mut uses, mut declared) = (Vec::new(), Vec::new(), Vec::new());
    scan(tokens, &mut words, &mut uses, &mut declared);
    words.into_iter().find(|word| {
        let name = word.to_string();
        !declared.contains(&name)
            && !uses.iter().any(|tree| brings_word(tree, &name))
            && !chain_brings(chain, &name)
    })
}

fn scan(
    tokens: TokenStream,
    words: &mut Vec<Ident>,
    uses: &mut Vec<UseTree>,
    declared: &mut Vec<String>,
) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let punct = |at: Option<usize>, of: &[char]| matches!(at.and_then(|at| trees.get(at)), Some(TokenTree::Punct(p)) if of.contains(&p.as_char()));
    for (i, tree) in trees.iter().enumerate() {
        let before = i.checked_sub(1);
        match tree {
            TokenTree::Group(g) => scan(g.stream(), words, uses, declared),
            TokenTree::Ident(word) => {
                let after = |of: &[&str]| matches!(before.map(|b| &trees[b]), Some(TokenTree::Ident(w)) if of.iter().any(|o| w == o));
                if word == "use" {
                    let rest = trees[i..].iter();
                    let rest = rest
                        .take_while(|t| !matches!(t, TokenTree::Punct(p) if p.as_char() == ';'));
                    let rest: TokenStream = rest.cloned().collect();
                    let parsed = syn::parse2::<ItemUse>(quote::quote! { #rest; });
                    uses.extend(parsed.ok().map(|u| u.tree));
                } else if after(&["struct", "enum", "type", "union", "trait"]) {
                    declared.push(word.to_string());
                } else if WORDS.iter().any(|w| word == w)
                    && !(punct(before, &[':']) && punct(i.checked_sub(2), &[':']))
                    && (punct(before, &[':', '&', '<']) || after(&["mut"]))
                {
                    words.push(word.clone());
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn is_super_glob(tree: &UseTree) -> bool {
    matches!(tree, UseTree::Path(p) if p.ident == "super" && matches!(*p.tree, UseTree::Glob(_)))
}

/// Whether a `use` in an item may bring a word of the kernel language.
fn brings_word(tree: &UseTree, word: &str) -> bool {
    match tree {
        tree if is_super_glob(tree) => false,
        // A few of the words stand there too.
        UseTree::Path(p) if p.ident == "vyre" && matches!(*p.tree, UseTree::Glob(_)) => {
            word == "Csr" || !WORDS.contains(&word)
        }
        UseTree::Path(p) => brings_word(&p.tree, word),
        UseTree::Name(n) => n.ident == word,
        UseTree::Rename(r) => r.rename == word,
        UseTree::Glob(_) => true,
        UseTree::Group(g) => g.items.iter().any(|t| brings_word(t, word)),
    }
}

/// Whether the innermost of these modules may have a word of the kernel language.
fn chain_brings(chain: &[&[Item]], word: &str) -> bool {
    // What is around the file may have anything.
    let Some((items, around)) = chain.split_last() else {
        return true;
    };
    items.iter().any(|item| match item {
        Item::Use(u) if is_super_glob(&u.tree) => chain_brings(around, word),
        Item::Use(u) => brings_word(&u.tree, word),
        Item::Struct(s) => s.ident == word,
        Item::Enum(e) => e.ident == word,
        Item::Type(t) => t.ident == word,
        Item::Union(u) => u.ident == word,
        Item::Macro(_) | Item::Verbatim(_) => true,
        _ => false,
    })
}

/// The file, if syn's recursion does not end the stack on it.
fn parse(text: &str) -> Option<syn::File> {
    let tokens: TokenStream = text.parse().ok()?;
    source::check_depth(tokens.clone(), 0).ok()?;
    syn::parse2(tokens).ok()
}

/// Whether a look at the text is enough, as it is in code that compiles: the function is marked, or comes by a `use`,
/// or from a module in another file. Parsing a file costs more.
fn plainly_open(text: &str, names: &[String]) -> bool {
    let Some((name, modules)) = names.split_last() else {
        return true;
    };
    let word = |line: &str, name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        line.split(|c| !is_part(c)).any(|w| w == name)
    };
    let mut text = text;
    for m in modules {
        match text.find(&format!("mod {m} {{")) {
            Some(at) => text = &text[at..],
            None => return true,
        }
    }
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
            if declares && !modules.is_empty() {
                return false;
            }
            marked = false;
        }
    }
    false
}

/// What all modules say that have the item; `None` if there is none. `device`: structs in this one need no mark.
fn of_items(items: &[Item], item: &str, names: &[String], device: bool) -> Option<Sight> {
    let mut said = None;
    let mut say = |sight: Option<Sight>| {
        said = match (said, sight) {
            (Some(a), Some(b)) if a != b => Some(Sight::Open),
            (a, b) => a.or(b),
        };
    };
    if items
        .iter()
        .any(|i| ours(i).is_some_and(|name| name == item))
    {
        say(Some(resolve(items, names, device)));
    }
    for i in items {
        if let Item::Mod(m) = i
            && let Some((_, items)) = &m.content
        {
            say(of_items(items, item, names, is_device(m)));
        }
    }
    said
}

/// Whether structs in a module need no mark of their own.
fn is_device(module: &syn::ItemMod) -> bool {
    marked(&module.attrs, &["device", "cfg_attr"])
}

/// A path from a module with these items. `device`: structs in it need no mark.
fn resolve(items: &[Item], names: &[String], device: bool) -> Sight {
    let [first, rest @ ..] = names else {
        return Sight::Open;
    };
    if !rest.is_empty() {
        let inner = items.iter().find_map(|i| match i {
            Item::Mod(m) if m.ident.unraw() == first => {
                m.content.as_ref().map(|(_, items)| (items, is_device(m)))
            }
            _ => None,
        });
        return inner.map_or(Sight::Open, |(items, device)| resolve(items, rest, device));
    }
    let mut found = Sight::Absent;
    for i in items {
        match i {
            Item::Fn(f) if f.sig.ident.unraw() == first => {
                if marked(&f.attrs, &["device", "cfg_attr"]) {
                    return Sight::Open;
                }
                found = Sight::Unmarked;
            }
            Item::Struct(s) if s.ident.unraw() == first => {
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
        UseTree::Name(n) => n.ident.unraw() == name,
        UseTree::Rename(r) => r.rename.unraw() == name,
        UseTree::Glob(_) => true,
        UseTree::Group(g) => g.items.iter().any(|t| brings(t, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(file: &str, source: &str) -> Around {
        Around {
            item: "k".to_owned(),
            file: PathBuf::from(file),
            text: source.to_owned(),
            parsed: OnceCell::new(),
        }
    }

    fn sight(source: &str, path: &str) -> Sight {
        around("", source).look(&path.parse().expect("a path"))
    }

    const USE: &str = "use vyre::prelude::*;\n";

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
            "mod other {\n#[kernel]\nfn k() {}\n#[vyre::device]\nfn f() {}\n}\nfn f() {}",
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

    fn lacks(before: &str, inside: &str) -> Option<(String, bool)> {
        let item = format!("mod k {{ {inside} fn w(v: Node, x: &Buf<u32>) {{ Op::Max; }} }}");
        let source = format!("{before} #[vyre::wave_graph] {item} fn main() {{}}");
        let lacking = around("", &source).lacks(&item.parse().expect("tokens"), None)?;
        Some((lacking.word.to_string(), lacking.first))
    }

    #[test]
    fn words_of_the_prelude_are_missed_where_nothing_brings_them() {
        let node = |first| Some(("Node".to_owned(), first));
        for before in ["", "use vyre::{Csr, Runtime};", "use vyre::*;"] {
            assert_eq!(lacks(before, ""), node(true), "{before}");
        }
        let beside = "#[vyre::kernel] fn before(x: &Buf<u32>) {}";
        assert_eq!(lacks(beside, ""), node(false));
        assert_eq!(lacks("#[vyre::kernel] fn f(x: u32) {}", ""), node(true));
        let some = lacks("use vyre::prelude::Node;", "");
        assert_eq!(some, Some(("Buf".to_owned(), true)));
        assert_eq!(lacks("", "use super::*;"), node(true));
    }

    #[test]
    fn words_that_may_be_in_scope_are_not_missed() {
        for before in [
            "use vyre::prelude::*;",
            "use mine::*;",
            "use super::*;",
            "use vyre::prelude::{Buf, Node};",
            "use mine::Vertex as Node; struct Buf<T>(T);",
            "words!();",
        ] {
            assert_eq!(lacks(before, ""), None, "{before}");
        }
        assert_eq!(lacks("", "use vyre::prelude::*;"), None);
        assert_eq!(lacks("", "type Node = u32; struct Buf<T>(T);"), None);
        let alone = around("", "#[vyre::kernel] fn k(i: Index) {}");
        let item: TokenStream = "fn k(i: Index) {}".parse().expect("tokens");
        assert!(alone.lacks(&item, None).is_none());
        // A name in two modules may be in either.
        let twice = "mod other { #[vyre::wave_graph] mod k {} }";
        assert_eq!(lacks(twice, ""), None);
    }

    fn included(file: &str, source: &str, path: &str) -> Included {
        let path: TokenStream = path.parse().expect("a path");
        let path = path.into_iter().filter_map(|t| match t {
            TokenTree::Ident(i) => Some(i),
            _ => None,
        });
        around(file, source).included(&path.collect::<Vec<_>>())
    }

    fn absent(at: usize, within: Option<&str>, near: Option<&str>) -> Included {
        Included::Absent {
            at,
            within: within.map(str::to_owned),
            near: near.map(str::to_owned),
        }
    }

    const GRAPHS: &str =
        "mod m { #[wave_graph] pub mod bfs {} #[wave_graph] mod own {} pub mod plain {} }
        mod open { use elsewhere::*; }
        #[wave_graph] mod k {}
        fn main() {}";

    #[test]
    fn included_graphs_are_looked_up_in_the_file() {
        let look = |path| included("main.rs", GRAPHS, path);
        for path in [
            "super::m::bfs",
            "crate::m::bfs",
            "m::bfs",
            "self::super::m::bfs",
        ] {
            assert_eq!(look(path), Included::Graph, "{path}");
        }
        assert_eq!(look("super::m::bsf"), absent(2, Some("m"), Some("bfs")));
        assert_eq!(look("super::m::BFS"), absent(2, Some("m"), Some("bfs")));
        assert_eq!(look("super::mm::bfs"), absent(1, None, None));
        assert_eq!(look("crate::opne::bfs"), absent(1, None, Some("open")));
        assert_eq!(look("super::m::own"), Included::Private);
        assert_eq!(look("super::m::plain"), Included::Unmarked { inside: None });
        let inside = Some("bfs".to_owned());
        assert_eq!(look("super::m"), Included::Unmarked { inside });
        for path in ["super::open::bfs", "super::super::m::bfs"] {
            assert_eq!(look(path), Included::Open, "{path}");
        }
    }

    #[test]
    fn graphs_that_lead_back_to_themselves_are_seen() {
        let source = "mod m { #[wave_graph] pub mod a { #[include] use super::super::k; } }
            #[wave_graph] mod b { #[include(x = y)] use super::m::a as other; }
            #[wave_graph] mod c { #[include] use super::c; }
            #[wave_graph] mod k { #[include] use self::k; use super::*; }
            fn main() {}";
        let chain = |path| match included("main.rs", source, path) {
            Included::Itself(chain) => chain.join(" "),
            other => panic!("{path}: {other:?}"),
        };
        for path in ["self::k", "super::k", "crate::k"] {
            assert_eq!(chain(path), "k k", "{path}");
        }
        assert_eq!(chain("super::m::a"), "k a k");
        assert_eq!(chain("crate::b"), "k b a k");
        // One that includes itself is not this one, and says so itself.
        assert_eq!(included("main.rs", source, "super::c"), Included::Graph);
    }

    #[test]
    fn paths_that_lead_nowhere_are_seen() {
        let source = "extern crate vyre as renamed;
            mod outer { mod inner { pub use vyre; } #[wave_graph] mod k {} }
            fn main() {}";
        let lacks = |path: &str| {
            let path = syn::parse_str(path).expect("a path");
            around("main.rs", source)
                .lacks_path(&path)
                .map(Ident::to_string)
        };
        for path in ["crate", "renamed", "inner::vyre", "super::inner::vyre"] {
            assert_eq!(lacks(path), None, "{path}");
        }
        let lacking = Some("lacking".to_owned());
        for path in [
            "crate::lacking",
            "self::lacking",
            "super::lacking::inner",
            "inner::lacking",
        ] {
            assert_eq!(lacks(path), lacking, "{path}");
        }
    }

    #[test]
    fn included_graphs_are_looked_up_in_other_files() {
        let folder = std::env::temp_dir().join(format!("vyre-sight-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("deep")).expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).expect("a file");
        };
        let here = "#[wave_graph] mod k {}";
        write("lib.rs", "mod graphs; mod deep; mod here;");
        write("graphs.rs", "#[wave_graph] pub mod bfs {}");
        write("deep/mod.rs", "pub mod inner;");
        write("deep/inner.rs", "#[wave_graph] pub mod bfs {}");
        let file = folder.join("here.rs");
        let look = |path| included(&file.to_string_lossy(), here, path);
        assert_eq!(look("crate::graphs::bfs"), Included::Graph);
        assert_eq!(look("super::super::deep::inner::bfs"), Included::Graph);
        assert_eq!(
            look("crate::graphs::bsf"),
            absent(2, Some("graphs"), Some("bfs"))
        );
        assert_eq!(look("crate::graph::bfs"), absent(1, None, Some("graphs")));
        assert_eq!(look("super::graphs::bfs"), absent(1, Some("here"), None));
        assert_eq!(
            look("crate::deep::iner::bfs"),
            absent(2, Some("deep"), Some("inner"))
        );
        std::fs::remove_dir_all(&folder).expect("it is there");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_not_waited_for() {
        let name = format!("vyre-sight-{}", std::process::id());
        let pipe = std::env::temp_dir().join(name);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let why = read(&pipe).expect_err("it is special");
        std::fs::remove_file(&pipe).expect("it is there");
        assert_eq!(
            why.to_string(),
            "it is not a regular file; copy what the device or pipe gives to one"
        );
    }
}
