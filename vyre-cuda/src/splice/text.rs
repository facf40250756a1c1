//! The body of a PTX function as statements: what folding has to know of each, and its text for all else.

use std::collections::HashMap;
use std::ops::Range;

/// Index of a register within its function. Two scopes may have registers of one name; these are different ones.
pub(super) type Register = u32;
/// Index of a variable in shared memory.
pub(super) type Symbol = u16;

/// An operand, as far as folding follows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Register(Register),
    Number(u64),
    /// The address of a variable, and what is added to it.
    Address(Symbol, i64),
    /// Memory at a register's value plus a number.
    At(Register, i64),
    /// Memory at a variable plus a number.
    AtAddress(Symbol, i64),
    /// A name in brackets, of a parameter, plus a number.
    AtName(String, u32),
    /// `{a, b}`, or `a|b`.
    Several(Vec<Operand>),
    /// Anything else, such as a special register or a float.
    Other,
}

impl Operand {
    /// Registers in it that are read; of a result, only those of an address.
    fn registers(&self, is_source: bool, found: &mut Vec<Register>) {
        match self {
            Operand::At(register, _) => found.push(*register),
            Operand::Register(register) if is_source => found.push(*register),
            Operand::Several(all) => all.iter().for_each(|one| one.registers(is_source, found)),
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What an instruction does, where folding computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Move,
    Add,
    Sub,
    Mul,
    /// A product of twice the bits.
    Wide,
    /// A product and a sum.
    Mad,
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
    Min,
    Max,
    Set(Compare),
    Select,
    /// Of integers, from this number of bits (extended by the sign or not).
    Convert {
        from: u32,
        signed: bool,
    },
    /// The same address in another space, or generic.
    Space,
    /// From shared or generic memory.
    Load,
    /// To shared or generic memory.
    Store,
    /// A load that may not be left out, or a read and a write at once: the element may be anything then.
    Touch,
    /// Without effects besides its result, which is not followed.
    Pure,
    /// Anything else.
    Opaque,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Open,
    Close,
    /// A declaration, and the registers if it is of these.
    Declare(Option<String>),
    Label(String),
    /// A label with the list of a switch's targets, by name and block.
    Targets(String, Vec<(String, u32)>),
    /// To that label, and the block that it begins.
    Branch(String, u32),
    /// By the value of an operand to the targets of a list.
    Switch(Operand, String),
    /// Ends the thread's way through the function.
    Return,
    /// Calls the function of that name.
    Call(String),
    /// A parameter of the call that follows: its number and the byte in it, the call's place, and the value.
    Argument((u32, u32), usize, Operand),
    /// What the call before gave back, from that byte on.
    Result(usize, u32),
    /// One of the function's own parameters, and the byte in it.
    Parameter(u32, u32),
    /// What the function gives back, from that byte on.
    Give(u32, Operand),
    /// An instruction.
    Plain,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) kind: Kind,
    /// The predicate that it depends on, and whether on its opposite.
    pub(super) guard: Option<(Register, bool)>,
    pub(super) code: Code,
    /// Bits that it computes with, and whether they have a sign.
    pub(super) bits: u32,
    pub(super) signed: bool,
    /// The operands, and their places in `text`.
    pub(super) operands: Vec<(Operand, Range<usize>)>,
    pub(super) text: String,
    /// The block that it is in.
    pub(super) block: u32,
}

impl Statement {
    /// Where its result goes.
    pub(super) fn result(&self) -> Option<&Operand> {
        match self.kind {
            Kind::Plain if self.code == Code::Store => None,
            Kind::Plain | Kind::Result(..) | Kind::Parameter(..) => Some(&self.operands.first()?.0),
            _ => None,
        }
    }

    /// Registers that it sets.
    pub(super) fn sets(&self) -> impl Iterator<Item = Register> {
        let all = match self.result() {
            Some(Operand::Several(all)) => all.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        let set = all.iter().filter_map(|operand| match operand {
            Operand::Register(register) => Some(*register),
            _ => None,
        });
        set.collect::<Vec<_>>().into_iter()
    }

    /// Registers that it reads, or may.
    pub(super) fn reads(&self) -> impl Iterator<Item = Register> {
        let mut read: Vec<Register> = self.guard.iter().map(|guard| guard.0).collect();
        let plain = self.kind == Kind::Plain;
        let all = plain && matches!(self.code, Code::Opaque | Code::Touch);
        let sources = self.sources().len();
        for (at, (operand, _)) in self.operands.iter().enumerate() {
            let is_source = all || at >= self.operands.len() - sources;
            operand.registers(is_source, &mut read);
        }
        read.into_iter()
    }

    /// The operands that it only reads.
    pub(super) fn sources(&self) -> &[(Operand, Range<usize>)] {
        match self.result() {
            Some(_) => &self.operands[1..],
            None => &self.operands,
        }
    }
}

/// A function's body.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) statements: Vec<Statement>,
    /// Of each block, its first statement; a block goes on in the next one unless it ends otherwise.
    pub(super) blocks: Vec<usize>,
    /// Of each register, its bits as declared: 0 for what has no bits that a number could stand for.
    pub(super) registers: Vec<u32>,
}

/// Why a body is not understood.
#[derive(Debug)]
pub(super) struct Strange;

/// What is declared in a pair of braces: names, or what names begin with that are numbered, and their bits.
#[derive(Default)]
struct Scope {
    number: usize,
    declared: Vec<(String, bool, u32)>,
}

struct Parser<'a> {
    body: Body,
    names: HashMap<(usize, String), Register>,
    scopes: Vec<Scope>,
    /// Of each scope, the one around it.
    around: Vec<usize>,
    /// Blocks by their labels, and the scopes of these.
    labels: HashMap<(usize, String), u32>,
    /// Statements that name labels, and the scopes that these are in.
    named: Vec<(usize, usize)>,
    symbols: &'a HashMap<&'a str, Symbol>,
    /// The function's own result and parameters.
    own: (Option<&'a str>, Vec<&'a str>),
    /// Parameters that were set for the next call.
    set: Vec<usize>,
    /// The last call, and the name of what it gives back.
    called: Option<(usize, String)>,
}

/// Reads the body, with its braces, of the function that has this header.
pub(super) fn parse(
    header: &str,
    body: &str,
    symbols: &HashMap<&str, Symbol>,
) -> Result<Body, Strange> {
    let mut parser = Parser {
        body: Body::default(),
        names: HashMap::new(),
        scopes: vec![Scope::default()],
        around: vec![0],
        labels: HashMap::new(),
        named: Vec::new(),
        symbols,
        own: own_parameters(header),
        set: Vec::new(),
        called: None,
    };
    parser.body.blocks.push(0);
    let inside = body.trim().strip_prefix('{').ok_or(Strange)?;
    let inside = inside.strip_suffix('}').ok_or(Strange)?;
    let clean: String = inside
        .lines()
        .flat_map(|line| [line.split("//").next().unwrap_or_default().trim(), "\n"])
        .collect();
    let mut rest = clean.trim_start();
    while !rest.is_empty() {
        let taken = match rest.as_bytes()[0] {
            b'{' => {
                let number = parser.around.len();
                parser.around.push(parser.scope());
                parser.scopes.push(Scope {
                    number,
                    declared: Vec::new(),
                });
                parser.push(Kind::Open, "{");
                1
            }
            b'}' => {
                parser.scopes.pop();
                if parser.scopes.is_empty() {
                    return Err(Strange);
                }
                parser.push(Kind::Close, "}");
                1
            }
            _ => match label(rest) {
                Some((name, taken)) => {
                    parser.label(name, &rest[taken..])?;
                    taken
                }
                None => {
                    let end = rest.find(';').ok_or(Strange)?;
                    parser.statement(&rest[..end])?;
                    end + 1
                }
            },
        };
        rest = rest[taken..].trim_start();
    }
    parser.finish()
}

/// The names of a function's result and of its parameters, in order.
fn own_parameters(header: &str) -> (Option<&str>, Vec<&str>) {
    let names = |list: &'_ str| -> Vec<Range<usize>> {
        let declared = list
            .split(',')
            .map(|one| one.split('[').next().unwrap_or_default().trim_end());
        let names = declared.filter_map(|one| one.rsplit(char::is_whitespace).next());
        let at = |name: &str| name.as_ptr() as usize - header.as_ptr() as usize;
        names
            .filter(|n| !n.is_empty())
            .map(|n| at(n)..at(n) + n.len())
            .collect()
    };
    let lists: Vec<Vec<Range<usize>>> = (header.split('(').skip(1))
        .map(|list| names(list.split(')').next().unwrap_or_default()))
        .collect();
    let (result, parameters) = match &*lists {
        [] => (None, &[][..]),
        [parameters] => (None, &**parameters),
        [result, parameters, ..] => (result.first(), &**parameters),
    };
    let name = |range: &Range<usize>| &header[range.clone()];
    (result.map(name), parameters.iter().map(name).collect())
}

/// A label at the start of a text, and how long that is with its colon.
fn label(text: &str) -> Option<(&str, usize)> {
    let end = text.find(|c: char| !is_name(c))?;
    let rest = text[end..].trim_start();
    let colon = rest.starts_with(':') && !rest.starts_with("::");
    (end > 0 && colon).then(|| (&text[..end], text.len() - rest.len() + 1))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

impl<'a> Parser<'a> {
    fn push(&mut self, kind: Kind, text: &str) -> &mut Statement {
        self.body.statements.push(Statement {
            kind,
            guard: None,
            code: Code::Opaque,
            bits: 0,
            signed: false,
            operands: Vec::new(),
            text: text.to_owned(),
            block: self.body.blocks.len() as u32 - 1,
        });
        self.body.statements.last_mut().expect("it was pushed")
    }

    /// The innermost scope that is open.
    fn scope(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.number)
    }

    /// The next statement begins a block.
    fn begin_block(&mut self) {
        let next = self.body.statements.len();
        if self.body.blocks.last() != Some(&next) {
            self.body.blocks.push(next);
        }
    }

    fn label(&mut self, name: &str, rest: &str) -> Result<(), Strange> {
        if rest.trim_start().starts_with(".branchtargets") {
            // The statement that follows takes the label along.
            let (here, scope) = (self.body.statements.len(), self.scope());
            self.named.push((here, scope));
            self.push(Kind::Targets(name.to_owned(), Vec::new()), "");
            return Ok(());
        }
        self.begin_block();
        let block = self.body.blocks.len() as u32 - 1;
        let scoped = (self.scope(), name.to_owned());
        if self.labels.insert(scoped, block).is_some() {
            return Err(Strange);
        }
        self.push(Kind::Label(name.to_owned()), &format!("{name}:"));
        Ok(())
    }

    fn declare(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace();
        let mut registers = None;
        if words.next() == Some(".reg") {
            let ty = words.next().unwrap_or_default();
            let bits = match ty.trim_start_matches('.') {
                "pred" => 1,
                "b16" | "u16" | "s16" => 16,
                "b32" | "u32" | "s32" => 32,
                "b64" | "u64" | "s64" => 64,
                _ => 0,
            };
            let names: String = words.collect();
            let scope = self.scopes.last_mut().expect("there is the outermost one");
            for name in names.split(',') {
                let (name, numbered) = match name.split_once('<') {
                    Some((name, _)) => (name, true),
                    None => (name, false),
                };
                scope.declared.push((name.to_owned(), numbered, bits));
            }
            registers = Some(names);
        }
        self.push(Kind::Declare(registers), text);
    }

    /// The register of that name, if it was declared.
    fn register(&mut self, name: &str) -> Option<Register> {
        let numbers = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let mut scopes = self.scopes.iter().rev();
        let (scope, bits) = scopes.find_map(|scope| {
            let mut declared = scope.declared.iter();
            let found = declared.find(|(declared, numbered, _)| {
                if *numbered {
                    numbers == declared && numbers.len() < name.len()
                } else {
                    name == declared
                }
            });
            found.map(|(_, _, bits)| (scope.number, *bits))
        })?;
        let next = self.body.registers.len() as Register;
        let register = *self
            .names
            .entry((scope, name.to_owned()))
            .or_insert_with(|| {
                self.body.registers.push(bits);
                next
            });
        Some(register)
    }

    fn operand(&mut self, text: &str) -> Operand {
        let text = text.trim();
        if let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            let (name, offset) = match inside.split_once('+') {
                Some((name, offset)) => (name.trim(), number(offset.trim())),
                None => (inside.trim(), Some(0)),
            };
            let Some(offset) = offset else {
                return Operand::Other;
            };
            if let Some(&symbol) = self.symbols.get(name) {
                return Operand::AtAddress(symbol, offset as i64);
            }
            return match self.register(name) {
                Some(register) => Operand::At(register, offset as i64),
                None => Operand::AtName(name.to_owned(), offset as u32),
            };
        }
        if let Some(inside) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            let several = inside.split(',').map(|one| self.operand(one)).collect();
            return Operand::Several(several);
        }
        if text.contains('|') {
            return Operand::Several(text.split('|').map(|one| self.operand(one)).collect());
        }
        if let Some(number) = number(text) {
            return Operand::Number(number);
        }
        let (name, offset) = match text.split_once('+') {
            Some((name, offset)) => (name.trim(), number(offset.trim())),
            None => (text, Some(0)),
        };
        if let (Some(&symbol), Some(offset)) = (self.symbols.get(name), offset) {
            return Operand::Address(symbol, offset as i64);
        }
        self.register(text)
            .map_or(Operand::Other, Operand::Register)
    }

    fn statement(&mut self, text: &str) -> Result<(), Strange> {
        let text = &text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if text.starts_with(".branchtargets") {
            let list = text.trim_start_matches(".branchtargets").split(',');
            let list = list.map(|name| (name.trim().to_owned(), 0)).collect();
            let last = self.body.statements.last_mut().ok_or(Strange)?;
            let Kind::Targets(_, targets) = &mut last.kind else {
                return Err(Strange);
            };
            *targets = list;
            return Ok(());
        }
        if text.starts_with(".pragma") {
            self.push(Kind::Plain, text);
            return Ok(());
        }
        if text.starts_with('.') {
            self.declare(text);
            return Ok(());
        }
        let mut at = 0;
        let mut guard = None;
        if let Some(guarded) = text.strip_prefix('@') {
            let (name, _) = guarded.split_once(' ').ok_or(Strange)?;
            at = 1 + name.len() + 1;
            let (name, not) = match name.strip_prefix('!') {
                Some(name) => (name, true),
                None => (name, false),
            };
            guard = Some((self.register(name).ok_or(Strange)?, not));
        }
        let instruction = &text[at..];
        let (op, arguments) = instruction.split_once(' ').unwrap_or((instruction, ""));
        let mut operands = Vec::new();
        let mut start = at + instruction.len() - arguments.len();
        for one in split(arguments) {
            let range = start..start + one.len();
            start += one.len() + 1;
            let trimmed = range.start + (one.len() - one.trim_start().len())
                ..range.end - (one.len() - one.trim_end().len());
            operands.push((self.operand(one), trimmed));
        }
        if arguments.is_empty() {
            operands.clear();
        }
        let parts: Vec<&str> = op.split('.').collect();
        let kind = self.kind(&parts, arguments, &operands)?;
        let ends = matches!(kind, Kind::Branch(..) | Kind::Switch(..) | Kind::Return);
        let (code, bits, signed) = match kind {
            Kind::Plain => decode(&parts, operands.len()),
            _ => (Code::Opaque, last_bits(&parts).0, false),
        };
        // Words of a pair are not followed, nor a predicate and its opposite.
        let several = |(operand, _): &(Operand, _)| matches!(operand, Operand::Several(_));
        let code = match code {
            Code::Load | Code::Store | Code::Touch | Code::Opaque => code,
            _ if operands.iter().any(several) => Code::Pure,
            _ => code,
        };
        let statement = self.push(kind, text);
        (statement.guard, statement.code) = (guard, code);
        (statement.bits, statement.signed) = (bits, signed);
        statement.operands = operands;
        if ends {
            self.begin_block();
        }
        Ok(())
    }

    /// What kind of statement an instruction is, its parameters told apart from memory.
    fn kind(
        &mut self,
        parts: &[&str],
        arguments: &str,
        operands: &[(Operand, Range<usize>)],
    ) -> Result<Kind, Strange> {
        let here = self.body.statements.len();
        Ok(match (parts[0], parts.get(1)) {
            ("bra", _) => {
                self.named.push((here, self.scope()));
                Kind::Branch(arguments.trim().to_owned(), 0)
            }
            ("brx", _) => {
                let (index, list) = arguments.split_once(',').ok_or(Strange)?;
                let index = self.operand(index);
                Kind::Switch(index, list.trim().to_owned())
            }
            ("ret" | "exit", _) | ("trap", None) => Kind::Return,
            ("call", _) => {
                let (result, rest) = match arguments.trim_start().strip_prefix('(') {
                    Some(rest) => {
                        let (result, rest) = rest.split_once(')').ok_or(Strange)?;
                        (result.trim(), rest.trim_start().trim_start_matches(','))
                    }
                    None => ("", arguments),
                };
                let (name, list) = rest.split_once(',').unwrap_or((rest, ""));
                let list = list.trim().trim_start_matches('(').trim_end_matches(')');
                let given: Vec<&str> = list.split(',').map(str::trim).collect();
                for at in std::mem::take(&mut self.set) {
                    let statement = &mut self.body.statements[at];
                    let [(Operand::AtName(name, byte), _), (value, _)] = &*statement.operands
                    else {
                        return Err(Strange);
                    };
                    let number = given.iter().position(|g| g == name).ok_or(Strange)?;
                    let value = value.clone();
                    statement.kind = Kind::Argument((number as u32, *byte), here, value);
                }
                self.called = Some((here, result.to_owned()));
                Kind::Call(name.trim().to_owned())
            }
            ("st", Some(&"param")) => {
                let [(Operand::AtName(name, byte), _), (value, _)] = operands else {
                    return Err(Strange);
                };
                if self.own.0 == Some(name) {
                    Kind::Give(*byte, value.clone())
                } else {
                    self.set.push(here);
                    Kind::Plain
                }
            }
            ("ld", Some(&"param")) => {
                let [(result, _), (Operand::AtName(name, byte), _)] = operands else {
                    return Err(Strange);
                };
                if !matches!(result, Operand::Register(_)) {
                    return Err(Strange);
                }
                let own = self.own.1.iter().position(|own| own == name);
                match (own, &self.called) {
                    (Some(own), _) => Kind::Parameter(own as u32, *byte),
                    (None, Some((call, result))) if result == name => Kind::Result(*call, *byte),
                    _ => return Err(Strange),
                }
            }
            _ => Kind::Plain,
        })
    }

    /// The block of a label that is named in a scope.
    fn block(&self, mut scope: usize, label: &str) -> Result<u32, Strange> {
        loop {
            match self.labels.get(&(scope, label.to_owned())) {
                Some(&block) => return Ok(block),
                None if scope == 0 => return Err(Strange),
                None => scope = self.around[scope],
            }
        }
    }

    fn finish(mut self) -> Result<Body, Strange> {
        for (at, scope) in std::mem::take(&mut self.named) {
            let mut kind = self.body.statements[at].kind.clone();
            match &mut kind {
                Kind::Branch(label, block) => *block = self.block(scope, label)?,
                Kind::Targets(_, targets) => {
                    for (label, block) in targets {
                        *block = self.block(scope, label)?;
                    }
                }
                _ => unreachable!("only these name labels"),
            }
            self.body.statements[at].kind = kind;
        }
        let statements = self.body.statements.iter();
        let lists = statements.clone().filter_map(|s| match &s.kind {
            Kind::Targets(name, _) => Some(name),
            _ => None,
        });
        let lists: Vec<&String> = lists.collect();
        let one = |list| lists.iter().filter(|&&name| name == list).count() == 1;
        let mut switches = statements.filter_map(|s| match &s.kind {
            Kind::Switch(_, list) => Some(list),
            _ => None,
        });
        match self.scopes.len() == 1 && self.set.is_empty() && switches.all(one) {
            true => Ok(self.body),
            false => Err(Strange),
        }
    }
}

/// Operands between commas that are in no brackets.
fn split(arguments: &str) -> Vec<&str> {
    let (mut open, mut from, mut found) = (0i32, 0, Vec::new());
    for (at, c) in arguments.char_indices() {
        match c {
            '{' | '[' | '(' => open += 1,
            '}' | ']' | ')' => open -= 1,
            ',' if open == 0 => {
                found.push(&arguments[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&arguments[from..]);
    found
}

fn number(text: &str) -> Option<u64> {
    let (digits, negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex.trim_end_matches('U'), 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => return None,
        None => digits.trim_end_matches('U').parse().ok()?,
    };
    Some(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// Bits of the last type in an instruction's name, and whether they have a sign; 0 if that is no integer.
fn last_bits(parts: &[&str]) -> (u32, bool) {
    type_bits(parts.last().copied().unwrap_or_default())
}

fn type_bits(ty: &str) -> (u32, bool) {
    if ty == "pred" {
        return (1, false);
    }
    let Some((kind, bits)) = ty.split_at_checked(1) else {
        return (0, false);
    };
    match (kind, bits.parse()) {
        ("u" | "b", Ok(bits)) => (bits, false),
        ("s", Ok(bits)) => (bits, true),
        _ => (0, false),
    }
}

/// What an instruction does, as far as that is followed.
fn decode(parts: &[&str], count: usize) -> (Code, u32, bool) {
    let (bits, signed) = last_bits(parts);
    let integer = bits != 0;
    let code = match (parts[0], count) {
        ("mov", 2) if integer && parts.len() == 2 => Code::Move,
        ("add", 3) if integer && parts.len() == 2 => Code::Add,
        ("sub", 3) if integer && parts.len() == 2 => Code::Sub,
        ("mul", 3) if integer && parts.get(1) == Some(&"lo") => Code::Mul,
        ("mul", 3) if integer && parts.get(1) == Some(&"wide") => Code::Wide,
        ("mad", 4) if integer && parts.get(1) == Some(&"lo") && parts.len() == 3 => Code::Mad,
        ("and", 3) => Code::And,
        ("or", 3) => Code::Or,
        ("xor", 3) => Code::Xor,
        ("not", 2) => Code::Not,
        ("shl", 3) => Code::Shl,
        ("shr", 3) => Code::Shr,
        ("min", 3) if integer && parts.len() == 2 => Code::Min,
        ("max", 3) if integer && parts.len() == 2 => Code::Max,
        ("setp", 3) if integer && parts.len() == 3 => match parts[1] {
            "eq" => Code::Set(Compare::Eq),
            "ne" => Code::Set(Compare::Ne),
            "lt" => Code::Set(Compare::Lt),
            "le" => Code::Set(Compare::Le),
            "gt" => Code::Set(Compare::Gt),
            "ge" => Code::Set(Compare::Ge),
            _ => Code::Pure,
        },
        ("selp", 4) if integer => Code::Select,
        ("cvt", 2) if integer && parts.len() == 3 => {
            let to = type_bits(parts[1]).0;
            if to == 0 {
                Code::Pure
            } else {
                return (Code::Convert { from: bits, signed }, to, false);
            }
        }
        ("cvta", 2) if !parts.contains(&"global") => Code::Space,
        ("ld" | "st", _) => {
            let spaces = ["global", "local", "const", "param"];
            let other = parts.iter().any(|p| spaces.contains(p));
            let weak = (parts[1..parts.len() - 1].iter())
                .all(|p| matches!(*p, "shared" | "global" | "local" | "nc" | "v2" | "v4"));
            let code = match (parts[0], other, weak) {
                ("ld", true, true) => Code::Pure,
                (_, true, _) => Code::Opaque,
                ("ld", false, true) => Code::Load,
                ("st", false, true) => Code::Store,
                ("ld", false, false) => Code::Touch,
                _ => Code::Opaque,
            };
            let digits =
                parts[parts.len() - 1].trim_start_matches(|c: char| c.is_ascii_alphabetic());
            return (code, digits.parse().unwrap_or(0), signed);
        }
        ("atom", _) if parts.get(1) == Some(&"shared") => Code::Touch,
        (
            "mov" | "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min"
            | "max" | "setp" | "set" | "selp" | "slct" | "cvt" | "cvta" | "popc" | "clz" | "bfe"
            | "bfi" | "brev" | "bfind" | "prmt" | "shf" | "lop3" | "rcp" | "sqrt" | "rsqrt" | "ex2"
            | "lg2" | "sin" | "cos" | "tanh" | "copysign" | "testp" | "sad" | "fns",
            _,
        ) => Code::Pure,
        _ => Code::Opaque,
    };
    (code, bits, signed)
}
