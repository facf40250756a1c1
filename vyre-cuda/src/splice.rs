//! A module of one pass, cut from the megakernel's text.
//!
//! ptxas takes about as long as its text is. So the module of a pass has its own bodies in the place of the
//! interpreter's, a trap in the place of what the pass is known not to reach, and nothing of what is no longer called
//! then. All of this is a step over text: functions and variables at the top level are told apart by how their lines
//! begin, and whatever is an identifier in a body and the name of one of them counts as a use.

mod fold;
mod text;
mod write;

pub(crate) use fold::{Known, Table};

use crate::shape::Shape;
use fold::{Function, fold};
use std::borrow::Cow;
use std::collections::HashSet;
use thiserror::Error;

/// What names the shipped function of that name in a body that takes its place.
pub(crate) const SHIPPED: &str = "vyre_shipped_";

/// The function that stops a run, called with a number that is no opcode.
const UNKNOWN_WORD: &str = "_Z12unknown_wordj";

/// The variable in shared memory that a pass's tables are copied to.
const TABLES: &str = "vyre_shared";

/// Why a text cannot be spliced: it is not the one that was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum SpliceError {
    /// A function that is to be replaced, left out or entered.
    #[error("the module has no function `{name}`")]
    NoFunction {
        /// Its name, without its parameters if it is to be left out.
        name: String,
    },
    /// Something between the functions that is neither a function nor a variable.
    #[error("line {line} is neither a function nor a variable")]
    Unknown {
        /// Counted from 1.
        line: usize,
    },
}

/// What a pass's module has instead of the shipped text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Changes {
    /// The only entry.
    pub(crate) entry: &'static str,
    /// What its CTAs are to be; `None`: as they are.
    pub(crate) shape: Option<Shape>,
    /// Functions that the pass does not reach for reasons that folding does not find, by how their names begin. A call to
    /// one of them is a trap.
    pub(crate) left_out: Vec<&'static str>,
    /// Functions, by their full names, and what stands between their braces instead. The function that it was can be
    /// called by [`SHIPPED`] and its name.
    pub(crate) bodies: Vec<(String, String)>,
    /// The text of functions that the module has instead of those of their names, or besides.
    pub(crate) functions: String,
    /// What is known of the tables that the module reads; `None`: functions stay as they are.
    pub(crate) known: Option<Known>,
}

/// A part of the text at its top level.
enum Part<'t> {
    /// Version, target, address size; comments are left out.
    Head(&'t str),
    Variable {
        name: &'t str,
        text: &'t str,
    },
    /// `body` has its braces.
    Function {
        name: &'t str,
        header: &'t str,
        body: &'t str,
    },
    /// A function that is called before it is defined.
    Declaration,
}

/// The text with these changes, and without what the entry does not reach then.
pub(crate) fn splice(text: &str, changes: &Changes) -> Result<String, SpliceError> {
    let (mut head, mut variables, mut functions) =
        (String::new(), Vec::new(), Vec::<Function>::new());
    for part in parts(text)?.into_iter().chain(parts(&changes.functions)?) {
        match part {
            Part::Head(line) => head += line,
            Part::Variable { name, text } => variables.push((name, text)),
            Part::Declaration => {}
            Part::Function { name, header, body } => {
                let function = Function {
                    name: Cow::Borrowed(name),
                    header: Cow::Borrowed(header),
                    body: Cow::Borrowed(body),
                };
                match functions.iter_mut().find(|f| f.name == name) {
                    Some(other) => *other = function,
                    None => functions.push(function),
                }
            }
        }
    }
    let missing = |name: &str| SpliceError::NoFunction {
        name: name.to_owned(),
    };
    for prefix in &changes.left_out {
        let found = functions.iter_mut().find(|f| f.name.starts_with(prefix));
        leave_out(found.ok_or_else(|| missing(prefix))?);
    }
    for (name, body) in &changes.bodies {
        let at = functions.iter().position(|f| f.name == *name);
        let at = at.ok_or_else(|| missing(name))?;
        let shipped = format!("{SHIPPED}{name}");
        let replaced = &mut functions[at];
        let header = renamed(&replaced.header, name, &shipped);
        let body = std::mem::replace(&mut replaced.body, format!("{{\n{body}}}\n").into());
        functions.insert(
            at,
            Function {
                name: shipped.into(),
                header: header.into(),
                body,
            },
        );
    }

    let entry = functions.iter().position(|f| f.name == changes.entry);
    let entry = entry.ok_or_else(|| missing(changes.entry))?;
    let shared = variables
        .iter()
        .filter(|(_, text)| text.contains(".shared"));
    let shared: Vec<&str> = shared.map(|(name, _)| *name).collect();
    let bodies = fold(&functions, entry, &shared, (TABLES, changes.known.as_ref()));
    let mut used = HashSet::new();
    for body in bodies.values() {
        used.extend(identifiers(body));
    }
    let kept = || {
        functions
            .iter()
            .zip(0..)
            .filter(|(_, i)| bodies.contains_key(i))
    };
    let mut out = head;
    // Whatever is called is declared first: bodies need not know in which order functions stand.
    for (function, _) in kept().filter(|(f, _)| !f.header.contains(".entry")) {
        out += &function.header;
        out += ";\n";
    }
    for (_, text) in variables.iter().filter(|(name, _)| used.contains(name)) {
        out += text;
    }
    for (function, i) in kept() {
        match changes.shape.filter(|_| i == entry) {
            Some(shape) => out += &shaped(&function.header, shape),
            None => out += &function.header,
        }
        out += &bodies[&i];
    }
    Ok(out)
}

/// The header of an entry whose CTAs have this shape, so that registers are shared out among so many threads.
fn shaped(header: &str, shape: Shape) -> String {
    let lines = header.lines();
    let lines = lines.filter(|line| {
        ![".maxntid", ".minnctapersm"]
            .iter()
            .any(|of| line.starts_with(of))
    });
    let mut out: String = lines.flat_map(|line| [line, "\n"]).collect();
    out += &format!(
        ".maxntid {}, 1, 1\n.minnctapersm {}\n",
        shape.threads(),
        shape.ctas()
    );
    out
}

/// Makes a function that gives nothing back only raise a trap.
fn leave_out(function: &mut Function<'_>) {
    let trap = format!("st.param.b32 [param0], -1;\n\tcall.uni {UNKNOWN_WORD}, (param0);");
    function.body = format!("{{\n\t.param .b32 param0;\n\t{trap}\n\tret;\n}}\n").into();
}

/// The header of a function under another name. Those of its parameters stay.
fn renamed(header: &str, name: &str, to: &str) -> String {
    let at = header.find(name).expect("a function's header names it");
    format!("{}{to}{}", &header[..at], &header[at + name.len()..])
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, SpliceError> {
    let mut parts = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let first = &rest[..rest.find('\n').map_or(rest.len(), |n| n + 1)];
        let bare = first.trim();
        let is_function = [".func", ".entry"].iter().any(|kind| {
            let words = bare.split_ascii_whitespace();
            words.take_while(|w| w.starts_with('.')).any(|w| w == *kind)
        });
        let unknown = SpliceError::Unknown { line };
        let taken = if is_function {
            let end = rest.find(['{', ';']).ok_or_else(|| unknown.clone())?;
            let header = &rest[..end];
            let body = match &rest[end..=end] {
                ";" => None,
                _ => Some(&rest[end..end + body_len(&rest[end..]).ok_or(unknown.clone())?]),
            };
            let upto = end + body.map_or(1, str::len);
            let newline = usize::from(rest[upto..].starts_with('\n'));
            parts.push(match body {
                None => Part::Declaration,
                Some(_) => Part::Function {
                    name: name_of(header).ok_or(unknown)?,
                    header,
                    body: &rest[end..upto + newline],
                },
            });
            upto + newline
        } else {
            let words = bare.split_ascii_whitespace().next().unwrap_or("//");
            match words {
                ".version" | ".target" | ".address_size" => parts.push(Part::Head(first)),
                ".shared" | ".global" | ".const" | ".extern" | ".visible" => {
                    let declared = bare.split(['=', ';']).next().unwrap_or_default();
                    let declared = declared.split('[').next().unwrap_or_default();
                    let name = identifiers(declared).last().ok_or(unknown)?;
                    parts.push(Part::Variable { name, text: first });
                }
                comment if comment.starts_with("//") => {}
                _ => return Err(unknown),
            }
            first.len()
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    Ok(parts)
}

/// How long the body is that the text begins with. Assembly that was put in has braces of its own.
fn body_len(text: &str) -> Option<usize> {
    let mut open = 0u32;
    let mut braces = text
        .bytes()
        .enumerate()
        .filter(|(_, b)| matches!(b, b'{' | b'}'));
    let last = braces.find(|(_, brace)| {
        open = if *brace == b'{' { open + 1 } else { open - 1 };
        open == 0
    });
    last.map(|(at, _)| at + 1)
}

/// The name in a function's header: what stands before its parameters, and after its result.
fn name_of(header: &str) -> Option<&str> {
    let at = header.find(".func").map(|at| at + ".func".len());
    let at = at.or_else(|| header.find(".entry").map(|at| at + ".entry".len()))?;
    let rest = header[at..].trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1,
        None => rest,
    };
    identifiers(rest).next()
}

/// Whatever may be a name. Registers and instructions are among them, which no function is called.
fn identifiers(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let words = text.split(move |c| !inside(c));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::MEGAKERNEL_PTX;

    const TEXT: &str = "// sources 0
.version 7.0
.target sm_80
.address_size 64

.func  (.param .b32 func_retval0) _Z5twiceILi2EEj
(
	.param .b32 _Z5twiceILi2EEj_param_0
)
;
.func  (.param .b64 func_retval0) _Z4longv
()
;
.shared .align 8 .b8 state[104];
.extern .shared .align 128 .b8 dynamic[];
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

.func _Z12unknown_wordj(
	.param .b32 _Z12unknown_wordj_param_0
)
{
	mov.u32 %r1, state;
	ret;
}
.func  (.param .b32 func_retval0) _Z5twiceILi2EEj(
	.param .b32 _Z5twiceILi2EEj_param_0
)
{
	mov.u32 %r1, table;
	{
	call.uni _Z4onlyv, ();
}
	ret;
}
.func _Z4onlyv()
{
	ret;
}
	// .globl	first
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 1024, 1, 1
{
	call.uni _Z5twiceILi2EEj, ();
	call.uni _Z12unknown_wordj, ();
	ret;
}
.visible .entry second()
{
	mov.u32 %r1, dynamic;
	call.uni _Z4longv, ();
	ret;
}
.func  (.param .b64 func_retval0) _Z4longv()
{
	ret;
}
";

    fn spliced(left_out: &[&'static str], bodies: &[(&str, &str)]) -> Result<String, SpliceError> {
        let own = |&(name, body): &(&str, &str)| (name.to_owned(), body.to_owned());
        splice(
            TEXT,
            &Changes {
                entry: "first",
                left_out: left_out.to_vec(),
                bodies: bodies.iter().map(own).collect(),
                functions: String::new(),
                known: None,
                shape: None,
            },
        )
    }

    #[test]
    fn what_the_entry_does_not_reach_goes() {
        let text = spliced(&[], &[]).unwrap();
        let expected = ".version 7.0
.target sm_80
.address_size 64
.func _Z12unknown_wordj(
	.param .b32 _Z12unknown_wordj_param_0
)
;
.func  (.param .b32 func_retval0) _Z5twiceILi2EEj(
	.param .b32 _Z5twiceILi2EEj_param_0
)
;
.func _Z4onlyv()
;
.shared .align 8 .b8 state[104];
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
";
        let (head, functions) = text.split_at(expected.len());
        assert_eq!(head, expected);
        let from = TEXT.find(".func _Z12unknown_wordj(").unwrap();
        let upto = TEXT.find(".visible .entry second").unwrap();
        assert_eq!(
            functions,
            TEXT[from..upto].replace("\t// .globl\tfirst\n", "")
        );
    }

    #[test]
    fn an_entry_has_the_shape_that_its_ctas_are_to_be() {
        let changes = Changes {
            entry: "first",
            shape: Some("512x3".parse().unwrap()),
            ..Changes::default()
        };
        let text = splice(TEXT, &changes).unwrap();
        assert!(
            text.contains(")\n.maxntid 512, 1, 1\n.minnctapersm 3\n{\n"),
            "{text}"
        );
        assert_eq!(text.matches(".maxntid").count(), 1);
    }

    #[test]
    fn a_function_that_is_left_out_is_a_trap_and_takes_along_what_only_it_uses() {
        let text = spliced(&["_Z4only"], &[]).unwrap();
        let trap = "{
	.param .b32 param0;
	st.param.b32 [param0], -1;
	call.uni _Z12unknown_wordj, (param0);
	ret;
}
";
        assert_eq!(text.matches(trap).count(), 1, "{text}");
        let none = SpliceError::NoFunction {
            name: "_Z5onl".to_owned(),
        };
        assert_eq!(spliced(&["_Z5onl"], &[]), Err(none));
    }

    #[test]
    fn a_body_takes_the_place_of_another_which_it_may_call() {
        let name = "_Z5twiceILi2EEj";
        let own = spliced(&[], &[(name, "\tret;\n")]).unwrap();
        assert!(own.contains("_param_0\n)\n{\n\tret;\n}\n"), "{own}");
        assert!(!own.contains("_Z4onlyv") && !own.contains(SHIPPED), "{own}");
        let call = format!("\tcall.uni {SHIPPED}{name}, ();\n\tret;\n");
        let both = spliced(&[], &[(name, &call)]).unwrap();
        assert_eq!(both.matches(&format!(" {SHIPPED}{name}(\n")).count(), 2);
        assert!(both.contains("_Z4onlyv"), "{both}");
    }

    /// Two entries of eight bytes begin at 16; the second word of each may be 1 or 3.
    fn folded(body: &str) -> String {
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.extern .shared .b8 vyre_shared[];\n\
             .shared .align 4 .b8 state[8];\n.visible .entry first(\n\t.param .u32 first_param_0\n)\n\
             {{\n.reg .pred %p<5>;\n.reg .b32 %r<9>;\n{body}ret;\n}}\n"
        );
        let words = [
            (4, vec![16]),
            (16, vec![5]),
            (20, vec![1, 3]),
            (24, vec![5]),
            (28, vec![1]),
        ];
        let known = Known {
            words: words.into_iter().collect(),
            tables: vec![Table {
                at: 16,
                entry: 8,
                count: 2,
            }],
        };
        let changes = Changes {
            entry: "first",
            known: Some(known),
            ..Changes::default()
        };
        let out = splice(&text, &changes).unwrap();
        out[out.find("%r<9>;\n").unwrap() + 7..].to_owned()
    }

    #[test]
    fn what_tables_hold_decides_branches() {
        // Any entry of the table: its first word is 5, its second one no 2.
        let entry = "ld.param.u32 %r1, [first_param_0];\nshl.b32 %r2, %r1, 3;\n\
            ld.shared.u32 %r3, [vyre_shared+4];\nmov.u32 %r4, vyre_shared;\n\
            add.s32 %r5, %r4, %r3;\nadd.s32 %r6, %r5, %r2;\n";
        let test = |word: u32, with: u32| {
            format!(
                "{entry}ld.shared.u32 %r7, [%r6+{word}];\nsetp.eq.s32 %p1, %r7, {with};\n\
                 @%p1 bra $yes;\nst.shared.u32 [state], %r1;\n$yes:\n"
            )
        };
        assert_eq!(folded(&test(0, 5)), "ret;\n}\n");
        let not = "ld.param.u32 %r1, [first_param_0];\nst.shared.u32 [state], %r1;\nret;\n}\n";
        assert_eq!(folded(&test(4, 2)), not);
        // It may be this, and an address that is none of an entry is not known.
        assert!(folded(&test(4, 3)).contains("@%p1 bra $yes;\n"));
        assert!(folded(&test(2, 5)).contains("@%p1 bra $yes;\n"));
    }

    #[test]
    fn a_variable_holds_what_is_stored_to_it_unless_its_address_gets_away() {
        let test = "mov.u32 %r1, 7;\nst.shared.u32 [state+4], %r1;\nld.shared.u32 %r2, [state+4];\n\
            setp.ne.s32 %p1, %r2, 7;\n@%p1 bra $no;\nbar.sync 0;\n$no:\n";
        let kept = "mov.b32 %r1, 7;\nst.shared.u32 [state+4], %r1;\nbar.sync 0;\nret;\n}\n";
        assert_eq!(folded(test), kept);
        let away = "mov.u32 %r3, state;\nmapa.shared::cluster.u32 %r4, %r3, 1;\n";
        assert!(folded(&format!("{away}{test}")).contains("@%p1 bra $no;\n"));
    }

    #[test]
    fn what_is_no_text_of_ours_is_refused_by_line() {
        let other = TEXT.replace(".shared .align 8", "shared .align 8");
        let refused = splice(&other, &Changes::default());
        assert_eq!(refused, Err(SpliceError::Unknown { line: 14 }));
    }

    #[test]
    fn the_megakernels_text_keeps_every_function_that_it_calls() {
        let changes = Changes {
            entry: "vyre_megakernel",
            ..Changes::default()
        };
        let text = splice(MEGAKERNEL_PTX, &changes).unwrap();
        assert!(!text.contains("vyre_symmetric"));
        let functions = |text: &str| -> HashSet<String> {
            let parts = parts(text).unwrap().into_iter();
            let names = parts.filter_map(|part| match part {
                Part::Function { name, .. } => Some(name.to_owned()),
                _ => None,
            });
            names.collect()
        };
        let mut all = functions(MEGAKERNEL_PTX);
        assert!(all.remove("vyre_symmetric"));
        assert_eq!(functions(&text), all);
        // And again, for nothing is left to be dropped.
        assert_eq!(splice(&text, &changes).as_deref(), Ok(text.as_str()));
    }
}
