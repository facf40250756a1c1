//! The text of a folded body: statements that nothing reaches, and results that are never read, are left out.

use super::text::{Body, Code, Compare, Kind, Operand, Register, Statement};
use std::collections::HashSet;
use std::ops::Range;

/// What becomes of a statement.
#[derive(Clone, Debug, PartialEq)]
enum Fate {
    Gone,
    /// It stays, with numbers in the place of some operands, and without its guard if that is not `guarded`.
    Stays {
        numbers: Vec<(Range<usize>, String)>,
        guarded: bool,
        /// The predicate that it depends on now.
        by: Option<Register>,
    },
    /// Another text, and the register that this reads.
    Instead(String, Option<Register>),
}

/// The body's text. `reached`: the blocks that control gets to; `constants`: what registers are known to hold.
pub(super) fn write(body: &Body, reached: &[bool], constants: &[Option<u64>]) -> String {
    let mut writer = Writer {
        body,
        constants,
        setters: setters(body),
        fates: Vec::new(),
    };
    for statement in &body.statements {
        let fate = match reached[statement.block as usize] || is_scope(statement) {
            true => writer.fate(statement),
            false => Fate::Gone,
        };
        writer.fates.push(fate);
    }
    writer.lists(reached);
    writer.jumps();
    writer.results();
    writer.labels();
    writer.scopes();
    let mut text = "{\n".to_owned();
    for (statement, fate) in body.statements.iter().zip(&writer.fates) {
        writer.line(statement, fate, &mut text);
    }
    text += "}\n";
    text
}

fn is_scope(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Open | Kind::Close | Kind::Declare(_))
}

/// Whether nothing but its result comes of it.
fn is_pure(statement: &Statement) -> bool {
    match statement.kind {
        Kind::Plain => !matches!(statement.code, Code::Opaque | Code::Store | Code::Touch),
        Kind::Result(..) | Kind::Parameter(..) => true,
        _ => false,
    }
}

/// A number as an operand of `bits` bits.
fn literal(number: u64, bits: u32) -> String {
    match bits {
        1 => if number & 1 == 1 { "-1" } else { "0" }.to_owned(),
        16 => (number as i16).to_string(),
        32 => (number as i32).to_string(),
        _ => (number as i64).to_string(),
    }
}

struct Writer<'a> {
    body: &'a Body,
    constants: &'a [Option<u64>],
    /// By register, the only statement that sets it.
    setters: Vec<Option<usize>>,
    fates: Vec<Fate>,
}

/// By register, the only statement that sets it, if that is not guarded.
fn setters(body: &Body) -> Vec<Option<usize>> {
    let mut set = vec![(0, 0); body.registers.len()];
    for (at, statement) in body.statements.iter().enumerate() {
        for register in statement.sets() {
            let times = set[register as usize].0 + 1 + usize::from(statement.guard.is_some());
            set[register as usize] = (times, at);
        }
    }
    let once = |(times, at)| (times == 1).then_some(at);
    set.into_iter().map(once).collect()
}

impl Writer<'_> {
    fn constant(&self, operand: &Operand) -> Option<u64> {
        match operand {
            Operand::Register(register) => self.constants[*register as usize],
            Operand::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn fate(&self, statement: &Statement) -> Fate {
        let mut guarded = true;
        if let Some((register, not)) = statement.guard
            && let Some(number) = self.constants[register as usize]
        {
            if (number & 1 == 1) == not {
                return Fate::Gone;
            }
            guarded = false;
        }
        if is_pure(statement)
            && let Some(Operand::Register(result)) = statement.result()
            && (statement.guard.is_none() || !guarded)
        {
            let bits = self.body.registers[*result as usize];
            let name = &statement.text[statement.operands[0].1.clone()];
            let ty = if bits == 1 {
                "pred".to_owned()
            } else {
                format!("b{bits}")
            };
            if let Some(number) = self.constants[*result as usize] {
                return Fate::Instead(format!("mov.{ty} {name}, {};", literal(number, bits)), None);
            }
            let one_of = |kept: usize| {
                let (operand, range) = &statement.operands[kept];
                let Operand::Register(register) = operand else {
                    return None;
                };
                (self.body.registers[*register as usize] == bits).then(|| {
                    let text = format!("mov.{ty} {name}, {};", &statement.text[range.clone()]);
                    Fate::Instead(text, Some(*register))
                })
            };
            let known = |at: usize| self.constant(&statement.operands[at].0);
            let kept = match statement.code {
                Code::Select => known(3).map(|which| if which & 1 == 1 { 1 } else { 2 }),
                // One that is known does not decide, or the result would be known.
                Code::And | Code::Or if statement.bits == 1 => match (known(1), known(2)) {
                    (Some(_), None) => Some(2),
                    (None, Some(_)) => Some(1),
                    _ => None,
                },
                _ => None,
            };
            if let Some(fate) = kept.and_then(one_of) {
                return fate;
            }
        }
        let mut numbers = self.numbers(statement);
        let mut by = None;
        if guarded && let Some((register, text)) = self.predicate(statement) {
            let guard = statement.text.find(' ').expect("something follows a guard");
            numbers.insert(0, (0..guard, text));
            by = Some(register);
        }
        Fate::Stays {
            numbers,
            guarded,
            by,
        }
    }

    /// The predicate that a guard was made from by way of a number, as assembly that is put in needs one, and how a
    /// statement is guarded by it.
    fn predicate(&self, statement: &Statement) -> Option<(Register, String)> {
        let (guard, not) = statement.guard.filter(|_| statement.kind == Kind::Plain)?;
        let set_by =
            |register: Register| Some(&self.body.statements[self.setters[register as usize]?]);
        let compared = set_by(guard).filter(|s| s.block == statement.block)?;
        let equal = match compared.code {
            Code::Set(Compare::Eq) => true,
            Code::Set(Compare::Ne) => false,
            _ => return None,
        };
        let [(Operand::Register(number), _), (Operand::Number(0), _)] = compared.sources() else {
            return None;
        };
        let selected = set_by(*number).filter(|s| s.code == Code::Select)?;
        let [
            (Operand::Number(1), _),
            (Operand::Number(0), _),
            (Operand::Register(by), name),
        ] = selected.sources()
        else {
            return None;
        };
        // Scopes inside declare no registers of such names.
        let name = &selected.text[name.clone()];
        self.setters[*by as usize].filter(|_| name.starts_with("%p"))?;
        let declares =
            |s: &&Statement| matches!(&s.kind, Kind::Declare(Some(n)) if n.contains("%p"));
        let once = self.body.statements.iter().filter(declares).count() == 1;
        let sign = if equal != not { "!" } else { "" };
        once.then(|| (*by, format!("@{sign}{name}")))
    }

    /// Operands of a statement that may be numbers, and are known.
    fn numbers(&self, statement: &Statement) -> Vec<(Range<usize>, String)> {
        let may = match statement.kind {
            Kind::Argument(..) | Kind::Give(..) => true,
            Kind::Plain => match statement.code {
                Code::And | Code::Or | Code::Xor => statement.bits > 1,
                Code::Add | Code::Sub | Code::Mul | Code::Wide | Code::Mad => true,
                Code::Shl | Code::Shr | Code::Min | Code::Max | Code::Set(_) | Code::Select => true,
                _ => false,
            },
            _ => false,
        };
        if !may || !matches!(statement.bits, 32 | 64) {
            return Vec::new();
        }
        let mut numbers = Vec::new();
        for (operand, range) in statement.sources() {
            let Operand::Register(register) = operand else {
                continue;
            };
            let bits = self.body.registers[*register as usize];
            if let (Some(number), 32 | 64) = (self.constants[*register as usize], bits) {
                numbers.push((range.clone(), literal(number, bits)));
            }
        }
        numbers
    }

    /// Switches: their lists name blocks that are there. One whose index is known is a branch.
    fn lists(&mut self, reached: &[bool]) {
        for (at, statement) in self.body.statements.iter().enumerate() {
            let Kind::Targets(list, targets) = &statement.kind else {
                continue;
            };
            let mut used = false;
            for (by, other) in self.body.statements.iter().enumerate() {
                let Kind::Switch(index, of) = &other.kind else {
                    continue;
                };
                if of != list || self.fates[by] == Fate::Gone {
                    continue;
                }
                let index = self.constant(index).and_then(|n| usize::try_from(n).ok());
                match index.and_then(|n| targets.get(n)) {
                    Some((target, _)) => {
                        let text = format!("bra.uni {target};");
                        self.fates[by] = Fate::Instead(text, None);
                    }
                    None => used = true,
                }
            }
            let there = |target: &&(String, u32)| reached[target.1 as usize];
            let any = targets.iter().find(there);
            self.fates[at] = match any {
                Some((any, _)) if used => {
                    let name = |target| if there(&target) { &target.0 } else { any };
                    let names: Vec<&str> = targets.iter().map(|t| name(t).as_str()).collect();
                    let text = format!("{list}: .branchtargets {};", names.join(", "));
                    Fate::Instead(text, None)
                }
                _ => Fate::Gone,
            };
        }
    }

    /// The next statement that is there.
    fn next(&self, at: usize) -> Option<usize> {
        let mut rest = at + 1..self.fates.len();
        rest.find(|&i| self.fates[i] != Fate::Gone && !is_scope(&self.body.statements[i]))
    }

    /// Where a statement goes to, by label and block, and whether always, if it is a branch.
    fn branch(&self, at: usize) -> Option<(&str, u32, bool)> {
        let statement = &self.body.statements[at];
        match (&statement.kind, &self.fates[at]) {
            (Kind::Branch(label, block), Fate::Stays { guarded, .. }) => {
                Some((label, *block, statement.guard.is_none() || !guarded))
            }
            _ => None,
        }
    }

    /// Branches to where control goes anyway, and pairs of them that are one.
    fn jumps(&mut self) {
        for at in (0..self.fates.len()).rev() {
            let Some((label, block, always)) = self.branch(at) else {
                continue;
            };
            let is_here = |from: usize| {
                let mut next = self.next(from);
                while let Some(i) = next {
                    let statement = &self.body.statements[i];
                    match statement.kind {
                        Kind::Label(_) if statement.block == block => return true,
                        Kind::Label(_) => next = self.next(i),
                        _ => return false,
                    }
                }
                false
            };
            if is_here(at) {
                self.fates[at] = Fate::Gone;
                continue;
            }
            if always {
                self.fates[at] = Fate::Instead(format!("bra.uni {label};"), None);
                continue;
            }
            let Some(next) = self.next(at) else { continue };
            let Fate::Instead(text, _) = &self.fates[next] else {
                continue;
            };
            let statement = &self.body.statements[at];
            if let Some((register, not)) = statement.guard
                && let Kind::Branch(other, _) = &self.body.statements[next].kind
                && text.starts_with("bra.uni")
                && is_here(next)
            {
                let name = statement.text.split(' ').next().unwrap_or_default();
                let name = name.trim_start_matches(['@', '!']);
                let sign = if not { "" } else { "!" };
                let text = format!("@{sign}{name} bra {other};");
                self.fates[at] = Fate::Instead(text, Some(register));
                self.fates[next] = Fate::Gone;
            }
        }
    }

    /// Registers that a statement reads as it stands now.
    fn reads(&self, at: usize) -> Vec<Register> {
        let statement = &self.body.statements[at];
        match &self.fates[at] {
            Fate::Gone => Vec::new(),
            Fate::Instead(_, register) => register.iter().copied().collect(),
            Fate::Stays {
                numbers,
                guarded,
                by,
            } => {
                let mut known: HashSet<Register> = HashSet::new();
                for (operand, range) in &statement.operands {
                    if let Operand::Register(register) = operand
                        && numbers.iter().any(|(at, _)| at == range)
                    {
                        known.insert(*register);
                    }
                }
                let replaced = |_: &(Register, bool)| !guarded || by.is_some();
                let guard = statement.guard.filter(replaced).map(|guard| guard.0);
                let reads = statement.reads();
                let reads = reads.filter(|r| !known.contains(r) && Some(*r) != guard);
                reads.chain(*by).collect()
            }
        }
    }

    /// Leaves out what only makes results that are never read.
    fn results(&mut self) {
        let mut setters = vec![Vec::new(); self.body.registers.len()];
        for (at, statement) in self.body.statements.iter().enumerate() {
            if self.fates[at] != Fate::Gone && is_pure(statement) {
                statement.sets().for_each(|r| setters[r as usize].push(at));
            }
        }
        let mut needed = vec![false; self.fates.len()];
        let mut waiting: Vec<usize> = (0..self.fates.len())
            .filter(|&at| self.fates[at] != Fate::Gone && !is_pure(&self.body.statements[at]))
            .collect();
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut needed[at], true) {
                let read = self.reads(at);
                waiting.extend(
                    read.iter()
                        .flat_map(|&r| setters[r as usize].iter().copied()),
                );
            }
        }
        for (at, needed) in needed.into_iter().enumerate() {
            if !needed {
                self.fates[at] = Fate::Gone;
            }
        }
    }

    /// Leaves out labels that nothing goes to.
    fn labels(&mut self) {
        let mut named: HashSet<String> = HashSet::new();
        for (at, fate) in self.fates.iter().enumerate() {
            let text = match fate {
                Fate::Instead(text, _) => text,
                Fate::Stays { .. } if matches!(self.body.statements[at].kind, Kind::Branch(..)) => {
                    &self.body.statements[at].text
                }
                _ => continue,
            };
            named.extend(super::identifiers(text).map(str::to_owned));
        }
        for (at, statement) in self.body.statements.iter().enumerate() {
            if let Kind::Label(name) = &statement.kind
                && !named.contains(name)
            {
                self.fates[at] = Fate::Gone;
            }
        }
    }

    /// Leaves out scopes with nothing in them but declarations, and registers that nothing there names.
    fn scopes(&mut self) {
        // Where each open scope begins, and whether anything was found in it.
        let mut open: Vec<(usize, bool)> = Vec::new();
        for at in 0..self.fates.len() {
            match &self.body.statements[at].kind {
                Kind::Open => open.push((at, false)),
                Kind::Close => {
                    let (from, full) = open.pop().expect("braces come in pairs");
                    if full {
                        if let Some((_, outer)) = open.last_mut() {
                            *outer = true;
                        }
                        if !self.declarations(from, at) {
                            self.fates[from] = Fate::Gone;
                            self.fates[at] = Fate::Gone;
                        }
                    } else {
                        self.fates[from..=at].fill(Fate::Gone);
                    }
                }
                Kind::Declare(_) => {}
                _ if self.fates[at] != Fate::Gone => {
                    if let Some((_, full)) = open.last_mut() {
                        *full = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Leaves out registers, declared one by one in a scope, that nothing there names. Whether anything is declared still,
    /// or could be named by others.
    fn declarations(&mut self, from: usize, upto: usize) -> bool {
        let mut any = false;
        for at in from..upto {
            let statement = &self.body.statements[at];
            any |= matches!(statement.kind, Kind::Label(_)) && self.fates[at] != Fate::Gone;
            let Kind::Declare(names) = &statement.kind else {
                continue;
            };
            let Some(names) = names else {
                any |= self.fates[at] != Fate::Gone;
                continue;
            };
            let mut here = (from..upto).filter(|&i| i != at && self.fates[i] != Fate::Gone);
            let alone = super::identifiers(names).collect::<Vec<_>>();
            let used = names.contains('<')
                || here.any(|i| {
                    let mut text = String::new();
                    self.line(&self.body.statements[i], &self.fates[i], &mut text);
                    super::identifiers(&text).any(|w| alone.contains(&w))
                });
            match used {
                true => any = true,
                false => self.fates[at] = Fate::Gone,
            }
        }
        any
    }

    fn line(&self, statement: &Statement, fate: &Fate, text: &mut String) {
        match fate {
            Fate::Gone => return,
            Fate::Instead(instead, _) => *text += instead,
            Fate::Stays {
                numbers, guarded, ..
            } => {
                let mut from = match statement.guard {
                    Some(_) if !guarded => statement.text.find(' ').map_or(0, |at| at + 1),
                    _ => 0,
                };
                for (range, number) in numbers {
                    *text += &statement.text[from..range.start];
                    *text += number;
                    from = range.end;
                }
                *text += &statement.text[from..];
                if !matches!(statement.kind, Kind::Open | Kind::Close | Kind::Label(_)) {
                    text.push(';');
                }
            }
        }
        text.push('\n');
    }
}
