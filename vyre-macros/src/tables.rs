//! What bytecode needs of the place where the source stands: positions of tokens, and values of named constants. rustc
//! knows both, so the expansion has arrays of them, in the order in which lowering asks.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use vyre_core::vir0::length::{Length, Term};
use vyre_core::vir0::module::{ConstantId, LengthId, SiteId};
use vyre_core::vir0::scalar::Scalar;

/// What a function was compiled as, where names of its scope that the macro does not see could mean something else to
/// rustc: the expansion has rustc look.
#[derive(Clone, Debug)]
pub(crate) struct Assumed {
    pub(crate) what: Assumption,
    /// `#[device] mod`s between the module and the function.
    pub(crate) inside: Vec<syn::Ident>,
}

#[derive(Clone, Debug)]
pub(crate) enum Assumption {
    /// A name that a `match` binds is not that of a constant.
    New(syn::Ident),
    /// A path calls the function of another module that has travelled with this number.
    Function(TokenStream, u32),
    /// A path names the struct of another module that has travelled with this number.
    Struct(TokenStream, u32),
}

/// Where a constant means what it does: in these `#[device] mod`s of a module that is `up` modules up.
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
    /// What its functions were compiled as.
    pub(crate) assumed: Vec<Assumed>,
    /// Ids of the first of each.
    first_site: usize,
    pub(crate) first_constant: usize,
    known_sites: HashMap<String, SiteId>,
    known_constants: HashMap<(Home, String, Scalar), ConstantId>,
}

impl ModuleTables {
    /// The position of a token in [`ModuleTables::sites`], in the module's array.
    pub(crate) fn site_index(&self, span: Span) -> Option<usize> {
        let id = self.known_sites.get(&format!("{span:?}"))?;
        Some(id.index() - self.first_site)
    }

    pub(crate) fn imported_index(&self, place: &TokenStream) -> Option<usize> {
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

/// Sites and named constants of a pass. Ids run on across modules, in the order the modules were begun.
#[derive(Default)]
pub(crate) struct Tables {
    modules: Vec<ModuleTables>,
    sites: usize,
    constants: usize,
    /// Computed lengths, and the key of each.
    lengths: Vec<Length>,
    length_keys: HashMap<String, LengthId>,
    constant_lengths: HashMap<(usize, Option<String>, String), ConstantId>,
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

    /// The id of a computed length, one for each key.
    pub(crate) fn length(&mut self, key: String, terms: Vec<Term>) -> LengthId {
        let next = LengthId(u16::try_from(self.lengths.len()).unwrap_or(u16::MAX));
        let id = *self.length_keys.entry(key).or_insert(next);
        if id == next {
            self.lengths.push(Length { terms });
        }
        id
    }

    /// The id of a constant length, however it is written: that of the first spelling in the current module.
    pub(crate) fn alike(&mut self, key: String, id: ConstantId) -> ConstantId {
        let elsewhere = self.elsewhere.as_ref().map(|(path, _)| path.to_string());
        let place = (self.modules.len(), elsewhere, key);
        *self.constant_lengths.entry(place).or_insert(id)
    }

    /// The computed lengths.
    pub(crate) fn lengths(&self) -> Vec<Length> {
        self.lengths.clone()
    }

    /// What was recorded in the only module.
    pub(crate) fn into_module(mut self) -> ModuleTables {
        self.modules.pop().unwrap_or_default()
    }

    /// What the functions of a module were compiled as.
    pub(crate) fn assumes(&mut self, module: usize, assumed: Vec<Assumed>) {
        self.modules[module].assumed = assumed;
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

    /// The token of a site, if it is not another module's.
    pub(crate) fn token(&self, site: SiteId) -> Option<Span> {
        let mut modules = self.modules.iter().rev();
        let module = modules.find(|m| m.first_site <= site.index())?;
        match module.sites.get(site.index() - module.first_site)? {
            Site::Token(span) => Some(*span),
            Site::Imported(_) => None,
        }
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
        // A compiler's span prints its byte range; the fallback outside a compiler may not, and then every token
        // counts.
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
    pub(crate) fn constant_of(
        &mut self,
        home: Home,
        value: TokenStream,
        scalar: Scalar,
    ) -> ConstantId {
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
