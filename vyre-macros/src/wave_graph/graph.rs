//! A wave graph as its module says it, which every stage reads.

use super::domain::DomainArgs;
use crate::package::Imports;
use crate::pass::Claim;
use crate::tables::ModuleTables;
use crate::tokens::{generated, ident};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use std::rc::Rc;
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, Ident, Item, ItemFn, Member, Type, Visibility, parse_quote,
    parse_quote_spanned,
};
use vyre_core::vir0::module::{FixpointId, ReduceOp, Role};
use vyre_core::vir0::scalar::Scalar;

/// A whole `#[wave_graph] mod`, taken apart.
pub(crate) struct Graph {
    pub(crate) name: Ident,
    pub(crate) options: Options,
    pub(crate) claim: Claim,
    /// There is a `Data`.
    pub(crate) has_data: bool,
    pub(crate) fields: Vec<Field>,
    /// The graph's own module first, then the fixpoints in source order, an outer one before its inner ones.
    pub(crate) scopes: Vec<Scope>,
    /// In source order, nested ones included.
    pub(crate) waves: Vec<Wave>,
    /// Graphs to take in, and those taken in.
    pub(crate) includes: Vec<IncludeArgs>,
    pub(crate) included: Vec<Included>,
    /// Names of fixpoints that are not there, which has been said.
    pub(crate) lost: Vec<Ident>,
    /// Names that the macro defines and the user took, which has been said.
    pub(crate) clashes: Vec<String>,
    /// Indexes that no wave walks: where, what to say, and what would help. It is said if nothing else is wrong, which
    /// may be the walk.
    pub(crate) unwalked: Vec<(Span, String, String)>,
    /// Arguments of attributes as written, each with the scope in whose module their names are looked up.
    pub(crate) written: Vec<(usize, TokenStream)>,
}

/// Arguments of `#[wave_graph(...)]`.
pub(crate) struct Options {
    /// What expanded code names instead of `::vyre`.
    pub(crate) krate: TokenStream,
    /// `limits(nodes = .., edges = ..)`: the sizes that the compile-time plan may assume.
    pub(crate) limits: Limits,
    /// `budget = "4 GiB"`, in bytes.
    pub(crate) budget_bytes: Option<u64>,
    /// Where the budget is written.
    pub(crate) budget_span: Span,
    /// `deterministic`: what lets results differ is an error.
    pub(crate) deterministic: bool,
    /// `export`: graphs of other crates may include it.
    pub(crate) exported: bool,
}

impl Options {
    /// The visibility of waves and fixpoints that the user gave none.
    pub(crate) fn visible(&self, span: Span) -> Visibility {
        let span = generated(span);
        match self.exported {
            true => parse_quote_spanned! { span => pub },
            false => parse_quote_spanned! { span => pub(crate) },
        }
    }

    /// Keeps them out of the documentation of a crate that exports the graph.
    pub(crate) fn undocumented(&self) -> Option<Attribute> {
        self.exported.then(|| parse_quote!(#[doc(hidden)]))
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            krate: quote!(::vyre),
            limits: Limits::default(),
            budget_bytes: None,
            budget_span: Span::call_site(),
            deterministic: false,
            exported: false,
        }
    }
}

/// Largest graph that a pass is planned for.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) nodes: Option<u64>,
    pub(crate) edges: Option<u64>,
}

impl Graph {
    /// The names of rounds in a scope: `round` is the innermost fixpoint's, which has no id here, and each fixpoint
    /// around, of the same graph, names its own.
    pub(crate) fn rounds(&self, scope: usize) -> Vec<(String, Option<FixpointId>)> {
        rounds(&self.scopes, scope)
    }
}

/// [`Graph::rounds`].
pub(crate) fn rounds(scopes: &[Scope], scope: usize) -> Vec<(String, Option<FixpointId>)> {
    let graph = |s: usize| scopes[s].origin.map(|o| o.graph);
    let around = std::iter::successors(Some(scope), |&s| scopes[s].parent);
    let around = around.take_while(|&s| s > 0 && graph(s) == graph(scope));
    let mut named: Vec<(String, Option<FixpointId>)> = Vec::new();
    for s in around {
        if s == scope {
            named.push(("round".to_owned(), None));
        }
        let name = scopes[s].own_name();
        if named.iter().all(|(other, _)| *other != name) {
            named.push((name, (s != scope).then(|| FixpointId((s - 1) as u16))));
        }
    }
    named
}

/// A module that holds waves: the graph's own, or a fixpoint.
pub(crate) struct Scope {
    pub(crate) parent: Option<usize>,
    /// Nesting depth; the graph's module is 0.
    pub(crate) depth: usize,
    pub(crate) name: Ident,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// `None` for the graph's own module.
    pub(crate) fixpoint: Option<FixpointArgs>,
    pub(crate) pieces: Vec<Piece>,
    /// `use super::*` is written out.
    pub(crate) imports_parent: bool,
    /// Every item as written: helpers and constants are looked up here.
    pub(crate) items: Vec<Item>,
    /// The items stand in a function's body, where no path from outside leads.
    pub(crate) in_body: bool,
    /// Name in the plan, where it differs.
    pub(crate) shown: Option<String>,
    /// Of an included graph.
    pub(crate) origin: Option<Origin>,
}

impl Scope {
    /// Name in the plan.
    pub(crate) fn shown(&self) -> String {
        self.shown
            .clone()
            .unwrap_or_else(|| self.name.unraw().to_string())
    }

    /// Name in its own graph: the last one in the plan.
    pub(crate) fn own_name(&self) -> String {
        let shown = self.shown();
        let (_, last) = shown.rsplit_once("::").unwrap_or(("", &shown));
        last.to_owned()
    }
}

/// A part of a module, in source order.
pub(crate) enum Piece {
    /// An item that is emitted again, helper attributes stripped.
    Item(TokenStream),
    /// A wave; emitted from [`Graph::waves`].
    Wave(usize),
    /// A fixpoint module; emitted from [`Graph::scopes`].
    Scope(usize),
}

/// Arguments of `#[fixpoint(...)]`.
#[derive(Default)]
pub(crate) struct FixpointArgs {
    pub(crate) after: Vec<Ident>,
    pub(crate) until: Option<Expr>,
    pub(crate) max_rounds: Option<MaxRounds>,
    pub(crate) swaps: Vec<(Ident, Ident)>,
    /// The parts of which each runs it by itself.
    pub(crate) per: Option<Ident>,
    /// Of an included graph.
    pub(crate) included: Option<IncludedUntil>,
}

/// The most rounds of a fixpoint.
pub(crate) enum MaxRounds {
    Literal(u64),
    /// The name of a u32 constant.
    Constant(Box<Expr>),
}

/// The condition of an included fixpoint: it stays where it is.
pub(crate) struct IncludedUntil {
    /// What the fields of its graph are here.
    pub(crate) names: HashMap<String, Ident>,
    /// Its function.
    pub(crate) call: TokenStream,
    /// Its round limit, if that is a constant.
    pub(crate) max_rounds: TokenStream,
}

impl FixpointArgs {
    /// The names in the condition, each with the field that it can mean here.
    pub(crate) fn asked(&self) -> Vec<(Ident, Option<Ident>)> {
        let field = |name: &Ident| match &self.included {
            None => Some(name.clone()),
            Some(included) => included.names.get(&name.to_string()).cloned(),
        };
        let names = self.until.as_ref().map(names_in).unwrap_or_default();
        let with_field = names.into_iter().map(|name| {
            let field = field(&name);
            (name, field)
        });
        with_field.collect()
    }
}

/// The names in an expression that can be variables, each as its first token: no methods, and no parts of paths.
fn names_in(e: &Expr) -> Vec<Ident> {
    fn walk(tokens: TokenStream, found: &mut Vec<Ident>) {
        let mut before = ['\0'; 2];
        let mut tokens = tokens.into_iter().peekable();
        while let Some(tree) = tokens.next() {
            let punct = |t: &TokenTree| match t {
                TokenTree::Punct(p) => p.as_char(),
                _ => '\0',
            };
            let now = punct(&tree);
            match tree {
                TokenTree::Ident(i) => {
                    let member = before[1] == '.' && before[0] != '.' || before == [':', ':'];
                    let path = tokens.peek().is_some_and(|next| punct(next) == ':');
                    if !member && !path && !found.contains(&i) {
                        found.push(i);
                    }
                }
                TokenTree::Group(g) => walk(g.stream(), found),
                _ => {}
            }
            before = [before[1], now];
        }
    }
    let mut found = Vec::new();
    walk(e.to_token_stream(), &mut found);
    found
}

/// A wave as written.
pub(crate) struct Wave {
    pub(crate) scope: usize,
    /// The function without `#[wave]`.
    pub(crate) function: ItemFn,
    /// `None` after an error.
    pub(crate) domain: Option<DomainArgs>,
    pub(crate) after: Vec<Ident>,
    /// Fields by the names of the parameters that take them, where they differ.
    pub(crate) names: HashMap<String, Ident>,
    /// How the function is called from the graph's module, where not by its name.
    pub(crate) call: Option<TokenStream>,
    /// Name in the plan, where it differs.
    pub(crate) shown: Option<String>,
    /// Of an included graph.
    pub(crate) origin: Option<Origin>,
}

impl Wave {
    /// Name in the plan.
    pub(crate) fn shown(&self) -> String {
        self.shown
            .clone()
            .unwrap_or_else(|| self.name().unraw().to_string())
    }

    /// The field that a parameter of this name takes. In a wave of an included graph only that graph's fields are
    /// meant: what else is declared here has nothing to do with its names.
    pub(crate) fn field(&self, name: &Ident) -> Option<Ident> {
        match (self.names.get(&name.to_string()), self.origin) {
            (Some(field), _) => Some(field.clone()),
            (None, None) => Some(name.clone()),
            (None, Some(_)) => None,
        }
    }

    pub(crate) fn name(&self) -> &Ident {
        &self.function.sig.ident
    }
}

/// A field of `Data`.
pub(crate) struct Field {
    pub(crate) name: Ident,
    /// What the user knows it as, if that is not the name.
    pub(crate) shown: Option<String>,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) kind: FieldKind,
    /// Where it says that it begins anew with each round.
    pub(crate) reset: Option<Span>,
    /// The fixpoint in which its graph is included: it begins anew with each round of that.
    pub(crate) entered: Option<usize>,
    /// Where the host has it and as what, by its attribute and type alone: a mistake in it is not one in `Run { .. }`.
    pub(crate) host: Option<Host>,
    /// The relation whose tuples it has, or their number: `Run` has a slice of that name.
    pub(crate) given: Option<Ident>,
    /// Which of the included graphs it is of.
    pub(crate) origin: Option<usize>,
}

/// A field as a host sees it, with the type of one element.
#[derive(Clone)]
pub(crate) enum Host {
    Topology(Type),
    Scalar(Type),
    Input(Type),
    /// One value.
    Result(Type),
    /// A vector.
    Output(Type),
    /// A relation's tuples.
    Tuples(Type),
}

/// Who gives a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// Each run, for itself.
    Run,
    /// The session, for all its runs.
    Session,
    /// Each run, by the length of a slice that it gives.
    Slice,
}

/// What a field declares.
pub(crate) enum FieldKind {
    Csr {
        reverse_of: Option<Ident>,
    },
    Column {
        role: Role,
        /// Of the elements, where they are no structs.
        scalar: Scalar,
        /// Their type, where they are structs or tuples: a buffer for each of its scalars.
        item: Option<Box<Type>>,
        per: Option<Per>,
        init: Option<Box<Expr>>,
    },
    Frontier {
        capacity: Option<Per>,
        unique: bool,
        /// It is a list of nodes.
        list: bool,
        /// Type of the items, where they are not nodes.
        item: Option<Box<Type>>,
    },
    List {
        capacity: Per,
        item: Box<Type>,
        output: bool,
        /// It is a relation.
        set: bool,
        /// The caller gives what it has.
        input: bool,
        /// Its indexes: the columns of each.
        indexes: Vec<Columns>,
    },
    /// An index of a relation, which no user has declared as a field.
    Index {
        relation: Ident,
        columns: Columns,
    },
    Reduction {
        op: ReduceOp,
        count: bool,
        scalar: Scalar,
        /// It is given back.
        output: bool,
    },
    Scalar(Scalar, Given),
    /// Already reported: what uses it is not reported again.
    Broken,
}

impl Field {
    /// What `Run` calls it.
    pub(crate) fn in_run(&self) -> &Ident {
        self.given.as_ref().unwrap_or(&self.name)
    }

    /// Whether it says what the parts of a graph are.
    pub(crate) fn is_parts(&self) -> bool {
        let per = match &self.kind {
            FieldKind::Column { per, .. } => per.as_ref(),
            _ => None,
        };
        matches!(per, Some(Per::Bounds(..)))
    }

    /// How many rows it has, if these are of differing lengths.
    pub(crate) fn rows(&self) -> Option<&Per> {
        match &self.kind {
            FieldKind::Column {
                per: Some(Per::Rows(per)),
                ..
            } => Some(per),
            _ => None,
        }
    }

    /// The type of a buffer's elements, where they are structs or tuples.
    pub(crate) fn item(&self) -> Option<&Type> {
        match &self.kind {
            FieldKind::Column { item, .. } => item.as_deref(),
            _ => None,
        }
    }
}

/// The columns of an index, as written.
#[derive(Clone)]
pub(crate) struct Columns {
    pub(crate) names: Vec<Member>,
    /// Of `index(..)`.
    pub(crate) span: Span,
}

impl Columns {
    /// The method that walks it: `with_from`, `with_from_and_label`.
    pub(crate) fn method(&self) -> String {
        format!("{WITH}{}", self.joined("_and_"))
    }

    /// Their names.
    pub(crate) fn joined(&self, by: &str) -> String {
        self.all().collect::<Vec<_>>().join(by)
    }

    /// Their names in an order that does not depend on that in which they are written.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all().collect();
        names.sort();
        names
    }

    fn all(&self) -> impl Iterator<Item = String> {
        self.names.iter().map(|name| match name {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(position) => position.index.to_string(),
        })
    }
}

/// How the name of a method begins that walks an index.
pub(crate) const WITH: &str = "with_";

/// Number of elements, as written after `per =` or `capacity =`.
pub(crate) enum Per {
    Node,
    Edge(Ident),
    Len(Box<Expr>),
    /// A row of this many bits for each node.
    NodeBits(Box<Expr>),
    /// Bounds of the parts of a graph; whether edges that cross them are left out.
    Bounds(Ident, bool),
    /// A row of some length for each of so many.
    Rows(Box<Per>),
}

/// `#[include(field = field, .., after(wave))] use path::to::graph;`
pub(crate) struct IncludeArgs {
    /// What its fields and waves have before their names: the last name of the `use`, behind that of the graph around
    /// it where an included graph includes it.
    pub(crate) name: Ident,
    /// The last name of the `use`.
    pub(crate) alias: Ident,
    /// Its module, seen from the graph's module.
    pub(crate) path: TokenStream,
    /// The scope in which it stands: the graph, or a fixpoint, each of whose rounds runs it.
    pub(crate) scope: usize,
    /// Its name in the plan.
    pub(crate) shown: String,
    /// The `use` is not private: who includes this graph sees what it includes.
    pub(crate) handed_on: bool,
    /// Fields of the included graph, and the fields that they are here.
    pub(crate) fields: Vec<(Ident, Ident)>,
    /// Results of the included graph that are none here.
    pub(crate) private: Vec<Ident>,
    /// Scalars of the included graph, and the lengths that they are here.
    pub(crate) lengths: Vec<(Ident, Expr)>,
    /// The function that says which edges its waves sweep.
    pub(crate) edges: Option<Expr>,
    pub(crate) after: Vec<Ident>,
}

/// A graph that was included.
pub(crate) struct Included {
    /// Its name in the graph that includes it.
    pub(crate) name: Ident,
    /// Its fields, and what they are called here.
    pub(crate) names: HashMap<String, Ident>,
    /// What it calls from other modules.
    pub(crate) imports: Imports,
    /// Items of its own module, for helpers and constants.
    pub(crate) items: Vec<Item>,
    /// Sites and constants of its modules, by scope, and the path of each module.
    pub(crate) modules: Vec<(TokenStream, Rc<ModuleTables>)>,
    /// What has to be equal so that fields here can stand for its own.
    pub(crate) same: Vec<Same>,
    /// It compiled. If not, its fields are here and its waves are not: where it stands it says why.
    pub(crate) whole: bool,
    pub(crate) filter: Option<Filter>,
}

/// Which edges the waves of an included graph sweep.
pub(crate) struct Filter {
    /// A function of the graph that includes it: of an edge and fields, whether the edge is one of them.
    pub(crate) function: ItemFn,
    /// The graph whose edges they are, as it is called here.
    pub(crate) graph: Ident,
    /// Where the include names the function.
    pub(crate) at: Span,
}

/// Two constants that have one value, if a field here stands for one of an included graph: of one name they can be
/// different, and of different names equal. rustc compares them.
pub(crate) struct Same {
    pub(crate) ours: Ident,
    pub(crate) theirs: Ident,
    /// The expressions, as they are written here and there; zero where there is none.
    pub(crate) values: [Option<Expr>; 2],
    pub(crate) scalar: Scalar,
    pub(crate) what: What,
}

/// What a constant is to a field.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Length,
    /// A part of an expression that says the length.
    Part,
    Width,
    Init,
}

/// Where a wave, fixpoint or field comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Which of [`Graph::included`].
    pub(crate) graph: usize,
    /// The scope in it.
    pub(crate) scope: usize,
}

pub(crate) fn renamed(name: &Ident, names: &HashMap<String, Ident>) -> Ident {
    match names.get(&name.to_string()) {
        Some(new) => ident(&new.to_string(), name.span()),
        None => name.clone(),
    }
}

/// Fields in an expression, renamed: names that do not follow a `.`.
pub(crate) fn renamed_expr(e: &Expr, names: &HashMap<String, Ident>) -> Expr {
    fn walk(tokens: TokenStream, names: &HashMap<String, Ident>) -> TokenStream {
        let mut after_dot = false;
        let trees = tokens.into_iter().map(|tree| {
            let was = std::mem::replace(
                &mut after_dot,
                matches!(&tree, TokenTree::Punct(p) if p.as_char() == '.'),
            );
            match tree {
                TokenTree::Ident(i) if !was => TokenTree::Ident(renamed(&i, names)),
                TokenTree::Group(g) => {
                    let mut group = Group::new(g.delimiter(), walk(g.stream(), names));
                    group.set_span(g.span());
                    TokenTree::Group(group)
                }
                other => other,
            }
        });
        trees.collect()
    }
    syn::parse2(walk(e.to_token_stream(), names)).unwrap_or_else(|_| e.clone())
}

/// Names that the expansion adds to the graph's module.
pub(crate) const GENERATED: [&str; 7] = [
    "Session", "Sessions", "Run", "Output", "Topology", "PLAN", "Pass",
];

/// Those of them that are values: a parameter by such a name would be a pattern.
pub(crate) const GENERATED_VALUES: [&str; 2] = ["PLAN", "Pass"];

pub(crate) fn max_rounds_name(s: usize) -> Ident {
    format_ident!("__VYRE_MAX_ROUNDS_{}", s - 1)
}

pub(crate) fn condition_name(s: usize) -> Ident {
    format_ident!("__vyre_until_{}", s - 1)
}

/// The visibility of what a graph's module, and those that include it, have to see. Of what the macro adds, hidden from
/// documentation: a graph that includes it may be another crate's.
pub(crate) fn visible_to_graphs(span: Span) -> Visibility {
    let span = generated(span);
    parse_quote_spanned! { span => pub }
}
