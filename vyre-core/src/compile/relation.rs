//! What inserts into relations, and questions to them, become: words that every backend has.
//!
//! A relation is a list of its tuples, each once, beside a table by which a tuple is found
//! ([`Table`]). The analyses of a body see [`Expr::Insert`] and [`Expr::Contains`] as they are;
//! before it is lowered, each becomes a search of the table, and an append where the tuple is new. So backends, planners
//! and the bytecode know lists and buffers, and nothing of relations. The same with [indexes](crate::vir0::table::Index): a wave of the pass
//! files what a relation was given before others look it up.

use super::ir::build::Sequence;
use super::ir::{Block, Body, Expr, Stmt};
use crate::vir0::scalar::Scalar;
use crate::vir0::table::Table;

/// The same body in words of lists and buffers; `None`: it uses no relation.
pub(super) fn expand(body: &Body) -> Option<Body> {
    let value = body.value.as_ref().is_some_and(uses);
    if !value && !any(&body.block) {
        return None;
    }
    let mut body = body.clone();
    block(&mut body.block, &mut body.locals);
    if let Some(value) = &mut body.value {
        expr(value, &mut body.locals, &mut body.block);
    }
    Some(body)
}

fn any(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt, Stmt::File { .. }) || stmt.operands().any(uses) || stmt.blocks().any(any)
    })
}

fn uses(e: &Expr) -> bool {
    matches!(
        e,
        Expr::Insert { .. } | Expr::Contains { .. } | Expr::Entry { .. }
    ) || e.operands().any(uses)
}

fn block(stmts: &mut Block, locals: &mut Vec<Scalar>) {
    let mut out = Block::with_capacity(stmts.len());
    for mut stmt in std::mem::take(stmts) {
        stmt.each_operand_mut(&mut |e| expr(e, locals, &mut out));
        stmt.each_block_mut(&mut |b| block(b, locals));
        match stmt {
            Stmt::File {
                index,
                fields,
                site,
            } => index.file(&mut Sequence::new(locals, &mut out, site), fields),
            stmt => out.push(stmt),
        }
    }
    *stmts = out;
}

/// An expression changes nothing that another operand of its statement sees, so what is in it can come before.
fn expr(e: &mut Expr, locals: &mut Vec<Scalar>, out: &mut Block) {
    if !uses(e) {
        return;
    }
    e.each_operand_mut(&mut |x| expr(x, locals, out));
    let value = match e {
        Expr::Insert {
            list,
            table,
            fields,
            site,
        } => {
            let (table, fields) = (Table { cells: *table }, std::mem::take(fields));
            table.insert(&mut Sequence::new(locals, out, *site), *list, fields)
        }
        Expr::Contains {
            table,
            fields,
            site,
        } => {
            let (table, fields) = (Table { cells: *table }, std::mem::take(fields));
            table.contains(&mut Sequence::new(locals, out, *site), fields)
        }
        Expr::Entry { index, at, site } => Expr::Load {
            buffer: *index,
            scalar: Scalar::U64,
            index: std::mem::replace(at, Box::new(Expr::Literal(Scalar::U32, 0))),
            site: *site,
        },
        _ => return,
    };
    *e = value;
}
