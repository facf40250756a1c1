//! What a path means, as rustc has it: in each module first what it declares, then what a `use` names, then what its
//! globs bring and it may see.
//!
//! The modules are those that the macro sees: the one that it stands on, the fixpoints around the code at hand, each
//! with its `#[device] mod`s. What is not there is found by its path from the module around the macro's item.

use crate::attributes::is_device;
use crate::tokens::ident;
use proc_macro2::{Ident, Span};
use std::cell::RefCell;
use std::collections::HashMap;
use syn::{Item, UseTree, Visibility};

/// A namespace. Modules are apart from other types: a path leads through them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Space {
    Modules,
    Types,
    Values,
}

/// What a path means.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    /// Something that the macro sees: the number of modules around it, `#[device] mod`s apart, and its path from the
    /// innermost.
    Here(usize, Vec<Ident>),
    /// Something that is not there: its path from the module around the macro's item.
    Outside(Vec<Ident>),
    /// A path that begins with a crate, or with what only a glob or the module around the macro's item can bring.
    Unknown(Vec<Ident>),
    /// A path that begins with what only the one glob of a module that is not there can bring: its path through that
    /// module, from the module around the macro's item.
    Globbed(Vec<Ident>),
    /// Something that no kernel names: the path leads into a module that the macro does not look into, or to nothing.
    Nothing,
}

/// A module, with the `#[device] mod`s in it.
#[derive(Default)]
pub(crate) struct Names {
    /// By the path from the module. The number says where a name is seen: in the module to which this number of words of
    /// its path leads.
    declared: HashMap<(Space, String), usize>,
    /// By the `#[device] mod`s that they stand in.
    uses: HashMap<String, Vec<Use>>,
    /// What paths mean in it that were looked up.
    known: RefCell<HashMap<(Space, String, String), Meaning>>,
    /// It is the body of a function, which is in the module around the macro's item.
    body: bool,
}

/// What a `use` brings.
struct Use {
    /// `None` for all.
    name: Option<Ident>,
    path: Vec<Ident>,
    /// As in [`Names::declared`].
    seen: usize,
}

impl Names {
    /// A module with these items.
    pub(crate) fn of_module(items: &[Item]) -> Names {
        let mut names = Names::default();
        names.add(items, &[]);
        names
    }

    /// A fixpoint: the expansion has it see what is around it.
    pub(crate) fn of_fixpoint(items: &[Item]) -> Names {
        let mut names = Names::of_module(items);
        names.uses.entry(String::new()).or_default().push(Use {
            name: None,
            path: vec![Ident::new("super", Span::call_site())],
            seen: 0,
        });
        names
    }

    /// The body of a function, with these items.
    pub(crate) fn of_body(items: &[Item]) -> Names {
        Names {
            body: true,
            ..Names::of_module(items)
        }
    }

    fn add(&mut self, items: &[Item], inside: &[Ident]) {
        for item in items {
            let (space, name, vis) = match item {
                Item::Fn(f) => (Space::Values, &f.sig.ident, &f.vis),
                Item::Const(c) => (Space::Values, &c.ident, &c.vis),
                Item::Static(s) => (Space::Values, &s.ident, &s.vis),
                Item::Struct(s) => (Space::Types, &s.ident, &s.vis),
                Item::Enum(e) => (Space::Types, &e.ident, &e.vis),
                Item::Union(u) => (Space::Types, &u.ident, &u.vis),
                Item::Trait(t) => (Space::Types, &t.ident, &t.vis),
                Item::Type(t) => (Space::Types, &t.ident, &t.vis),
                Item::Mod(m) => {
                    let device = m.attrs.iter().any(is_device);
                    if let (true, Some((_, items))) = (device, &m.content) {
                        let inside: Vec<_> = inside.iter().chain([&m.ident]).cloned().collect();
                        self.add(items, &inside);
                        (Space::Modules, &m.ident, &m.vis)
                    } else {
                        (Space::Types, &m.ident, &m.vis)
                    }
                }
                Item::Impl(i) if i.trait_.is_none() => {
                    self.add_impl(i, inside);
                    continue;
                }
                Item::Use(u) => {
                    let seen = seen(&u.vis, inside.len());
                    let uses = uses(u).into_iter();
                    self.uses
                        .entry(joined(inside))
                        .or_default()
                        .extend(uses.map(|(name, path)| Use { name, path, seen }));
                    continue;
                }
                _ => continue,
            };
            let key = joined(inside.iter().chain([name]));
            self.declared.insert((space, key), seen(vis, inside.len()));
        }
    }

    fn add_impl(&mut self, i: &syn::ItemImpl, inside: &[Ident]) {
        let syn::Type::Path(p) = &*i.self_ty else {
            return;
        };
        let Some(owner) = p.path.segments.last() else {
            return;
        };
        for item in &i.items {
            let (name, vis) = match item {
                syn::ImplItem::Fn(f) => (&f.sig.ident, &f.vis),
                syn::ImplItem::Const(c) => (&c.ident, &c.vis),
                _ => continue,
            };
            let key = joined(inside.iter().chain([&owner.ident, name]));
            let seen = seen(vis, inside.len());
            self.declared.insert((Space::Values, key), seen);
        }
    }
}

/// What an item brings that is a `use`: names, `None` for all, and the paths that they stand for.
pub(crate) fn uses(item: &syn::ItemUse) -> Vec<(Option<Ident>, Vec<Ident>)> {
    fn walk(tree: &UseTree, path: &mut Vec<Ident>, all: &mut Vec<(Option<Ident>, Vec<Ident>)>) {
        let (name, last) = match tree {
            UseTree::Path(p) => {
                path.push(p.ident.clone());
                walk(&p.tree, path, all);
                path.pop();
                return;
            }
            UseTree::Group(g) => {
                g.items.iter().for_each(|t| walk(t, path, all));
                return;
            }
            UseTree::Glob(_) => return all.push((None, path.clone())),
            // It brings no name.
            UseTree::Rename(r) if r.rename == "_" => return,
            UseTree::Rename(r) => (&r.rename, &r.ident),
            UseTree::Name(n) => (&n.ident, &n.ident),
        };
        match path.last() {
            Some(module) if last == "self" => {
                let name = if name == "self" { module } else { name };
                all.push((Some(name.clone()), path.clone()));
            }
            _ => {
                let whole = path.iter().chain([last]).cloned().collect();
                all.push((Some(name.clone()), whole));
            }
        }
    }
    let mut all = Vec::new();
    // `::name` is a crate's.
    if item.leading_colon.is_none() {
        walk(&item.tree, &mut Vec::new(), &mut all);
    }
    all
}

/// Where something is seen that stands `depth` modules deep.
fn seen(vis: &Visibility, depth: usize) -> usize {
    match vis {
        Visibility::Inherited => depth,
        Visibility::Public(_) => 0,
        Visibility::Restricted(r) => {
            let mut words = r.path.segments.iter().map(|s| &s.ident);
            match words.next() {
                Some(first) if first == "self" || first == "super" => {
                    let up =
                        usize::from(first == "super") + words.filter(|w| *w == "super").count();
                    depth.saturating_sub(up)
                }
                _ => 0,
            }
        }
    }
}

pub(crate) fn joined<'i>(words: impl IntoIterator<Item = &'i Ident>) -> String {
    let words: Vec<String> = words.into_iter().map(ToString::to_string).collect();
    words.join("::")
}

/// The words of a path.
pub(crate) fn words(path: &str) -> Vec<Ident> {
    let words = path.split("::");
    words.map(|word| ident(word, Span::call_site())).collect()
}

/// What a path means in the innermost but `depth - modules.len()` of these modules, in the `#[device] mod`s `inside` of
/// it.
pub(crate) fn resolve(
    modules: &[Names],
    (depth, inside): (usize, &[Ident]),
    path: &[Ident],
    space: Space,
) -> Meaning {
    let key = (space, joined(inside), joined(path));
    let known = depth.checked_sub(1).map(|at| &modules[at].known);
    if let Some(meaning) = known.and_then(|k| k.borrow().get(&key).cloned()) {
        return meaning;
    }
    let mut search = Search {
        modules,
        space,
        known: HashMap::new(),
        following: Vec::new(),
        globs: Vec::new(),
    };
    let at = Place {
        depth,
        inside: inside.to_vec(),
    };
    let found = search.path(&at, path, None);
    let meaning = found.unwrap_or_else(|| match &search.globs[..] {
        [module] if !module.is_empty() => Meaning::Globbed([module, path].concat()),
        _ => Meaning::Unknown(path.to_vec()),
    });
    if let Some(known) = known {
        known.borrow_mut().insert(key, meaning.clone());
    }
    meaning
}

/// Whether a name in a module is declared there, or brought by a `use` that names it.
pub(crate) fn is_named(modules: &[Names], at: (usize, &[Ident]), name: &Ident) -> bool {
    let name = std::slice::from_ref(name);
    match resolve(modules, at, name, Space::Values) {
        Meaning::Here(..) | Meaning::Outside(_) => true,
        Meaning::Unknown(path) => path != name,
        Meaning::Globbed(_) | Meaning::Nothing => false,
    }
}

/// A module.
#[derive(Clone)]
struct Place {
    depth: usize,
    inside: Vec<Ident>,
}

impl Place {
    /// The innermost module around two.
    fn around(&self, other: &Place) -> Place {
        let both = self.inside.iter().zip(&other.inside);
        let common = both.take_while(|(a, b)| self.depth == other.depth && a == b);
        Place {
            depth: self.depth.min(other.depth),
            inside: common.map(|(a, _)| a.clone()).collect(),
        }
    }
}

struct Search<'a> {
    modules: &'a [Names],
    space: Space,
    /// What paths mean in modules that were looked into; of those that are being looked into, nothing.
    known: HashMap<String, Option<Meaning>>,
    /// No `use` leads through itself.
    following: Vec<&'a Use>,
    /// Modules that are not there, of whose globs one may bring the first word.
    globs: Vec<Vec<Ident>>,
}

impl<'a> Search<'a> {
    /// What a path means in a module; `None` if its first word means nothing there. With `by`, it is looked up for
    /// globs of some modules, of which this is the innermost around all.
    fn path(&mut self, at: &Place, path: &[Ident], by: Option<&Place>) -> Option<Meaning> {
        let mut key = format!("{:?} {} ", self.space, joined(path));
        for place in std::iter::once(at).chain(by) {
            key += &format!("{} {} ", place.depth, joined(&place.inside));
        }
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.known.insert(key.clone(), None);
        let found = self.look(at.clone(), path, by);
        self.known.insert(key, found.clone());
        found
    }

    fn look(&mut self, mut at: Place, mut path: &[Ident], by: Option<&Place>) -> Option<Meaning> {
        let modules = self.modules;
        let whole = path.len();
        while let [first, rest @ ..] = path
            && (first == "self" || first == "super")
        {
            if at.depth == 1 && modules[0].body {
                return Some(Meaning::Outside(path.to_vec()));
            }
            if first == "super" && at.inside.pop().is_none() {
                at.depth -= 1;
            }
            path = rest;
            if at.depth == 0 {
                return Some(Meaning::Outside(path.to_vec()));
            }
        }
        let Some((first, rest)) = path.split_first() else {
            let module = (self.space == Space::Modules).then_some(at);
            return module.map(|at| Meaning::Here(at.depth, at.inside));
        };
        if first == "crate" {
            return Some(Meaning::Outside(path.to_vec()));
        }
        let names = &modules[at.depth - 1];
        let is_seen = |seen: usize| {
            by.is_none_or(|by| match by.depth == at.depth {
                true => by.inside.starts_with(&at.inside[..seen]),
                false => seen == 0,
            })
        };
        let declares = |space: Space, words: &[Ident]| {
            let key = joined(at.inside.iter().chain(words));
            let seen = names.declared.get(&(space, key));
            seen.is_some_and(|seen| is_seen(*seen))
        };
        let here = |words: &[Ident]| {
            let path = at.inside.iter().chain(words).cloned().collect();
            Some(Meaning::Here(at.depth, path))
        };
        let is_type = declares(Space::Types, std::slice::from_ref(first));
        if declares(self.space, path) && (rest.is_empty() || is_type) {
            return here(path);
        }
        if !rest.is_empty() && declares(Space::Modules, std::slice::from_ref(first)) {
            let mut inner = at.clone();
            inner.inside.push(first.clone());
            return self.path(&inner, rest, None).or(Some(Meaning::Nothing));
        }
        if is_type && (!rest.is_empty() || self.space == Space::Types) {
            return Some(Meaning::Nothing);
        }
        let uses = names.uses.get(&joined(&at.inside));
        let uses = uses.map_or(&[][..], Vec::as_slice);
        let mut named = None;
        for u in uses {
            if u.name.as_ref() == Some(first) && is_seen(u.seen) {
                let path = [&u.path[..], rest].concat();
                let meaning = self.through(u, |search| {
                    let found = search.path(&at, &path, None);
                    found.or(Some(Meaning::Unknown(path)))
                });
                match meaning {
                    // One name can stand for a module and for a function.
                    Some(Meaning::Here(..)) => return meaning,
                    meaning => named = named.or(meaning),
                }
            }
        }
        if named.is_some() {
            return named;
        }
        let mut around = false;
        for u in uses.iter().filter(|u| u.name.is_none() && is_seen(u.seen)) {
            let space = std::mem::replace(&mut self.space, Space::Modules);
            let module = self.through(u, |search| search.path(&at, &u.path, None));
            self.space = space;
            match module {
                Some(Meaning::Here(depth, inside)) => {
                    let by = by.map_or_else(|| at.clone(), |by| by.around(&at));
                    let found = self.path(&Place { depth, inside }, path, Some(&by));
                    if found.is_some() {
                        return found;
                    }
                }
                Some(Meaning::Outside(module)) => {
                    around |= module.is_empty();
                    if !self.globs.contains(&module) {
                        self.globs.push(module);
                    }
                }
                Some(Meaning::Unknown(_) | Meaning::Globbed(_) | Meaning::Nothing) | None => {}
            }
        }
        // Written as a path from here, it is nowhere else.
        (path.len() < whole).then(|| match around {
            true => Meaning::Outside(path.to_vec()),
            false => Meaning::Nothing,
        })
    }

    /// Follows a `use`, unless it is being followed.
    fn through(
        &mut self,
        u: &'a Use,
        follow: impl FnOnce(&mut Self) -> Option<Meaning>,
    ) -> Option<Meaning> {
        if self.following.iter().any(|other| std::ptr::eq(*other, u)) {
            return None;
        }
        self.following.push(u);
        let found = follow(self);
        self.following.pop();
        found
    }
}
