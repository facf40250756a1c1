//! `Data`: its fields, and what their attributes say.

use super::*;
use crate::wave_graph::graph::Columns;
use syn::Member;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use vyre_core::vir0::module::{ReduceOp, Role};

impl Taker<'_> {
    pub(super) fn data(&mut self, mut data: syn::ItemStruct) -> TokenStream {
        if !data.generics.params.is_empty() {
            self.report
                .error(data.generics.span(), "`Data` cannot be generic");
        }
        match &mut data.fields {
            syn::Fields::Named(named) => {
                let twice = self.twice(named);
                for field in &mut named.named {
                    let Some(mut parsed) = self.field(field) else {
                        continue;
                    };
                    // Which of the two waves mean is not known.
                    if twice.contains(&parsed.name) {
                        parsed.kind = FieldKind::Broken;
                    }
                    self.graph.fields.push(parsed);
                }
                self.two_nodes();
                // Without its type, which the parser has said.
                let typed = std::mem::take(&mut named.named).into_iter();
                let typed = typed.filter(|f| !matches!(f.ty, Type::Infer(_)));
                named.named = typed.collect();
            }
            syn::Fields::Unit => {}
            syn::Fields::Unnamed(fields) => {
                self.report.error_help(
                    fields.span(),
                    "`Data` has named fields",
                    "write `pub struct Data { .. }`",
                );
                for field in &mut fields.unnamed {
                    for name in FIELD_ATTRS {
                        take_attrs(&mut field.attrs, name);
                    }
                }
            }
        }
        written_here(&mut data);
        quote! { #data }
    }

    /// Drops fields that are declared a second time, and gives their names.
    fn twice(&mut self, fields: &mut syn::FieldsNamed) -> Vec<Ident> {
        let (mut seen, mut again): (Vec<Ident>, Vec<Ident>) = (Vec::new(), Vec::new());
        let mut once = Punctuated::new();
        for field in std::mem::take(&mut fields.named) {
            match field.ident.clone() {
                Some(name) if seen.contains(&name) => {
                    self.report.error_help(
                        name.span(),
                        format!("`Data` has two fields named `{name}`"),
                        "a field is its name, in every wave and on the host: choose another",
                    );
                    again.push(name);
                }
                name => {
                    seen.extend(name);
                    once.push(field);
                }
            }
        }
        fields.named = once;
        again
    }

    /// A scalar `node` beside a size `node`, which is all nodes.
    fn two_nodes(&mut self) {
        let scalar = |f: &&Field| f.name == "node" && matches!(f.kind, FieldKind::Scalar(..));
        let scalar = self.graph.fields.iter().find(scalar);
        if let (Some(size), Some(scalar)) = (self.per_node, scalar) {
            self.report.error_help(
                size,
                "`node` means one for each node of the graph here, and `Data` has a scalar of that name",
                "give the scalar another name",
            );
            let at = scalar.name.span();
            self.report.error(at, "the scalar `node` is declared here");
        }
    }

    fn field(&mut self, field: &mut syn::Field) -> Option<Field> {
        let name = field.ident.clone()?;
        let docs = field
            .attrs
            .iter()
            .filter(|a| a.path().is_ident("doc"))
            .cloned()
            .collect();
        self.attributes(&mut field.attrs, &FIELD_ATTRS, "a field of `Data`");
        let mut kinds = Vec::new();
        for word in FIELD_ATTRS {
            for attr in take_attrs(&mut field.attrs, word) {
                self.note(&attr, 0);
                kinds.push((word, attr));
            }
        }
        let mut host = host(kinds.first(), &field.ty);
        let kind = match kinds.as_slice() {
            _ if matches!(field.ty, Type::Infer(_)) => None,
            _ if name == "round" => {
                self.report.error_help(
                    name.span(),
                    "a field of `Data` cannot be named `round`",
                    "`round` is the round of a fixpoint, in `until(..)` and as `round: Round`; choose another name",
                );
                None
            }
            _ if let Some(value) = self.value_named(&name) => {
                self.report.error_help(
                    name.span(),
                    format!("a field of `Data` cannot be named `{name}`: {value} has that name"),
                    "a wave that takes the field would name that; choose another name",
                );
                // Waves that take it are not for rustc to see.
                self.report.refused(name.to_token_stream());
                None
            }
            _ if name == "report"
                && matches!(
                    host,
                    Some(Host::Result(_) | Host::Output(_) | Host::Tuples(_))
                ) =>
            {
                self.report.error_help(
                    name.span(),
                    "an output cannot be named `report`",
                    "`Output` has a field of that name: what happened in the run",
                );
                host = None;
                None
            }
            [] => self.scalar_field(&field.ty, &name),
            [(word, attr)] => self.marked_field(word, attr, &field.ty, &name),
            [_, (_, second), ..] => {
                self.report.error(
                    second.span(),
                    format!("field `{name}` has two kinds; choose one"),
                );
                None
            }
        };
        Some(Field {
            origin: None,
            shown: None,
            name,
            docs,
            host,
            given: None,
            reset: self.reset.take().filter(|_| kind.is_some()),
            entered: None,
            kind: kind.unwrap_or(FieldKind::Broken),
        })
    }

    /// What else a parameter of this name would mean: a constant or a unit struct of the graph's module.
    fn value_named(&self, name: &Ident) -> Option<&'static str> {
        if GENERATED_VALUES.iter().any(|g| name == g) {
            return Some("what `#[wave_graph]` defines in this module");
        }
        let mut items = self.graph.scopes[0].items.iter();
        items.find_map(|item| match item {
            Item::Const(i) if i.ident == *name => Some("a constant of this module"),
            Item::Static(i) if i.ident == *name => Some("a static of this module"),
            Item::Struct(i) if i.ident == *name && matches!(i.fields, syn::Fields::Unit) => {
                Some("a struct of this module")
            }
            _ => None,
        })
    }

    fn scalar_field(&mut self, ty: &Type, name: &Ident) -> Option<FieldKind> {
        match type_word(ty).as_deref() {
            Some("Csr") => {
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is a graph without a role"),
                    format!("write `#[topology] {name}: Csr`"),
                );
                None
            }
            Some("Parts") => {
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is the parts of no graph"),
                    format!("write `#[topology(parts_of = graph)] {name}: Parts`"),
                );
                None
            }
            Some("Frontier") => {
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is a frontier without its attribute"),
                    format!("write `#[frontier] {name}: Frontier`"),
                );
                None
            }
            _ if ["List", "Frontier", "Relation"]
                .iter()
                .any(|word| item_of(ty, word).is_some()) =>
            {
                let (what, word) = if item_of(ty, "List").is_some() {
                    ("list", "list(capacity = n)")
                } else if item_of(ty, "Relation").is_some() {
                    ("relation", "relation(capacity = n)")
                } else {
                    ("frontier", "frontier(capacity = n)")
                };
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is a {what} without its attribute"),
                    format!("write `#[{word}] {name}: {}`", show(ty)),
                );
                None
            }
            _ if !self.no_rows(ty, ("", name)) => None,
            _ => self.uniform(Given::Run, ty, name),
        }
    }

    /// A scalar of the run, or of the session.
    fn uniform(&mut self, given: Given, ty: &Type, name: &Ident) -> Option<FieldKind> {
        let word = type_word(ty).unwrap_or_default();
        if is_struct_word(&word) || matches!(ty, Type::Tuple(_) | Type::Array(_)) {
            let ty = show(ty);
            self.report.error_help(
                name.span(),
                format!("`{name}` has no attribute, so it is a scalar of the run, and `{ty}` is no scalar"),
                format!("for a buffer with an element for each node write `#[input(per = node)] {name}: {ty}`, `#[output(..)]` or `#[scratch(..)]`"),
            );
            return None;
        }
        if type_word(ty).as_deref() == Some("Round") {
            self.report.error_help(
                ty.span(),
                format!("scalar `{name}` cannot be a `Round`: a parameter of that type is the round of a fixpoint"),
                format!("write `{name}: u32`"),
            );
            return None;
        }
        self.scalar(ty)
            .map(|scalar| FieldKind::Scalar(scalar, given))
    }

    /// The type of the values in rows of differing lengths.
    fn row_value(&mut self, ty: &Type) -> Option<Scalar> {
        let scalar = scalar_of(ty);
        if scalar.is_none() {
            self.report.error_help(
                ty.span(),
                format!("rows have values of a scalar type, not `{}`", show(ty)),
                "write one of bool, u8, u32, i32, u64, i64, f32, f64; values that belong together are in rows of their own",
            );
        }
        scalar
    }

    /// Rows of differing lengths are a topology; true if this is none.
    fn no_rows(&mut self, ty: &Type, (word, name): (&str, &Ident)) -> bool {
        let Some(value) = item_of(ty, "Rows") else {
            return true;
        };
        let (shown, value) = (show(ty), show(value));
        self.report.error_help(
            ty.span(),
            format!("rows of differing lengths are given with the session, and `{name}` is not"),
            match word {
                "" => format!("write `#[topology(per = node)] {name}: {shown}`"),
                _ => format!("write `#[topology(per = node)] {name}: {shown}`; a field with as many values in each row as the rows `text` is `#[{word}(per = row(text))] {name}: {value}`"),
            },
        );
        false
    }

    /// The element type of a field.
    fn scalar(&mut self, ty: &Type) -> Option<Scalar> {
        let scalar = scalar_of(ty);
        if scalar.is_none() {
            let advice = match ty {
                Type::Path(p) => match p.path.segments.last().map(|s| s.ident.to_string()) {
                    Some(w) if w == "Vec" => {
                        "a field gives the type of one element: write `#[input(per = node)] x: f32`"
                    }
                    Some(w) if w == "Atomic" => {
                        "declare the type of its value; a wave that updates it takes `&Buf<Atomic<u32>>`"
                    }
                    Some(w) if w == "Buf" => {
                        "a field gives the type of one element: write `#[output(per = node)] x: u32`; a wave takes `&Buf<u32>`"
                    }
                    Some(w) if w == "usize" || w == "isize" => {
                        "use u32 or u64: the sizes of a device do not depend on the host"
                    }
                    _ => {
                        "a field is one of bool, u8, u32, i32, u64, i64, f32, f64, `Csr` or `Frontier`"
                    }
                },
                Type::Array(_) => {
                    "buffers have arrays, as many as `per` says: write `#[output(per = node)] x: [u32; 4]`"
                }
                Type::Slice(_) => {
                    "a field gives the type of one element: write `#[scratch(per = 16)] x: f32`"
                }
                Type::Reference(_) => "a field gives the type of one element, without `&`",
                _ => {
                    "a field is one of bool, u8, u32, i32, u64, i64, f32, f64, `Csr` or `Frontier`"
                }
            };
            self.report.error_help(
                ty.span(),
                format!("`{}` is not a type of a field of `Data`", show(ty)),
                advice,
            );
        }
        scalar
    }

    /// The type of a buffer's elements: a scalar, or what may be a tuple or a struct of scalars.
    fn element(&mut self, ty: &Type) -> Option<(Scalar, Option<Box<Type>>)> {
        let may_be_struct = match ty {
            Type::Tuple(t) => !t.elems.is_empty(),
            _ => type_word(ty).is_some_and(|w| scalar_of(ty).is_none() && is_struct_word(&w)),
        };
        if may_be_struct {
            return Some((Scalar::U32, Some(Box::new(ty.clone()))));
        }
        if let Type::Array(array) = ty {
            return Some((self.array(array, ty)?, Some(Box::new(ty.clone()))));
        }
        Some((self.scalar(ty)?, None))
    }

    /// The scalar type of the values in arrays of a buffer.
    fn array(&mut self, array: &syn::TypeArray, ty: &Type) -> Option<Scalar> {
        let scalar = scalar_of(&array.elem);
        if scalar.is_none() {
            self.report.error_help(
                array.elem.span(),
                format!("arrays of a buffer have values of a scalar type, not `{}`", show(&array.elem)),
                "write one of bool, u8, u32, i32, u64, i64, f32, f64; values that belong together are in arrays of their own",
            );
        }
        if let Some(n) = int_literal(&array.len) {
            array_length(n, ty, self.report)?;
        }
        scalar
    }

    /// The values of a constant array of the graph's module, one by one.
    fn constant_array(&self, init: &Expr) -> Option<Expr> {
        let Expr::Path(path) = init else { return None };
        let name = path.path.get_ident()?;
        let mut items = self.graph.scopes[0].items.iter();
        let constant = items.find_map(|item| match item {
            Item::Const(i) if i.ident == *name => Some(i),
            _ => None,
        })?;
        let Type::Array(array) = &*constant.ty else {
            return None;
        };
        let n = match (&*constant.expr, int_literal(&array.len)) {
            (_, Some(n)) => usize::try_from(n).ok()?,
            (Expr::Array(values), None) => values.elems.len(),
            _ => return None,
        };
        let values = (0..n.min(256)).map(|k| -> Expr { parse_quote!(#name[#k]) });
        Some(parse_quote!([#(#values),*]))
    }

    /// What arrays begin as: of `[x; N]` and of `[x, .., x]` it is `x`, which all of their values begin as.
    fn array_init(&mut self, ty: &Type, init: Option<Box<Expr>>) -> Option<Option<Box<Expr>>> {
        let (Type::Array(array), Some(init)) = (ty, init) else {
            return Some(None);
        };
        let init = self.constant_array(&init).unwrap_or(*init);
        let (values, len) = match init {
            Expr::Repeat(repeat) => (vec![*repeat.expr], *repeat.len),
            Expr::Array(values) => {
                let len = syn::LitInt::new(&values.elems.len().to_string(), values.span());
                (values.elems.into_iter().collect(), parse_quote!(#len))
            }
            one => return Some(Some(Box::new(one))),
        };
        let fits = match (int_literal(&len), int_literal(&array.len)) {
            (Some(given), Some(wanted)) => given == wanted,
            // Where a constant says how many there are, they are counted later.
            (Some(_), None) if !values.is_empty() => {
                return Some(Some(Box::new(parse_quote!([#(#values),*]))));
            }
            _ => show(&len) == show(&array.len),
        };
        if !fits {
            array_init(&len, &show(&len), ty, self.report);
            return None;
        }
        let text = |x: &Expr| x.to_token_stream().to_string();
        let is_one = values.windows(2).all(|w| text(&w[0]) == text(&w[1]));
        Some(Some(Box::new(match is_one {
            true => values[0].clone(),
            false => parse_quote!([#(#values),*]),
        })))
    }

    fn expect_word(&mut self, ty: &Type, word: &str, attribute: &str) -> Option<()> {
        if type_word(ty).as_deref() == Some(word) {
            return Some(());
        }
        self.report.error(
            ty.span(),
            format!(
                "`#[{attribute}]` needs the type `{word}`, not `{}`",
                show(ty)
            ),
        );
        None
    }

    fn marked_field(
        &mut self,
        word: &str,
        attr: &Attribute,
        ty: &Type,
        name: &Ident,
    ) -> Option<FieldKind> {
        let errors = self.report.len();
        let args = attribute_args(attr, self.report);
        if self.report.len() > errors {
            return None;
        }
        let kind = match word {
            "topology" => self.topology(args, ty, name)?,
            "frontier" => {
                let (mut capacity, mut unique) = (None, false);
                for arg in args {
                    match arg.name.to_string().as_str() {
                        "capacity" => {
                            let value = arg.value("capacity = N", self.report)?;
                            capacity = Some(self.per("capacity", value)?);
                        }
                        "unique" => {
                            arg.flag(self.report);
                            unique = true;
                        }
                        _ => unknown_arg(&arg, "frontier", &["capacity", "unique"], self.report),
                    }
                }
                let item = match item_of(ty, "Frontier") {
                    Some(item) if type_word(item).as_deref() == Some("Node") => None,
                    Some(item) => Some(Box::new(item.clone())),
                    None => {
                        self.expect_word(ty, "Frontier", "frontier")?;
                        None
                    }
                };
                if let (Some(item), true) = (&item, unique) {
                    self.report.error_help(
                        item.span(),
                        "a `unique` frontier holds nodes",
                        "leave the type of the items out, or `unique`",
                    );
                    return None;
                }
                if let (Some(item), None) = (&item, &capacity) {
                    self.report.error_help(
                        item.span(),
                        "a frontier of items has no natural capacity",
                        "say how many items it holds: `#[frontier(capacity = n)]`",
                    );
                    return None;
                }
                if let (Some(_), true) = (&capacity, unique) {
                    self.report.error_help(
                        attr.span(),
                        "a `unique` frontier has room for every node; it takes no capacity",
                        "remove `capacity`",
                    );
                }
                FieldKind::Frontier {
                    capacity,
                    unique,
                    list: false,
                    item,
                }
            }
            "list" => {
                let (mut capacity, mut output, mut unique) = (None, None, None);
                for arg in args {
                    match arg.name.to_string().as_str() {
                        "capacity" => {
                            let value = arg.value("capacity = N", self.report)?;
                            capacity = Some(self.per("capacity", value)?);
                        }
                        "output" => {
                            output = Some(arg.name.span());
                            arg.flag(self.report);
                        }
                        "unique" => {
                            unique = Some(arg.name.span());
                            arg.flag(self.report);
                        }
                        "reset" => self.reset(arg)?,
                        _ => {
                            let known = ["capacity", "output", "unique", "reset"];
                            unknown_arg(&arg, "list", &known, self.report);
                        }
                    }
                }
                if let (Some(output), Some(reset)) = (output, self.reset) {
                    self.report.error_help(
                        reset,
                        format!("list `{name}` is given back, and only what it holds when the run ends would be: it begins anew with each round"),
                        "leave `reset` or `output` out; a wave may append what a round found to a second list, which has `output`",
                    );
                    self.report
                        .error(output, format!("`{name}` is given back by this `output`"));
                    return None;
                }
                let Some(item) = item_of(ty, "List") else {
                    self.report.error_help(
                        ty.span(),
                        format!("`#[list]` needs the type `List<T>`, not `{}`", show(ty)),
                        "`T` is the type of an item: a scalar, a tuple or a struct",
                    );
                    return None;
                };
                if let Some(unique) = unique {
                    return self.node_list((name, item), unique, (capacity.is_some(), output));
                }
                let Some(capacity) = capacity else {
                    self.report.error_help(
                        attr.path().span(),
                        format!("list `{name}` has no capacity"),
                        match type_word(item).as_deref() {
                            Some("Node") => "say how many items it holds: `#[list(capacity = n)]`; or that it holds each node once: `#[list(unique)]`",
                            _ => "say how many items it holds: `#[list(capacity = n)]`",
                        },
                    );
                    return None;
                };
                FieldKind::List {
                    capacity,
                    item: Box::new(item.clone()),
                    output: output.is_some(),
                    set: false,
                    input: false,
                    indexes: Vec::new(),
                }
            }
            "relation" => self.relation(attr, args, (name, ty))?,
            "reduce" => self.reduction(attr, args, ty)?,
            _ => {
                let role = match word {
                    "input" => Role::Input,
                    "output" => Role::Output,
                    _ => Role::Scratch,
                };
                self.column(role, word, args, (attr, ty, name))?
            }
        };
        (self.report.len() == errors).then_some(kind)
    }

    /// A set of tuples.
    fn relation(
        &mut self,
        attr: &Attribute,
        args: Vec<Arg>,
        (name, ty): (&Ident, &Type),
    ) -> Option<FieldKind> {
        let (mut capacity, mut output, mut indexes) = (None, None, Vec::new());
        let mut input = None;
        for arg in args {
            match arg.name.to_string().as_str() {
                "capacity" => {
                    let value = arg.value("capacity = N", self.report)?;
                    capacity = Some(self.per("capacity", value)?);
                }
                "index" => indexes.extend(self.index(arg)),
                "input" => {
                    input = Some(arg.name.span());
                    arg.flag(self.report);
                }
                "output" => {
                    output = Some(arg.name.span());
                    arg.flag(self.report);
                }
                "reset" => self.reset(arg)?,
                _ => {
                    let known = ["capacity", "index", "input", "output", "reset"];
                    unknown_arg(&arg, "relation", &known, self.report);
                }
            }
        }
        if let (Some(output), Some(reset)) = (output, self.reset) {
            self.report.error_help(
                reset,
                format!("relation `{name}` is given back, and only what it has when the run ends would be: it begins anew with each round"),
                "leave `reset` or `output` out",
            );
            self.report
                .error(output, format!("`{name}` is given back by this `output`"));
            return None;
        }
        let Some(item) = item_of(ty, "Relation") else {
            self.report.error_help(
                ty.span(),
                format!(
                    "`#[relation]` needs the type `Relation<T>`, not `{}`",
                    show(ty)
                ),
                "`T` is the type of a tuple: a scalar, a tuple or a struct of up to 64 bits",
            );
            return None;
        };
        if let Some(at) = input {
            let other = capacity
                .as_ref()
                .map(|_| "capacity")
                .or(output.map(|_| "output").or(self.reset.map(|_| "reset")));
            if let Some(other) = other {
                let why = match other {
                    "capacity" => "it has room for what the caller gives",
                    "output" => "the caller has it already",
                    _ => "it stays as the caller gives it",
                };
                self.report.error_help(
                    at,
                    format!("relation `{name}` is an input and has `{other}`"),
                    format!("leave `{other}` out: {why}"),
                );
                return None;
            }
            // The number of its tuples takes this place.
            capacity = Some(Per::Len(syn::parse_quote!(1)));
        }
        let Some(capacity) = capacity else {
            self.report.error_help(
                attr.path().span(),
                format!("relation `{name}` has no capacity"),
                "say how many tuples it has room for, `#[relation(capacity = n)]`; or let the caller give them, `#[relation(input)]`",
            );
            return None;
        };
        Some(FieldKind::List {
            capacity,
            item: Box::new(item.clone()),
            output: output.is_some(),
            set: true,
            input: input.is_some(),
            indexes,
        })
    }

    /// The columns of an index.
    fn index(&mut self, arg: Arg) -> Option<Columns> {
        let name = arg.name.span();
        let (span, tokens) = arg.list("index(column)", self.report)?;
        let parse = Punctuated::<Member, Token![,]>::parse_terminated;
        let names: Vec<Member> = match parse.parse2(tokens) {
            Ok(names) => names.into_iter().collect(),
            Err(e) => {
                self.report.error_help(
                    e.span(),
                    "an index has names of columns",
                    "write `index(from)`, `index(from, label)` for two of them together, or `index(0)` of a tuple",
                );
                return None;
            }
        };
        if names.is_empty() {
            self.report.error_help(
                span,
                "an index has at least one column",
                "write `index(from)`: the tuples are found by that column",
            );
            return None;
        }
        Some(Columns { names, span: name })
    }

    /// A `unique` list. `output`: where it says that it is given back.
    fn node_list(
        &mut self,
        (name, item): (&Ident, &Type),
        unique: Span,
        (capacity, output): (bool, Option<Span>),
    ) -> Option<FieldKind> {
        if type_word(item).as_deref() != Some("Node") {
            self.report.error_help(
                item.span(),
                "a `unique` list holds nodes",
                "write `List<Node>`, or leave `unique` out",
            );
            return None;
        }
        if capacity {
            self.report.error_help(
                unique,
                "a `unique` list has room for every node; it takes no capacity",
                "remove `capacity`",
            );
            return None;
        }
        if let Some(output) = output {
            self.report.error_help(
                output,
                format!("`{name}` is `unique`, and such a list is not given back"),
                format!("let a wave over `items({name})` append to a list that is not `unique`, or store in an output of nodes"),
            );
            return None;
        }
        Some(FieldKind::Frontier {
            capacity: None,
            unique: true,
            list: true,
            item: None,
        })
    }

    fn topology(&mut self, args: Vec<Arg>, ty: &Type, name: &Ident) -> Option<FieldKind> {
        let (mut per, mut reverse_of, mut bits) = (None, None, None);
        let (mut parts_of, mut crossing) = (None, None);
        for arg in args {
            match arg.name.to_string().as_str() {
                "per" => {
                    let value = arg.value("per = edge(graph)", self.report)?;
                    per = Some(self.per("per", value)?);
                }
                "bits" => bits = Some(arg.value("bits = WIDTH", self.report)?),
                "reverse_of" => {
                    let value = arg.value("reverse_of = graph", self.report)?;
                    match ident_of(&value) {
                        Some(of) => reverse_of = Some(of.clone()),
                        None => self
                            .report
                            .error(value.span(), "`reverse_of` is the name of a topology"),
                    }
                }
                "parts_of" => {
                    let value = arg.value("parts_of = graph", self.report)?;
                    match ident_of(&value) {
                        Some(of) => parts_of = Some(of.clone()),
                        None => {
                            self.report
                                .error(value.span(), "`parts_of` is the name of a topology");
                            return None;
                        }
                    }
                }
                "crossing" => {
                    let value = arg.value("crossing = dropped", self.report)?;
                    if ident_of(&value).is_none_or(|word| word != "dropped") {
                        self.report.error_help(
                            value.span(),
                            "edges from one part to another are refused, or left out",
                            "write `crossing = dropped` to leave them out, or nothing to refuse them",
                        );
                        return None;
                    }
                    crossing = Some(value.span());
                }
                _ => unknown_arg(
                    &arg,
                    "topology",
                    &["per", "reverse_of", "bits", "parts_of", "crossing"],
                    self.report,
                ),
            }
        }
        if type_word(ty).as_deref() == Some("Parts") || parts_of.is_some() || crossing.is_some() {
            let alone = per.is_none() && reverse_of.is_none() && bits.is_none();
            let Some(of) =
                parts_of.filter(|_| alone && type_word(ty).is_some_and(|w| w == "Parts"))
            else {
                self.report.error_help(
                    name.span(),
                    format!("`{name}` does not say which parts of which graph it is"),
                    format!("write `#[topology(parts_of = graph)] {name}: Parts`, with `crossing = dropped` if edges \
                        from one part to another are to be left out"),
                );
                return None;
            };
            return Some(FieldKind::Column {
                role: Role::Topology,
                scalar: Scalar::U32,
                item: None,
                per: Some(Per::Bounds(of, crossing.is_some())),
                init: None,
            });
        }
        if let Some(value) = item_of(ty, "Rows") {
            let (Some(per), None, None) = (per, bits, reverse_of) else {
                self.report.error_help(
                    name.span(),
                    format!("`{name}` does not say how many rows it has"),
                    format!("write `#[topology(per = node)] {name}: {}`, or another length, and nothing else", show(ty)),
                );
                return None;
            };
            return Some(FieldKind::Column {
                role: Role::Topology,
                scalar: self.row_value(value)?,
                item: None,
                per: Some(Per::Rows(Box::new(per))),
                init: None,
            });
        }
        if type_word(ty).as_deref() == Some("Bits") || bits.is_some() {
            let given = (per, bits, reverse_of.map(|of| ("reverse_of", of.span())));
            return self.rows(Role::Topology, "topology", given, (name.span(), ty, name));
        }
        if let Some(per) = per {
            if let Some(of) = reverse_of {
                self.report
                    .error(of.span(), "`reverse_of` is for a `Csr`, not for a buffer");
            }
            let (scalar, item) = self.element(ty)?;
            return Some(FieldKind::Column {
                role: Role::Topology,
                scalar,
                item,
                per: Some(per),
                init: None,
            });
        }
        if type_word(ty).as_deref() != Some("Csr") {
            if scalar_of(ty).is_some() && reverse_of.is_none() {
                return self.uniform(Given::Session, ty, name);
            }
            self.expect_word(ty, "Csr", "topology")?;
        }
        Some(FieldKind::Csr { reverse_of })
    }

    fn column(
        &mut self,
        role: Role,
        word: &str,
        args: Vec<Arg>,
        (attr, ty, name): (&Attribute, &Type, &Ident),
    ) -> Option<FieldKind> {
        let errors = self.report.len();
        let (mut per, mut init) = (None, None);
        let mut bits = None;
        if !self.no_rows(ty, (word, name)) {
            return None;
        }
        for arg in args {
            match arg.name.to_string().as_str() {
                "per" => {
                    let value = arg.value("per = node", self.report)?;
                    per = Some(self.per("per", value)?);
                }
                "bits" => {
                    bits = Some(arg.value("bits = WIDTH", self.report)?);
                }
                "node" | "edge" => {
                    let size = if arg.name == "node" {
                        "node"
                    } else {
                        "edge(graph)"
                    };
                    self.report.error_help(
                        arg.name.span(),
                        format!("`{}` is a size, and no argument of `{word}`", arg.name),
                        format!("write `#[{word}(per = {size})]`"),
                    );
                }
                "reset" if role == Role::Scratch => self.reset(arg)?,
                "reset" => {
                    self.report.error_help(
                        arg.name.span(),
                        format!("only scratch and lists begin anew, and `{name}` is `#[{word}]`"),
                        match role {
                            Role::Output => "let waves work in a `#[scratch(.., reset = round)]`, and store what is to be given back in the output",
                            _ => "leave `reset` out: the caller gives what it holds",
                        },
                    );
                }
                "init" if role != Role::Input => {
                    init = Some(Box::new(arg.value("init = VALUE", self.report)?));
                }
                _ => {
                    let known: &[&str] = if role == Role::Input {
                        &["per", "bits"]
                    } else if role == Role::Output {
                        &["per", "init", "bits"]
                    } else {
                        &["per", "init", "bits", "reset"]
                    };
                    unknown_arg(&arg, word, known, self.report);
                }
            }
        }
        if self.report.len() > errors {
            return None;
        }
        if type_word(ty).as_deref() == Some("Bits") || bits.is_some() {
            // All ones, in words.
            let full = init.take_if(|init| role != Role::Topology && is_true(init));
            let given = (per, bits, init.map(|e| ("init", e.span())));
            let mut kind = self.rows(role, word, given, (attr.path().span(), ty, name))?;
            if let FieldKind::Column { init, .. } = &mut kind {
                *init = full.map(|_| Box::new(parse_quote!(::core::primitive::u32::MAX)));
            }
            return Some(kind);
        }
        if per.is_none() {
            if role == Role::Input && scalar_of(ty).is_some() {
                return self.uniform(Given::Run, ty, name);
            }
            self.report.error_help(
                attr.path().span(),
                format!("buffer `{name}` has no size"),
                format!("say how many elements it has: `#[{word}(per = node)]`, `per = edge(graph)` or `per = n`"),
            );
            return None;
        }
        let (scalar, item) = self.element(ty)?;
        let init = match ty {
            Type::Array(_) => self.array_init(ty, init)?,
            _ => init,
        };
        Some(FieldKind::Column {
            role,
            scalar,
            item,
            per,
            init,
        })
    }

    /// `reset = round`.
    fn reset(&mut self, arg: Arg) -> Option<()> {
        let value = arg.value("reset = round", self.report)?;
        if ident_of(&value).is_none_or(|word| word != "round") {
            self.report.error_help(
                value.span(),
                "what is reset begins anew with the rounds of the innermost fixpoint around all waves that use it",
                "write `reset = round`",
            );
            return None;
        }
        self.reset = Some(value.span());
        Some(())
    }

    /// A buffer of rows of bits: its `per`, its `bits`, and an argument that it must not have.
    fn rows(
        &mut self,
        role: Role,
        word: &str,
        (per, bits, other): (Option<Per>, Option<Expr>, Option<(&str, Span)>),
        (at, ty, name): (Span, &Type, &Ident),
    ) -> Option<FieldKind> {
        let rows = type_word(ty).as_deref() == Some("Bits");
        let start = match role {
            Role::Output | Role::Scratch | Role::InOut => {
                "the rows start empty, or with `init = true` with all bits"
            }
            Role::Input | Role::Topology => "the caller gives the words of all rows",
        };
        if let (true, Some(_), Some(Per::Node), Some((what, at))) = (rows, &bits, &per, other) {
            let such = if what == "init" { "such " } else { "" };
            self.report.error_help(
                at,
                format!("`{name}` has rows of bits, which take no {such}`{what}`"),
                format!("leave it out: {start}"),
            );
            return None;
        }
        let (true, Some(bits), Some(Per::Node), None) = (rows, bits, per, other) else {
            self.report.error_help(
                at,
                format!("`{name}` is no buffer of rows of bits"),
                format!("write `#[{word}(per = node, bits = WIDTH)] {name}: Bits`; {start}"),
            );
            return None;
        };
        Some(FieldKind::Column {
            role,
            scalar: Scalar::U32,
            item: None,
            per: Some(Per::NodeBits(Box::new(bits))),
            init: None,
        })
    }

    fn reduction(&mut self, attr: &Attribute, args: Vec<Arg>, ty: &Type) -> Option<FieldKind> {
        const OPS: [&str; 7] = ["sum", "exact_sum", "min", "max", "or", "and", "count"];
        let mut found = None;
        for arg in args {
            let op = match arg.name.to_string().as_str() {
                "sum" => (ReduceOp::Sum, false),
                "exact_sum" => (ReduceOp::ExactSum, false),
                "min" => (ReduceOp::Min, false),
                "max" => (ReduceOp::Max, false),
                "or" => (ReduceOp::Or, false),
                "and" => (ReduceOp::And, false),
                "count" => (ReduceOp::Sum, true),
                _ => {
                    unknown_arg(&arg, "reduce", &OPS, self.report);
                    return None;
                }
            };
            let span = arg.name.span();
            arg.flag(self.report);
            if found.replace(op).is_some() {
                self.report.error(span, "a reduction has one operation");
                return None;
            }
        }
        let Some((op, count)) = found else {
            self.report.error_help(
                attr.span(),
                "`#[reduce]` needs an operation",
                "write `#[reduce(sum)]`; it takes sum, exact_sum, min, max, or, and, count",
            );
            return None;
        };
        let scalar = self.scalar(ty)?;
        let float = matches!(scalar, Scalar::F32 | Scalar::F64);
        if count && scalar != Scalar::U64 {
            self.report
                .error(ty.span(), "`#[reduce(count)]` counts in u64");
            return None;
        }
        if op == ReduceOp::ExactSum && !float {
            self.report.error_help(
                ty.span(),
                "an exact sum is of floats",
                "write `#[reduce(sum)]`: sums of integers are exact, and wrap",
            );
            return None;
        }
        if float && matches!(op, ReduceOp::Or | ReduceOp::And) {
            self.report.error(
                ty.span(),
                "floats have no bits to combine with `or` and `and`",
            );
            return None;
        }
        if scalar == Scalar::U8
            || (scalar == Scalar::Bool && !matches!(op, ReduceOp::Or | ReduceOp::And))
        {
            self.report.error_help(
                ty.span(),
                format!("this reduction does not work on `{}`", scalar.name()),
                "bool has `or` and `and`; the others need u32, i32, u64, i64, f32 or f64",
            );
            return None;
        }
        Some(FieldKind::Reduction {
            op,
            count,
            scalar,
            output: true,
        })
    }

    /// `node`, `edge(graph)` or a length, after `key =`.
    pub(super) fn per(&mut self, key: &str, value: Expr) -> Option<Per> {
        if let Some(word) = ident_of(&value)
            && word == "node"
        {
            self.per_node.get_or_insert(word.span());
            return Some(Per::Node);
        }
        if let Expr::Call(call) = &value
            && let Some(f) = ident_of(&call.func)
        {
            let graph = match (call.args.len(), call.args.first().and_then(ident_of)) {
                (1, Some(graph)) => Some(graph.clone()),
                _ => None,
            };
            let advice = match (f.to_string().as_str(), graph) {
                ("edge", Some(graph)) => return Some(Per::Edge(graph)),
                ("row", Some(_)) => return Some(Per::Len(Box::new(value))),
                ("row" | "rows", _) => {
                    "write `row(text)`, where `text` has rows: one for each of its values"
                        .to_owned()
                }
                ("edges", Some(graph)) => format!("write `{key} = edge({graph})`"),
                ("node" | "nodes", _) => {
                    "write `node`: all topologies have the same nodes".to_owned()
                }
                _ => "write `node`, `edge(graph)`, a u32 scalar of `Data`, a constant or a literal"
                    .to_owned(),
            };
            self.report
                .error_help(value.span(), "this is not a size", advice);
            return None;
        }
        let is_node = |t: &TokenTree| matches!(t, TokenTree::Ident(i) if i == "node");
        if any_token(value.to_token_stream(), &is_node) {
            self.per_node.get_or_insert(value.span());
        }
        Some(Per::Len(Box::new(value)))
    }
}

/// Refuses arrays of a buffer that have no values, or too many of them.
pub(crate) fn array_length(n: u64, ty: &Type, report: &mut Report) -> Option<()> {
    let Type::Array(array) = ty else {
        return Some(());
    };
    let (element, len) = (show(&array.elem), show(&array.len));
    let (message, help) = match n {
        0 => (
            "an array of a buffer has 1 to 8 values".to_owned(),
            "leave the field out: there is nothing in it".to_owned(),
        ),
        1..=MOST_IN_ARRAY => return Some(()),
        _ => (
            format!("an array of a buffer has up to {MOST_IN_ARRAY} values, and this one {n}"),
            format!(
                "declare all values as `{element}`, with a length of `{len}` times as many, such as `per = node * {len}`: \
                 a wave takes its row as `&mut [{element}; {len}]`"
            ),
        ),
    };
    report.error_help(array.len.span(), message, help);
    None
}

/// Refuses an `init` that has another number of values than the array.
pub(crate) fn array_init(at: &impl Spanned, given: &str, ty: &Type, report: &mut Report) {
    report.error_help(
        at.span(),
        format!("`init` has {given} values, and the type is `{}`", show(ty)),
        "write as many, or one value, which all of them begin as",
    );
}

/// Most values of an array of a buffer.
const MOST_IN_ARRAY: u64 = 8;

/// Whether a word can be the name of a struct of the user's.
pub(crate) fn is_struct_word(word: &str) -> bool {
    const OTHERS: [&str; 17] = [
        "Csr", "Frontier", "List", "Bits", "Edge", "String", "Buf", "Push", "Append", "Reduce",
        "Node", "Index", "Parts", "Rows", "Relation", "Insert", "Lookup",
    ];
    word.starts_with(char::is_uppercase) && word != "Round" && !OTHERS.contains(&word)
}

/// How a field with this attribute is seen from outside. `Vec<T>` and `[T]` are meant as the whole buffer.
fn host(kind: Option<&(&str, Attribute)>, ty: &Type) -> Option<Host> {
    let element = match ty {
        Type::Reference(r) => &*r.elem,
        other => other,
    };
    let has = |word: &str| match kind.map(|(_, attr)| &attr.meta) {
        Some(Meta::List(list)) => any_token(
            list.tokens.clone(),
            &|t| matches!(t, TokenTree::Ident(i) if i == word),
        ),
        _ => false,
    };
    let element = match element {
        Type::Slice(s) => &*s.elem,
        Type::Array(a) if !has("per") => &*a.elem,
        other => ["Vec", "List", "Frontier", "Relation"]
            .iter()
            .find_map(|word| item_of(other, word))
            .unwrap_or(other),
    };
    let (whole, element) = (ty.clone(), element.clone());
    let word = type_word(&whole);
    let is = |w: &str| word.as_deref() == Some(w);
    match kind.map(|(word, _)| *word) {
        _ if matches!(element, Type::Infer(_)) => None,
        Some("topology") if has("reverse_of") => None,
        Some("topology") if item_of(&whole, "Rows").is_some() => Some(Host::Topology(whole)),
        Some("topology") => Some(Host::Topology(element)),
        Some("input") if !has("per") && scalar_of(&whole).is_some() => Some(Host::Scalar(whole)),
        Some("input") => Some(Host::Input(element)),
        Some("output") if is("Bits") => Some(Host::Result(whole)),
        Some("output") => Some(Host::Output(element)),
        Some("reduce") => Some(Host::Result(whole)),
        Some("list") => has("output").then_some(Host::Output(element)),
        Some("relation") if has("input") => Some(Host::Input(element)),
        Some("relation") => has("output").then_some(Host::Tuples(element)),
        Some(_) => None,
        None if is("Csr") || is("Parts") || item_of(&whole, "Rows").is_some() => {
            Some(Host::Topology(whole))
        }
        None if is("Frontier")
            || item_of(&whole, "List").is_some()
            || item_of(&whole, "Relation").is_some() =>
        {
            None
        }
        None => match ty {
            Type::Path(_)
                if item_of(ty, "Vec").is_none() && !word.is_some_and(|w| is_struct_word(&w)) =>
            {
                Some(Host::Scalar(whole))
            }
            _ => Some(Host::Input(element)),
        },
    }
}

/// Makes `Data` the macro's own: nothing reads it, and it needs no traits. What is public has words of ours where the
/// user has none.
fn written_here(data: &mut syn::ItemStruct) {
    let own = |ident: &mut Ident| ident.set_span(generated(ident.span()));
    let public = |vis: &mut Visibility| {
        let text = vis.to_token_stream().into_iter().map(|mut t| {
            t.set_span(generated(t.span()));
            t
        });
        if let Ok(vis_here) = syn::parse2(text.collect()) {
            *vis = vis_here;
        }
    };
    let said = |attrs: &mut Vec<Attribute>, words: String| {
        if !attrs.iter().any(|a| a.path().is_ident("doc")) {
            attrs.push(parse_quote!(#[doc = #words]));
        }
    };
    public(&mut data.vis);
    said(&mut data.attrs, "What the pass works on.".to_owned());
    data.struct_token.span = generated(data.struct_token.span);
    own(&mut data.ident);
    for field in &mut data.fields {
        public(&mut field.vis);
        if let Some(name) = &mut field.ident {
            said(&mut field.attrs, format!("`{name}` of `Data`."));
            own(name);
        }
    }
}

fn is_true(e: &Expr) -> bool {
    matches!(e, Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(b), .. }) if b.value)
}
