//! What cannot happen in the module of one pass is left out of its functions.
//!
//! The megakernel reads from its tables which operators, widths and flags a pass has. A module is for one pass, so most
//! of what its tables hold is known ([`Known`]). From there constants go through registers, parameters, results and the
//! variables in shared memory, as far as control can get with them: sparse conditional constant propagation (Wegman and
//! Zadeck, 1991) over all functions at once, with small sets of numbers in the place of one constant, and without regard
//! to where in a function a register is set. Then branches whose direction is known go, and blocks that nothing reaches,
//! functions that nothing calls, and instructions whose result is never read.
//!
//! Addresses are numbers from the start of a variable. An index that may be anything makes an address of any entry of the
//! table that it is an index of; so a field has the values that it has in all entries. An access to a variable stays
//! within it, as in C; a variable whose address goes where this does not follow it may hold anything.
//!
//! What is not understood stays as it is. A function whose text has an unknown shape is kept whole, and so is whatever it
//! may call or change.

use super::text::{Body, Code, Compare, Kind, Operand, Register, Statement, Symbol, parse};
use super::write::write;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// Numbers in the place of one at most.
const MOST: usize = 24;

/// What is known of the variable that holds a pass's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    /// What a word may be, by its place in bytes. It never changes while the module runs.
    pub(crate) words: BTreeMap<u32, Vec<u32>>,
    /// Tables, whose entries may be found by any index.
    pub(crate) tables: Vec<Table>,
}

impl Known {
    /// Whether this may be the tables' content.
    pub(crate) fn allows(&self, tables: &[u8]) -> bool {
        self.words.iter().all(|(&at, values)| {
            let word = tables.get(at as usize..at as usize + 4);
            let word = word.map(|w| u32::from_le_bytes(w.try_into().expect("it has four bytes")));
            word.is_some_and(|word| values.contains(&word))
        })
    }
}

/// A table: where it is, its entries' bytes, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Table {
    pub(crate) at: u32,
    pub(crate) entry: u32,
    pub(crate) count: u32,
}

/// A function of the module.
pub(super) struct Function<'t> {
    pub(super) name: Cow<'t, str>,
    pub(super) header: Cow<'t, str>,
    /// With its braces.
    pub(super) body: Cow<'t, str>,
}

/// What a register may hold.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Nothing was found that sets it.
    Unset,
    Any,
    /// One of these (sorted), plus any multiple of `step`, plus the address of a variable.
    Some {
        of: Option<Symbol>,
        step: u64,
        set: Vec<u64>,
    },
}

use Value::{Any, Unset};

impl Value {
    fn of(set: impl IntoIterator<Item = u64>) -> Value {
        let mut set: Vec<u64> = set.into_iter().collect();
        set.sort_unstable();
        set.dedup();
        Value::with(None, 0, set)
    }

    fn with(of: Option<Symbol>, step: u64, set: Vec<u64>) -> Value {
        if step == 1 || set.len() > MOST {
            return match of {
                // It stays an address of the variable.
                Some(_) => Value::Some {
                    of,
                    step: 1,
                    set: vec![0],
                },
                None => Any,
            };
        }
        Value::Some { of, step, set }
    }

    /// The numbers that it may be, if it is no address.
    fn numbers(&self) -> Option<&[u64]> {
        match self {
            Value::Some {
                of: None,
                step: 0,
                set,
            } => Some(set),
            _ => None,
        }
    }

    fn number(&self) -> Option<u64> {
        match self.numbers() {
            Some(&[one]) => Some(one),
            _ => None,
        }
    }

    fn symbol(&self) -> Option<Symbol> {
        match self {
            Value::Some { of, .. } => *of,
            _ => None,
        }
    }

    /// As a number with a variable, a step and a set; anything is any multiple of one.
    fn parts(&self) -> Option<(Option<Symbol>, u64, &[u64])> {
        match self {
            Unset => None,
            Any => Some((None, 1, &[0])),
            Value::Some { of, step, set } => Some((*of, *step, set)),
        }
    }

    /// Takes another one in.
    fn join(&self, other: &Value) -> Value {
        match (self, other) {
            (Unset, one) | (one, Unset) => one.clone(),
            (Any, _) | (_, Any) => Any,
            (
                Value::Some { of, step, set },
                Value::Some {
                    of: of_other,
                    step: other_step,
                    set: other,
                },
            ) => {
                if of != of_other {
                    return Any;
                }
                let mut all: Vec<u64> = set.iter().chain(other).copied().collect();
                all.sort_unstable();
                all.dedup();
                Value::with(*of, divisor(*step, *other_step), all)
            }
        }
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// A number of `bits` bits.
fn cut(value: u64, bits: u32) -> u64 {
    match bits {
        0 | 64.. => value,
        _ => value & ((1 << bits) - 1),
    }
}

/// A number of `bits` bits with its sign in all bits.
fn extended(value: u64, bits: u32) -> i64 {
    match bits {
        0 | 64.. => value as i64,
        _ => (value << (64 - bits)) as i64 >> (64 - bits),
    }
}

/// A statement of a function.
type Place = (usize, usize);

/// A function, and what is known of it so far.
struct State {
    body: Rc<Body>,
    /// Statements that are to be looked at.
    queued: Vec<bool>,
    values: Vec<Value>,
    reached: Vec<bool>,
    /// Statements that read a register.
    readers: Vec<Vec<usize>>,
    /// Of each block, what registers are known to be there, or not to be.
    conditions: Vec<Vec<Condition>>,
    parameters: HashMap<(u32, u32), Value>,
    results: HashMap<u32, Value>,
    callers: HashSet<Place>,
}

/// A register is this number, or is not.
#[derive(Clone, Copy, Debug)]
struct Condition {
    register: Register,
    number: u64,
    is: bool,
}

/// What control shows by having come to each block: where there is one way into a block, it is by a branch that compares.
/// Registers that are set once are what they were when they were compared.
fn conditions(body: &Body) -> Vec<Vec<Condition>> {
    let mut set = vec![(0, 0); body.registers.len()];
    for (at, statement) in body.statements.iter().enumerate() {
        for register in statement.sets() {
            let (times, _) = set[register as usize];
            set[register as usize] = (times + 1, at);
        }
    }
    let once = |register: Register| match set[register as usize] {
        (1, at) => Some(at),
        _ => None,
    };
    let compared = |guard: Register| {
        let statement = &body.statements[once(guard)?];
        let is = match statement.code {
            Code::Set(Compare::Eq) => true,
            Code::Set(Compare::Ne) => false,
            _ => return None,
        };
        match (&statement.guard, statement.sources()) {
            (
                None,
                [
                    (Operand::Register(register), _),
                    (Operand::Number(number), _),
                ],
            ) => {
                once(*register)?;
                let number = cut(*number, statement.bits);
                Some(Condition {
                    register: *register,
                    number,
                    is,
                })
            }
            _ => None,
        }
    };
    // The ways into each block: from which one, and what is known then.
    let mut ways: Vec<Vec<(usize, Option<Condition>)>> = vec![Vec::new(); body.blocks.len() + 1];
    for block in 0..body.blocks.len() {
        let upto = (body.blocks.get(block + 1)).map_or(body.statements.len(), |&b| b);
        let last = body.statements[body.blocks[block]..upto].last();
        let Some(last) = last else {
            ways[block + 1].push((block, None));
            continue;
        };
        let shown = last.guard.and_then(|(guard, not)| {
            let condition = compared(guard)?;
            let yes = Condition {
                is: condition.is != not,
                ..condition
            };
            Some([yes, Condition { is: !yes.is, ..yes }])
        });
        let falls = match &last.kind {
            Kind::Branch(_, to) => {
                ways[*to as usize].push((block, shown.map(|s| s[0])));
                last.guard.is_some()
            }
            Kind::Switch(_, list) => {
                for statement in &body.statements {
                    if let Kind::Targets(name, targets) = &statement.kind
                        && name == list
                    {
                        let all = targets.iter().map(|target| target.1 as usize);
                        all.for_each(|to| ways[to].push((block, None)));
                    }
                }
                last.guard.is_some()
            }
            Kind::Return => last.guard.is_some(),
            _ => {
                ways[block + 1].push((block, None));
                continue;
            }
        };
        if falls {
            ways[block + 1].push((block, shown.map(|s| s[1])));
        }
    }
    let shown = |block: usize| {
        let (mut at, mut shown) = (block, Vec::new());
        // A way that comes back to itself is none.
        for _ in 0..64 {
            match &*ways[at] {
                [(from, condition)] if at != 0 => {
                    shown.extend(condition);
                    at = *from;
                }
                _ => break,
            }
        }
        shown
    };
    (0..body.blocks.len()).map(shown).collect()
}

/// A variable in shared memory.
#[derive(Default)]
struct Variable {
    words: BTreeMap<i64, Value>,
    /// It may hold anything.
    any: bool,
    readers: HashSet<Place>,
}

struct Analysis<'t, 'k> {
    functions: &'t [Function<'t>],
    at: HashMap<&'t str, usize>,
    symbols: HashMap<&'t str, Symbol>,
    /// Of functions that are reached; `None`: one that is not understood.
    states: Vec<Option<Option<Box<State>>>>,
    variables: Vec<Variable>,
    tables: Tables<'k>,
    waiting: Vec<Place>,
}

/// The bodies of the functions that the entry reaches, by their place, without what cannot happen. `shared`: names of the
/// variables in shared memory; `tables`: the one of which something is known. Without that all functions stay whole.
pub(super) fn fold<'t>(
    functions: &'t [Function<'t>],
    entry: usize,
    shared: &[&'t str],
    (tables, known): (&str, Option<&Known>),
) -> HashMap<usize, String> {
    let symbols: HashMap<&str, Symbol> = shared.iter().copied().zip(0..).collect();
    let mut analysis = Analysis {
        at: functions
            .iter()
            .enumerate()
            .map(|(i, f)| (&*f.name, i))
            .collect(),
        functions,
        states: functions.iter().map(|_| None).collect(),
        variables: shared.iter().map(|_| Variable::default()).collect(),
        tables: Tables {
            symbol: symbols.get(tables).copied(),
            known,
        },
        symbols,
        waiting: Vec::new(),
    };
    analysis.enter(entry);
    analysis.give_anything(entry);
    analysis.run();
    let states = analysis.states.iter().enumerate();
    let bodies = states.filter_map(|(i, state)| {
        let body = match state.as_ref()? {
            Some(state) => write(&state.body, &state.reached, &constants(state)),
            None => functions[i].body.clone().into_owned(),
        };
        Some((i, body))
    });
    bodies.collect()
}

impl Analysis<'_, '_> {
    /// A function is called.
    fn enter(&mut self, function: usize) {
        if self.states[function].is_some() {
            return;
        }
        let Function { header, body, .. } = &self.functions[function];
        let parsed = self
            .tables
            .known
            .and_then(|_| parse(header, body, &self.symbols).ok());
        match parsed {
            Some(body) => {
                let mut readers = vec![Vec::new(); body.registers.len()];
                let mut set = vec![false; body.registers.len()];
                for (at, statement) in body.statements.iter().enumerate() {
                    for register in statement.reads() {
                        readers[register as usize].push(at);
                    }
                    for register in statement.sets() {
                        set[register as usize] = true;
                    }
                }
                let state = State {
                    values: set
                        .iter()
                        .map(|set| if *set { Unset } else { Any })
                        .collect(),
                    reached: vec![false; body.blocks.len()],
                    readers,
                    parameters: HashMap::new(),
                    results: HashMap::new(),
                    callers: HashSet::new(),
                    queued: vec![false; body.statements.len()],
                    conditions: conditions(&body),
                    body: Rc::new(body),
                };
                self.states[function] = Some(Some(Box::new(state)));
                self.reach(function, 0);
            }
            None => {
                self.states[function] = Some(None);
                // It may call and change whatever it names, with anything.
                let names: Vec<&str> = super::identifiers(body).collect();
                for name in names {
                    if let Some(&called) = self.at.get(name) {
                        self.enter(called);
                        self.give_anything(called);
                    }
                    if let Some(&symbol) = self.symbols.get(name) {
                        self.spoil(symbol);
                    }
                }
            }
        }
    }

    /// A function is called with parameters that are not known.
    fn give_anything(&mut self, function: usize) {
        let Some(Some(Some(state))) = self.states.get(function) else {
            return;
        };
        let statements = state.body.statements.iter();
        let parameters = statements.filter_map(|s| match s.kind {
            Kind::Parameter(number, byte) => Some((number, byte)),
            _ => None,
        });
        for (number, byte) in parameters.collect::<Vec<_>>() {
            self.set_parameter(function, (number, byte), &Any);
        }
    }

    fn state(&self, function: usize) -> &State {
        let state = self.states[function].as_ref().and_then(Option::as_ref);
        state.expect("statements are of functions that are understood")
    }

    fn state_mut(&mut self, function: usize) -> &mut State {
        let state = self.states[function].as_mut().and_then(Option::as_mut);
        state.expect("statements are of functions that are understood")
    }

    fn queue(&mut self, place: Place) {
        let (function, at) = place;
        let state = self.state_mut(function);
        let block = state.body.statements[at].block as usize;
        if state.reached[block] && !std::mem::replace(&mut state.queued[at], true) {
            self.waiting.push(place);
        }
    }

    fn reach(&mut self, function: usize, block: usize) {
        let state = self.state_mut(function);
        if block >= state.reached.len() || std::mem::replace(&mut state.reached[block], true) {
            return;
        }
        let from = state.body.blocks[block];
        let upto = (state.body.blocks.get(block + 1)).map_or(state.body.statements.len(), |&b| b);
        // The last one first, so that they are looked at in their order.
        for at in (from..upto).rev() {
            self.queue((function, at));
        }
        let falls = (from..upto).last().is_none_or(|last| {
            let last = &self.state(function).body.statements[last];
            !matches!(
                last.kind,
                Kind::Branch(..) | Kind::Switch(..) | Kind::Return
            )
        });
        if falls {
            self.reach(function, block + 1);
        }
    }

    /// Looks at statements until nothing changes.
    fn run(&mut self) {
        loop {
            while let Some(place) = self.waiting.pop() {
                self.state_mut(place.0).queued[place.1] = false;
                self.look(place);
            }
            // What is read but was set by nothing may be anything.
            let mut unset = Vec::new();
            for (function, state) in self.states.iter().enumerate() {
                let Some(Some(state)) = state else { continue };
                for statement in &state.body.statements {
                    if state.reached[statement.block as usize] {
                        let open = |&r: &Register| state.values[r as usize] == Unset;
                        let registers = statement.sets().chain(statement.reads()).filter(open);
                        unset.extend(registers.map(|r| (function, r)));
                    }
                }
            }
            if unset.is_empty() {
                return;
            }
            for (function, register) in unset {
                self.set(function, register, &Any);
            }
        }
    }

    /// Joins a value into a register.
    fn set(&mut self, function: usize, register: Register, value: &Value) {
        let old = &self.state(function).values[register as usize];
        let joined = old.join(value);
        if joined == *old {
            return;
        }
        // An address that is not followed any more.
        let lost = [old.symbol(), value.symbol()].into_iter().flatten();
        let lost: Vec<Symbol> = lost.filter(|_| joined == Any).collect();
        self.state_mut(function).values[register as usize] = joined;
        lost.into_iter().for_each(|symbol| self.spoil(symbol));
        for at in self.state(function).readers[register as usize].clone() {
            self.queue((function, at));
        }
    }

    fn set_parameter(&mut self, function: usize, parameter: (u32, u32), value: &Value) {
        let Some(Some(Some(_))) = self.states.get(function) else {
            return;
        };
        let state = self.state_mut(function);
        let old = state.parameters.get(&parameter).cloned().unwrap_or(Unset);
        let joined = old.join(value);
        if joined == old {
            return;
        }
        let lost = [old.symbol(), value.symbol()].into_iter().flatten();
        let lost: Vec<Symbol> = lost.filter(|_| joined == Any).collect();
        state.parameters.insert(parameter, joined);
        let statements = state.body.statements.iter().enumerate();
        let readers =
            statements.filter(|(_, s)| s.kind == Kind::Parameter(parameter.0, parameter.1));
        let readers: Vec<usize> = readers.map(|(at, _)| at).collect();
        lost.into_iter().for_each(|symbol| self.spoil(symbol));
        readers
            .into_iter()
            .for_each(|at| self.queue((function, at)));
    }

    /// A variable may hold anything.
    fn spoil(&mut self, symbol: Symbol) {
        let variable = &mut self.variables[usize::from(symbol)];
        if Some(symbol) == self.tables.symbol || std::mem::replace(&mut variable.any, true) {
            return;
        }
        let readers: Vec<Place> = variable.readers.iter().copied().collect();
        readers.into_iter().for_each(|place| self.queue(place));
    }

    /// Words of a variable may be this.
    fn store(&mut self, symbol: Symbol, at: i64, value: &Value) {
        let variable = &mut self.variables[usize::from(symbol)];
        if Some(symbol) == self.tables.symbol || variable.any {
            return;
        }
        let old = variable.words.entry(at).or_insert(Unset);
        let joined = old.join(value);
        if joined != *old {
            *old = joined;
            let readers: Vec<Place> = variable.readers.iter().copied().collect();
            readers.into_iter().for_each(|place| self.queue(place));
        }
    }

    fn value(&self, function: usize, operand: &Operand) -> Value {
        match *operand {
            Operand::Register(r) => self.state(function).values[r as usize].clone(),
            Operand::Number(number) => Value::of([number]),
            Operand::Address(symbol, offset) => Value::with(Some(symbol), 0, vec![offset as u64]),
            _ => Any,
        }
    }

    /// The address in brackets.
    fn address(&self, function: usize, operand: &Operand) -> Value {
        match *operand {
            Operand::AtAddress(symbol, offset) => Value::with(Some(symbol), 0, vec![offset as u64]),
            Operand::At(register, offset) => {
                let base = self.value(function, &Operand::Register(register));
                add(self.tables, &base, &Value::of([offset as u64]), 64)
            }
            _ => Any,
        }
    }

    /// What leaves the registers that are followed.
    fn escapes(&mut self, function: usize, statement: &Statement) {
        for (operand, _) in &statement.operands {
            let operands = match operand {
                Operand::Several(all) => all.as_slice(),
                one => std::slice::from_ref(one),
            };
            for operand in operands {
                let value = match operand {
                    Operand::At(..) | Operand::AtAddress(..) => self.address(function, operand),
                    _ => self.value(function, operand),
                };
                if let Some(symbol) = value.symbol() {
                    self.spoil(symbol);
                }
            }
        }
    }

    fn look(&mut self, place: Place) {
        let (function, at) = place;
        let body = Rc::clone(&self.state(function).body);
        let statement = &body.statements[at];
        let mut happens = true;
        if let Some((register, not)) = statement.guard {
            let value = &self.state(function).values[register as usize];
            let (mut yes, mut no) = (true, true);
            if *value == Unset {
                return;
            }
            if let Some(numbers) = value.numbers() {
                yes = numbers.iter().any(|&n| (n & 1 == 1) != not);
                no = numbers.iter().any(|&n| (n & 1 == 1) == not);
            }
            happens = yes;
            let ends = matches!(
                statement.kind,
                Kind::Branch(..) | Kind::Switch(..) | Kind::Return
            );
            if no && ends {
                self.reach(function, statement.block as usize + 1);
            }
        }
        if !happens {
            return;
        }
        match &statement.kind {
            Kind::Open | Kind::Close | Kind::Declare(_) | Kind::Label(_) | Kind::Targets(..) => {}
            Kind::Return => {}
            Kind::Branch(_, block) => self.reach(function, *block as usize),
            Kind::Switch(index, list) => {
                let index = self.value(function, index);
                if index == Unset {
                    return;
                }
                for target in self.state(function).targets(list, &index) {
                    self.reach(function, target);
                }
            }
            Kind::Call(name) => {
                let Some(&called) = self.at.get(name.as_str()) else {
                    return;
                };
                self.enter(called);
                if let Some(Some(state)) = &mut self.states[called] {
                    state.callers.insert(place);
                }
                // Those before it were looked at before it was known.
                let state = self.state(function);
                let statements = state.body.statements.iter().enumerate();
                let near = statements.filter(|(_, s)| match &s.kind {
                    Kind::Argument(_, call, _) | Kind::Result(call, _) => *call == at,
                    _ => false,
                });
                let near: Vec<usize> = near.map(|(at, _)| at).collect();
                near.into_iter().for_each(|at| self.queue((function, at)));
            }
            Kind::Argument(parameter, call, value) => {
                let value = self.value(function, value);
                let Kind::Call(name) = &self.state(function).body.statements[*call].kind else {
                    return;
                };
                let called = self.at.get(name.as_str()).copied();
                let understood = called.is_some_and(|c| !matches!(self.states[c], Some(None)));
                match (called, value.symbol()) {
                    (Some(called), _) if understood => {
                        self.set_parameter(called, *parameter, &value)
                    }
                    (_, Some(symbol)) => self.spoil(symbol),
                    _ => {}
                }
            }
            Kind::Parameter(number, byte) => {
                let known = self.state(function).parameters.get(&(*number, *byte));
                let value = match known {
                    Some(value) => value.clone(),
                    None => Unset,
                };
                self.result(function, statement, &fit(&value, statement.bits));
            }
            Kind::Result(call, byte) => {
                let Kind::Call(name) = &self.state(function).body.statements[*call].kind else {
                    return;
                };
                let called = self.at.get(name.as_str()).map(|&c| (&self.states[c], c));
                let value = match called {
                    Some((Some(Some(state)), _)) => {
                        state.results.get(byte).cloned().unwrap_or(Unset)
                    }
                    Some((None, _)) => return,
                    _ => Any,
                };
                self.result(function, statement, &fit(&value, statement.bits));
            }
            Kind::Give(byte, value) => {
                let value = self.value(function, value);
                let state = self.state_mut(function);
                let old = state.results.get(byte).cloned().unwrap_or(Unset);
                let joined = old.join(&value);
                if joined == old {
                    return;
                }
                let lost = [old.symbol(), value.symbol()].into_iter().flatten();
                let lost: Vec<Symbol> = lost.filter(|_| joined == Any).collect();
                state.results.insert(*byte, joined);
                let callers: Vec<Place> = state.callers.iter().copied().collect();
                lost.into_iter().for_each(|symbol| self.spoil(symbol));
                for (caller, call) in callers {
                    let statements = self.state(caller).body.statements.iter().enumerate();
                    let reads = statements.filter(|(_, s)| s.kind == Kind::Result(call, *byte));
                    let reads: Vec<usize> = reads.map(|(at, _)| at).collect();
                    reads.into_iter().for_each(|at| self.queue((caller, at)));
                }
            }
            Kind::Plain => self.compute(place, statement),
        }
    }

    /// Sets what a statement's result is.
    fn result(&mut self, function: usize, statement: &Statement, value: &Value) {
        for register in statement.sets().collect::<Vec<_>>() {
            self.set(function, register, value);
        }
    }

    fn compute(&mut self, place: Place, statement: &Statement) {
        let (function, _) = place;
        match statement.code {
            Code::Load => {
                let address = self.address(function, &statement.operands[1].0);
                match &statement.operands[0].0 {
                    Operand::Several(parts) => {
                        for (part, index) in parts.iter().zip(0u64..) {
                            let by = Value::of([index * u64::from(statement.bits / 8)]);
                            let value =
                                self.load(place, &add(self.tables, &address, &by, 64), statement);
                            if let Operand::Register(register) = *part {
                                self.set(function, register, &value);
                            }
                        }
                    }
                    _ => {
                        let value = self.load(place, &address, statement);
                        self.result(function, statement, &value);
                    }
                }
            }
            Code::Store => {
                let address = self.address(function, &statement.operands[0].0);
                let stored = &statement.operands[1].0;
                let parts = match stored {
                    Operand::Several(parts) => parts.as_slice(),
                    one => std::slice::from_ref(one),
                };
                for (part, index) in parts.iter().zip(0u64..) {
                    let value = self.value(function, part);
                    if let Some(symbol) = value.symbol() {
                        self.spoil(symbol);
                    }
                    let by = Value::of([index * u64::from(statement.bits / 8)]);
                    self.write(&add(self.tables, &address, &by, 64), &value, statement.bits);
                }
            }
            Code::Touch => {
                for (operand, _) in &statement.operands {
                    match operand {
                        Operand::At(..) | Operand::AtAddress(..) => {
                            let address = self.address(function, operand);
                            self.write(&address, &Any, statement.bits);
                        }
                        _ => {
                            if let Some(symbol) = self.value(function, operand).symbol() {
                                self.spoil(symbol);
                            }
                        }
                    }
                }
                self.result(function, statement, &Any);
            }
            Code::Opaque | Code::Pure => {
                self.escapes(function, statement);
                self.result(function, statement, &Any);
            }
            _ => {
                let shown = &self.state(function).conditions[statement.block as usize];
                let of = |(operand, _): &(Operand, _)| {
                    narrowed(operand, self.value(function, operand), shown)
                };
                let sources: Vec<Value> = statement.sources().iter().map(of).collect();
                let value = computed(self.tables, statement, &sources);
                let kept = value.symbol();
                let compares = matches!(statement.code, Code::Set(_));
                // An address that the result is not.
                if value != Unset && !compares {
                    let lost = sources.iter().filter_map(Value::symbol);
                    let lost: Vec<Symbol> = lost.filter(|&s| Some(s) != kept).collect();
                    lost.into_iter().for_each(|symbol| self.spoil(symbol));
                }
                self.result(function, statement, &value);
            }
        }
    }

    /// Something is written to an address.
    fn write(&mut self, address: &Value, value: &Value, bits: u32) {
        let Value::Some {
            of: Some(symbol),
            step,
            set,
        } = address
        else {
            return;
        };
        if *step != 0 {
            self.spoil(*symbol);
            return;
        }
        for &at in set {
            let at = at as i64;
            let word = match (bits, at % 4) {
                (32, 0) => fit(value, 32),
                (64, 0) => match value {
                    Value::Some {
                        of: None,
                        step: 0,
                        set,
                    } => {
                        let high = Value::of(set.iter().map(|v| v >> 32));
                        self.store(*symbol, at + 4, &high);
                        fit(value, 32)
                    }
                    Unset => Unset,
                    _ => {
                        self.store(*symbol, at + 4, &Any);
                        Any
                    }
                },
                _ => {
                    let last = at + i64::from(bits.max(8) / 8) - 1;
                    for word in at.div_euclid(4)..=last.div_euclid(4) {
                        self.store(*symbol, word * 4, &Any);
                    }
                    continue;
                }
            };
            self.store(*symbol, at, &word);
        }
    }

    /// What is at an address.
    fn load(&mut self, place: Place, address: &Value, statement: &Statement) -> Value {
        let (of, step, set) = match address {
            Unset => return Unset,
            Value::Some {
                of: Some(of),
                step,
                set,
            } => (*of, *step, set),
            _ => return Any,
        };
        let words = match statement.bits {
            32 if !statement.signed => 1,
            64 => 2,
            _ => return Any,
        };
        let mut all = Unset;
        if Some(of) == self.tables.symbol {
            for at in self.entries(step, set) {
                all = all.join(&self.known(at, words));
            }
            return all;
        }
        let variable = &mut self.variables[usize::from(of)];
        variable.readers.insert(place);
        if variable.any || step != 0 {
            return Any;
        }
        for &at in set {
            let word = |i: i64| variable.words.get(&(at as i64 + 4 * i)).unwrap_or(&Unset);
            if at % 4 != 0 {
                return Any;
            }
            all = all.join(&both(word(0), (words == 2).then(|| word(1))));
        }
        all
    }

    /// Where the entries of tables are that addresses with such numbers may be of. `None` among them: anywhere.
    fn entries(&self, step: u64, set: &[u64]) -> Vec<Option<u64>> {
        if step == 0 {
            return set.iter().map(|&at| Some(at)).collect();
        }
        let mut all = Vec::new();
        for &at in set {
            let table = self
                .tables
                .of(at)
                .filter(|t| at < u64::from(t.at + t.entry) && step.is_multiple_of(t.entry.into()));
            match table {
                Some(table) => {
                    let entries = (0..table.count).map(|i| Some(at + u64::from(i * table.entry)));
                    all.extend(entries);
                }
                None => all.push(None),
            }
        }
        all
    }

    fn known(&self, at: Option<u64>, words: u32) -> Value {
        let word = |at: u64| {
            let at = u32::try_from(at).ok();
            match at.and_then(|at| self.tables.known?.words.get(&at)) {
                Some(values) => Value::of(values.iter().map(|&v| u64::from(v))),
                None => Any,
            }
        };
        match at {
            Some(at) => both(&word(at), (words == 2).then(|| word(at + 4)).as_ref()),
            None => Any,
        }
    }
}

/// A value of one word, or of two.
fn both(low: &Value, high: Option<&Value>) -> Value {
    match (low, high) {
        (low, None) => low.clone(),
        (Unset, _) | (_, Some(Unset)) => Unset,
        (low, Some(high)) => match (low.numbers(), high.numbers()) {
            (Some(low), Some(&[high])) => Value::of(low.iter().map(|low| low | high << 32)),
            _ => Any,
        },
    }
}

/// A value in `bits` bits.
fn fit(value: &Value, bits: u32) -> Value {
    match value {
        Value::Some {
            of: None,
            step: 0,
            set,
        } => Value::of(set.iter().map(|&v| cut(v, bits))),
        Value::Some {
            of: None,
            step,
            set,
        } if step.is_power_of_two() => Value::with(None, *step, set.clone()),
        Value::Some { of: None, .. } if bits < 32 => Any,
        other => other.clone(),
    }
}

/// The variable that holds tables, and what is known of them.
#[derive(Clone, Copy)]
struct Tables<'k> {
    symbol: Option<Symbol>,
    known: Option<&'k Known>,
}

impl Tables<'_> {
    fn of(&self, at: u64) -> Option<&Table> {
        let mut tables = self.known.iter().flat_map(|known| &known.tables);
        tables.find(|t| at >= t.at.into() && at < u64::from(t.at) + u64::from(t.entry * t.count))
    }

    /// Whether an index that is not one of a table's entries makes this of the address of its first entry. Such an index
    /// (mostly -1) stands for none, or is of another table, and is not used where it is.
    fn leaves(&self, at: i64, by: i64) -> bool {
        let at = at as u64;
        let first = self.of(at).filter(|t| at < u64::from(t.at + t.entry));
        first.is_some_and(|t| {
            let (entry, count) = (i64::from(t.entry), i64::from(t.count));
            by == -entry || by % entry == 0 && by / entry >= count
        })
    }
}

fn add(tables: Tables<'_>, a: &Value, b: &Value, bits: u32) -> Value {
    let (Some((of_a, step_a, a)), Some((of_b, step_b, b))) = (a.parts(), b.parts()) else {
        return Unset;
    };
    if of_a.is_some() && of_b.is_some() {
        return Any;
    }
    let of = of_a.or(of_b);
    let mut set = Vec::new();
    for &x in a {
        for &y in b {
            if of.is_none() {
                set.push(cut(x.wrapping_add(y), bits));
                continue;
            }
            // From the variable's start there are few bytes in either direction.
            let [x, y] = [x, y].map(|v| extended(v, bits.min(32)));
            let (at, by) = if of_a.is_some() { (x, y) } else { (y, x) };
            if of != tables.symbol || !tables.leaves(at, by) {
                set.push(at.wrapping_add(by) as u64);
            }
        }
    }
    set.sort_unstable();
    set.dedup();
    match set.is_empty() {
        true => Unset,
        false => Value::with(of, divisor(step_a, step_b), set),
    }
}

fn multiplied(a: &Value, b: &Value, cut_to: u32) -> Value {
    let (a, by) = match (a.number(), b.number()) {
        (_, Some(by)) => (a, by),
        (Some(by), None) => (b, by),
        (None, None) => {
            return match (a.numbers(), b.numbers()) {
                (Some(x), Some(y)) => {
                    let all = x
                        .iter()
                        .flat_map(|&x| y.iter().map(move |&y| x.wrapping_mul(y)));
                    Value::of(all.map(|v| cut(v, cut_to)))
                }
                _ => Any,
            };
        }
    };
    match a.parts() {
        None => Unset,
        Some((None, 0, set)) => Value::of(set.iter().map(|v| cut(v.wrapping_mul(by), cut_to))),
        Some((None, step, set)) if by != 0 && step.checked_mul(by).is_some_and(|s| s < 1 << 20) => {
            let set = set
                .iter()
                .map(|v| cut(v.wrapping_mul(by), cut_to))
                .collect();
            Value::with(None, step * by, set)
        }
        Some(_) if by == 0 => Value::of([0]),
        Some(_) => Any,
    }
}

/// What a register may hold where that is known of it.
fn narrowed(operand: &Operand, value: Value, shown: &[Condition]) -> Value {
    let (Operand::Register(register), Some(set)) = (operand, value.numbers()) else {
        return value;
    };
    let shown = shown
        .iter()
        .filter(|condition| condition.register == *register);
    let mut set = set.to_vec();
    shown.for_each(|condition| set.retain(|&n| (n == condition.number) == condition.is));
    match set.is_empty() {
        true => Unset,
        false => Value::of(set),
    }
}

/// What an instruction makes of these.
fn computed(tables: Tables<'_>, statement: &Statement, sources: &[Value]) -> Value {
    let (bits, signed) = (statement.bits, statement.signed);
    if let Code::Select = statement.code {
        let [a, b, which] = sources else { return Any };
        return match which.number() {
            _ if *which == Unset => Unset,
            Some(n) if n & 1 == 1 => fit(a, bits),
            Some(_) => fit(b, bits),
            None => fit(&a.join(b), bits),
        };
    }
    if sources.contains(&Unset) {
        return Unset;
    }
    let each = |f: &dyn Fn(u64) -> u64| match sources[0].numbers() {
        Some(set) => Value::of(set.iter().map(|&v| cut(f(cut(v, bits)), bits))),
        None => Any,
    };
    let pairs = |f: &dyn Fn(u64, u64) -> u64| match (sources[0].numbers(), sources[1].numbers()) {
        (Some(a), Some(b)) => {
            let all = a
                .iter()
                .flat_map(|&x| b.iter().map(move |&y| (cut(x, bits), cut(y, bits))));
            Value::of(all.map(|(x, y)| cut(f(x, y), bits)))
        }
        _ => Any,
    };
    let is = |value: &Value, number: u64| {
        value.number().map(|v| cut(v, bits)) == Some(cut(number, bits))
    };
    match statement.code {
        Code::Move => fit(&sources[0], bits),
        Code::Space => sources[0].clone(),
        Code::Add => add(tables, &sources[0], &sources[1], bits),
        Code::Sub => match sources[1].numbers() {
            Some(set) => {
                let negative = Value::of(set.iter().map(|v| v.wrapping_neg()));
                add(tables, &sources[0], &negative, bits)
            }
            None => Any,
        },
        Code::Mul => multiplied(&sources[0], &sources[1], bits),
        Code::Wide if signed => Any,
        Code::Wide => multiplied(&fit(&sources[0], bits), &fit(&sources[1], bits), 2 * bits),
        Code::Mad => add(
            tables,
            &multiplied(&sources[0], &sources[1], bits),
            &sources[2],
            bits,
        ),
        Code::And if is(&sources[0], 0) || is(&sources[1], 0) => Value::of([0]),
        Code::And => pairs(&|x, y| x & y),
        Code::Or if bits == 1 && (is(&sources[0], 1) || is(&sources[1], 1)) => Value::of([1]),
        Code::Or => pairs(&|x, y| x | y),
        Code::Xor => pairs(&|x, y| x ^ y),
        Code::Not => each(&|x| !x),
        Code::Shl => match sources[1].number() {
            Some(by) if by < u64::from(bits) => {
                multiplied(&sources[0], &Value::of([1 << by]), bits)
            }
            _ => pairs(&|x, y| if y < u64::from(bits) { x << y } else { 0 }),
        },
        Code::Shr if signed => pairs(&|x, y| (extended(x, bits) >> y.min(63)) as u64),
        Code::Shr => pairs(&|x, y| if y < u64::from(bits) { x >> y } else { 0 }),
        Code::Min if signed => pairs(&|x, y| extended(x, bits).min(extended(y, bits)) as u64),
        Code::Min if is(&sources[0], 0) || is(&sources[1], 0) => Value::of([0]),
        Code::Min => pairs(&|x, y| x.min(y)),
        Code::Max if signed => pairs(&|x, y| extended(x, bits).max(extended(y, bits)) as u64),
        Code::Max => pairs(&|x, y| x.max(y)),
        Code::Convert { from, signed } => match &sources[0] {
            Value::Some {
                of: None,
                step: 0,
                set,
            } => Value::of(set.iter().map(|&v| {
                let wide = if signed {
                    extended(v, from) as u64
                } else {
                    cut(v, from)
                };
                cut(wide, bits)
            })),
            Value::Some { step, .. } if from >= 32 && bits >= 32 && (*step == 0 || !signed) => {
                sources[0].clone()
            }
            _ => Any,
        },
        Code::Set(compare) => {
            let holds = |x: u64, y: u64| {
                let order = match signed {
                    true => extended(x, bits).cmp(&extended(y, bits)),
                    false => x.cmp(&y),
                };
                u64::from(match compare {
                    Compare::Eq => order.is_eq(),
                    Compare::Ne => order.is_ne(),
                    Compare::Lt => order.is_lt(),
                    Compare::Le => order.is_le(),
                    Compare::Gt => order.is_gt(),
                    Compare::Ge => order.is_ge(),
                })
            };
            match (compare, signed) {
                (Compare::Lt, false) if is(&sources[1], 0) => Value::of([0]),
                (Compare::Gt, false) if is(&sources[0], 0) => Value::of([0]),
                (Compare::Ge, false) if is(&sources[1], 0) => Value::of([1]),
                (Compare::Le, false) if is(&sources[0], 0) => Value::of([1]),
                _ => match pairs(&holds) {
                    Any => Value::of([0, 1]),
                    value => value,
                },
            }
        }
        _ => Any,
    }
}

/// The numbers that registers are known to hold.
fn constants(state: &State) -> Vec<Option<u64>> {
    let bits = |r: usize| state.body.registers[r];
    let constant = |(r, value): (usize, &Value)| match value.number() {
        Some(number) if bits(r) != 0 => Some(cut(number, bits(r))),
        _ => None,
    };
    state.values.iter().enumerate().map(constant).collect()
}

impl State {
    /// The blocks that a switch may go to.
    fn targets(&self, list: &str, index: &Value) -> Vec<usize> {
        let lists = self.body.statements.iter();
        let targets = lists.filter_map(|s| match &s.kind {
            Kind::Targets(name, targets) if name == list => Some(targets),
            _ => None,
        });
        let block = |target: &(String, u32)| target.1 as usize;
        let all = targets.flatten();
        match index.numbers() {
            Some(numbers) => {
                let all: Vec<usize> = all.map(block).collect();
                let of = |&n: &u64| all.get(usize::try_from(n).ok()?).copied();
                numbers.iter().filter_map(of).collect()
            }
            None => all.map(block).collect(),
        }
    }
}
