//! An evaluator of naga's IR, for what `vyre-naga` emits: one invocation at a time, workgroups in an order that a seed
//! chooses. What a device may leave open is an error here: reads of memory that nothing was written to, indices outside
//! of a buffer, divisions by zero, shifts by a word or more. A weak exchange fails now and then for no reason.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, ArraySize, AtomicFunction, BinaryOperator as Bin, Block, BuiltIn, Expression,
    Function, Handle, Literal, MathFunction as Math, Module, RelationalFunction, ScalarKind,
    Statement, Type, TypeInner, UnaryOperator,
};
use std::collections::HashMap;
use thiserror::Error;

/// What a shader must not do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing was written there.
    #[error("word {at} of {memory} is read before anything is written to it")]
    Unwritten {
        /// Whose.
        memory: String,
        /// Which.
        at: u64,
    },
    /// There is no such word.
    #[error("word {at} of {memory} is outside of it: it has {len}")]
    Outside {
        /// Whose.
        memory: String,
        /// Which.
        at: u64,
        /// How many there are.
        len: u64,
    },
    /// An operation has no result that holds on every device.
    #[error("{0} has no result that holds everywhere")]
    Undefined(String),
    /// The evaluator does not have it.
    #[error("the evaluator does not have {0}")]
    Unsupported(String),
    /// It does not end.
    #[error("it takes more than {0} steps")]
    Endless(u64),
    /// Some invocations of a workgroup wait where others never come.
    #[error("not all invocations of a workgroup come to a barrier")]
    Barrier,
}

/// Words of memory, and which of them were written.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    name: String,
    words: Vec<u32>,
    written: Vec<bool>,
}

impl Memory {
    /// `len` words that nothing was written to.
    pub fn new(name: &str, len: usize) -> Memory {
        Memory {
            name: name.to_owned(),
            words: vec![0; len],
            written: vec![false; len],
        }
    }

    fn at(&self, at: u64) -> Result<usize, Wrong> {
        match usize::try_from(at) {
            Ok(place) if place < self.words.len() => Ok(place),
            _ => Err(Wrong::Outside {
                memory: self.name.clone(),
                at,
                len: self.words.len() as u64,
            }),
        }
    }

    /// A word.
    ///
    /// # Errors
    /// It is not there, or nothing was written to it.
    pub fn get(&self, at: u64) -> Result<u32, Wrong> {
        let place = self.at(at)?;
        match self.written[place] {
            true => Ok(self.words[place]),
            false => Err(Wrong::Unwritten {
                memory: self.name.clone(),
                at,
            }),
        }
    }

    /// Writes a word.
    ///
    /// # Errors
    /// It is not there.
    pub fn set(&mut self, at: u64, word: u32) -> Result<(), Wrong> {
        let place = self.at(at)?;
        (self.words[place], self.written[place]) = (word, true);
        Ok(())
    }
}

/// Steele, Lea and Flood's SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 32) % (n.max(1) as u64)) as usize
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for at in (1..n).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// A module that was read and validated.
pub struct Shader {
    module: Module,
    info: ModuleInfo,
    /// Exchanges may fail for no reason; those of SPIR-V do not.
    weak: bool,
}

/// A value: up to four words, or a pointer.
#[derive(Clone, Copy, Debug)]
enum Value {
    Words([u32; 4]),
    Pointer(Space, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    /// A binding.
    Bound(u32),
    /// A variable of a workgroup.
    Group(u32),
    /// A variable of an invocation.
    Own(u32),
    /// A variable of the function that runs.
    Local(u32),
}

fn one(word: u32) -> Value {
    Value::Words([word, 0, 0, 0])
}

fn two(bits: u64) -> Value {
    Value::Words([bits as u32, (bits >> 32) as u32, 0, 0])
}

impl Shader {
    /// Takes a module that validates.
    ///
    /// # Errors
    /// It does not: naga's reason.
    pub fn new(module: Module) -> Result<Shader, String> {
        use naga::valid::{Capabilities, ValidationFlags, Validator};
        let capabilities = Capabilities::FLOAT64
            | Capabilities::SHADER_INT64
            | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS;
        let mut validator = Validator::new(ValidationFlags::all(), capabilities);
        match validator.validate(&module) {
            Ok(info) => Ok(Shader {
                module,
                info,
                weak: true,
            }),
            Err(e) => Err(format!("{e:?}")),
        }
    }

    /// Reads WGSL.
    ///
    /// # Errors
    /// naga's reason.
    pub fn from_wgsl(text: &str) -> Result<Shader, String> {
        let module = naga::front::wgsl::parse_str(text);
        Shader::new(module.map_err(|e| e.emit_to_string(text))?)
    }

    /// Reads SPIR-V.
    ///
    /// # Errors
    /// naga's reason.
    pub fn from_spirv(words: &[u32]) -> Result<Shader, String> {
        let options = naga::front::spv::Options {
            adjust_coordinate_space: false,
            strict_capabilities: true,
            block_ctx_dump_prefix: None,
        };
        let words = words.iter().copied();
        let module = naga::front::spv::Frontend::new(words, &options).parse();
        let shader = Shader::new(module.map_err(|e| format!("{e:?}"))?)?;
        Ok(Shader {
            weak: false,
            ..shader
        })
    }

    /// The name of its entry point.
    pub fn entry(&self) -> &str {
        &self.module.entry_points[0].name
    }

    /// Bindings that it uses.
    pub fn bindings(&self) -> impl Iterator<Item = u32> {
        let globals = self.module.global_variables.iter();
        globals.filter_map(|(_, g)| Some(g.binding?.binding))
    }

    /// Runs a grid of workgroups.
    ///
    /// # Errors
    /// What it does wrong.
    pub fn dispatch(
        &self,
        groups: u32,
        bound: &mut HashMap<u32, Memory>,
        random: &mut Random,
    ) -> Result<(), Wrong> {
        let entry = &self.module.entry_points[0];
        let size = entry.workgroup_size[0];
        for group in random.order(groups as usize) {
            let mut shared = HashMap::new();
            let mut invocations = Vec::new();
            for lane in 0..size {
                let place = Place {
                    lane,
                    group: group as u32,
                    groups,
                    size,
                };
                invocations.push(Some(Invocation::new(self, place)?));
            }
            // From barrier to barrier.
            loop {
                let (mut waiting, mut done) = (0, 0);
                for lane in random.order(size as usize) {
                    let Some(invocation) = &mut invocations[lane] else {
                        done += 1;
                        continue;
                    };
                    let mut world = World {
                        shader: self,
                        bound,
                        shared: &mut shared,
                        random,
                    };
                    match invocation.run(&mut world)? {
                        Stopped::Barrier => waiting += 1,
                        Stopped::End => {
                            done += 1;
                            invocations[lane] = None;
                        }
                    }
                }
                match (waiting, done) {
                    (0, _) => break,
                    (_, 0) => {}
                    _ => return Err(Wrong::Barrier),
                }
            }
        }
        Ok(())
    }

    fn words(&self, ty: Handle<Type>) -> usize {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(s) => usize::from(s.width / 4).max(1),
            TypeInner::Atomic(s) => usize::from(s.width / 4),
            TypeInner::Vector { size, .. } => *size as usize,
            TypeInner::Array {
                size: ArraySize::Constant(len),
                stride,
                ..
            } => len.get() as usize * (*stride as usize / 4),
            TypeInner::Struct { span, .. } => *span as usize / 4,
            _ => 0,
        }
    }

    /// What a pointer's part is behind it, in words, and its type.
    fn part(&self, ty: &TypeInner, index: u64) -> Result<u64, Wrong> {
        let base = match *ty {
            TypeInner::Pointer { base, .. } => &self.module.types[base].inner,
            _ => return Err(unsupported("a part of this pointer", ty)),
        };
        match base {
            TypeInner::Array { stride, .. } => Ok(index * u64::from(*stride / 4)),
            TypeInner::Struct { members, .. } => Ok(u64::from(members[index as usize].offset / 4)),
            TypeInner::Vector { .. } => Ok(index),
            other => Err(unsupported("a part of", other)),
        }
    }

    fn constant(&self, e: Handle<Expression>) -> Result<Value, Wrong> {
        match &self.module.global_expressions[e] {
            Expression::Literal(literal) => literal_value(*literal),
            Expression::Constant(c) => self.constant(self.module.constants[*c].init),
            Expression::ZeroValue(_) => Ok(one(0)),
            Expression::Compose { components, .. } => {
                let mut words = [0; 4];
                for (word, component) in words.iter_mut().zip(components) {
                    if let Value::Words(parts) = self.constant(*component)? {
                        *word = parts[0];
                    }
                }
                Ok(Value::Words(words))
            }
            other => Err(unsupported("the constant", other)),
        }
    }
}

fn unsupported(what: &str, of: impl std::fmt::Debug) -> Wrong {
    Wrong::Unsupported(format!("{what} {of:?}"))
}

fn literal_value(literal: Literal) -> Result<Value, Wrong> {
    Ok(one(match literal {
        Literal::U32(x) => x,
        Literal::I32(x) => x as u32,
        Literal::F32(x) => x.to_bits(),
        Literal::Bool(x) => x.into(),
        Literal::U64(x) => return Ok(two(x)),
        Literal::F64(x) => return Ok(two(x.to_bits())),
        other => return Err(unsupported("the literal", other)),
    }))
}

/// What an invocation is among the others.
#[derive(Clone, Copy)]
struct Place {
    lane: u32,
    group: u32,
    groups: u32,
    size: u32,
}

struct World<'s, 'w> {
    shader: &'s Shader,
    bound: &'w mut HashMap<u32, Memory>,
    shared: &'w mut HashMap<u32, Memory>,
    random: &'w mut Random,
}

enum Stopped {
    Barrier,
    End,
}

/// A function that runs.
struct Call<'s> {
    function: &'s Function,
    info: &'s FunctionInfo,
    values: Vec<Option<Value>>,
    arguments: Vec<Value>,
    locals: Vec<Memory>,
    open: Vec<Open<'s>>,
    /// Where the caller wants the result.
    result: Option<Handle<Expression>>,
}

/// A block that runs.
struct Open<'s> {
    block: &'s Block,
    at: usize,
    kind: Kind<'s>,
}

#[derive(Clone, Copy)]
enum Kind<'s> {
    Plain,
    Switch,
    Loop {
        body: &'s Block,
        continuing: &'s Block,
        break_if: Option<Handle<Expression>>,
        continues: bool,
    },
}

struct Invocation<'s> {
    calls: Vec<Call<'s>>,
    /// A load of a word that all of a workgroup find alike: all have come to it, and all have to be through with it.
    uniform: Option<(Handle<Expression>, Handle<Expression>)>,
    own: HashMap<u32, Memory>,
    steps: u64,
}

/// Statements that an invocation may run.
const MOST_STEPS: u64 = 1 << 32;

impl<'s> Invocation<'s> {
    fn new(shader: &'s Shader, place: Place) -> Result<Invocation<'s>, Wrong> {
        let entry = &shader.module.entry_points[0].function;
        let mut invocation = Invocation {
            calls: Vec::new(),
            uniform: None,
            own: HashMap::new(),
            steps: 0,
        };
        for (handle, variable) in shader.module.global_variables.iter() {
            if variable.space == AddressSpace::Private {
                let name = variable.name.as_deref().unwrap_or("a variable");
                let mut memory = Memory::new(name, shader.words(variable.ty));
                if let Some(init) = variable.init {
                    let Value::Words(words) = shader.constant(init)? else {
                        return Err(unsupported("the start of", name));
                    };
                    for at in 0..memory.words.len() {
                        memory.set(at as u64, words[at.min(3)])?;
                    }
                }
                // What stands in for builtins is never written.
                invocation.own.insert(handle.index() as u32, memory);
            }
        }
        let builtin = |binding: &Option<naga::Binding>| {
            let Some(naga::Binding::BuiltIn(builtin)) = binding else {
                return Err(unsupported("the argument", binding));
            };
            let Place {
                lane,
                group,
                groups,
                size,
            } = place;
            Ok(Value::Words(match builtin {
                BuiltIn::GlobalInvocationId => [group * size + lane, 0, 0, 0],
                BuiltIn::LocalInvocationIndex | BuiltIn::LocalInvocationId => [lane, 0, 0, 0],
                BuiltIn::WorkGroupId => [group, 0, 0, 0],
                BuiltIn::NumWorkGroups => [groups, 1, 1, 0],
                other => return Err(unsupported("the builtin", other)),
            }))
        };
        let arguments = entry.arguments.iter();
        let mut values = Vec::new();
        for argument in arguments {
            values.push(builtin(&argument.binding)?);
        }
        let info = shader.info.get_entry_point(0);
        invocation.enter(shader, (entry, info), values, None)?;
        Ok(invocation)
    }

    fn enter(
        &mut self,
        shader: &'s Shader,
        (function, info): (&'s Function, &'s FunctionInfo),
        arguments: Vec<Value>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), Wrong> {
        let mut locals = Vec::new();
        for (_, local) in function.local_variables.iter() {
            let name = local.name.as_deref().unwrap_or("a variable");
            let mut memory = Memory::new(name, shader.words(local.ty));
            if let Some(init) = local.init {
                let words = match &function.expressions[init] {
                    Expression::Literal(literal) => literal_value(*literal)?,
                    Expression::ZeroValue(_) => one(0),
                    Expression::Constant(c) => shader.constant(shader.module.constants[*c].init)?,
                    other => return Err(unsupported("the start of a variable as", other)),
                };
                let Value::Words(words) = words else {
                    return Err(unsupported("the start of", name));
                };
                let zero = matches!(function.expressions[init], Expression::ZeroValue(_));
                for at in 0..memory.words.len() {
                    memory.set(at as u64, if zero { 0 } else { words[at.min(3)] })?;
                }
            }
            locals.push(memory);
        }
        self.calls.push(Call {
            function,
            info,
            values: vec![None; function.expressions.len()],
            arguments,
            locals,
            open: vec![Open {
                block: &function.body,
                at: 0,
                kind: Kind::Plain,
            }],
            result,
        });
        Ok(())
    }

    /// Up to the next barrier, or the end.
    fn run(&mut self, world: &mut World<'s, '_>) -> Result<Stopped, Wrong> {
        if let Some((pointer, result)) = self.uniform.take() {
            let (space, at) = self.pointer(world, pointer)?;
            let word = self.memory(world, space)?.get(at)?;
            self.put(result, Value::Words([word, 0, 0, 0]));
            return Ok(Stopped::Barrier);
        }
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(Wrong::Endless(MOST_STEPS));
            }
            let Some(call) = self.calls.last_mut() else {
                return Ok(Stopped::End);
            };
            let Some(open) = call.open.last_mut() else {
                self.give(None);
                continue;
            };
            let Some(statement) = open.block.get(open.at) else {
                self.end_of_block(world)?;
                continue;
            };
            open.at += 1;
            match statement {
                Statement::Emit(range) => {
                    for e in range.clone() {
                        let value = self.expression(world, e)?;
                        self.put(e, value);
                    }
                }
                Statement::Block(block) => self.open(block, Kind::Plain),
                Statement::If {
                    condition,
                    accept,
                    reject,
                } => {
                    let taken = match self.word(world, *condition)? {
                        0 => reject,
                        _ => accept,
                    };
                    self.open(taken, Kind::Plain);
                }
                Statement::Switch { selector, cases } => {
                    let selector = self.word(world, *selector)?;
                    let is = |case: &naga::SwitchCase| match case.value {
                        naga::SwitchValue::I32(x) => x as u32 == selector,
                        naga::SwitchValue::U32(x) => x == selector,
                        naga::SwitchValue::Default => false,
                    };
                    let default =
                        |case: &naga::SwitchCase| case.value == naga::SwitchValue::Default;
                    let at = cases.iter().position(is);
                    let at = at.or_else(|| cases.iter().position(default));
                    let mut at = at.unwrap_or(0);
                    while cases[at].fall_through && cases[at].body.is_empty() {
                        at += 1;
                    }
                    self.open(&cases[at].body, Kind::Switch);
                }
                Statement::Loop {
                    body,
                    continuing,
                    break_if,
                } => self.open(
                    body,
                    Kind::Loop {
                        body,
                        continuing,
                        break_if: *break_if,
                        continues: false,
                    },
                ),
                Statement::Break => {
                    let call = self.calls.last_mut().expect("a function runs");
                    while let Some(open) = call.open.pop() {
                        if !matches!(open.kind, Kind::Plain) {
                            break;
                        }
                    }
                }
                Statement::Continue => {
                    let call = self.calls.last_mut().expect("a function runs");
                    while let Some(open) = call.open.last_mut() {
                        if let Kind::Loop { .. } = open.kind {
                            open.at = open.block.len();
                            break;
                        }
                        call.open.pop();
                    }
                }
                Statement::Return { value } => {
                    let value = match value {
                        Some(value) => Some(self.value(world, *value)?),
                        None => None,
                    };
                    self.give(value);
                }
                Statement::ControlBarrier(_) => return Ok(Stopped::Barrier),
                Statement::WorkGroupUniformLoad { pointer, result } => {
                    self.uniform = Some((*pointer, *result));
                    return Ok(Stopped::Barrier);
                }
                Statement::Store { pointer, value } => {
                    let words = self.words_of(world, *value)?;
                    let (space, at) = self.pointer(world, *pointer)?;
                    for (offset, word) in (0..).zip(words) {
                        self.memory(world, space)?.set(at + offset, word)?;
                    }
                }
                Statement::Atomic {
                    pointer,
                    fun,
                    value,
                    result,
                } => self.atomic(world, (*pointer, *fun, *value), *result)?,
                Statement::Call {
                    function,
                    arguments,
                    result,
                } => {
                    let mut values = Vec::new();
                    for argument in arguments {
                        values.push(self.value(world, *argument)?);
                    }
                    let shader = world.shader;
                    let callee = (&shader.module.functions[*function], &shader.info[*function]);
                    self.enter(shader, callee, values, *result)?;
                }
                other => return Err(unsupported("the statement", other)),
            }
        }
    }

    fn open(&mut self, block: &'s Block, kind: Kind<'s>) {
        let call = self.calls.last_mut().expect("a function runs");
        call.open.push(Open { block, at: 0, kind });
    }

    fn put(&mut self, e: Handle<Expression>, value: Value) {
        let call = self.calls.last_mut().expect("a function runs");
        call.values[e.index()] = Some(value);
    }

    /// A function returns.
    fn give(&mut self, value: Option<Value>) {
        let call = self.calls.pop().expect("a function runs");
        if let (Some(result), Some(value)) = (call.result, value) {
            self.put(result, value);
        }
    }

    fn end_of_block(&mut self, world: &mut World<'s, '_>) -> Result<(), Wrong> {
        let call = self.calls.last_mut().expect("a function runs");
        let open = call.open.last_mut().expect("a block runs");
        let Kind::Loop {
            body,
            continuing,
            break_if,
            continues,
        } = open.kind
        else {
            call.open.pop();
            return Ok(());
        };
        if continues {
            let done = match break_if {
                Some(condition) => self.word(world, condition)? != 0,
                None => false,
            };
            let call = self.calls.last_mut().expect("a function runs");
            if done {
                call.open.pop();
                return Ok(());
            }
        }
        let call = self.calls.last_mut().expect("a function runs");
        let open = call.open.last_mut().expect("a block runs");
        open.at = 0;
        open.block = if continues { body } else { continuing };
        open.kind = Kind::Loop {
            body,
            continuing,
            break_if,
            continues: !continues,
        };
        Ok(())
    }

    // Memory.

    fn memory<'w>(
        &'w mut self,
        world: &'w mut World<'_, '_>,
        space: Space,
    ) -> Result<&'w mut Memory, Wrong> {
        let found = match space {
            Space::Bound(binding) => world.bound.get_mut(&binding),
            Space::Group(at) => world.shared.get_mut(&at),
            Space::Own(at) => self.own.get_mut(&at),
            Space::Local(at) => {
                let call = self.calls.last_mut().expect("a function runs");
                call.locals.get_mut(at as usize)
            }
        };
        found.ok_or_else(|| unsupported("the memory", space))
    }

    fn atomic(
        &mut self,
        world: &mut World<'s, '_>,
        (pointer, fun, value): (Handle<Expression>, AtomicFunction, Handle<Expression>),
        result: Option<Handle<Expression>>,
    ) -> Result<(), Wrong> {
        let wide = self.is_wide(world, value);
        let words = if wide { 2 } else { 1 };
        let word = self.wide(world, value)?;
        let compare = match fun {
            AtomicFunction::Exchange { compare: Some(c) } => Some(self.wide(world, c)?),
            _ => None,
        };
        let (space, at) = self.pointer(world, pointer)?;
        let signed = self.kind(world, value)? == ScalarKind::Sint;
        if wide && signed {
            return Err(unsupported("atomics of 64 bits with a sign", fun));
        }
        let weak = world.shader.weak && compare.is_some();
        let fails = weak && world.random.below(8) == 0;
        let memory = self.memory(world, space)?;
        let mut old = 0;
        for half in 0..words {
            old |= u64::from(memory.get(at + half)?) << (32 * half);
        }
        let mut exchanged = 1;
        let new = match fun {
            AtomicFunction::Add => old.wrapping_add(word),
            AtomicFunction::Subtract => old.wrapping_sub(word),
            AtomicFunction::And => old & word,
            AtomicFunction::InclusiveOr => old | word,
            AtomicFunction::ExclusiveOr => old ^ word,
            AtomicFunction::Min if signed => (old as i32).min(word as i32) as u64,
            AtomicFunction::Max if signed => (old as i32).max(word as i32) as u64,
            AtomicFunction::Min => old.min(word),
            AtomicFunction::Max => old.max(word),
            AtomicFunction::Exchange { .. } => match compare {
                Some(expected) if expected != old || fails => {
                    exchanged = 0;
                    old
                }
                _ => word,
            },
        };
        for half in 0..words {
            memory.set(at + half, (new >> (32 * half)) as u32)?;
        }
        if let Some(result) = result {
            let (low, high) = (old as u32, (old >> 32) as u32);
            self.put(
                result,
                Value::Words(match wide {
                    false => [low, exchanged, 0, 0],
                    true => [low, high, exchanged, 0],
                }),
            );
        }
        Ok(())
    }

    // Values.

    fn word(&mut self, world: &mut World<'s, '_>, e: Handle<Expression>) -> Result<u32, Wrong> {
        match self.value(world, e)? {
            Value::Words(words) => Ok(words[0]),
            Value::Pointer(..) => Err(unsupported("a pointer as", "a word")),
        }
    }

    /// As many words as its type has.
    fn words_of(
        &mut self,
        world: &mut World<'s, '_>,
        e: Handle<Expression>,
    ) -> Result<Vec<u32>, Wrong> {
        let (count, value) = (self.width(world, e)?, self.value(world, e)?);
        match value {
            Value::Words(words) => Ok(words[..count].to_vec()),
            Value::Pointer(..) => Err(unsupported("a pointer as", "words")),
        }
    }

    fn pointer(
        &mut self,
        world: &mut World<'s, '_>,
        e: Handle<Expression>,
    ) -> Result<(Space, u64), Wrong> {
        match self.value(world, e)? {
            Value::Pointer(space, at) => Ok((space, at)),
            Value::Words(_) => Err(unsupported("a word as", "a pointer")),
        }
    }

    fn value(&mut self, world: &mut World<'s, '_>, e: Handle<Expression>) -> Result<Value, Wrong> {
        let call = self.calls.last().expect("a function runs");
        match call.values[e.index()] {
            Some(value) => Ok(value),
            // What is there from the start.
            None => self.expression(world, e),
        }
    }

    fn inner(&self, world: &World<'s, '_>, e: Handle<Expression>) -> &'s TypeInner {
        let call = self.calls.last().expect("a function runs");
        call.info[e].ty.inner_with(&world.shader.module.types)
    }

    /// The kind of a value's scalars.
    fn kind(&self, world: &World<'s, '_>, e: Handle<Expression>) -> Result<ScalarKind, Wrong> {
        match self.inner(world, e) {
            TypeInner::Scalar(s) | TypeInner::Vector { scalar: s, .. } | TypeInner::Atomic(s) => {
                Ok(s.kind)
            }
            other => Err(unsupported("a value of type", other)),
        }
    }

    /// Whether it is a number of 64 bits: two words, low one first.
    fn is_wide(&self, world: &World<'s, '_>, e: Handle<Expression>) -> bool {
        matches!(self.inner(world, e), TypeInner::Scalar(s) if s.width == 8)
    }

    /// Whether it is what an exchange of 64 bits gives: two words, and whether it exchanged.
    fn is_wide_result(&self, world: &World<'s, '_>, e: Handle<Expression>) -> bool {
        let TypeInner::Struct { members, .. } = self.inner(world, e) else {
            return false;
        };
        let first = members
            .first()
            .map(|m| &world.shader.module.types[m.ty].inner);
        matches!(first, Some(TypeInner::Scalar(s)) if s.width == 8)
    }

    fn wide(&mut self, world: &mut World<'s, '_>, e: Handle<Expression>) -> Result<u64, Wrong> {
        match self.value(world, e)? {
            Value::Words([low, high, ..]) => Ok(u64::from(high) << 32 | u64::from(low)),
            Value::Pointer(..) => Err(unsupported("a pointer as", "a number")),
        }
    }

    fn width(&self, world: &World<'s, '_>, e: Handle<Expression>) -> Result<usize, Wrong> {
        match self.inner(world, e) {
            TypeInner::Scalar(s) => Ok(if s.width == 8 { 2 } else { 1 }),
            TypeInner::Atomic(s) => Ok(usize::from(s.width / 4)),
            TypeInner::Vector { size, .. } => Ok(*size as usize),
            TypeInner::Struct { members, .. } => Ok(members.len()),
            other => Err(unsupported("a value of type", other)),
        }
    }

    fn expression(
        &mut self,
        world: &mut World<'s, '_>,
        e: Handle<Expression>,
    ) -> Result<Value, Wrong> {
        let shader = world.shader;
        let function = self.calls.last().expect("a function runs").function;
        Ok(match function.expressions[e] {
            Expression::Literal(literal) => literal_value(literal)?,
            Expression::Constant(c) => shader.constant(shader.module.constants[c].init)?,
            Expression::ZeroValue(_) => one(0),
            Expression::Compose { ref components, .. } => {
                let mut words = Vec::new();
                for &component in components {
                    words.extend(self.words_of(world, component)?);
                }
                words.resize(4, 0);
                Value::Words([words[0], words[1], words[2], words[3]])
            }
            Expression::Access { base, index } => {
                let index = self.word(world, index)?;
                self.element(world, base, index.into())?
            }
            Expression::AccessIndex { base, index } => self.element(world, base, index.into())?,
            Expression::Splat { value, .. } => {
                let word = self.word(world, value)?;
                Value::Words([word; 4])
            }
            Expression::Swizzle {
                vector, pattern, ..
            } => match self.value(world, vector)? {
                Value::Words(words) => Value::Words(pattern.map(|c| words[c as usize])),
                Value::Pointer(..) => return Err(unsupported("a swizzle of", "a pointer")),
            },
            Expression::FunctionArgument(at) => {
                let call = self.calls.last().expect("a function runs");
                call.arguments[at as usize]
            }
            Expression::GlobalVariable(handle) => {
                let variable = &shader.module.global_variables[handle];
                let at = handle.index() as u32;
                let space = match variable.space {
                    AddressSpace::Private => Space::Own(at),
                    AddressSpace::WorkGroup => {
                        let name = variable.name.as_deref().unwrap_or("a variable");
                        let len = shader.words(variable.ty);
                        let made = || Memory::new(name, len);
                        world.shared.entry(at).or_insert_with(made);
                        Space::Group(at)
                    }
                    AddressSpace::Uniform | AddressSpace::Storage { .. } => {
                        let binding = variable.binding.expect("it is bound");
                        Space::Bound(binding.binding)
                    }
                    other => return Err(unsupported("the address space", other)),
                };
                Value::Pointer(space, 0)
            }
            Expression::LocalVariable(handle) => {
                Value::Pointer(Space::Local(handle.index() as u32), 0)
            }
            Expression::Load { pointer } => {
                let width = self.width(world, e)?;
                let (space, at) = self.pointer(world, pointer)?;
                let memory = self.memory(world, space)?;
                let mut words = [0; 4];
                for (offset, word) in (0..).zip(&mut words).take(width) {
                    *word = memory.get(at + offset)?;
                }
                Value::Words(words)
            }
            Expression::Unary { op, expr } => {
                let kind = self.kind(world, expr)?;
                let Value::Words(words) = self.value(world, expr)? else {
                    return Err(unsupported("an operator of", "a pointer"));
                };
                let one = |x: u32| {
                    Ok(match (op, kind) {
                        (UnaryOperator::LogicalNot, _) => u32::from(x == 0),
                        (UnaryOperator::BitwiseNot, _) => !x,
                        (UnaryOperator::Negate, ScalarKind::Float) => {
                            (-f32::from_bits(x)).to_bits()
                        }
                        (UnaryOperator::Negate, _) => x.wrapping_neg(),
                    })
                };
                let words: Result<Vec<u32>, Wrong> = words.into_iter().map(one).collect();
                let words = words?;
                Value::Words([words[0], words[1], words[2], words[3]])
            }
            Expression::Binary { op, left, right } if self.is_wide(world, left) => {
                let kind = self.kind(world, left)?;
                let a = self.wide(world, left)?;
                let b = match self.is_wide(world, right) {
                    true => self.wide(world, right)?,
                    false => self.word(world, right)?.into(),
                };
                two(binary64(op, kind, a, b)?)
            }
            Expression::Binary { op, left, right } => {
                let kind = self.kind(world, left)?;
                let width = self.width(world, left)?.max(self.width(world, right)?);
                let (a, b) = (self.value(world, left)?, self.value(world, right)?);
                let (Value::Words(a), Value::Words(b)) = (a, b) else {
                    return Err(unsupported("an operator of", "a pointer"));
                };
                let mut words = [0; 4];
                for at in 0..width {
                    words[at] = binary(op, kind, a[at], b[at])?;
                }
                Value::Words(words)
            }
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                ..
            } if self.is_wide(world, arg) => {
                let mut operands = [self.wide(world, arg)?, 0, 0];
                for (operand, arg) in operands[1..].iter_mut().zip([arg1, arg2]) {
                    if let Some(arg) = arg {
                        *operand = self.wide(world, arg)?;
                    }
                }
                two(math64(fun, operands.map(f64::from_bits))?.to_bits())
            }
            Expression::As {
                expr,
                kind,
                convert: Some(bytes),
            } if bytes == 8 || self.is_wide(world, expr) => {
                let from = self.kind(world, expr)?;
                let bits = match self.is_wide(world, expr) {
                    true => self.wide(world, expr)?,
                    false => self.word(world, expr)?.into(),
                };
                let wide = self.is_wide(world, expr);
                two(converted64((from, wide), (kind, bytes), bits)?)
            }
            Expression::Select {
                condition,
                accept,
                reject,
            } => {
                let many = self.width(world, condition)?;
                let condition = self.value(world, condition)?;
                let (accept, reject) = (self.value(world, accept)?, self.value(world, reject)?);
                match (condition, accept, reject) {
                    (Value::Words(c), Value::Words(a), Value::Words(r)) => {
                        let at = |i: usize| if many == 1 { 0 } else { i };
                        let chosen = |i: usize| if c[at(i)] != 0 { a[i] } else { r[i] };
                        Value::Words(std::array::from_fn(chosen))
                    }
                    _ => return Err(unsupported("a choice of", "pointers")),
                }
            }
            Expression::Relational { fun, argument } => {
                let words = self.words_of(world, argument)?;
                one(match fun {
                    RelationalFunction::All => words.iter().all(|&w| w != 0).into(),
                    RelationalFunction::Any => words.iter().any(|&w| w != 0).into(),
                    other => return Err(unsupported("the function", other)),
                })
            }
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                ..
            } => {
                let kind = self.kind(world, arg)?;
                let a = self.word(world, arg)?;
                let mut more = [0; 2];
                for (word, arg) in more.iter_mut().zip([arg1, arg2]) {
                    if let Some(arg) = arg {
                        *word = self.word(world, arg)?;
                    }
                }
                if self.width(world, arg)? != 1 {
                    return Err(unsupported("of vectors", fun));
                }
                one(math(fun, kind, a, more)?)
            }
            Expression::As {
                expr,
                kind,
                convert,
            } => {
                let from = self.kind(world, expr)?;
                let width = self.width(world, expr)?;
                let Value::Words(mut words) = self.value(world, expr)? else {
                    return Err(unsupported("a conversion of", "a pointer"));
                };
                if convert.is_some() {
                    for word in &mut words[..width] {
                        *word = converted(from, kind, *word)?;
                    }
                }
                Value::Words(words)
            }
            ref other => return Err(unsupported("the expression", other)),
        })
    }

    fn element(
        &mut self,
        world: &mut World<'s, '_>,
        base: Handle<Expression>,
        index: u64,
    ) -> Result<Value, Wrong> {
        match self.value(world, base)? {
            Value::Pointer(space, at) => {
                let ty = self.inner(world, base);
                self.bounds(world, ty, index)?;
                Ok(Value::Pointer(space, at + world.shader.part(ty, index)?))
            }
            Value::Words(words) if self.is_wide_result(world, base) => Ok(match index {
                0 => Value::Words([words[0], words[1], 0, 0]),
                _ => one(words[2]),
            }),
            Value::Words(words) => match words.get(index as usize) {
                Some(&word) => Ok(one(word)),
                None => Err(Wrong::Undefined(format!("component {index}"))),
            },
        }
    }

    /// An element of an array whose length is known is in it.
    fn bounds(&self, world: &World<'s, '_>, ty: &TypeInner, index: u64) -> Result<(), Wrong> {
        let TypeInner::Pointer { base, .. } = *ty else {
            return Ok(());
        };
        match world.shader.module.types[base].inner {
            TypeInner::Array {
                size: ArraySize::Constant(len),
                ..
            } if index >= u64::from(len.get()) => Err(Wrong::Outside {
                memory: "an array".to_owned(),
                at: index,
                len: len.get().into(),
            }),
            _ => Ok(()),
        }
    }
}

fn binary(op: Bin, kind: ScalarKind, a: u32, b: u32) -> Result<u32, Wrong> {
    let undefined = || {
        Err(Wrong::Undefined(format!(
            "{op:?} of {a:#x} and {b:#x} as {kind:?}"
        )))
    };
    if kind == ScalarKind::Float {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        return Ok(match op {
            Bin::Add => (x + y).to_bits(),
            Bin::Subtract => (x - y).to_bits(),
            Bin::Multiply => (x * y).to_bits(),
            Bin::Divide => (x / y).to_bits(),
            Bin::Equal => (x == y).into(),
            Bin::NotEqual => (x != y).into(),
            Bin::Less => (x < y).into(),
            Bin::LessEqual => (x <= y).into(),
            Bin::Greater => (x > y).into(),
            Bin::GreaterEqual => (x >= y).into(),
            _ => return undefined(),
        });
    }
    let signed = kind == ScalarKind::Sint;
    let (i, j) = (a as i32, b as i32);
    Ok(match op {
        Bin::Add => a.wrapping_add(b),
        Bin::Subtract => a.wrapping_sub(b),
        Bin::Multiply => a.wrapping_mul(b),
        Bin::Divide | Bin::Modulo if b == 0 => return undefined(),
        Bin::Divide if signed => match i.checked_div(j) {
            Some(x) => x as u32,
            None => return undefined(),
        },
        Bin::Modulo if signed => match i.checked_rem(j) {
            Some(x) => x as u32,
            None => return undefined(),
        },
        Bin::Divide => a / b,
        Bin::Modulo => a % b,
        Bin::Equal => (a == b).into(),
        Bin::NotEqual => (a != b).into(),
        Bin::Less if signed => (i < j).into(),
        Bin::LessEqual if signed => (i <= j).into(),
        Bin::Greater if signed => (i > j).into(),
        Bin::GreaterEqual if signed => (i >= j).into(),
        Bin::Less => (a < b).into(),
        Bin::LessEqual => (a <= b).into(),
        Bin::Greater => (a > b).into(),
        Bin::GreaterEqual => (a >= b).into(),
        Bin::And | Bin::LogicalAnd => a & b,
        Bin::InclusiveOr | Bin::LogicalOr => a | b,
        Bin::ExclusiveOr => a ^ b,
        Bin::ShiftLeft | Bin::ShiftRight if b >= 32 => return undefined(),
        Bin::ShiftLeft => a << b,
        Bin::ShiftRight if signed => (i >> b) as u32,
        Bin::ShiftRight => a >> b,
    })
}

fn binary64(op: Bin, kind: ScalarKind, a: u64, b: u64) -> Result<u64, Wrong> {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    Ok(match (op, kind) {
        (Bin::Add, ScalarKind::Float) => (x + y).to_bits(),
        (Bin::Subtract, ScalarKind::Float) => (x - y).to_bits(),
        (Bin::Multiply, ScalarKind::Float) => (x * y).to_bits(),
        (Bin::Divide, ScalarKind::Float) => (x / y).to_bits(),
        (Bin::Equal, ScalarKind::Float) => (x == y).into(),
        (Bin::NotEqual, ScalarKind::Float) => (x != y).into(),
        (Bin::Less, ScalarKind::Float) => (x < y).into(),
        (Bin::LessEqual, ScalarKind::Float) => (x <= y).into(),
        (Bin::Greater, ScalarKind::Float) => (x > y).into(),
        (Bin::GreaterEqual, ScalarKind::Float) => (x >= y).into(),
        (Bin::Equal, ScalarKind::Uint) => (a == b).into(),
        (Bin::NotEqual, ScalarKind::Uint) => (a != b).into(),
        (Bin::InclusiveOr, ScalarKind::Uint) => a | b,
        (Bin::ShiftLeft, ScalarKind::Uint) if b < 64 => a << b,
        (Bin::ShiftRight, ScalarKind::Uint) if b < 64 => a >> b,
        _ => return Err(unsupported("of 64 bits", (op, kind))),
    })
}

fn math64(fun: Math, [x, y, z]: [f64; 3]) -> Result<f64, Wrong> {
    Ok(match fun {
        Math::Abs => x.abs(),
        Math::Sqrt => x.sqrt(),
        Math::Floor => x.floor(),
        Math::Ceil => x.ceil(),
        Math::Trunc => x.trunc(),
        Math::Fma => x.mul_add(y, z),
        _ => return Err(unsupported("of 64 bits", fun)),
    })
}

/// From and to a kind, and whether that has 64 bits, or how many bytes.
fn converted64(from: (ScalarKind, bool), to: (ScalarKind, u8), bits: u64) -> Result<u64, Wrong> {
    use ScalarKind::{Float, Sint, Uint};
    let word = bits as u32;
    Ok(match (from, to) {
        ((Uint, false), (Uint, 8)) => word.into(),
        ((Uint, true), (Uint, 4)) => word.into(),
        ((Uint, false), (Float, 8)) => f64::from(word).to_bits(),
        ((Sint, false), (Float, 8)) => f64::from(word as i32).to_bits(),
        ((Uint, true), (Float, 8)) => (bits as f64).to_bits(),
        ((Float, false), (Float, 8)) => f64::from(f32::from_bits(word)).to_bits(),
        ((Float, true), (Float, 4)) => (f64::from_bits(bits) as f32).to_bits().into(),
        _ => return Err(unsupported("a conversion", (from, to))),
    })
}

fn math(fun: Math, kind: ScalarKind, a: u32, [b, c]: [u32; 2]) -> Result<u32, Wrong> {
    let x = f32::from_bits(a);
    Ok(match (fun, kind) {
        (Math::Min, ScalarKind::Uint) => a.min(b),
        (Math::Max, ScalarKind::Uint) => a.max(b),
        (Math::Min, ScalarKind::Sint) => (a as i32).min(b as i32) as u32,
        (Math::Max, ScalarKind::Sint) => (a as i32).max(b as i32) as u32,
        (Math::CountOneBits, _) => a.count_ones(),
        (Math::CountLeadingZeros, _) => a.leading_zeros(),
        (Math::CountTrailingZeros, _) => a.trailing_zeros(),
        (Math::FirstLeadingBit, ScalarKind::Uint) => a.checked_ilog2().unwrap_or(u32::MAX),
        (Math::FirstTrailingBit, _) => match a {
            0 => u32::MAX,
            a => a.trailing_zeros(),
        },
        (Math::Abs, ScalarKind::Float) => x.abs().to_bits(),
        (Math::Exp, ScalarKind::Float) => x.exp().to_bits(),
        (Math::Log, ScalarKind::Float) => x.ln().to_bits(),
        (Math::Sin, ScalarKind::Float) => x.sin().to_bits(),
        (Math::Cos, ScalarKind::Float) => x.cos().to_bits(),
        (Math::Sqrt, ScalarKind::Float) => x.sqrt().to_bits(),
        (Math::Floor, ScalarKind::Float) => x.floor().to_bits(),
        (Math::Ceil, ScalarKind::Float) => x.ceil().to_bits(),
        (Math::Trunc, ScalarKind::Float) => x.trunc().to_bits(),
        (Math::Fma, ScalarKind::Float) => x.mul_add(f32::from_bits(b), f32::from_bits(c)).to_bits(),
        _ => return Err(unsupported("the function", (fun, kind))),
    })
}

fn converted(from: ScalarKind, to: ScalarKind, word: u32) -> Result<u32, Wrong> {
    use ScalarKind::{Bool, Float, Sint, Uint};
    Ok(match (from, to) {
        (Uint, Float) => (word as f32).to_bits(),
        (Sint, Float) => (word as i32 as f32).to_bits(),
        (Uint | Sint, Uint | Sint) | (Bool, Uint | Sint) => word,
        (Uint | Sint, Bool) => u32::from(word != 0),
        _ => return Err(unsupported("a conversion", (from, to))),
    })
}
