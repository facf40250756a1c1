//! What is in scope of a body: the `#[device]` functions, structs and constants of the modules around it, and what has
//! arrived from others.

use super::hir;
use super::param::{self, ParamKind};
use super::types::{self, Ty};
use crate::attributes::is_device;
use crate::names::{self, Meaning, Names, Space, joined};
use crate::package::Package;
use crate::tables::Assumed;
use proc_macro2::TokenStream;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use vyre_core::vir0::scalar::Scalar;

/// Where a name stands: the number of modules around it, and the `#[device] mod`s inside the innermost.
pub(super) type At<'a> = (usize, &'a [syn::Ident]);

/// What a body can name.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    /// Parameters (of a condition: the fields of `Data`), by name.
    pub(crate) bindings: &'a [(syn::Ident, ParamKind)],
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
    pub(super) modules: Vec<HelperModule>,
    /// What their names mean.
    pub(super) names: Vec<Names>,
    pub(super) root: Root,
    /// Functions of other modules, by their paths from the module around the macro's item.
    pub(super) imports: HashMap<String, Import>,
    /// `#[device] mod`s of other modules, each with the paths from there that name something of it.
    pub(super) mods: Vec<DeviceMod>,
    /// Of the items of such a module: how they are named.
    pub(super) origin: Option<hir::Origin>,
    /// Paths of functions and structs that are still to come.
    pub(super) expected: Vec<String>,
    /// Paths of functions that are there without `#[device]`.
    pub(super) unmarked: Vec<String>,
    /// Names of the functions being checked, outermost first.
    pub(super) running: RefCell<Vec<String>>,
    /// Types of items of lists and frontiers, each once.
    pub(super) records: Rc<RefCell<Vec<Ty>>>,
}

pub(super) struct DeviceMod {
    /// Its package's.
    pub(super) serial: u32,
    /// Those that are not in a module of its own.
    pub(super) structs: Vec<String>,
    pub(super) paths: Vec<String>,
    pub(super) helpers: Helpers,
}

pub(super) struct Import {
    pub(super) path: TokenStream,
    pub(super) package: Package,
    pub(super) checked: RefCell<Checked>,
}

#[derive(Default)]
pub(super) struct HelperModule {
    /// By the path from the module, through its `#[device] mod`s; what belongs to a type has the type's name before its
    /// own (`Point::new`, `shapes::Point::new`).
    pub(super) functions: BTreeMap<String, Helper>,
    pub(super) constants: HashMap<String, DeclaredConstant>,
    pub(super) aliases: HashMap<String, Scalar>,
    pub(super) structs: HashMap<String, StructItem>,
    /// Names of structs of which there are several.
    pub(super) twice: Vec<String>,
    /// What the functions checked so far were compiled as.
    pub(super) assumed: RefCell<Vec<Assumed>>,
}

#[derive(Clone)]
pub(super) struct DeclaredConstant {
    pub(super) ty: syn::Type,
    pub(super) value: syn::Expr,
    /// `#[device] mod`s between the module and the constant.
    pub(super) inside: Vec<syn::Ident>,
    /// It stands in a function's body: its value is written where it is used.
    pub(super) in_body: bool,
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

pub(super) struct StructItem {
    pub(super) item: syn::ItemStruct,
    pub(super) resolved: RefCell<Resolved>,
}

#[derive(Clone, Default)]
pub(super) enum Resolved {
    #[default]
    Not,
    Running,
    Failed,
    Done(types::Struct),
}

pub(super) struct Helper {
    pub(super) item: syn::ItemFn,
    pub(super) device: bool,
    /// The type whose `impl` it is in.
    pub(super) owner: Option<String>,
    /// `#[device] mod`s between the module and the function.
    pub(super) inside: Vec<syn::Ident>,
    pub(super) checked: RefCell<Checked>,
}

#[derive(Clone, Default)]
pub(super) enum Checked {
    #[default]
    Not,
    Running,
    Failed,
    Done(Rc<hir::Function>),
}

impl Helpers {
    /// Enters a module: its `#[device]` functions, structs and constants come into scope, with those of its
    /// `#[device] mod`s. A function's body is entered as if it were a module: its constants have no path that leads to
    /// them.
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

    /// Leaves the module entered last, and gives what its functions were compiled as.
    pub(crate) fn leave(&mut self) -> Vec<Assumed> {
        self.names.pop();
        let left = self.modules.pop().unwrap_or_default();
        left.assumed.into_inner()
    }

    /// The function that a path means in a module, with the number of modules around it.
    pub(super) fn function(&self, path: &str, at: At<'_>) -> Option<(&Helper, usize)> {
        let (depth, key) = self.find(path, at, &|m| m.functions.keys())?;
        Some((self.modules[depth - 1].functions.get(&key)?, depth))
    }

    /// The constant that a path means in a module, with the number of modules around it.
    pub(super) fn constant(&self, path: &str, at: At<'_>) -> Option<(DeclaredConstant, usize)> {
        let (depth, key) = self.find(path, at, &|m| m.constants.keys())?;
        Some((self.modules[depth - 1].constants.get(&key)?.clone(), depth))
    }

    /// What a path means in a module: the number of modules around it, and its key there. What belongs to a struct is
    /// found by the struct's name alone, as structs are.
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
    pub(super) fn outside(&self, path: &str, at: At<'_>) -> Option<String> {
        match names::resolve(&self.names, at, &names::words(path), Space::Values) {
            Meaning::Outside(words) | Meaning::Unknown(words) | Meaning::Globbed(words) => {
                Some(joined(&words))
            }
            Meaning::Here(..) | Meaning::Nothing => None,
        }
    }

    /// The own name of the struct that a path means in a module.
    pub(super) fn struct_name(&self, path: &str, at: At<'_>) -> String {
        let words = names::words(path);
        let meant = match names::resolve(&self.names, at, &words, Space::Types) {
            Meaning::Here(_, meant)
            | Meaning::Outside(meant)
            | Meaning::Unknown(meant)
            | Meaning::Globbed(meant) => meant,
            Meaning::Nothing => words,
        };
        meant.last().map(ToString::to_string).unwrap_or_default()
    }

    /// The struct of this name that is innermost, with the number of modules around it.
    pub(super) fn structure(&self, name: &str, from: usize) -> Option<(&StructItem, usize)> {
        let depth = (0..from)
            .rev()
            .find(|&d| self.modules[d].structs.contains_key(name))?;
        Some((&self.modules[depth].structs[name], depth + 1))
    }

    /// The scalar type that an alias in scope of the module at `from` stands for.
    pub(super) fn alias(&self, name: &str, from: usize) -> Option<Scalar> {
        self.modules[..from]
            .iter()
            .rev()
            .find_map(|m| m.aliases.get(name).copied())
    }

    /// Names of the device functions in scope of the module at `from`.
    pub(super) fn names(&self, from: usize) -> impl Iterator<Item = &str> {
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
                    if let Some(scalar) = param::scalar_of(&t.ty) {
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
