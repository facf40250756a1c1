//! The kernel compiler: a user's function body (plain Rust) to [`ir::Body`].
//!
//! Three stages, each total: `check` resolves names, infers types by unification and refuses by name what a lane cannot do,
//! giving a typed tree ([`hir`]); `lower` turns that tree into IR, keeping Rust's evaluation order. Types are inferred, not
//! checked: the user's function is emitted again, and what rustc refuses anyway is left to it (see [`Report::left_to_rustc`]).
//!
//! # Where a fault points
//!
//! The native backend reports the `Location` that rustc gives an operation; the bytecode's site of the same operation must be
//! the same token. The rules: an index expression `xs[i]` points to its bracket; a division `a / b` and a compound `a /= b` to
//! their first token (see [`first_token`]); a method call `out.push(v)` to the method's name; `assert!(..)` to the macro's path.

mod check;
mod hir;
mod lower;
mod methods;
mod refuse;
#[cfg(test)]
mod tests;
pub(crate) mod types;

use crate::import::Imports;
use crate::names::{self, Meaning, Names, Space, joined};
use crate::report::Report;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use vyre_core::compile::ir;
use vyre_core::vir0::module::{
    BufferId, ConstantId, FrontierId, ListId, ReduceOp, ReductionId, SiteId, TopologyId, Uniform,
    Width,
};
use vyre_core::vir0::scalar::Scalar;

/// Which part of the work item a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemField {
    /// Node, index, frontier item or edge index.
    Index,
    /// Source of an edge.
    Src,
    /// Destination of an edge.
    Dst,
}

/// What a parameter's name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// `v: Node`, `i: Index`: the item as a u32.
    Item(ItemField),
    /// `e: Edge`: the fields `src`, `dst`, `index`.
    EdgeItem,
    /// A uniform value of the run: a scalar, a finished reduction.
    Scalar(Uniform, Scalar),
    /// `round: Round`.
    Round,
    /// `x: &T`, `x: &mut T`: the item's own element (index: the item).
    Own {
        buffer: BufferId,
        scalar: Scalar,
        mutable: bool,
    },
    /// `xs: &Buf<T>`.
    Buf { buffer: BufferId, scalar: Scalar },
    /// `xs: &Buf<Atomic<T>>`.
    AtomicBuf { buffer: BufferId, scalar: Scalar },
    /// `g: &Csr`.
    Csr(TopologyId),
    /// `out: &Push`.
    Push(FrontierId),
    /// `out: &Push<T>` of a frontier whose items are not nodes.
    PushItems(FrontierId),
    /// `log: &Append<T>`.
    Append(ListId),
    /// `p: &T`, `p: &mut T` of a struct: the item's own element, its scalars in consecutive buffers.
    OwnRecord { first: BufferId, mutable: bool },
    /// `ps: &Records<T>`.
    Records { first: BufferId },
    /// `rows: &Bits`.
    Bits { buffer: BufferId, width: Width },
    /// An item of such a frontier, or of a list.
    Record,
    /// `s: &Reduce<..>`; `count` for `Count`.
    Reduce {
        id: ReductionId,
        op: ReduceOp,
        scalar: Scalar,
        count: bool,
    },
    /// A frontier in an `until` condition: `len()`, `is_empty()`.
    Frontier(FrontierId),
    /// A list in an `until` condition: `len()`, `is_empty()`.
    List(ListId),
}

/// Where a name stands: the number of modules around it, and the `#[device] mod`s inside the innermost.
type At<'a> = (usize, &'a [syn::Ident]);

/// What a body can name.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    /// Parameters (of a condition: the fields of `Data`), by name.
    pub(crate) bindings: &'a [(syn::Ident, Binding)],
    /// `#[device]` functions and constants of the module and those around it.
    pub(crate) helpers: &'a Helpers,
    /// Fields of `Data`, each with the type of a parameter that takes it.
    pub(crate) fields: &'a [(String, String)],
}

/// `#[device] fn`s and typed constants of the enclosing modules, innermost last.
///
/// A client enters a module with its items before compiling its waves and leaves it afterwards.
#[derive(Default)]
pub(crate) struct Helpers {
    modules: Vec<HelperModule>,
    /// What their names mean.
    names: Vec<Names>,
    root: Root,
    /// Functions of other modules, by their paths from the module around the macro's item.
    imports: HashMap<String, Import>,
    /// `#[device] mod`s of other modules, each with the paths from there that name something of it.
    mods: Vec<DeviceMod>,
    /// Of the items of such a module: how they are named.
    origin: Option<hir::Origin>,
    /// Paths of functions and structs that are still to come.
    expected: Vec<String>,
    /// Paths of functions that are there without `#[device]`.
    unmarked: Vec<String>,
    /// Names of the functions being checked, outermost first.
    running: RefCell<Vec<String>>,
    /// Types of items of lists and frontiers, each once.
    records: Rc<RefCell<Vec<types::Ty>>>,
}

/// A `#[device] fn` or a wave graph, with what it takes from other modules, as it travels.
#[derive(Clone)]
pub(crate) struct Package {
    /// A function, or the module of a wave graph.
    pub(crate) item: syn::Item,
    pub(crate) imports: Imports,
}

struct DeviceMod {
    /// Its source.
    source: String,
    paths: Vec<String>,
    helpers: Helpers,
}

/// What a `#[device] mod` makes of itself.
pub(crate) struct DeviceModule {
    pub(crate) tables: ModuleTables,
    /// Structs that can be items and elements, with the names of their fields.
    pub(crate) records: Vec<RecordStruct>,
    pub(crate) functions: Vec<String>,
    pub(crate) structs: Vec<String>,
}

struct Import {
    path: TokenStream,
    package: Package,
    checked: RefCell<Checked>,
}

#[derive(Default)]
struct HelperModule {
    /// By the path from the module, through its `#[device] mod`s; what belongs to a type has the type's name before its own
    /// (`Point::new`, `shapes::Point::new`).
    functions: BTreeMap<String, Helper>,
    constants: HashMap<String, DeclaredConstant>,
    aliases: HashMap<String, Scalar>,
    structs: HashMap<String, StructItem>,
    /// Names of structs of which there are several.
    twice: Vec<String>,
    /// Of the functions checked so far.
    bound: RefCell<Vec<Bound>>,
}

/// A name that a function binds in a `match`. It would be a constant to rustc, if one of that name were in scope where the function
/// stands, which the macro does not see: the expansion has rustc look.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) name: syn::Ident,
    /// `#[device] mod`s between the module and the function.
    pub(crate) inside: Vec<syn::Ident>,
}

#[derive(Clone)]
struct DeclaredConstant {
    ty: syn::Type,
    value: syn::Expr,
    /// `#[device] mod`s between the module and the constant.
    inside: Vec<syn::Ident>,
    /// It stands in a function's body: its value is written where it is used.
    in_body: bool,
}

/// What [`Helpers`] are entered by first.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Root {
    /// The module that a macro stands on.
    #[default]
    Module,
    /// A function that a macro stands on.
    Body,
}

struct StructItem {
    item: syn::ItemStruct,
    resolved: RefCell<Resolved>,
}

#[derive(Clone, Default)]
enum Resolved {
    #[default]
    Not,
    Running,
    Failed,
    Done(types::Struct),
}

struct Helper {
    item: syn::ItemFn,
    device: bool,
    /// The type whose `impl` it is in.
    owner: Option<String>,
    /// `#[device] mod`s between the module and the function.
    inside: Vec<syn::Ident>,
    checked: RefCell<Checked>,
}

#[derive(Clone, Default)]
enum Checked {
    #[default]
    Not,
    Running,
    Failed,
    Done(Rc<hir::Function>),
}

impl Helpers {
    /// Nothing but functions of other modules.
    pub(crate) fn new(imports: Imports, root: Root) -> Helpers {
        let name = |path: &TokenStream| path.to_string().replace(' ', "");
        let from_root = |path: &TokenStream| match root {
            Root::Module if !name(path).starts_with("crate::") => quote::quote!(super::#path),
            Root::Module | Root::Body => path.clone(),
        };
        let mut helpers = Helpers {
            expected: imports.expected.iter().map(name).collect(),
            unmarked: imports.unmarked,
            root,
            ..Helpers::default()
        };
        for (path, package) in imports.have {
            match &package.item {
                syn::Item::Mod(m) if m.attrs.iter().any(is_device) => {
                    helpers.add_mod(&from_root(&path), name(&path), &package);
                }
                _ => {
                    let import = Import {
                        path: from_root(&path),
                        package,
                        checked: RefCell::default(),
                    };
                    helpers.imports.insert(name(&path), import);
                }
            }
        }
        helpers
    }

    /// A `#[device] mod` of another module, of which this path names something.
    fn add_mod(&mut self, path: &TokenStream, name: String, package: &Package) {
        let source = module_id(package);
        if let Some(known) = self.mods.iter_mut().find(|m| m.source == source) {
            known.paths.push(name);
            return;
        }
        let syn::Item::Mod(syn::ItemMod {
            content: Some((_, items)),
            ..
        }) = &package.item
        else {
            return;
        };
        // Its own expansion reports what is wrong with it.
        let compiled = compile_device_module(package, &mut Report::default());
        let last = name.rsplit("::").next().unwrap_or_default();
        let arrays = if last.starts_with(char::is_uppercase) {
            ["__VYRE_CONSTANTS", "__VYRE_SITES"]
        } else {
            ["CONSTANTS", "SITES"]
        };
        let mut helpers = Helpers {
            records: self.records.clone(),
            origin: Some(hir::Origin {
                path: path.clone(),
                arrays,
                tables: Rc::new(compiled.map(|c| c.tables).unwrap_or_default()),
            }),
            ..Helpers::new(package.imports.clone(), Root::Module)
        };
        helpers.enter(items);
        self.mods.push(DeviceMod {
            source,
            paths: vec![name],
            helpers,
        });
    }

    /// Enters a module: its `#[device]` functions, structs and constants come into scope, with those of its `#[device] mod`s.
    /// A function's body is entered as if it were a module: its constants have no path that leads to them.
    pub(crate) fn enter(&mut self, items: &[syn::Item]) {
        let mut module = HelperModule::default();
        module.add(items, &[]);
        let names = match (self.names.is_empty(), self.root) {
            (true, Root::Module) => Names::of_module(items),
            (true, Root::Body) => {
                for constant in module.constants.values_mut() {
                    constant.in_body = true;
                }
                Names::of_body(items)
            }
            (false, _) => Names::of_fixpoint(items),
        };
        self.names.push(names);
        self.modules.push(module);
    }

    /// Leaves the module entered last, and gives what its functions bind.
    pub(crate) fn leave(&mut self) -> Vec<Bound> {
        self.names.pop();
        let left = self.modules.pop().unwrap_or_default();
        left.bound.into_inner()
    }

    /// The function that a path means in a module, with the number of modules around it.
    fn function(&self, path: &str, at: At<'_>) -> Option<(&Helper, usize)> {
        let (depth, key) = self.find(path, at, &|m| m.functions.keys())?;
        Some((self.modules[depth - 1].functions.get(&key)?, depth))
    }

    /// The constant that a path means in a module, with the number of modules around it.
    fn constant(&self, path: &str, at: At<'_>) -> Option<(DeclaredConstant, usize)> {
        let (depth, key) = self.find(path, at, &|m| m.constants.keys())?;
        Some((self.modules[depth - 1].constants.get(&key)?.clone(), depth))
    }

    /// What a path means in a module: the number of modules around it, and its key there. What belongs to a struct is found by the
    /// struct's name alone, as structs are.
    fn find<'h, K>(
        &'h self,
        path: &str,
        at: At<'_>,
        keys: &dyn Fn(&'h HelperModule) -> K,
    ) -> Option<(usize, String)>
    where
        K: Iterator<Item = &'h String>,
    {
        let words = names::words(path);
        if let Meaning::Here(depth, words) = names::resolve(&self.names, at, &words, Space::Values)
        {
            return Some((depth, joined(&words)));
        }
        let [owner, _] = words.as_slice() else {
            return None;
        };
        let module = names::resolve(&self.names, at, std::slice::from_ref(owner), Space::Modules);
        let member = !matches!(module, Meaning::Here(..));
        let ends = |k: &&String| {
            let before = k.strip_suffix(path).filter(|_| member);
            before.is_some_and(|b| b.is_empty() || b.ends_with("::"))
        };
        let mut all = (1..=at.0).rev();
        all.find_map(|d| Some((d, keys(&self.modules[d - 1]).find(ends)?.clone())))
    }

    /// The path, from the module around the macro's item, of a function that is not in a module that the macro sees.
    fn outside(&self, path: &str, at: At<'_>) -> Option<String> {
        match names::resolve(&self.names, at, &names::words(path), Space::Values) {
            Meaning::Outside(words) | Meaning::Unknown(words) => Some(joined(&words)),
            Meaning::Here(..) | Meaning::Nothing => None,
        }
    }

    /// The own name of the struct that a path means in a module.
    fn struct_name(&self, path: &str, at: At<'_>) -> String {
        let words = names::words(path);
        let meant = match names::resolve(&self.names, at, &words, Space::Types) {
            Meaning::Here(_, meant) | Meaning::Outside(meant) | Meaning::Unknown(meant) => meant,
            Meaning::Nothing => words,
        };
        meant.last().map(ToString::to_string).unwrap_or_default()
    }

    /// The struct of this name that is innermost, with the number of modules around it.
    fn structure(&self, name: &str, from: usize) -> Option<(&StructItem, usize)> {
        let depth = (0..from)
            .rev()
            .find(|&d| self.modules[d].structs.contains_key(name))?;
        Some((&self.modules[depth].structs[name], depth + 1))
    }

    /// The scalar type that an alias in scope of the module at `from` stands for.
    fn alias(&self, name: &str, from: usize) -> Option<Scalar> {
        self.modules[..from]
            .iter()
            .rev()
            .find_map(|m| m.aliases.get(name).copied())
    }

    /// Names of the device functions in scope of the module at `from`.
    fn names(&self, from: usize) -> impl Iterator<Item = &str> {
        self.modules[..from].iter().flat_map(|m| {
            let device = m.functions.iter().filter(|(_, h)| h.device);
            device
                .map(|(n, _)| n.as_str())
                .filter(|n| !n.contains("::"))
        })
    }
}

impl HelperModule {
    fn add(&mut self, items: &[syn::Item], inside: &[syn::Ident]) {
        for item in items {
            match item {
                syn::Item::Fn(f) => {
                    let helper = Helper {
                        item: f.clone(),
                        device: f.attrs.iter().any(is_device),
                        owner: None,
                        inside: inside.to_vec(),
                        checked: RefCell::default(),
                    };
                    self.functions.insert(key(inside, &f.sig.ident), helper);
                }
                syn::Item::Const(c) => {
                    let constant = DeclaredConstant {
                        ty: (*c.ty).clone(),
                        value: (*c.expr).clone(),
                        inside: inside.to_vec(),
                        in_body: false,
                    };
                    self.constants.insert(key(inside, &c.ident), constant);
                }
                syn::Item::Type(t) => {
                    if let Some(scalar) = types::scalar(&t.ty) {
                        self.aliases.insert(t.ident.to_string(), scalar);
                    }
                }
                syn::Item::Struct(s) if s.ident != "Data" => {
                    let item = StructItem {
                        item: s.clone(),
                        resolved: RefCell::default(),
                    };
                    let before = self.structs.insert(s.ident.to_string(), item);
                    if before.is_some() {
                        self.twice.push(s.ident.to_string());
                    }
                }
                syn::Item::Impl(i) if i.trait_.is_none() => self.add_impl(i, inside),
                syn::Item::Mod(m) if m.attrs.iter().any(is_device) => {
                    if let Some((_, items)) = &m.content {
                        let inside: Vec<_> = inside.iter().chain([&m.ident]).cloned().collect();
                        self.add(items, &inside);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_impl(&mut self, i: &syn::ItemImpl, inside: &[syn::Ident]) {
        let syn::Type::Path(p) = &*i.self_ty else {
            return;
        };
        let Some(owner) = p.path.segments.last().map(|s| s.ident.to_string()) else {
            return;
        };
        for item in &i.items {
            match item {
                syn::ImplItem::Fn(f) => {
                    let helper = Helper {
                        item: syn::ItemFn {
                            attrs: f.attrs.clone(),
                            vis: f.vis.clone(),
                            modifiers: syn::FnModifiers::default(),
                            sig: f.sig.clone(),
                            block: Box::new(f.block.clone()),
                        },
                        device: true,
                        owner: Some(owner.clone()),
                        inside: inside.to_vec(),
                        checked: RefCell::default(),
                    };
                    let name = format!("{owner}::{}", f.sig.ident);
                    self.functions.insert(key(inside, &name), helper);
                }
                syn::ImplItem::Const(c) => {
                    let constant = DeclaredConstant {
                        ty: c.ty.clone(),
                        value: c.expr.clone(),
                        inside: inside.to_vec(),
                        in_body: false,
                    };
                    let name = format!("{owner}::{}", c.ident);
                    self.constants.insert(key(inside, &name), constant);
                }
                _ => {}
            }
        }
    }
}

/// A name in a module of a [`HelperModule`].
fn key(inside: &[syn::Ident], name: &impl ToString) -> String {
    let names = inside.iter().map(ToString::to_string);
    names
        .chain([name.to_string()])
        .collect::<Vec<_>>()
        .join("::")
}

/// Whether an attribute is `#[device]`, by whatever path.
pub(crate) fn is_device(attr: &syn::Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|s| s.ident == "device")
}

/// Where a constant means what it does: in these `#[device] mod`s of a module that is so many up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Home {
    pub(crate) up: usize,
    pub(crate) inside: Vec<syn::Ident>,
}

/// A named constant that a body uses: emitted as `{ const C: u32 = VALUE; C as u64 }` at the user's span.
#[derive(Clone, Debug)]
pub(crate) struct NamedConstant {
    /// The path (or, for `init = ..`, the expression) as written.
    pub(crate) value: TokenStream,
    pub(crate) home: Home,
    /// Type it is used at.
    pub(crate) scalar: Scalar,
    /// The value is that of another module's constant, as raw bits.
    pub(crate) imported: bool,
}

/// Where a trap points.
#[derive(Clone, Debug)]
pub(crate) enum Site {
    /// To a token of this module.
    Token(Span),
    /// To a token of another module: an expression that gives its position.
    Imported(TokenStream),
}

/// Sites and named constants used in one module, or in one function that travels.
#[derive(Debug, Default)]
pub(crate) struct ModuleTables {
    /// What traps point to.
    pub(crate) sites: Vec<Site>,
    /// Named constants.
    pub(crate) constants: Vec<NamedConstant>,
    /// What its functions bind.
    pub(crate) bound: Vec<Bound>,
    /// Ids of the first of each.
    first_site: usize,
    pub(crate) first_constant: usize,
    known_sites: HashMap<String, SiteId>,
    known_constants: HashMap<(Home, String, Scalar), ConstantId>,
}

/// An entry of an array of another module.
pub(crate) fn entry(path: &TokenStream, array: &str, index: usize) -> TokenStream {
    let array = quote::format_ident!("{array}");
    let index = proc_macro2::Literal::usize_unsuffixed(index);
    quote::quote!(#path::#array[#index])
}

/// Stands for an entry that is not there: the same source compiled to something else.
fn lost() -> TokenStream {
    quote::quote!(::core::compile_error!(
        "internal error in vyre: what was included compiled differently"
    ))
}

/// Sites and named constants of a pass. Ids run on across modules, in the order the modules were begun.
#[derive(Default)]
pub(crate) struct Tables {
    modules: Vec<ModuleTables>,
    sites: usize,
    constants: usize,
    /// Sites and constants are those of another module, which has them in arrays.
    elsewhere: Option<(TokenStream, Rc<ModuleTables>)>,
    /// What the user says at the sites of asserts and panics.
    messages: BTreeMap<SiteId, String>,
}

impl Tables {
    /// Starts the next module; everything recorded from now on belongs to it.
    pub(crate) fn begin_module(&mut self) {
        self.modules.push(ModuleTables {
            first_site: self.sites,
            first_constant: self.constants,
            ..ModuleTables::default()
        });
    }

    /// From now on tokens are of the module at this path, which recorded them in these tables.
    pub(crate) fn enter(&mut self, path: &TokenStream, tables: &Rc<ModuleTables>) {
        self.elsewhere = Some((path.clone(), tables.clone()));
    }

    /// From now on tokens are of this module.
    pub(crate) fn leave(&mut self) {
        self.elsewhere = None;
    }

    /// What was recorded, by module.
    pub(crate) fn into_modules(self) -> Vec<ModuleTables> {
        self.modules
    }

    /// What was recorded in the only module.
    fn into_module(mut self) -> ModuleTables {
        self.modules.pop().unwrap_or_default()
    }

    /// The functions of a module bind these.
    pub(crate) fn binds(&mut self, module: usize, bound: Vec<Bound>) {
        self.modules[module].bound = bound;
    }

    /// What was recorded, by module.
    pub(crate) fn modules(&self) -> &[ModuleTables] {
        &self.modules
    }

    /// The token that a site of the module at hand points to.
    pub(crate) fn span(&self, site: SiteId) -> Option<Span> {
        let module = self.modules.last()?;
        let index = site.index().checked_sub(module.first_site)?;
        match module.sites.get(index)? {
            Site::Token(span) => Some(*span),
            Site::Imported(_) => None,
        }
    }

    /// Number of named constants so far: literals of the pool come after them.
    pub(crate) fn constant_count(&self) -> usize {
        self.constants
    }

    /// More sites or constants were asked for than ids can name; a client reports that once, at the end.
    pub(crate) fn overflowed(&self) -> bool {
        self.sites.max(self.constants) > usize::from(u16::MAX)
    }

    /// The id of a token's position, one for each position.
    pub(crate) fn site(&mut self, span: Span) -> SiteId {
        if let Some((path, tables)) = self.elsewhere.take() {
            let place = tables
                .site_index(span)
                .map(|i| entry(&path, "__VYRE_SITES", i));
            let id = self.imported_site(place.unwrap_or_else(lost));
            self.elsewhere = Some((path, tables));
            return id;
        }
        if self.modules.is_empty() {
            self.begin_module();
        }
        let module = self.modules.last_mut().expect("a module was begun");
        // A compiler's span prints its byte range; the fallback outside a compiler may not, and then every token counts.
        let key = format!("{span:?}");
        if let Some(&id) = module.known_sites.get(&key) {
            return id;
        }
        let id = SiteId(self.sites.min(usize::from(u16::MAX)) as u16);
        self.sites += 1;
        module.sites.push(Site::Token(span));
        if key.contains("bytes(") {
            module.known_sites.insert(key, id);
        }
        id
    }

    /// The id of a position that another module names.
    pub(crate) fn imported_site(&mut self, place: TokenStream) -> SiteId {
        if let Some((path, tables)) = self.elsewhere.take() {
            let place = tables
                .imported_index(&place)
                .map(|i| entry(&path, "__VYRE_SITES", i));
            let id = self.imported_site(place.unwrap_or_else(lost));
            self.elsewhere = Some((path, tables));
            return id;
        }
        if self.modules.is_empty() {
            self.begin_module();
        }
        let module = self.modules.last_mut().expect("a module was begun");
        let key = place.to_string();
        if let Some(&id) = module.known_sites.get(&key) {
            return id;
        }
        let id = SiteId(self.sites.min(usize::from(u16::MAX)) as u16);
        self.sites += 1;
        module.sites.push(Site::Imported(place));
        module.known_sites.insert(key, id);
        id
    }

    /// What the user says where the run stops at a site.
    pub(crate) fn say(&mut self, site: SiteId, message: &Option<String>) {
        if let Some(text) = message {
            self.messages.insert(site, text.clone());
        }
    }

    /// What is said, by site.
    pub(crate) fn messages(&self) -> Vec<(SiteId, String)> {
        let said = self.messages.iter();
        said.map(|(&site, text)| (site, text.clone())).collect()
    }

    /// The id of a named constant (or of an `init` expression), one for each spelling and type.
    pub(crate) fn constant(&mut self, value: TokenStream, scalar: Scalar) -> ConstantId {
        self.any_constant(Home::default(), value, scalar, false)
    }

    /// The id of a constant that is named in a `#[device] mod`.
    fn constant_of(&mut self, home: Home, value: TokenStream, scalar: Scalar) -> ConstantId {
        self.any_constant(home, value, scalar, false)
    }

    /// The id of a constant of another module: `value` gives its raw bits.
    pub(crate) fn imported_constant(&mut self, value: TokenStream, scalar: Scalar) -> ConstantId {
        self.any_constant(Home::default(), value, scalar, true)
    }

    fn any_constant(
        &mut self,
        home: Home,
        value: TokenStream,
        scalar: Scalar,
        imported: bool,
    ) -> ConstantId {
        if let Some((path, tables)) = self.elsewhere.take() {
            let place = tables.constant_index(&home, &value, scalar);
            let place = place.map(|i| entry(&path, "__VYRE_CONSTANTS", i));
            let id = self.imported_constant(place.unwrap_or_else(lost), scalar);
            self.elsewhere = Some((path, tables));
            return id;
        }
        if self.modules.is_empty() {
            self.begin_module();
        }
        let module = self.modules.last_mut().expect("a module was begun");
        let key = (home.clone(), value.to_string(), scalar);
        if let Some(&id) = module.known_constants.get(&key) {
            return id;
        }
        let id = ConstantId(self.constants.min(usize::from(u16::MAX)) as u16);
        self.constants += 1;
        module.constants.push(NamedConstant {
            value,
            home,
            scalar,
            imported,
        });
        module.known_constants.insert(key, id);
        id
    }
}

impl ModuleTables {
    /// The position of a token in [`ModuleTables::sites`], in the module's array.
    fn site_index(&self, span: Span) -> Option<usize> {
        let id = self.known_sites.get(&format!("{span:?}"))?;
        Some(id.index() - self.first_site)
    }

    fn imported_index(&self, place: &TokenStream) -> Option<usize> {
        let id = self.known_sites.get(&place.to_string())?;
        Some(id.index() - self.first_site)
    }

    /// The scalars of an expression that was recorded, and the way to each in it.
    pub(crate) fn parts(&self, e: &syn::Expr) -> Vec<(TokenStream, Scalar)> {
        let whole = e.to_token_stream().to_string();
        let part = |c: &NamedConstant| {
            if c.value.to_string() == whole {
                return Some((TokenStream::new(), c.scalar));
            }
            let mut trees = c.value.clone().into_iter();
            match trees.next() {
                Some(TokenTree::Group(g)) if g.stream().to_string() == whole => {
                    Some((trees.collect(), c.scalar))
                }
                _ => None,
            }
        };
        self.constants.iter().filter_map(part).collect()
    }

    pub(crate) fn constant_index(
        &self,
        home: &Home,
        value: &TokenStream,
        scalar: Scalar,
    ) -> Option<usize> {
        let key = (home.clone(), value.to_string(), scalar);
        let id = self.known_constants.get(&key)?;
        Some(id.index() - self.first_constant)
    }
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
fn start(e: &syn::Expr) -> Span {
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

/// A scalar of a struct or tuple.
pub(crate) struct Part {
    /// The way to it.
    pub(crate) path: Vec<syn::Member>,
    pub(crate) scalar: Scalar,
}

/// What the items of a list or frontier, or the elements of a buffer, consist of.
pub(crate) struct Record {
    /// Its scalars, in order.
    pub(crate) fields: Vec<Part>,
    /// The structs in it, innermost first.
    pub(crate) structs: Vec<RecordStruct>,
}

/// A struct of items or elements: its name, and its fields with the scalars that they consist of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordStruct {
    pub(crate) name: String,
    pub(crate) fields: Vec<(String, Shape)>,
}

/// A scalar, or what a struct or tuple consists of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Scalar(Scalar),
    Tuple(Vec<Shape>),
}

impl ToTokens for Shape {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Shape::Scalar(scalar) => crate::expand::scalar_type(*scalar),
            Shape::Tuple(parts) => quote::quote! { (#(#parts,)*) },
        });
    }
}

impl RecordStruct {
    /// The call that makes it a record where it is declared.
    pub(crate) fn implementation(&self, private: &TokenStream) -> TokenStream {
        let name = quote::format_ident!("{}", self.name);
        let names = self.fields.iter().map(|(n, _)| quote::format_ident!("{n}"));
        let shapes = self.fields.iter().map(|(_, shape)| shape);
        quote::quote! { #private::record!(#name { #(#names: #shapes),* }); }
    }
}

/// The parts of a type of items, in sight of the innermost module; `None` when it was reported.
pub(crate) fn record(ty: &syn::Type, helpers: &Helpers, report: &mut Report) -> Option<Record> {
    check::record(ty, helpers, report)
}

/// Compiles the body of a wave or kernel. `None` when an error was reported (or left to rustc).
pub(crate) fn compile_wave(
    f: &syn::ItemFn,
    env: &Env<'_>,
    tables: &mut Tables,
    report: &mut Report,
) -> Option<ir::Body> {
    let checked = check::wave(f, env, report)?;
    lower::body(&checked, tables, report)
}

/// Compiles a function that travels, and gives what its module has to name for it. `None` when an error was reported.
pub(crate) fn compile_package(package: &Package, report: &mut Report) -> Option<ModuleTables> {
    let records = Rc::default();
    let (f, bound) = check::package(package, &records, report)?;
    let mut tables = Tables::default();
    tables.begin_module();
    lower::alone(&f, &mut tables);
    let tables = tables.into_module();
    Some(ModuleTables { bound, ..tables })
}

/// The source of a module, and where it stands.
fn module_id(package: &Package) -> String {
    let at = match &package.item {
        syn::Item::Mod(m) => format!("{:?}", m.ident.span()),
        _ => String::new(),
    };
    // The same tokens have another context in each macro that hands them on.
    let bytes = at.find("bytes(").map_or("", |i| &at[i..]);
    format!("{bytes} {}", package.to_token_stream())
}

/// Compiles the functions and methods of a `#[device] mod` that travels. `None` for one that is not inline.
pub(crate) fn compile_device_module(
    package: &Package,
    report: &mut Report,
) -> Option<DeviceModule> {
    let syn::Item::Mod(syn::ItemMod {
        content: Some((_, items)),
        ..
    }) = &package.item
    else {
        return None;
    };
    let mut helpers = Helpers::new(package.imports.clone(), Root::Module);
    helpers.enter(items);
    let functions = check::device_module(&helpers, report);
    let mut tables = Tables::default();
    tables.begin_module();
    for f in &functions {
        lower::alone(f, &mut tables);
    }
    let module = &helpers.modules[0];
    let named = |item: &syn::Item| match item {
        syn::Item::Struct(s) => Some(s.ident.to_string()),
        _ => None,
    };
    let structs: Vec<String> = items.iter().filter_map(named).collect();
    let copied = |name: &&String| {
        let item = module.structs.get(*name).map(|s| &s.item);
        item.is_some_and(|s| derives(s, "Copy"))
    };
    let records = structs.iter().filter(copied).filter_map(|name| {
        let ident = quote::format_ident!("{name}");
        let ty: syn::Type = syn::parse_quote!(#ident);
        let record = record(&ty, &helpers, &mut Report::default())?;
        record.structs.into_iter().find(|s| s.name == *name)
    });
    let marked = module.functions.iter();
    let marked = marked.filter(|(_, f)| f.device && f.owner.is_none());
    let functions: BTreeSet<String> = marked.map(|(_, f)| f.item.sig.ident.to_string()).collect();
    let bound = module.bound.take();
    Some(DeviceModule {
        tables: ModuleTables {
            bound,
            ..tables.into_module()
        },
        records: records.collect(),
        functions: functions.into_iter().collect(),
        structs,
    })
}

/// Whether a struct derives a trait.
pub(crate) fn derives(item: &syn::ItemStruct, what: &str) -> bool {
    item.attrs
        .iter()
        .any(|a| a.path().is_ident("derive") && a.to_token_stream().to_string().contains(what))
}

/// Compiles the condition of `until(..)`: the body's value is its bool.
pub(crate) fn compile_condition(
    name: &str,
    e: &syn::Expr,
    env: &Env<'_>,
    tables: &mut Tables,
    report: &mut Report,
) -> Option<ir::Body> {
    let checked = check::condition(name, e, env, report)?;
    lower::body(&checked, tables, report)
}
