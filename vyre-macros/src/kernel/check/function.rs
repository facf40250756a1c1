//! `#[device]` functions: those of the modules around a body, and those of others, which travel. Each is checked once.

use super::*;
use crate::attributes::is_device;
use crate::kernel::lower;
use crate::kernel::record::{RecordStruct, derives};
use crate::kernel::scope::{Checked, DeviceMod, Import, Root};
use crate::package::{Imports, Package};
use crate::tables::{Assumed, ModuleTables, Tables};
use proc_macro2::TokenStream;
use std::cell::RefCell;
use std::collections::BTreeSet;

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
        let serial = package.serial;
        if let Some(known) = self.mods.iter_mut().find(|m| m.serial == serial) {
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
        let structs = compiled.as_ref().map(|c| c.structs.clone());
        let last = name.rsplit("::").next().unwrap_or_default();
        let arrays = if last.starts_with(char::is_uppercase) {
            ["__VYRE_CONSTANTS", "__VYRE_SITES"]
        } else {
            ["CONSTANTS", "SITES"]
        };
        let mut helpers = Helpers {
            records: self.records.clone(),
            origin: Some(Origin {
                path: path.clone(),
                arrays,
                tables: Rc::new(compiled.map(|c| c.tables).unwrap_or_default()),
            }),
            ..Helpers::new(package.imports.clone(), Root::Module)
        };
        helpers.enter(items);
        self.mods.push(DeviceMod {
            serial,
            structs: structs.unwrap_or_default(),
            paths: vec![name],
            helpers,
        });
    }
}

/// Checks a `#[device]` function, once.
pub(super) fn helper(name: &str, at: Span, from: usize, c: &mut Checker<'_>) -> Option<Found> {
    let inside = std::mem::take(&mut c.inside);
    let found = c.env.helpers.function(name, (from, &inside));
    c.inside = inside;
    let Some((helper, depth)) = found else {
        return elsewhere(name, at, c);
    };
    if !helper.device {
        c.error(
            at,
            format!("`{name}` is not a `#[device]` function"),
            format!("write `#[device]` before `fn {name}` to inline it into kernels"),
        );
        return Some(Found::Failed(None));
    }
    let result = match &helper.item.sig.output {
        syn::ReturnType::Default => Some(Ty::UNIT),
        syn::ReturnType::Type(_, ty) => c.known(ty),
    };
    let state = helper.checked.borrow().clone();
    match state {
        Checked::Done(f) => return Some(Found::Function(f)),
        Checked::Failed => {
            c.failed = true;
            return Some(Found::Failed(result));
        }
        Checked::Running => {
            let running = c.env.helpers.running.borrow();
            let start = running.iter().position(|n| n == name).unwrap_or(0);
            let path = running[start..]
                .iter()
                .map(String::as_str)
                .chain([name])
                .collect::<Vec<_>>();
            let message = format!(
                "recursion is not in the kernel language: `{}`",
                path.join(" -> ")
            );
            drop(running);
            c.error(at, message, "a lane has no call stack: use a loop");
            return Some(Found::Failed(result));
        }
        Checked::Not => {}
    }
    *helper.checked.borrow_mut() = Checked::Running;
    c.env.helpers.running.borrow_mut().push(name.to_owned());
    let env = Env {
        bindings: &[],
        helpers: c.env.helpers,
        fields: c.env.fields,
    };
    let mut inner = Checker::new(env, c.report, Role::Helper, depth);
    inner.nest = c.nest;
    inner.owner.clone_from(&helper.owner);
    inner.inside.clone_from(&helper.inside);
    let checked = inner.helper(&helper.item);
    c.env.helpers.running.borrow_mut().pop();
    let (state, found) = match checked {
        Some(mut f) => {
            f.origin.clone_from(&c.env.helpers.origin);
            let f = Rc::new(f);
            (Checked::Done(f.clone()), Found::Function(f))
        }
        None => {
            c.failed = true;
            (Checked::Failed, Found::Failed(result))
        }
    };
    *helper.checked.borrow_mut() = state;
    Some(found)
}

/// The method, or function of a path, of a `#[device] mod` of another module. That module reports what is wrong with
/// it.
fn elsewhere(name: &str, at: Span, c: &mut Checker<'_>) -> Option<Found> {
    let of = c
        .env
        .helpers
        .mods
        .iter()
        .find(|m| name.contains("::") && m.helpers.function(name, (1, &[])).is_some())?;
    of_module(&of.helpers, name, at, c)
}

fn of_module(helpers: &Helpers, name: &str, at: Span, c: &mut Checker<'_>) -> Option<Found> {
    let env = Env {
        bindings: &[],
        helpers,
        fields: &[],
    };
    let mut unseen = Report::default();
    let mut inner = Checker::new(env, &mut unseen, Role::Helper, 1);
    inner.nest = c.nest;
    let found = helper(name, at, 1, &mut inner);
    if let Some(Found::Failed(_)) = found {
        c.leave(format!("`{name}` did not compile"));
    }
    found
}

/// Checks all functions and methods of a `#[device] mod`; gives those without errors.
fn device_module(helpers: &Helpers, report: &mut Report) -> Vec<Rc<Function>> {
    let env = Env {
        bindings: &[],
        helpers,
        fields: &[],
    };
    let mut all = Vec::new();
    let marked = helpers.modules[0].functions.iter();
    for (name, of) in marked.filter(|(_, f)| f.device) {
        let mut c = Checker::new(env, report, Role::Helper, 1);
        if let Some(Found::Function(f)) = helper(name, of.item.sig.ident.span(), 1, &mut c) {
            all.push(f);
        }
    }
    all
}

/// Checks a function that travels, with nothing but itself and what came with it in scope.
fn packaged(
    package: &Package,
    records: &Rc<RefCell<Vec<Ty>>>,
    report: &mut Report,
) -> Option<(Function, Vec<Assumed>)> {
    let syn::Item::Fn(function) = &package.item else {
        return None;
    };
    let mut item = function.clone();
    item.attrs.push(syn::parse_quote!(#[device]));
    let mut helpers = Helpers::new(package.imports.clone(), Root::Body);
    helpers.records = records.clone();
    let name = item.sig.ident.to_string();
    helpers.enter(&[syn::Item::Fn(item)]);
    let env = Env {
        bindings: &[],
        helpers: &helpers,
        fields: &[],
    };
    let mut c = Checker::new(env, report, Role::Helper, 1);
    let found = helper(&name, function.sig.ident.span(), 1, &mut c);
    drop(c);
    match found {
        Some(Found::Function(f)) => {
            // The one in scope is the other owner.
            let assumed = helpers.leave();
            Some((Rc::into_inner(f)?, assumed))
        }
        _ => None,
    }
}

/// Checks a function of another module, once; `written` calls it. Its own module reports what is wrong with it.
pub(super) fn import(path: &str, written: &syn::Path, c: &mut Checker<'_>) -> Option<Found> {
    if c.env.helpers.expected.iter().any(|p| p == path) {
        c.leave(format!("`{path}` has not arrived"));
        return Some(Found::Failed(None));
    }
    let modules = &c.env.helpers.mods;
    if let Some(of) = modules.iter().find(|m| m.paths.iter().any(|p| p == path)) {
        let assumption = Assumption::Function(written.to_token_stream(), of.serial);
        c.assumptions.push(assumption);
        let name = path.rsplit("::").next().unwrap_or(path);
        return of_module(&of.helpers, name, Span::call_site(), c);
    }
    let import = c.env.helpers.imports.get(path)?;
    let assumption = Assumption::Function(written.to_token_stream(), import.package.serial);
    c.assumptions.push(assumption);
    let result = match &import.package.item {
        syn::Item::Fn(f) => match &f.sig.output {
            syn::ReturnType::Default => Some(Ty::UNIT),
            syn::ReturnType::Type(_, ty) => c.known(ty),
        },
        _ => None,
    };
    let state = import.checked.borrow().clone();
    let state = match state {
        Checked::Done(_) | Checked::Failed => state,
        Checked::Not | Checked::Running if import.package.imports.broken.is_some() => {
            Checked::Failed
        }
        Checked::Not | Checked::Running => {
            let mut unseen = Report::default();
            let checked = packaged(&import.package, &c.env.helpers.records, &mut unseen);
            match checked {
                Some((mut f, _)) => {
                    let mut tables = Tables::default();
                    tables.begin_module();
                    lower::alone(&f, &mut tables);
                    f.origin = Some(Origin {
                        path: import.path.clone(),
                        arrays: ["CONSTANTS", "SITES"],
                        tables: Rc::new(tables.into_module()),
                    });
                    Checked::Done(Rc::new(f))
                }
                None => Checked::Failed,
            }
        }
    };
    *import.checked.borrow_mut() = state.clone();
    Some(match state {
        Checked::Done(f) => Found::Function(f),
        _ => {
            c.leave(format!("`{path}` did not compile"));
            Found::Failed(result)
        }
    })
}

/// What a `#[device] mod` makes of itself.
pub(crate) struct DeviceModule {
    pub(crate) tables: ModuleTables,
    /// Structs that can be items and elements, with the names of their fields.
    pub(crate) records: Vec<RecordStruct>,
    pub(crate) functions: Vec<String>,
    pub(crate) structs: Vec<String>,
}

/// Compiles a function that travels, and gives what its module has to name for it. `None` when an error was reported.
pub(crate) fn compile_package(package: &Package, report: &mut Report) -> Option<ModuleTables> {
    let records = Rc::default();
    let (f, assumed) = packaged(package, &records, report)?;
    let mut tables = Tables::default();
    tables.begin_module();
    lower::alone(&f, &mut tables);
    let mut tables = tables.into_module();
    tables.assumed = assumed;
    Some(tables)
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
    let functions = device_module(&helpers, report);
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
    let mut tables = tables.into_module();
    tables.assumed = module.assumed.take();
    Some(DeviceModule {
        tables,
        records: records.collect(),
        functions: functions.into_iter().collect(),
        structs,
    })
}
