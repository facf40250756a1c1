//! Cells of a grid: their places, and those beside them. A sweep over a grid is one over its indices.

use super::memory::width_of;
use super::scalar::{divide, select};
use super::*;

/// The places of the item, worked out where its body begins, if it asks for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellLocals {
    x: Option<LocalId>,
    y: Option<LocalId>,
    /// The width, and where a place was first asked for.
    from: Option<(Width, SiteId)>,
}

fn number(n: u32) -> ir::Expr {
    ir::Expr::Literal(Scalar::U32, n.into())
}

fn add(a: ir::Expr, b: ir::Expr) -> ir::Expr {
    binary(BinaryOp::Add, Scalar::U32, a, b)
}

fn sub(a: ir::Expr, b: ir::Expr) -> ir::Expr {
    binary(BinaryOp::Sub, Scalar::U32, a, b)
}

/// The value of an i32 that the body says.
fn literal(e: &ir::Expr) -> Option<i32> {
    match e {
        ir::Expr::Literal(_, bits) => Some(*bits as i32),
        ir::Expr::Unary(UnaryOp::Neg, Scalar::I32, e) => literal(e)?.checked_neg(),
        _ => None,
    }
}

impl<'f> Lowerer<'_, 'f> {
    /// The sides of the grid of a cell.
    pub(super) fn sides(&mut self, cell: Handle) -> Option<[Width; 2]> {
        match self.binding(cell) {
            Some(ParamKind::Cell { width, height }) => Some([width, height]),
            _ => {
                self.fault("a cell is expected");
                None
            }
        }
    }

    pub(super) fn cell(&mut self, [width, _]: [Width; 2], field: CellField, at: Span) -> ir::Expr {
        let known = match field {
            CellField::Index => return self.item(ItemField::Index),
            CellField::X => self.cell.x,
            CellField::Y => self.cell.y,
        };
        let site = self.site(at);
        self.cell.from.get_or_insert((width, site));
        let local = known.unwrap_or_else(|| self.temp(Scalar::U32));
        match field {
            CellField::X => self.cell.x = Some(local),
            _ => self.cell.y = Some(local),
        }
        ir::Expr::Local(local)
    }

    /// The body, with the places that it asks for ahead of it. There is a cell, so no side is 0.
    pub(super) fn with_cell(&mut self, body: ir::Block) -> ir::Block {
        let CellLocals { x, y, from } = self.cell;
        let Some((width, site)) = from else {
            return body;
        };
        let (index, width) = (self.item(ItemField::Index), width_of(width));
        let split = |op| divide(op, Scalar::U32, (index.clone(), width.clone()), Some(site));
        let mut all = Vec::new();
        if let Some(y) = y {
            all.push(ir::Stmt::Assign(y, split(BinaryOp::Div)));
        }
        if let Some(x) = x {
            let rest = match y {
                Some(y) => {
                    let before = binary(BinaryOp::Mul, Scalar::U32, ir::Expr::Local(y), width);
                    sub(index, before)
                }
                None => split(BinaryOp::Rem),
            };
            all.push(ir::Stmt::Assign(x, rest));
        }
        all.extend(body);
        all
    }

    /// The index of the cell that is so far away, around the ends of the grid.
    pub(super) fn cell_at(&mut self, sides: [Width; 2], by: &'f [Expr; 2], site: Span) -> ir::Expr {
        let [dx, dy] = by;
        let (dx, dy) = self.pair(dx, dy);
        if (literal(&dx), literal(&dy)) == (Some(0), Some(0)) {
            return self.item(ItemField::Index);
        }
        let [width, height] = sides.map(width_of);
        // Both are evaluated before what is made of them.
        let (dx, dy) = match (literal(&dx), literal(&dy)) {
            (Some(_), Some(_)) => (dx, dy),
            _ => (self.leaf(dx), self.leaf(dy)),
        };
        let (x, y) = (
            self.cell(sides, CellField::X, site),
            self.cell(sides, CellField::Y, site),
        );
        let x = self.beside(x, &width, dx, site);
        let y = self.beside(y, &height, dy, site);
        add(binary(BinaryOp::Mul, Scalar::U32, y, width), x)
    }

    /// The place so far from another, of `len` places in a ring.
    fn beside(&mut self, at: ir::Expr, len: &ir::Expr, by: ir::Expr, site: Span) -> ir::Expr {
        let (u32, i32) = (Scalar::U32, Scalar::I32);
        let equal = |a, b| compare(CompareOp::Eq, u32, a, b);
        match literal(&by) {
            Some(0) => return at,
            Some(1) => {
                let next = self.leaf(add(at, number(1)));
                return select(u32, equal(next.clone(), len.clone()), number(0), next);
            }
            Some(-1) => {
                let first = equal(at.clone(), number(0));
                return sub(select(u32, first, len.clone(), at), number(1));
            }
            _ => {}
        }
        let site = self.site(site);
        // How far it is forward, less than once around.
        let less = compare(CompareOp::Lt, i32, by.clone(), ir::Expr::Literal(i32, 0));
        let by = cast(i32, u32, by);
        let less = self.leaf(less);
        let far = select(u32, less.clone(), sub(number(0), by.clone()), by);
        let rest = divide(BinaryOp::Rem, u32, (far, len.clone()), Some(site));
        let rest = self.leaf(rest);
        let backward = binary(
            BinaryOp::And,
            Scalar::Bool,
            less,
            compare(CompareOp::Ne, u32, rest.clone(), number(0)),
        );
        let forward = select(u32, backward, sub(len.clone(), rest.clone()), rest);
        let forward = self.leaf(forward);
        // The sum may be more than a u32.
        let gap = self.leaf(sub(len.clone(), at.clone()));
        let around = compare(CompareOp::Ge, u32, forward.clone(), gap.clone());
        let (over, on) = (sub(forward.clone(), gap), add(at, forward));
        select(u32, around, over, on)
    }
}
