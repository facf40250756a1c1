//! What a lane cannot do, by name, and what to write instead.

use super::param::item_of;
use crate::report::Report;
use crate::tokens::{first_token, show};
use proc_macro2::Span;
use quote::ToTokens;

/// Name and advice for an expression that the language does not have.
pub(super) fn expression(e: &syn::Expr) -> (Span, String, &'static str) {
    use syn::Expr;
    let span = first_token(e);
    let (span, what, advice) = match e {
        Expr::Closure(c) => (
            c.inputs_begin.span,
            "closures are not in the kernel language",
            "write the body in place, or a `#[device] fn` that takes values",
        ),
        Expr::Async(a) => (
            a.async_token.span,
            "`async` is not in the kernel language",
            "a lane runs to its end; remove `async`",
        ),
        Expr::Await(a) => (
            a.await_token.span,
            "`.await` is not in the kernel language",
            "a lane runs to its end; remove `.await`",
        ),
        Expr::Try(t) => (
            t.question_token.span,
            "`?` is not in the kernel language",
            "lanes have no `Option` and no `Result`: use a sentinel value and `if`",
        ),
        Expr::TryBlock(t) => (
            t.try_token.span,
            "`try` blocks are not in the kernel language",
            "use a sentinel value and `if`",
        ),
        Expr::Unsafe(u) => (
            u.unsafe_token.span,
            "`unsafe` is not in the kernel language",
            "buffers are indexed with checks on every backend; remove `unsafe`",
        ),
        Expr::Reference(r) => (
            r.and_token.span,
            "references are not in the kernel language",
            "values are copied: leave out the `&`, here and in the type of a parameter; buffers are parameters",
        ),
        Expr::RawAddr(r) => (
            r.and_token.span,
            "raw pointers are not in the kernel language",
            "index a buffer parameter instead",
        ),
        Expr::Array(a) => (
            a.bracket_token.span.open(),
            "local arrays are not in the kernel language yet",
            "use separate variables, or a `#[scratch]` buffer",
        ),
        Expr::Repeat(a) => (
            a.bracket_token.span.open(),
            "local arrays are not in the kernel language yet",
            "use separate variables, or a `#[scratch]` buffer",
        ),
        Expr::Struct(_) => (
            span,
            "structs are not in the kernel language yet",
            "use one variable for each field, or a tuple",
        ),
        Expr::Range(_) => (
            span,
            "a range is not a value in the kernel language",
            "use it directly in `for i in a..b`",
        ),
        Expr::Let(l) => (
            l.let_token.span,
            "`let` in a condition is not in the kernel language",
            "compare with `==`, or use `match` on an integer or bool",
        ),
        Expr::Yield(y) => (
            y.yield_token.span,
            "`yield` is not in the kernel language",
            "a lane runs to its end",
        ),
        Expr::Const(c) => (
            c.const_token.span,
            "`const` blocks are not in the kernel language",
            "name the constant: `const K: u32 = ..;`",
        ),
        Expr::Infer(_) => (span, "`_` is not a value", "name the value"),
        Expr::Macro(m) => return self::macros(&m.mac),
        Expr::Lit(l) => match &l.lit {
            syn::Lit::Str(_) | syn::Lit::ByteStr(_) | syn::Lit::CStr(_) => (
                span,
                "strings are not in the kernel language",
                "use numbers, and print after the run",
            ),
            syn::Lit::Char(_) => (
                span,
                "`char` is not in the kernel language",
                "use a byte, `b'a'`, or a u32",
            ),
            _ => (
                span,
                "this literal is not in the kernel language",
                "use a number or a bool",
            ),
        },
        _ => (
            span,
            "this expression is not in the kernel language",
            "see the language reference for what a lane can do",
        ),
    };
    (span, what.to_owned(), advice)
}

/// What to write instead of a function of CUDA C's.
pub(crate) fn cuda(name: &str) -> Option<&'static str> {
    Some(match name {
        "__syncthreads" | "syncthreads" | "__syncwarp" | "__threadfence" => {
            "lanes of one wave do not wait for each other: write two waves, the second `after(..)` the first"
        }
        "atomicAdd" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_add(x)`",
        "atomicSub" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_sub(x)`",
        "atomicMin" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_min(x)`",
        "atomicMax" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_max(x)`",
        "atomicAnd" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_and(x)`",
        "atomicOr" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_or(x)`",
        "atomicXor" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].fetch_xor(x)`",
        "atomicExch" => "take `xs: &Buf<Atomic<T>>` and write `xs[i].swap(x)`",
        "atomicCAS" => {
            "take `xs: &Buf<Atomic<T>>` and write `xs[i].compare_and_swap(old, new)`, or `compare_exchange`, which says whether it stored"
        }
        "sqrtf" | "sqrt" | "fabsf" | "fabs" | "expf" | "logf" | "sinf" | "cosf" | "floorf"
        | "ceilf" | "fminf" | "fmaxf" | "fmaf" | "powf" | "rsqrtf" | "__popc" | "__clz"
        | "__ffs" => {
            "these are methods in Rust: `x.sqrt()`, `x.abs()`, `x.min(y)`, `x.mul_add(y, z)`, `n.count_ones()`, `n.leading_zeros()`"
        }
        _ => return None,
    })
}

/// What to write instead of a function of std's.
pub(super) fn of_std(name: &str) -> Option<&'static str> {
    Some(match name {
        "min" => "write it as a method: `a.min(b)`",
        "max" => "write it as a method: `a.max(b)`",
        "swap" => "write `(a, b) = (b, a)`",
        "replace" | "take" => "write the two assignments",
        "drop" => "lanes own nothing that could be dropped: leave it out",
        "size_of" | "align_of" => "name the number as a constant outside the kernel",
        _ => return None,
    })
}

/// Name and advice for a macro.
pub(super) fn macros(m: &syn::Macro) -> (Span, String, &'static str) {
    let name = m
        .path
        .segments
        .last()
        .map(|s| s.ident.to_string())
        .unwrap_or_default();
    let advice = match name.as_str() {
        "println" | "print" | "eprintln" | "eprint" | "dbg" | "write" | "writeln" => {
            "a lane has no console: write to an `#[output]` buffer and print after the run"
        }
        "format" | "concat" | "stringify" | "format_args" => "lanes have no strings",
        "vec" => "lanes have no heap: use a `#[scratch]` buffer",
        "todo" | "unimplemented" => "use `panic!` to stop the run with a trap",
        "include_str" | "include_bytes" | "env" | "option_env" => {
            "name the value as a constant outside the kernel"
        }
        _ => {
            "macros are not expanded before kernels are compiled: write a `#[device] fn`, or the code itself"
        }
    };
    (
        first_token(&m.path),
        format!("macro `{name}!` is not in the kernel language"),
        advice,
    )
}

/// Reports a type that no value of a lane has.
pub(super) fn ty(ty: &syn::Type, report: &mut Report) {
    use syn::Type;
    let span = first_token(ty);
    let (what, advice) = match ty {
        Type::Paren(t) => return self::ty(&t.elem, report),
        Type::Path(p) => {
            let last = p.path.segments.last();
            let name = last.map(|s| s.ident.to_string()).unwrap_or_default();
            let at = last.map_or(span, |s| s.ident.span());
            return named_type(&name, at, report);
        }
        Type::Reference(r) if r.elem.to_token_stream().to_string() == "str" => {
            return self::ty(&r.elem, report);
        }
        Type::Reference(r) if matches!(*r.elem, Type::Slice(_)) => {
            return self::ty(&r.elem, report);
        }
        Type::Reference(r) if let Some(value) = item_of(&r.elem, "Row") => {
            let help = if r.mutability.is_some() {
                "what is done to a lane's own row stands in the wave: give a helper values of it, `row[k]`".to_owned()
            } else {
                let value = show(value);
                format!(
                    "give it all rows and a number: `texts: &Rows<{value}>, v: u32`, and ask for `texts.row(v)`"
                )
            };
            return report.error_help(span, "a row is not handed to a helper", help);
        }
        Type::Reference(r) => {
            let message = "references are not values of the kernel language";
            let help = format!("values are copied: write `{}`", show(&r.elem));
            return report.error_help(span, message, help);
        }
        Type::Ptr(_) => (
            "raw pointers are not in the kernel language",
            "take a buffer: `xs: &Buf<u32>`",
        ),
        Type::Slice(_) => (
            "slices are not in the kernel language",
            "take a buffer: `xs: &Buf<u32>`",
        ),
        Type::Array(_) => (
            "local arrays are not in the kernel language yet",
            "use separate variables, or a `#[scratch]` buffer",
        ),
        Type::FnPtr(_) => (
            "function pointers are not in the kernel language",
            "call a `#[device] fn` by name",
        ),
        Type::TraitObject(_) => (
            "trait objects are not in the kernel language",
            "name a concrete type",
        ),
        Type::ImplTrait(_) => (
            "`impl Trait` is not in the kernel language",
            "name a concrete type",
        ),
        Type::Macro(_) => ("macros are not expanded in types", "name the type"),
        Type::Infer(_) => ("`_` is not a type here", "name the type"),
        Type::Never(_) => ("`!` is not a value's type", "leave the type out"),
        _ => (
            "this type is not in the kernel language",
            "use one of bool, u8, u32, i32, u64, i64, f32, f64",
        ),
    };
    report.error_help(span, what, advice);
}

/// Reports a type by its name.
pub(super) fn named_type(name: &str, at: Span, report: &mut Report) {
    let advice = match name {
        "usize" => "buffers are indexed by u32: use `u32` (or `u64` for wide counts)",
        "isize" => "use `i32` or `i64`",
        "i8" | "i16" | "u16" => "use `i32` or `u32` and a mask",
        "u128" | "i128" => "use two `u64`",
        "f16" | "f128" => "use `f32` or `f64`",
        "char" => "use `u32`",
        "String" | "str" => "lanes have no strings",
        "Vec" | "Box" | "Rc" | "Arc" | "HashMap" | "HashSet" | "VecDeque" | "BTreeMap"
        | "BTreeSet" | "Cell" | "RefCell" => {
            "lanes have no heap: declare a buffer in `Data` and take it as a parameter"
        }
        "Option" | "Result" => "use a sentinel value such as `u32::MAX`",
        "Self" => "name the type",
        _ if name.starts_with(char::is_uppercase) => {
            "use a scalar, or a struct of the `#[wave_graph]` module, of the `#[kernel]`'s body, or of a `#[device] mod` (by its path)"
        }
        _ => "use one of bool, u8, u32, i32, u64, i64, f32, f64",
    };
    let message = format!("type `{name}` is not in the kernel language");
    report.error_help(at, message, advice);
}

/// Reports a pattern that is none of a name, `_` or a tuple of them.
pub(super) fn pattern(p: &syn::Pat, report: &mut Report) {
    use syn::Pat;
    let (what, advice) = match p {
        Pat::Ident(p) if p.by_ref.is_some() => (
            "`ref` is not in the kernel language",
            "scalars are `Copy`: bind the value",
        ),
        Pat::Ident(_) => (
            "`name @ pattern` is not in the kernel language",
            "bind the name, then compare",
        ),
        Pat::Reference(_) => (
            "reference patterns are not in the kernel language",
            "use `*x`",
        ),
        Pat::TupleStruct(p)
            if p.path.get_ident().is_some_and(|name| {
                let options = ["Some", "None", "Ok", "Err"];
                options.iter().any(|o| name == o)
            }) =>
        {
            (
                "`Option` and `Result` are not in the kernel language",
                "use a sentinel value such as `u32::MAX`, and compare with it",
            )
        }
        Pat::Struct(_) | Pat::TupleStruct(_) => (
            "this pattern names no struct in sight of the macro",
            "enums are not in the kernel language: use a u32 and constants; a struct stands in the graph's module, the kernel's body or a `#[device] mod`",
        ),
        Pat::Slice(_) | Pat::Rest(_) => (
            "slice patterns are not in the kernel language",
            "index the buffer",
        ),
        Pat::Macro(_) => ("macros are not expanded in patterns", "write the pattern"),
        _ => (
            "this pattern is not in the kernel language",
            "bind one name",
        ),
    };
    report.error_help(first_token(p), what, advice);
}

/// Reports an item inside a body.
pub(super) fn item(i: &syn::Item, report: &mut Report) {
    use syn::Item;
    let (what, advice) = match i {
        Item::Fn(_) => (
            "a function inside a kernel is not in the kernel language",
            "move it beside the kernel and mark it `#[device]`",
        ),
        Item::Static(_) => (
            "statics are not in the kernel language",
            "use a `const`, or a buffer in `Data`",
        ),
        Item::Struct(_) | Item::Enum(_) | Item::Union(_) => (
            "types inside a kernel are not in the kernel language",
            "use scalars and tuples",
        ),
        Item::Impl(_) | Item::Trait(_) | Item::TraitAlias(_) => (
            "`impl` and traits inside a kernel are not in the kernel language",
            "write a `#[device] fn`",
        ),
        Item::Macro(_) => (
            "macros inside a kernel are not in the kernel language",
            "write a `#[device] fn`, or the code itself",
        ),
        Item::Type(_) => (
            "a type alias inside a kernel is not in the kernel language",
            "name the scalar type",
        ),
        Item::Mod(_) | Item::ExternCrate(_) | Item::ForeignMod(_) => (
            "modules inside a kernel are not in the kernel language",
            "move it outside",
        ),
        _ => (
            "this item is not in the kernel language",
            "move it outside the kernel",
        ),
    };
    report.error_help(first_token(&i.to_token_stream()), what, advice);
}
