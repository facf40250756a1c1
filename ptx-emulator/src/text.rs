//! The text of PTX: tokens, statements and declarations. What instructions mean is `decode`'s.

use crate::decode;
use crate::slots;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::rc::Rc;

/// Why a text is not a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// A text as it is run.
#[derive(Debug)]
pub struct Module {
    pub(crate) functions: Vec<Rc<Function>>,
    pub(crate) by_name: HashMap<String, usize>,
    /// Where dynamic shared memory begins: after all that is static.
    pub(crate) shared_bytes: u32,
    /// Variables in global memory with their first contents.
    pub(crate) globals: Vec<(u64, Vec<u8>)>,
}

/// One function or entry.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Arguments and results in the frame's parameter space: place and bytes.
    pub(crate) params: Vec<Place>,
    pub(crate) results: Vec<Place>,
    /// Bytes of parameter space and of local memory, for each lane.
    pub(crate) param_bytes: u32,
    pub(crate) local_bytes: u32,
    pub(crate) code: Vec<Instr>,
    /// Registers of a frame.
    pub(crate) slots: u32,
    /// By slot, from where to where in the code it holds something.
    pub(crate) lives: Vec<Vec<(u32, u32)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u32,
    pub(crate) bytes: u32,
}

/// No register: `_`.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// One instruction. Registers are numbers of the text first, then slots of the frame.
#[derive(Clone, Debug)]
pub(crate) struct Instr {
    pub(crate) guard: Option<(u32, bool)>,
    pub(crate) op: decode::Op,
    pub(crate) to: Vec<u32>,
    /// Bits of the registers in `to`.
    pub(crate) widths: Vec<u8>,
    pub(crate) from: Vec<Src>,
    pub(crate) line: u32,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Src {
    Reg(u32),
    NotReg(u32),
    Imm(u64),
    Special(decode::Special),
    /// An address of the frame's local memory.
    Local(u32),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Int(u64),
    F32(u32),
    F64(u64),
    Text,
    Mark(char),
}

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Src(Src, u8),
    F32(u32),
    F64(u64),
    /// A number without a type.
    Number(u64),
    Pair(u32, u32),
    /// Base and offset.
    Address(Src, i64),
    Param(u32),
    Vector(Vec<Operand>),
    List(Vec<Operand>),
    Name(String),
    Nowhere,
}

struct Lexer {
    tokens: Vec<(Token, u32)>,
}

fn lex(text: &str) -> Result<Vec<(Token, u32)>, ParseError> {
    let bytes = text.as_bytes();
    let mut lexer = Lexer { tokens: Vec::new() };
    let (mut at, mut line) = (0, 1);
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b"_$%.".contains(&b);
    while at < bytes.len() {
        let b = bytes[at];
        let start = at;
        let mut push = |token| lexer.tokens.push((token, line));
        if b == b'\n' {
            line += 1;
            at += 1;
        } else if b.is_ascii_whitespace() {
            at += 1;
        } else if bytes[at..].starts_with(b"//") {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
        } else if b == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += 1;
            }
            at += 1;
            push(Token::Text);
        } else if b.is_ascii_digit() {
            while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
                at += 1;
            }
            let word = &text[start..at];
            let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
            let number = match (word.get(..2), word.get(2..)) {
                (Some("0x" | "0X"), Some(digits)) => {
                    hex(digits.trim_end_matches('U')).map(Token::Int)
                }
                (Some("0f" | "0F"), Some(digits)) => hex(digits).map(|x| Token::F32(x as u32)),
                (Some("0d" | "0D"), Some(digits)) => hex(digits).map(Token::F64),
                _ => word.trim_end_matches('U').parse().ok().map(Token::Int),
            };
            let message = format!("`{word}` is no number");
            push(number.ok_or(ParseError { line, message })?);
        } else if is_word(b) {
            while at < bytes.len() && (is_word(bytes[at]) || bytes[at..].starts_with(b"::")) {
                at += if bytes[at] == b':' { 2 } else { 1 };
            }
            push(Token::Word(text[start..at].to_owned()));
        } else {
            push(Token::Mark(char::from(b)));
            at += 1;
        }
    }
    Ok(lexer.tokens)
}

/// What a name of a declared register stands for.
#[derive(Clone, Copy)]
struct Regs {
    first: u32,
    count: Option<u32>,
    width: u8,
}

/// Names of one `{ }`.
#[derive(Default)]
struct Scope {
    regs: HashMap<String, Regs>,
    params: HashMap<String, Place>,
}

struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    functions: Vec<Rc<Function>>,
    by_name: HashMap<String, usize>,
    shared: HashMap<String, u32>,
    shared_bytes: u32,
    /// Dynamic shared memory begins after all static memory, which is known at the end of the text.
    dynamic: HashMap<String, u32>,
    globals: HashMap<String, u64>,
    contents: Vec<(u64, Vec<u8>)>,
    /// The function being read.
    scopes: Vec<Scope>,
    locals: HashMap<String, u32>,
    labels: HashMap<String, u32>,
    tables: HashMap<String, Vec<String>>,
    next_reg: u32,
    /// Parameter space that is taken here.
    param_bytes: u32,
    function: Function,
}

/// Where variables of the module in global memory lie.
const GLOBALS_AT: u64 = 0x10_0000_0000;

type Parsed<T> = Result<T, ParseError>;

impl Module {
    /// Reads a text. The comments that are instructions of clusters stay comments.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let tokens = lex(text)?;
        // Static variables may stand behind functions that name them.
        let mut parser = Parser::new(tokens.clone());
        parser.declare();
        let dynamic = parser.shared_bytes.next_multiple_of(128);
        for at in parser.dynamic.values_mut() {
            *at = dynamic;
        }
        parser.at = 0;
        parser.module()?;
        Ok(Module {
            functions: parser.functions,
            by_name: parser.by_name,
            shared_bytes: dynamic,
            globals: parser.contents,
        })
    }

    /// Reads a text as a device with clusters does.
    pub fn parse_with_clusters(text: &str) -> Result<Module, ParseError> {
        Module::parse(&text.replace("//sm_90 ", ""))
    }

    /// Names of all functions and entries, in order.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|f| f.name.as_str())
    }

    /// Instructions of all functions.
    pub fn instructions(&self) -> usize {
        self.functions.iter().map(|f| f.code.len()).sum()
    }

    /// Static shared memory, after which the dynamic one begins.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }
}

impl Parser {
    fn new(tokens: Vec<(Token, u32)>) -> Parser {
        Parser {
            tokens,
            at: 0,
            functions: Vec::new(),
            by_name: HashMap::new(),
            shared: HashMap::new(),
            shared_bytes: 0,
            dynamic: HashMap::new(),
            globals: HashMap::new(),
            contents: Vec::new(),
            scopes: Vec::new(),
            locals: HashMap::new(),
            labels: HashMap::new(),
            tables: HashMap::new(),
            next_reg: 0,
            param_bytes: 0,
            function: Function::default(),
        }
    }

    fn line(&self) -> u32 {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(0, |t| t.1)
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError {
            line: self.line(),
            message: message.into(),
        })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.0)
    }

    fn next(&mut self) -> Parsed<Token> {
        let Some(token) = self.peek().cloned() else {
            return self.error("the text ends here");
        };
        self.at += 1;
        Ok(token)
    }

    fn is_mark(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        match self.is_mark(mark) {
            true => Ok(()),
            false => self.error(format!("`{mark}` should stand here, not {:?}", self.peek())),
        }
    }

    fn word(&mut self) -> Parsed<String> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => {
                self.at -= 1;
                self.error(format!("a name should stand here, not {other:?}"))
            }
        }
    }

    fn int(&mut self) -> Parsed<u64> {
        let minus = self.is_mark('-');
        match self.next()? {
            Token::Int(x) => Ok(if minus { x.wrapping_neg() } else { x }),
            other => self.error(format!("a number should stand here, not {other:?}")),
        }
    }

    fn skip_statement(&mut self) -> Parsed<()> {
        while self.next()? != Token::Mark(';') {}
        Ok(())
    }

    /// Finds the variables of the module.
    fn declare(&mut self) {
        while let Some(token) = self.peek().cloned() {
            self.at += 1;
            if let Token::Word(word) = token
                && (word == ".shared" || word == ".global")
            {
                // A malformed one is found again when the module is read.
                let _ = self.variable(&word);
            }
        }
    }

    /// A variable of shared or global memory, after the word that says so.
    fn variable(&mut self, space: &str) -> Parsed<()> {
        let (mut align, mut size) = (1u64, 0u64);
        let name = loop {
            let word = self.word()?;
            match word.as_str() {
                ".align" => align = self.int()?,
                _ if word.starts_with('.') => size = u64::from(type_bits(&word).unwrap_or(8)) / 8,
                _ => break word,
            }
        };
        align = align.max(size);
        let mut is_dynamic = false;
        if self.is_mark('[') {
            is_dynamic = self.is_mark(']');
            if !is_dynamic {
                size *= self.int()?;
                self.mark(']')?;
            }
        }
        let mut contents = vec![0; size as usize];
        if self.is_mark('=') {
            self.mark('{')?;
            // What is left out is zero.
            let mut filled = 0;
            while !self.is_mark('}') {
                let byte = self.int()? as u8;
                *contents
                    .get_mut(filled)
                    .map_or_else(|| self.error("more than there is room for"), Ok)? = byte;
                filled += 1;
                self.is_mark(',');
            }
        }
        self.mark(';')?;
        if space == ".global" {
            let last = self.contents.last();
            let end = last.map_or(GLOBALS_AT, |(at, bytes)| at + bytes.len() as u64);
            // Not beside each other: an index that runs over does not find the neighbour.
            let at = (end + 256).next_multiple_of(align.max(256));
            if let Entry::Vacant(place) = self.globals.entry(name) {
                place.insert(at);
                self.contents.push((at, contents));
            }
        } else if is_dynamic {
            self.dynamic.entry(name).or_insert(0);
        } else if !self.shared.contains_key(&name) {
            let at = self.shared_bytes.next_multiple_of(align as u32);
            self.shared_bytes = at + size as u32;
            self.shared.insert(name, at);
        }
        Ok(())
    }

    fn module(&mut self) -> Parsed<()> {
        while self.peek().is_some() {
            let word = self.word()?;
            match word.as_str() {
                ".version" | ".address_size" => {
                    self.next()?;
                    while matches!(self.peek(), Some(Token::Int(_))) {
                        self.next()?;
                    }
                    // `7.0` are a number and a name.
                    if matches!(self.peek(), Some(Token::Word(w)) if w.starts_with('.') && w[1..].parse::<u32>().is_ok())
                    {
                        self.next()?;
                    }
                }
                ".target" => {
                    self.next()?;
                }
                ".visible" | ".extern" | ".weak" => {}
                ".shared" | ".global" => self.variable(&word)?,
                ".func" | ".entry" => self.function()?,
                _ => return self.error(format!("`{word}` is no declaration")),
            }
        }
        Ok(())
    }

    fn reserve(&mut self, bytes: u32, align: u32) -> Place {
        let at = self.param_bytes.next_multiple_of(align.max(1));
        self.param_bytes = at + bytes;
        self.function.param_bytes = self.function.param_bytes.max(self.param_bytes);
        Place { at, bytes }
    }

    /// `.param .b32 name` or `.param .align 4 .b8 name[16]`, after `.param`.
    fn param(&mut self) -> Parsed<(String, Place)> {
        let (mut align, mut size) = (1, 0);
        loop {
            let word = self.word()?;
            if word == ".align" {
                align = self.int()? as u32;
                continue;
            }
            if word.starts_with('.') {
                size = u32::from(type_bits(&word).unwrap_or(8)) / 8;
                continue;
            }
            if self.is_mark('[') {
                size *= self.int()? as u32;
                self.mark(']')?;
            }
            let place = self.reserve(size, align.max(size.min(8)));
            return Ok((word, place));
        }
    }

    /// Parameters in parentheses, if there are some.
    fn params(&mut self) -> Parsed<Vec<(String, Place)>> {
        let mut params = Vec::new();
        if self.is_mark('(') {
            while !self.is_mark(')') {
                let word = self.word()?;
                if word != ".param" {
                    return self.error(format!("`.param` should stand here, not `{word}`"));
                }
                params.push(self.param()?);
                self.is_mark(',');
            }
        }
        Ok(params)
    }

    fn function(&mut self) -> Parsed<()> {
        self.param_bytes = 0;
        self.function = Function::default();
        let results = self.params()?;
        self.function.name = self.word()?;
        let params = self.params()?;
        while matches!(self.peek(), Some(Token::Word(w)) if w.starts_with('.')) {
            self.next()?;
            while matches!(self.peek(), Some(Token::Int(_) | Token::Mark(','))) {
                self.next()?;
            }
        }
        if self.is_mark(';') {
            return Ok(());
        }
        self.function.results = results.iter().map(|p| p.1).collect();
        self.function.params = params.iter().map(|p| p.1).collect();
        self.scopes = vec![Scope {
            params: results.into_iter().chain(params).collect(),
            ..Scope::default()
        }];
        self.locals.clear();
        self.labels.clear();
        self.tables.clear();
        self.next_reg = 1; // 0 is the carry.
        self.mark('{')?;
        self.block()?;
        let mut function = std::mem::take(&mut self.function);
        for instr in &mut function.code {
            if let Err(message) = instr.op.link(&self.labels, &self.tables) {
                let line = instr.line;
                return Err(ParseError { line, message });
            }
        }
        slots::assign(&mut function, self.next_reg);
        self.by_name
            .insert(function.name.clone(), self.functions.len());
        self.functions.push(Rc::new(function));
        Ok(())
    }

    /// Statements up to the closing brace.
    fn block(&mut self) -> Parsed<()> {
        self.scopes.push(Scope::default());
        let before = self.param_bytes;
        while !self.is_mark('}') {
            self.statement()?;
        }
        self.param_bytes = before;
        self.scopes.pop();
        Ok(())
    }

    fn statement(&mut self) -> Parsed<()> {
        if self.is_mark('{') {
            return self.block();
        }
        if self.is_mark(';') {
            return Ok(());
        }
        let mut guard = None;
        if self.is_mark('@') {
            let not = self.is_mark('!');
            let name = self.word()?;
            let Some((reg, _)) = self.reg(&name) else {
                return self.error(format!("`{name}` is no register"));
            };
            guard = Some((reg, not));
        }
        let line = self.line();
        let word = self.word()?;
        if self.is_mark(':') {
            if matches!(self.peek(), Some(Token::Word(w)) if w == ".branchtargets") {
                self.next()?;
                let mut targets = Vec::new();
                while !self.is_mark(';') {
                    targets.push(self.word()?);
                    self.is_mark(',');
                }
                self.tables.insert(word, targets);
            } else {
                let place = self.function.code.len() as u32;
                if self.labels.insert(word.clone(), place).is_some() {
                    return self.error(format!("two labels `{word}`"));
                }
            }
            return Ok(());
        }
        match word.as_str() {
            ".reg" => self.declare_regs(),
            ".param" => {
                let (name, place) = self.param()?;
                self.innermost().params.insert(name, place);
                self.mark(';')
            }
            ".local" => {
                let before = self.param_bytes;
                let (name, place) = self.param()?;
                self.param_bytes = before;
                let at = self.function.local_bytes.next_multiple_of(16);
                self.locals.insert(name, at);
                self.function.local_bytes = at + place.bytes;
                self.mark(';')
            }
            ".shared" => self.variable(&word),
            ".pragma" | ".loc" => self.skip_statement(),
            _ => self.instruction(guard, &word, line),
        }
    }

    fn innermost(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a function has scopes")
    }

    fn declare_regs(&mut self) -> Parsed<()> {
        let ty = self.word()?;
        let width = if ty == ".pred" {
            1
        } else {
            type_bits(&ty).unwrap_or(0)
        };
        if width == 0 {
            return self.error(format!("`{ty}` is no type of registers"));
        }
        loop {
            let name = self.word()?;
            let mut count = None;
            if self.is_mark('<') {
                count = Some(self.int()? as u32);
                self.mark('>')?;
            }
            let regs = Regs {
                first: self.next_reg,
                count,
                width,
            };
            self.next_reg += count.unwrap_or(1);
            self.innermost().regs.insert(name, regs);
            if !self.is_mark(',') {
                return self.mark(';');
            }
        }
    }

    /// A register's number and bits.
    fn reg(&self, name: &str) -> Option<(u32, u8)> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let index: Option<u32> = name[prefix.len()..].parse().ok();
        self.scopes.iter().rev().find_map(|scope| {
            if let Some(regs) = scope.regs.get(name)
                && regs.count.is_none()
            {
                return Some((regs.first, regs.width));
            }
            let (regs, index) = (scope.regs.get(prefix)?, index?);
            (index < regs.count?).then_some((regs.first + index, regs.width))
        })
    }

    /// The value that a name has in an instruction.
    fn named(&self, name: &str) -> Option<Operand> {
        if let Some((reg, width)) = self.reg(name) {
            return Some(Operand::Src(Src::Reg(reg), width));
        }
        if let Some(special) = decode::Special::of(name) {
            return Some(Operand::Src(Src::Special(special), 32));
        }
        if let Some(place) = self.scopes.iter().rev().find_map(|s| s.params.get(name)) {
            return Some(Operand::Param(place.at));
        }
        if let Some(&at) = self.locals.get(name) {
            return Some(Operand::Src(Src::Local(at), 64));
        }
        if let Some(&at) = self.shared.get(name).or(self.dynamic.get(name)) {
            return Some(Operand::Src(Src::Imm(at.into()), 32));
        }
        let at = self.globals.get(name)?;
        Some(Operand::Src(Src::Imm(*at), 64))
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let minus = self.is_mark('-');
        if self.is_mark('!') {
            let name = self.word()?;
            return match self.reg(&name) {
                Some((reg, width)) => Ok(Operand::Src(Src::NotReg(reg), width)),
                None => self.error(format!("`{name}` is no register")),
            };
        }
        if self.is_mark('[') {
            let base = self.operand()?;
            let mut offset = 0;
            if self.is_mark('+') {
                offset = self.int()? as i64;
            }
            self.mark(']')?;
            return Ok(match base {
                Operand::Param(at) => Operand::Param(at.wrapping_add(offset as u32)),
                Operand::Src(base, _) => Operand::Address(base, offset),
                Operand::Number(at) => Operand::Address(Src::Imm(at), offset),
                _ => return self.error("this is no address"),
            });
        }
        for (open, close) in [('{', '}'), ('(', ')')] {
            if self.is_mark(open) {
                let mut parts = Vec::new();
                while !self.is_mark(close) {
                    parts.push(self.operand()?);
                    self.is_mark(',');
                }
                return Ok(match open {
                    '{' => Operand::Vector(parts),
                    _ => Operand::List(parts),
                });
            }
        }
        Ok(match self.next()? {
            Token::Int(x) => Operand::Number(if minus { x.wrapping_neg() } else { x }),
            Token::F32(x) => Operand::F32(x),
            Token::F64(x) => Operand::F64(x),
            Token::Word(name) if name == "_" => Operand::Nowhere,
            Token::Word(name) => {
                let found = self.named(&name);
                if self.is_mark('|') {
                    let second = self.word()?;
                    let second = match second.as_str() {
                        "_" => Some(NOWHERE),
                        name => self.reg(name).map(|r| r.0),
                    };
                    match (found, second) {
                        (Some(Operand::Src(Src::Reg(a), _)), Some(b)) => Operand::Pair(a, b),
                        _ => return self.error("these are no two registers"),
                    }
                } else {
                    found.unwrap_or(Operand::Name(name))
                }
            }
            other => return self.error(format!("{other:?} is no operand")),
        })
    }

    fn instruction(&mut self, guard: Option<(u32, bool)>, word: &str, line: u32) -> Parsed<()> {
        let mut operands = Vec::new();
        while !self.is_mark(';') {
            operands.push(self.operand()?);
            self.is_mark(',');
        }
        let mut places = HashMap::new();
        if word.starts_with("call") {
            let params = self.scopes.iter().flat_map(|s| s.params.values());
            places.extend(params.map(|p| (p.at, p.bytes)));
        }
        let mut instr = decode::decode(word, &operands, &places).map_err(|message| ParseError {
            line,
            message: format!("{word}: {message}"),
        })?;
        instr.guard = guard;
        instr.line = line;
        self.function.code.push(instr);
        Ok(())
    }
}

/// Bits of a type, with its dot.
pub(crate) fn type_bits(ty: &str) -> Option<u8> {
    match ty.strip_prefix('.')? {
        "b8" | "u8" | "s8" => Some(8),
        "b16" | "u16" | "s16" | "f16" => Some(16),
        "b32" | "u32" | "s32" | "f32" => Some(32),
        "b64" | "u64" | "s64" | "f64" => Some(64),
        _ => None,
    }
}
