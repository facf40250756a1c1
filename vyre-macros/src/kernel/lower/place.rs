//! Where values are kept. A value is a flat list of scalars: the parts of a tuple or struct one behind the other, the
//! elements of an array likewise. A variable keeps each scalar field in a local and each array in a local array; an
//! array of structs is one local array for each field, and an array of arrays one with both lengths multiplied.

use super::*;

/// Most stores of one value that are not a loop.
const UNROLLED: usize = 4;

/// A local, all elements of a local array, or of a buffer the item's own element or its own row of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Local(LocalId),
    Array(ArrayId),
    Own(BufferId, Scalar),
    Row(BufferId, Scalar, u32),
}

/// Room for a value of a type without variables in it.
#[derive(Clone, Debug)]
pub(super) struct Dest {
    pub(super) ty: Ty,
    pub(super) leaves: Vec<Storage>,
}

impl Dest {
    pub(super) fn unit() -> Dest {
        Dest {
            ty: Ty::UNIT,
            leaves: Vec::new(),
        }
    }
}

/// A part of a variable.
pub(super) struct Spot {
    to: Dest,
    /// Which element, counted in elements of `to`'s type, where the part lies in an array.
    base: Option<ir::Expr>,
    site: SiteId,
}

impl Spot {
    pub(super) fn ty(&self) -> &Ty {
        &self.to.ty
    }

    pub(super) fn in_array(&self) -> bool {
        self.base.is_some()
    }
}

/// As [`Projection`], borrowed.
#[derive(Clone, Copy)]
pub(super) enum ProjectionRef<'f> {
    Field(usize),
    Index(&'f Expr, Span),
}

/// Scalar types of a type's leaves, with the number of elements where a leaf is an array.
fn leaves(ty: &Ty) -> Vec<(Scalar, Option<u32>)> {
    match ty {
        Ty::Scalar(s) => vec![(*s, None)],
        Ty::Size => vec![(Scalar::U64, None)],
        Ty::Array(t, n) => leaves(t)
            .into_iter()
            .map(|(s, len)| (s, Some(len.unwrap_or(1) * n)))
            .collect(),
        other => other
            .fields()
            .unwrap_or_default()
            .iter()
            .flat_map(leaves)
            .collect(),
    }
}

/// For each scalar of a value, in order: its leaf and its position in it.
fn elements(ty: &Ty) -> Vec<(usize, u32)> {
    match ty {
        Ty::Scalar(_) | Ty::Size => vec![(0, 0)],
        Ty::Array(t, n) => {
            let (inner, all) = (elements(t), leaves(t));
            (0..*n)
                .flat_map(|k| {
                    inner
                        .iter()
                        .map(|&(l, at)| (l, k * all[l].1.unwrap_or(1) + at))
                        .collect::<Vec<_>>()
                })
                .collect()
        }
        other => {
            let mut first = 0;
            let mut found = Vec::new();
            for t in other.fields().unwrap_or_default() {
                found.extend(elements(&t).into_iter().map(|(l, at)| (first + l, at)));
                first += leaves(&t).len();
            }
            found
        }
    }
}

/// An element of a buffer, as a lane has it.
fn load(buffer: BufferId, scalar: Scalar, index: ir::Expr, site: SiteId) -> ir::Expr {
    let load = ir::Expr::Load {
        buffer,
        scalar,
        index: Box::new(index),
        site,
    };
    widen(scalar, load)
}

/// Overwrites an element of a buffer.
fn store(
    buffer: BufferId,
    scalar: Scalar,
    (index, value): (ir::Expr, ir::Expr),
    site: SiteId,
) -> ir::Stmt {
    let value = match scalar {
        Scalar::U8 => cast_ir(Scalar::U32, Scalar::U8, value),
        _ => value,
    };
    ir::Stmt::Store {
        buffer,
        index,
        value,
        site,
    }
}

fn touches(e: &ir::Expr, storage: Storage) -> bool {
    let here = match (e, storage) {
        (ir::Expr::Local(l), Storage::Local(to)) => *l == to,
        (ir::Expr::ArrayLoad { array, .. }, Storage::Array(to)) => *array == to,
        (ir::Expr::Load { buffer, .. }, Storage::Own(to, _) | Storage::Row(to, ..)) => {
            *buffer == to
        }
        _ => false,
    };
    here || e.operands().any(|x| touches(x, storage))
}

impl<'f> Lowerer<'_, 'f> {
    /// The scalar types of a type's parts, in order.
    pub(super) fn parts(&mut self, ty: &Ty) -> Vec<Scalar> {
        match self.ty(ty) {
            Ty::Never => Vec::new(),
            ty if ty.any_inside(&|t| {
                matches!(t, Ty::Var(_) | Ty::Error | Ty::Handle(_) | Ty::Never)
            }) =>
            {
                self.fault("the type of a value is not known");
                Vec::new()
            }
            ty => {
                let leaves = leaves(&ty);
                elements(&ty).iter().map(|&(l, _)| leaves[l].0).collect()
            }
        }
    }

    pub(super) fn has_array(&self, ty: &Ty) -> bool {
        self.ty(ty).any_inside(&|t| matches!(t, Ty::Array(..)))
    }

    pub(super) fn dest(&mut self, ty: &Ty) -> Dest {
        let ty = match self.ty(ty) {
            Ty::Never => return Dest::unit(),
            ty => ty,
        };
        self.parts(&ty);
        let leaves = leaves(&ty)
            .into_iter()
            .map(|(s, len)| match len {
                None => Storage::Local(self.temp(s)),
                Some(len) => {
                    self.arrays.push(ir::Array {
                        scalar: register(s),
                        len,
                    });
                    Storage::Array(ArrayId(self.arrays.len() as u32 - 1))
                }
            })
            .collect();
        Dest { ty, leaves }
    }

    /// A site for what cannot fault.
    fn own_site(&mut self) -> SiteId {
        let span = self.f().body.span;
        self.site(span)
    }

    /// What is kept there.
    pub(super) fn kept(&mut self, from: &Dest) -> Vec<ir::Expr> {
        let site = if from.leaves.iter().any(|s| !matches!(s, Storage::Local(_))) {
            self.own_site()
        } else {
            SiteId(0)
        };
        self.read(&Spot {
            to: from.clone(),
            base: None,
            site,
        })
    }

    pub(super) fn read(&mut self, spot: &Spot) -> Vec<ir::Expr> {
        let all = leaves(&spot.to.ty);
        elements(&spot.to.ty)
            .into_iter()
            .map(|(l, at)| match spot.to.leaves[l] {
                Storage::Local(local) => ir::Expr::Local(local),
                Storage::Array(array) => ir::Expr::ArrayLoad {
                    array,
                    scalar: register(all[l].0),
                    index: Box::new(position(spot.base.as_ref(), all[l].1.unwrap_or(1), at)),
                    site: spot.site,
                },
                Storage::Own(buffer, scalar) => {
                    let index = self.item(ItemField::Index);
                    load(buffer, scalar, index, spot.site)
                }
                Storage::Row(buffer, scalar, len) => {
                    let at = position(spot.base.as_ref(), all[l].1.unwrap_or(1), at);
                    let index = self.in_row(len, at);
                    load(buffer, scalar, index, spot.site)
                }
            })
            .collect()
    }

    pub(super) fn assign(&mut self, to: &Dest, mut values: Vec<ir::Expr>) {
        let at = elements(&to.ty);
        // A leaf may be overwritten before another's value reads it (a swap): those go through locals first.
        let crossed = values
            .iter()
            .zip(&at)
            .any(|(value, &(leaf, _))| to.leaves[..leaf].iter().any(|s| touches(value, *s)));
        if crossed {
            for value in &mut values {
                self.pin(value);
            }
        }
        let mut by_leaf: Vec<Vec<ir::Expr>> = to.leaves.iter().map(|_| Vec::new()).collect();
        for (value, (leaf, _)) in values.into_iter().zip(at) {
            by_leaf[leaf].push(value);
        }
        for (&storage, values) in to.leaves.iter().zip(by_leaf) {
            match storage {
                Storage::Local(local) => {
                    for value in values {
                        if value != ir::Expr::Local(local) {
                            self.emit(ir::Stmt::Assign(local, value));
                        }
                    }
                }
                Storage::Array(array) => {
                    let len = self.arrays[array.0 as usize].len as usize;
                    if values.len() != len {
                        continue;
                    }
                    let same = values.windows(2).all(|w| w[0] == w[1]) && is_pure(&values[0]);
                    let own = values.iter().enumerate().all(|(k, v)| {
                        matches!(v, ir::Expr::ArrayLoad { array: a, index, .. }
                            if *a == array && **index == ir::Expr::Literal(Scalar::U32, k as u64))
                    });
                    if same {
                        let value = values.into_iter().next().expect("an array has an element");
                        self.emit(ir::Stmt::ArrayFill { array, value });
                    } else if !own {
                        self.emit(ir::Stmt::ArrayAssign { array, values });
                    }
                }
                Storage::Own(buffer, scalar) => {
                    for value in values {
                        let (index, site) = (self.item(ItemField::Index), self.own_site());
                        self.emit(store(buffer, scalar, (index, value), site));
                    }
                }
                Storage::Row(buffer, scalar, len) => {
                    self.assign_row((buffer, scalar, len), values);
                }
            }
        }
    }

    /// The index, in its buffer, of an element of the item's own row; the analysis of effects knows it by its shape.
    fn in_row(&mut self, len: u32, at: ir::Expr) -> ir::Expr {
        let len = ir::Expr::Literal(Scalar::U32, len.into());
        let first = binary(BinaryOp::Mul, Scalar::U32, self.item(ItemField::Index), len);
        binary(BinaryOp::Add, Scalar::U32, first, at)
    }

    /// Overwrites all elements of the item's own row.
    fn assign_row(
        &mut self,
        (buffer, scalar, len): (BufferId, Scalar, u32),
        mut values: Vec<ir::Expr>,
    ) {
        let site = self.own_site();
        let literal = |n: u32| ir::Expr::Literal(Scalar::U32, n.into());
        if values.len() > UNROLLED && values.windows(2).all(|w| w[0] == w[1]) && is_pure(&values[0])
        {
            let value = self.leaf(values.swap_remove(0));
            let k = self.temp(Scalar::U32);
            self.emit(ir::Stmt::Assign(k, literal(0)));
            let (body, ()) = self.block(|l| {
                let at = || ir::Expr::Local(k);
                l.emit(ir::Stmt::If {
                    cond: compare(CompareOp::Ge, Scalar::U32, at(), literal(len)),
                    then: vec![ir::Stmt::Break { depth: 0 }],
                    otherwise: Vec::new(),
                });
                let index = l.in_row(len, at());
                l.emit(store(buffer, scalar, (index, value), site));
                let next = binary(BinaryOp::Add, Scalar::U32, at(), literal(1));
                l.emit(ir::Stmt::Assign(k, next));
            });
            return self.emit(ir::Stmt::Loop { body, short: true });
        }
        // All are evaluated before the first element changes.
        let row = Storage::Row(buffer, scalar, len);
        for value in &mut values {
            if touches(value, row) || !is_pure(value) {
                self.pin(value);
            }
        }
        for (k, value) in (0..).zip(values) {
            let index = self.in_row(len, literal(k));
            self.emit(store(buffer, scalar, (index, value), site));
        }
    }

    /// The part of a variable that the projections lead to; `None` for a variable that is only a name for other values.
    pub(super) fn spot(&mut self, var: VarId, path: &[ProjectionRef<'f>]) -> Option<Spot> {
        match self.slot(var) {
            Slot::Kept(dest) => Some(self.walk(dest, path)),
            Slot::Alias(_) => None,
        }
    }

    pub(super) fn walk(&mut self, mut to: Dest, path: &[ProjectionRef<'f>]) -> Spot {
        let mut base: Option<ir::Expr> = None;
        let mut site = SiteId(0);
        if to.leaves.iter().any(|s| !matches!(s, Storage::Local(_))) {
            site = self.own_site();
        }
        for projection in path {
            match *projection {
                ProjectionRef::Field(at) => {
                    let tys = to.ty.fields().unwrap_or_default();
                    let before: usize = tys.iter().take(at).map(|t| leaves(t).len()).sum();
                    let Some(ty) = tys.into_iter().nth(at) else {
                        self.fault("no such field");
                        break;
                    };
                    let n = leaves(&ty).len();
                    let leaves = to.leaves.into_iter().skip(before).take(n).collect();
                    to = Dest { ty, leaves };
                }
                ProjectionRef::Index(e, span) => {
                    let Ty::Array(element, n) = to.ty else {
                        self.fault("cannot index this");
                        break;
                    };
                    let mut index = self.array_index(e);
                    site = self.site(span);
                    // An index of a local array is checked where the element is read or written.
                    let single = matches!(*element, Ty::Scalar(_) | Ty::Size)
                        && base.is_none()
                        && !to.leaves.iter().any(|s| matches!(s, Storage::Row(..)));
                    if !single {
                        index = self.leaf(index);
                        self.emit(ir::Stmt::CheckIndex {
                            index: index.clone(),
                            len: ir::Expr::Literal(Scalar::U32, n.into()),
                            site,
                        });
                        if let Some(outer) = base {
                            let row = ir::Expr::Literal(Scalar::U32, n.into());
                            let start = binary(BinaryOp::Mul, Scalar::U32, outer, row);
                            index = binary(BinaryOp::Add, Scalar::U32, start, index);
                            index = self.leaf(index);
                        }
                    }
                    base = Some(index);
                    to.ty = *element;
                }
            }
        }
        Spot { to, base, site }
    }

    /// An index of a local array as a u32; what does not fit is far beyond any array's end.
    pub(super) fn array_index(&mut self, e: &'f Expr) -> ir::Expr {
        let value = self.scalar(e);
        match value {
            ir::Expr::Literal(_, v) => ir::Expr::Literal(Scalar::U32, v.min(u32::MAX.into())),
            ir::Expr::Cast {
                from: Scalar::U32,
                to: Scalar::U64,
                value,
            } => *value,
            value if self.type_of(&value) == Scalar::U64 => {
                let most = ir::Expr::Literal(Scalar::U64, u32::MAX.into());
                let value = binary(BinaryOp::Min, Scalar::U64, value, most);
                cast_ir(Scalar::U64, Scalar::U32, value)
            }
            value => value,
        }
    }

    /// Writes a part of a variable; `values` were computed before the spot.
    pub(super) fn write(&mut self, spot: Spot, values: Vec<ir::Expr>) {
        let Some(base) = spot.base else {
            return self.assign(&spot.to, values);
        };
        let mut values = values;
        if values.len() > 1 {
            for v in &mut values {
                self.pin(v);
            }
        }
        let all = leaves(&spot.to.ty);
        for (value, (l, at)) in values.into_iter().zip(elements(&spot.to.ty)) {
            let index = position(Some(&base), all[l].1.unwrap_or(1), at);
            match spot.to.leaves[l] {
                Storage::Array(array) => self.emit(ir::Stmt::ArrayStore {
                    array,
                    index,
                    value,
                    site: spot.site,
                }),
                Storage::Row(buffer, scalar, len) => {
                    let index = self.in_row(len, index);
                    self.emit(store(buffer, scalar, (index, value), spot.site));
                }
                Storage::Local(_) | Storage::Own(..) => {}
            }
        }
    }

    /// Makes a spot's index free to repeat.
    pub(super) fn name_index(&mut self, spot: &mut Spot) {
        if let Some(base) = spot.base.take() {
            spot.base = Some(self.leaf(base));
        }
    }

    /// The variable and the path into it that an expression names.
    pub(super) fn projected(&self, e: &'f Expr) -> Option<(VarId, Vec<ProjectionRef<'f>>)> {
        match &e.kind {
            Kind::Var(id) => Some((*id, Vec::new())),
            Kind::Field(base, at) => {
                let (id, mut path) = self.projected(base)?;
                path.push(ProjectionRef::Field(*at));
                Some((id, path))
            }
            Kind::Element(base, index, span) => {
                let (id, mut path) = self.projected(base)?;
                path.push(ProjectionRef::Index(index, *span));
                Some((id, path))
            }
            _ => None,
        }
    }

    /// `points.get(i)` of a field of it, and the position of the field's first scalar.
    fn element_field(&mut self, e: &'f Expr) -> Option<(&'f Expr, usize)> {
        match &e.kind {
            Kind::Get { .. } => Some((e, 0)),
            Kind::Field(base, at) => {
                let (get, from) = self.element_field(base)?;
                let tys = self.ty(&base.ty).fields()?;
                let before = tys.iter().take(*at).map(|t| self.parts(t).len());
                Some((get, from + before.sum::<usize>()))
            }
            _ => None,
        }
    }

    /// A field or element of something.
    pub(super) fn part(&mut self, e: &'f Expr) -> Vec<ir::Expr> {
        if let Some((var, path)) = self.projected(e)
            && let Some(spot) = self.spot(var, &path)
        {
            return self.read(&spot);
        }
        match &e.kind {
            Kind::Field(base, at) => {
                if let Some((get, from)) = self.element_field(e) {
                    let count = self.parts(&e.ty).len();
                    return self.get(get, from, count);
                }
                let values = self.value(base);
                let ty = self.ty(&base.ty);
                let Some(tys) = ty.fields() else {
                    return Vec::new();
                };
                let start: usize = tys.iter().take(*at).map(|t| self.parts(t).len()).sum();
                let n = tys.get(*at).map_or(0, |t| self.parts(t).len());
                let mut kept = Vec::new();
                for (i, mut v) in values.into_iter().enumerate() {
                    if (start..start + n).contains(&i) {
                        kept.push(v);
                    } else if !is_pure(&v) {
                        self.pin(&mut v);
                    }
                }
                kept
            }
            Kind::Element(base, index, span) => {
                if let Some(value) = self.value_of_array(base, (index, *span)) {
                    return vec![value];
                }
                let values = self.value(base);
                let dest = self.dest(&base.ty);
                self.assign(&dest, values);
                let spot = self.walk(dest, &[ProjectionRef::Index(index, *span)]);
                self.read(&spot)
            }
            _ => Vec::new(),
        }
    }

    /// A constant of any type: one entry of the pool for each of its scalars.
    pub(super) fn constant_parts(&mut self, path: &TokenStream, ty: &Ty) -> Vec<ir::Expr> {
        match ty {
            Ty::Scalar(s) => vec![self.constant(path.clone(), *s)],
            Ty::Size => vec![self.constant(quote!(#path as ::core::primitive::u64), Scalar::U64)],
            Ty::Array(t, n) => (0..*n as usize)
                .flat_map(|k| self.constant_parts(&quote!(#path[#k]), t))
                .collect(),
            Ty::Struct(s) => {
                let fields = s.0.fields.clone();
                fields
                    .iter()
                    .flat_map(|(name, t)| {
                        let member: syn::Member = match name.parse::<usize>() {
                            Ok(i) => i.into(),
                            Err(_) => quote::format_ident!("{name}").into(),
                        };
                        self.constant_parts(&quote!(#path.#member), t)
                    })
                    .collect()
            }
            Ty::Tuple(ts) => ts
                .iter()
                .enumerate()
                .flat_map(|(i, t)| {
                    let member = syn::Index::from(i);
                    self.constant_parts(&quote!(#path.#member), t)
                })
                .collect(),
            _ => {
                self.fault("the type of a constant is not known");
                Vec::new()
            }
        }
    }
}

/// Index of a scalar in a leaf: `len` of them belong to each element that `base` counts.
fn position(base: Option<&ir::Expr>, len: u32, at: u32) -> ir::Expr {
    let literal = |v: u32| ir::Expr::Literal(Scalar::U32, v.into());
    match base {
        None => literal(at),
        Some(b) if len == 1 => b.clone(),
        Some(b) => {
            let first = binary(BinaryOp::Mul, Scalar::U32, b.clone(), literal(len));
            binary(BinaryOp::Add, Scalar::U32, first, literal(at))
        }
    }
}
