//! Building naga's IR: a module with the types and globals of a pass, and functions, statement by statement.

use crate::helpers::Helper;
use crate::layout::{Arena, Layout};
use crate::rounds::Word;
use naga::{
    AddressSpace, ArraySize, AtomicFunction, BinaryOperator as Bin, Block, Constant, Expression,
    Function, FunctionArgument, FunctionResult, GlobalVariable, Handle, Literal, LocalVariable,
    MathFunction, MemoryDecorations, Module, Range, ResourceBinding, Scalar, ScalarKind, Span,
    Statement, StorageAccess, StructMember, Type, TypeInner, UnaryOperator, VectorSize,
};
use std::collections::HashMap;
use std::num::NonZeroU32;
use vyre_core::plan::shaders::{self, Pulling, is_plain};

/// A value or a pointer.
pub(crate) type Value = Handle<Expression>;

/// The types of a module.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    pub(crate) u32: Handle<Type>,
    pub(crate) bool: Handle<Type>,
    pub(crate) pair: Handle<Type>,
    pub(crate) id: Handle<Type>,
    pub(crate) quad: Handle<Type>,
    cell: Handle<Type>,
}

/// A module in the making.
pub(crate) struct Maker<'l> {
    pub(crate) module: Module,
    pub(crate) layout: &'l Layout,
    pub(crate) ty: Types,
    pub(crate) helpers: HashMap<Helper, Handle<Function>>,
    /// The round is in `dispatches`, and not in the uniform.
    pub(crate) counts_rounds: bool,
    /// Words of the uniform that change from round to round: they are those of the wave's own uniform, in `blocks`.
    pub(crate) traded: Vec<u32>,
    /// What a workgroup of a sweep shares.
    pub(crate) sharing: Sharing,
    globals: HashMap<Global, Handle<GlobalVariable>>,
    constants: HashMap<String, Handle<Constant>>,
}

/// Words behind the nodes that a workgroup has staged: how many there are, and the first one's slot.
pub(crate) const STAGED_HEAD: u32 = 2;

/// Words of a workgroup whose sweep may pull: edges out of what it pushed, and invocations with edges that are left.
pub(crate) const PULL_CELLS: u32 = 2;

/// What a workgroup shares: words, and for each frontier that it stages pushes onto, nodes without slots, and how many
/// there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    pub(crate) words: u32,
    pub(crate) frontiers: Vec<u16>,
    /// Of each frontier, at most.
    pub(crate) nodes: u32,
    /// What is pushed onto its frontier may be pulled from.
    pub(crate) pulling: Option<Pulling>,
}

/// A global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Global {
    /// Words that never change.
    Params,
    /// A storage buffer of words.
    Memory(Arena),
    /// Counts, reductions, the trap, and records of workgroups.
    Control,
    /// An invocation's own word: what it has of a fault, of a reduction, or how many turns its loops took.
    Own(Own),
    /// What a workgroup's invocations share.
    Shared,
    /// Arguments of dispatches, and what is known of rounds.
    Dispatches,
    /// The uniforms of waves, as words.
    Blocks,
}

/// A word of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Own {
    /// Its lowest fault: kind, item, pc, index, length.
    Fault(u32),
    /// Turns of loops.
    Turns,
    /// Edges out of what it gave a slot.
    Edges,
    /// A word of what it has of a reduction, and what that begins with.
    Total(u16, u32, u32),
    /// A row, of the turn of a loop that is shared out, or of the invocation's item before and behind it.
    Row(bool, u8),
    /// Turns that the item has; whether its code comes to them; whether a turn failed.
    Wanted,
    Reached,
    Failed,
}

/// Words of a fault.
pub(crate) const FAULT_WORDS: [&str; shaders::FAULT_WORDS as usize] =
    ["kind", "item", "pc", "index", "len"];

fn scalar(inner: Scalar) -> Type {
    unnamed(TypeInner::Scalar(inner))
}

fn unnamed(inner: TypeInner) -> Type {
    Type { name: None, inner }
}

fn vector(size: VectorSize) -> Type {
    unnamed(TypeInner::Vector {
        size,
        scalar: Scalar::U32,
    })
}

impl<'l> Maker<'l> {
    pub(crate) fn new(layout: &'l Layout) -> Maker<'l> {
        let mut module = Module::default();
        let mut add = |ty| module.types.insert(ty, Span::UNDEFINED);
        let ty = Types {
            u32: add(scalar(Scalar::U32)),
            bool: add(scalar(Scalar::BOOL)),
            pair: add(vector(VectorSize::Bi)),
            id: add(vector(VectorSize::Tri)),
            quad: add(vector(VectorSize::Quad)),
            cell: add(unnamed(TypeInner::Atomic(Scalar::U32))),
        };
        Maker {
            module,
            layout,
            ty,
            helpers: HashMap::new(),
            counts_rounds: false,
            traded: Vec::new(),
            sharing: Sharing::default(),
            globals: HashMap::new(),
            constants: HashMap::new(),
        }
    }

    fn add(&mut self, ty: Type) -> Handle<Type> {
        self.module.types.insert(ty, Span::UNDEFINED)
    }

    pub(crate) fn array(&mut self, len: Option<u32>) -> Handle<Type> {
        self.array_of(self.ty.u32, len)
    }

    /// Integers of 64 bits: only modules that have them ask a device for more.
    pub(crate) fn wide(&mut self) -> Handle<Type> {
        self.add(scalar(Scalar::U64))
    }

    fn array_of(&mut self, base: Handle<Type>, len: Option<u32>) -> Handle<Type> {
        let size = match len.and_then(NonZeroU32::new) {
            Some(len) => ArraySize::Constant(len),
            None => ArraySize::Dynamic,
        };
        self.add(unnamed(TypeInner::Array {
            base,
            size,
            stride: self.module.types[base].inner.size(self.module.to_ctx()),
        }))
    }

    /// A struct of words, with an array without end behind them where `rest` names one. Atomic ones are marked.
    fn words(&mut self, name: &str, words: &[(String, bool)], rest: Option<&str>) -> Handle<Type> {
        let rest = rest.map(|rest| (rest, self.array(None)));
        let member = |(at, (name, atomic)): (usize, &(String, bool))| StructMember {
            name: Some(name.clone()),
            ty: if *atomic { self.ty.cell } else { self.ty.u32 },
            binding: None,
            offset: 4 * at as u32,
        };
        let mut members: Vec<StructMember> = words.iter().enumerate().map(member).collect();
        let offset = 4 * words.len() as u32;
        members.extend(rest.map(|(name, ty)| StructMember {
            name: Some(name.to_owned()),
            ty,
            binding: None,
            offset,
        }));
        self.add(Type {
            name: Some(name.to_owned()),
            inner: TypeInner::Struct {
                members,
                span: offset + 4 * u32::from(rest.is_some()),
            },
        })
    }

    fn global(&mut self, global: Global) -> Handle<GlobalVariable> {
        if let Some(&made) = self.globals.get(&global) {
            return made;
        }
        let write = StorageAccess::LOAD | StorageAccess::STORE;
        let bound = |binding| Some(ResourceBinding { group: 0, binding });
        let layout = self.layout;
        let (name, space, binding, ty, init) = match global {
            Global::Params => {
                let words = layout.params.iter().map(|p| (p.name.clone(), false));
                let words: Vec<_> = words.collect();
                let ty = self.words("Params", &words, None);
                (
                    "params".to_owned(),
                    AddressSpace::Uniform,
                    bound(0),
                    ty,
                    None,
                )
            }
            Global::Memory(arena) => {
                let base = match arena {
                    Arena::Fixed | Arena::Plain => self.ty.u32,
                    Arena::Cells => self.ty.cell,
                    Arena::Wide => self.add(unnamed(TypeInner::Atomic(Scalar::U64))),
                };
                let access = match arena {
                    Arena::Fixed => StorageAccess::LOAD,
                    Arena::Plain | Arena::Cells | Arena::Wide => write,
                };
                let ty = self.array_of(base, None);
                let space = AddressSpace::Storage { access };
                (
                    arena.name().to_owned(),
                    space,
                    bound(arena.binding()),
                    ty,
                    None,
                )
            }
            Global::Control => {
                let words = layout.control.iter();
                let words: Vec<_> = words.map(|c| (c.name.clone(), c.atomic)).collect();
                let ty = self.words("Control", &words, Some("records"));
                let space = AddressSpace::Storage { access: write };
                (
                    "control".to_owned(),
                    space,
                    bound(Layout::CONTROL),
                    ty,
                    None,
                )
            }
            Global::Own(own) => {
                let (name, init) = match own {
                    Own::Fault(word) => (format!("fault_{}", FAULT_WORDS[word as usize]), 0),
                    Own::Turns => ("turns".to_owned(), 0),
                    Own::Edges => ("own_edges".to_owned(), 0),
                    Own::Row(true, row) => (format!("turn_r{row}"), 0),
                    Own::Row(false, row) => (format!("item_r{row}"), 0),
                    Own::Wanted => ("turns_wanted".to_owned(), 0),
                    Own::Reached => ("reached".to_owned(), 0),
                    Own::Failed => ("failed_turn".to_owned(), 0),
                    Own::Total(reduction, half, bits) => {
                        let name = layout.reduction(reduction);
                        let name = match half {
                            0 => format!("own_{name}"),
                            1 => format!("own_{name}_high"),
                            more => format!("own_{name}_word_{more}_of"),
                        };
                        (name, bits)
                    }
                };
                let init = Expression::Literal(Literal::U32(init));
                let init = self.module.global_expressions.append(init, Span::UNDEFINED);
                (name, AddressSpace::Private, None, self.ty.u32, Some(init))
            }
            Global::Shared => {
                let ty = self.shared();
                ("shared".to_owned(), AddressSpace::WorkGroup, None, ty, None)
            }
            Global::Dispatches | Global::Blocks => {
                let (name, binding) = match global {
                    Global::Dispatches => ("dispatches", Layout::DISPATCHES),
                    _ => ("blocks", Layout::BLOCKS),
                };
                let ty = self.array(None);
                let space = AddressSpace::Storage { access: write };
                (name.to_owned(), space, bound(binding), ty, None)
            }
        };
        let variable = GlobalVariable {
            name: Some(name),
            space,
            binding,
            ty,
            init,
            memory_decorations: MemoryDecorations::empty(),
        };
        let made = (self.module.global_variables).append(variable, Span::UNDEFINED);
        self.globals.insert(global, made);
        made
    }

    /// The struct of what a workgroup shares.
    fn shared(&mut self) -> Handle<Type> {
        let Sharing {
            words,
            frontiers,
            nodes,
            pulling,
        } = self.sharing.clone();
        let is_counted = pulling.is_some() && !frontiers.is_empty();
        let mut members = vec![("words".to_owned(), self.array(Some(words)), words)];
        for frontier in frontiers {
            let name = self.layout.frontier(frontier);
            let (staged, len) = (format!("staged_{name}"), format!("staged_len_{name}"));
            let words = nodes + STAGED_HEAD;
            members.push((staged, self.array(Some(words)), words));
            members.push((len, self.ty.cell, 1));
        }
        if is_counted {
            members.push(("edges".to_owned(), self.ty.cell, 1));
            members.push(("left".to_owned(), self.ty.cell, 1));
        }
        let mut offset = 0;
        let members = members.into_iter().map(|(name, ty, words)| {
            let member = StructMember {
                name: Some(name),
                ty,
                binding: None,
                offset: 4 * offset,
            };
            offset += words;
            member
        });
        let members: Vec<StructMember> = members.collect();
        let inner = TypeInner::Struct {
            members,
            span: 4 * offset,
        };
        self.add(Type {
            name: Some("Shared".to_owned()),
            inner,
        })
    }

    /// A number with a name.
    fn constant(&mut self, name: &str, value: u32) -> Handle<Constant> {
        if let Some(&made) = self.constants.get(name) {
            return made;
        }
        let init = Expression::Literal(Literal::U32(value));
        let init = self.module.global_expressions.append(init, Span::UNDEFINED);
        let constant = Constant {
            name: Some(name.to_owned()),
            ty: self.ty.u32,
            init,
        };
        let made = self.module.constants.append(constant, Span::UNDEFINED);
        self.constants.insert(name.to_owned(), made);
        made
    }
}

/// The kind of a fault that is the end of a loop by the driver.
const CUT_LOOP: u32 = 254;

/// The body of a loop with something before each of its breaks.
fn with_breaks(body: Block, before: &Statement) -> Block {
    let mut with = Block::new();
    for (statement, span) in body.span_into_iter() {
        let statement = match statement {
            Statement::Break => {
                with.push(before.clone(), span);
                Statement::Break
            }
            Statement::If {
                condition,
                accept,
                reject,
            } => Statement::If {
                condition,
                accept: with_breaks(accept, before),
                reject: with_breaks(reject, before),
            },
            Statement::Block(block) => Statement::Block(with_breaks(block, before)),
            // Those in an inner loop leave that.
            other => other,
        };
        with.push(statement, span);
    }
    with
}

/// A function in the making. Values of words are u32, conditions bool, values of 64 bits pairs of words, low one first.
pub(crate) struct Fun<'m, 'l> {
    pub(crate) m: &'m mut Maker<'l>,
    f: Function,
    /// Open blocks, and what each knows of values that never change while the function runs.
    blocks: Vec<(Block, HashMap<u32, Value>)>,
    literals: HashMap<u32, Value>,
    known: HashMap<Value, u32>,
    /// The condition that a word is made of.
    truths: HashMap<Value, Value>,
    globals: HashMap<Global, Value>,
    constants: HashMap<String, Value>,
}

impl<'m, 'l> Fun<'m, 'l> {
    pub(crate) fn new(
        m: &'m mut Maker<'l>,
        name: &str,
        arguments: &[(&str, Handle<Type>)],
        result: Option<Handle<Type>>,
    ) -> Fun<'m, 'l> {
        let argument = |&(name, ty): &(&str, Handle<Type>)| FunctionArgument {
            name: Some(name.to_owned()),
            ty,
            binding: None,
        };
        let f = Function {
            name: Some(name.to_owned()),
            arguments: arguments.iter().map(argument).collect(),
            result: result.map(|ty| FunctionResult { ty, binding: None }),
            ..Function::default()
        };
        Fun {
            m,
            f,
            blocks: vec![(Block::new(), HashMap::new())],
            literals: HashMap::new(),
            known: HashMap::new(),
            truths: HashMap::new(),
            globals: HashMap::new(),
            constants: HashMap::new(),
        }
    }

    /// The function, and the module's again.
    pub(crate) fn finish(mut self) -> Function {
        let (body, _) = self.blocks.pop().expect("the outermost block is open");
        self.f.body = body;
        self.f
    }

    /// Adds it to the module.
    pub(crate) fn define(self) -> Handle<Function> {
        let Fun {
            m,
            mut f,
            mut blocks,
            ..
        } = self;
        f.body = blocks.pop().expect("the outermost block is open").0;
        m.module.functions.append(f, Span::UNDEFINED)
    }

    // Statements.

    pub(crate) fn push(&mut self, statement: Statement) {
        let (block, _) = self.blocks.last_mut().expect("a block is open");
        block.push(statement, Span::UNDEFINED);
    }

    /// Opens a block: what is pushed is in it until it is closed.
    pub(crate) fn open(&mut self) {
        self.blocks.push((Block::new(), HashMap::new()));
    }

    pub(crate) fn close(&mut self) -> Block {
        self.blocks.pop().expect("it was opened").0
    }

    fn inside(&mut self, body: impl FnOnce(&mut Self)) -> Block {
        self.open();
        body(self);
        self.close()
    }

    pub(crate) fn when(&mut self, condition: Value, accept: impl FnOnce(&mut Self)) {
        self.branch(condition, accept, |_| {});
    }

    pub(crate) fn branch(
        &mut self,
        condition: Value,
        accept: impl FnOnce(&mut Self),
        reject: impl FnOnce(&mut Self),
    ) {
        let accept = self.inside(accept);
        let reject = self.inside(reject);
        self.push(Statement::If {
            condition,
            accept,
            reject,
        });
    }

    /// Until something in it leaves it.
    pub(crate) fn forever(&mut self, body: impl FnOnce(&mut Self)) {
        let body = self.inside(body);
        self.repeat(body);
    }

    /// A loop of this body. Where a driver may end loops by itself, one that it ends is a fault, before all others.
    pub(crate) fn repeat(&mut self, body: Block) {
        let checks = self.m.layout.checks_loops();
        let ended = checks.then(|| self.local("loop_ended", None));
        let body = match ended {
            Some(ended) => {
                let (no, yes) = (self.u(0), self.u(1));
                self.store(ended, no);
                let (pointer, value) = (ended, yes);
                with_breaks(body, &Statement::Store { pointer, value })
            }
            None => body,
        };
        self.push(Statement::Loop {
            body,
            continuing: Block::new(),
            break_if: None,
        });
        if let Some(ended) = ended {
            let ended = self.load(ended);
            let cut = self.with(Bin::Equal, ended, 0);
            self.when(cut, |f| {
                let (kind, none) = (f.constant("CUT_LOOP", CUT_LOOP), f.u(0));
                f.act(Helper::Fault, &[kind, none, none, none, none]);
            });
        }
    }

    /// Counts a variable from `from` up to `to`.
    pub(crate) fn count(
        &mut self,
        name: &str,
        (from, to): (Value, Value),
        body: impl FnOnce(&mut Self, Value),
    ) {
        let at = self.local(name, None);
        self.store(at, from);
        self.forever(|f| {
            let now = f.load(at);
            f.name(now, format!("this_{name}"));
            let done = f.bin(Bin::GreaterEqual, now, to);
            f.when(done, |f| f.push(Statement::Break));
            body(f, now);
            let next = f.plus(now, 1);
            f.store(at, next);
        });
    }

    pub(crate) fn give(&mut self, value: Option<Value>) {
        self.push(Statement::Return { value });
    }

    pub(crate) fn store(&mut self, pointer: Value, value: Value) {
        self.push(Statement::Store { pointer, value });
    }

    pub(crate) fn call(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let function = self.m.helper(helper);
        let result = self.call_of(function, arguments);
        result.expect("this helper gives something")
    }

    pub(crate) fn act(&mut self, helper: Helper, arguments: &[Value]) {
        let function = self.m.helper(helper);
        self.call_of(function, arguments);
    }

    pub(crate) fn call_of(
        &mut self,
        function: Handle<Function>,
        arguments: &[Value],
    ) -> Option<Value> {
        let gives = self.m.module.functions[function].result.is_some();
        let result = gives.then(|| {
            let result = Expression::CallResult(function);
            self.f.expressions.append(result, Span::UNDEFINED)
        });
        self.push(Statement::Call {
            function,
            arguments: arguments.to_vec(),
            result,
        });
        result
    }

    /// An atomic operation on a word; what was there before.
    pub(crate) fn atomic(&mut self, pointer: Value, fun: AtomicFunction, value: Value) -> Value {
        let ty = self.m.ty.u32;
        self.atomic_of(ty, (pointer, fun, value))
    }

    /// The same of a type.
    pub(crate) fn atomic_of(
        &mut self,
        ty: Handle<Type>,
        (pointer, fun, value): (Value, AtomicFunction, Value),
    ) -> Value {
        let result = Expression::AtomicResult {
            ty,
            comparison: false,
        };
        let result = self.f.expressions.append(result, Span::UNDEFINED);
        self.push(Statement::Atomic {
            pointer,
            fun,
            value,
            result: Some(result),
        });
        result
    }

    /// Exchanges if what is there is as expected, which may fail for no reason; what was there, and whether it did.
    pub(crate) fn exchange_weak(
        &mut self,
        of: Scalar,
        (pointer, expected, value): (Value, Value, Value),
    ) -> (Value, Value) {
        use naga::PredeclaredType::AtomicCompareExchangeWeakResult as Weak;
        let ty = self.m.module.generate_predeclared_type(Weak(of));
        let result = Expression::AtomicResult {
            ty,
            comparison: true,
        };
        let result = self.f.expressions.append(result, Span::UNDEFINED);
        let compare = Some(expected);
        self.push(Statement::Atomic {
            pointer,
            fun: AtomicFunction::Exchange { compare },
            value,
            result: Some(result),
        });
        (self.part(result, 0), self.part(result, 1))
    }

    // Expressions.

    fn plain(&mut self, e: Expression) -> Value {
        self.f.expressions.append(e, Span::UNDEFINED)
    }

    /// A value that is computed here.
    pub(crate) fn ex(&mut self, e: Expression) -> Value {
        let made = self.plain(e);
        let (block, _) = self.blocks.last_mut().expect("a block is open");
        let range = Range::new_from_bounds(made, made);
        let last = block.len().checked_sub(1);
        if let Some(at) = last
            && let Statement::Emit(before) = &block[at]
            && before.index_range().end == made.index() as u32
        {
            let mut whole = before.index_range();
            whole.end += 1;
            let whole = Range::from_index_range(whole, &self.f.expressions);
            block.cull(at..);
            block.push(Statement::Emit(whole), Span::UNDEFINED);
        } else {
            block.push(Statement::Emit(range), Span::UNDEFINED);
        }
        made
    }

    /// Gives a value a name in the text.
    pub(crate) fn name(&mut self, value: Value, name: String) {
        self.f.named_expressions.insert(value, name);
    }

    /// Says what an argument of an entry point is.
    pub(crate) fn bind(&mut self, at: usize, of: naga::BuiltIn) {
        self.f.arguments[at].binding = Some(naga::Binding::BuiltIn(of));
    }

    pub(crate) fn argument(&mut self, at: u32) -> Value {
        self.plain(Expression::FunctionArgument(at))
    }

    pub(crate) fn u(&mut self, value: u32) -> Value {
        if let Some(&made) = self.literals.get(&value) {
            return made;
        }
        let made = self.plain(Expression::Literal(Literal::U32(value)));
        self.literals.insert(value, made);
        self.known.insert(made, value);
        made
    }

    /// The bits of a word that is the same in every run.
    pub(crate) fn known(&self, value: Value) -> Option<u32> {
        self.known.get(&value).copied()
    }

    /// A number with a name.
    pub(crate) fn constant(&mut self, name: &str, value: u32) -> Value {
        if let Some(&made) = self.constants.get(name) {
            return made;
        }
        let constant = self.m.constant(name, value);
        let made = self.plain(Expression::Constant(constant));
        self.constants.insert(name.to_owned(), made);
        made
    }

    /// What a text has of two literals would be computed when it is read, where a sum must not wrap.
    pub(crate) fn bin(&mut self, op: Bin, left: Value, right: Value) -> Value {
        if let (Some(a), Some(b)) = (self.known(left), self.known(right)) {
            let folded = match op {
                Bin::Add => Some(a.wrapping_add(b)),
                Bin::Subtract => Some(a.wrapping_sub(b)),
                Bin::Multiply => Some(a.wrapping_mul(b)),
                Bin::And => Some(a & b),
                Bin::InclusiveOr => Some(a | b),
                Bin::ExclusiveOr => Some(a ^ b),
                Bin::ShiftLeft => Some(a << (b & 31)),
                Bin::ShiftRight => Some(a >> (b & 31)),
                _ => None,
            };
            if let Some(folded) = folded {
                return self.u(folded);
            }
        }
        self.ex(Expression::Binary { op, left, right })
    }

    pub(crate) fn with(&mut self, op: Bin, left: Value, right: u32) -> Value {
        let right = self.u(right);
        self.bin(op, left, right)
    }

    /// A quotient of words, rounded up.
    pub(crate) fn div_ceil(&mut self, left: Value, right: Value) -> Value {
        let whole = self.bin(Bin::Divide, left, right);
        let rest = self.bin(Bin::Modulo, left, right);
        let rest = self.with(Bin::NotEqual, rest, 0);
        let rest = self.word_of(rest);
        self.sum(whole, rest)
    }

    pub(crate) fn plus(&mut self, left: Value, right: u32) -> Value {
        self.with(Bin::Add, left, right)
    }

    pub(crate) fn sum(&mut self, left: Value, right: Value) -> Value {
        self.bin(Bin::Add, left, right)
    }

    pub(crate) fn not(&mut self, expr: Value) -> Value {
        let op = UnaryOperator::LogicalNot;
        self.ex(Expression::Unary { op, expr })
    }

    pub(crate) fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        self.ex(Expression::Select {
            condition,
            accept,
            reject,
        })
    }

    /// 1 or 0.
    pub(crate) fn word_of(&mut self, condition: Value) -> Value {
        let (yes, no) = (self.u(1), self.u(0));
        let word = self.select(condition, yes, no);
        self.truths.insert(word, condition);
        word
    }

    /// Whether a word is not 0.
    pub(crate) fn truth(&mut self, word: Value) -> Value {
        match self.truths.get(&word) {
            Some(&condition) => condition,
            None => self.with(Bin::NotEqual, word, 0),
        }
    }

    pub(crate) fn math(&mut self, fun: MathFunction, args: &[Value]) -> Value {
        self.ex(Expression::Math {
            fun,
            arg: args[0],
            arg1: args.get(1).copied(),
            arg2: args.get(2).copied(),
            arg3: None,
        })
    }

    /// The same bits as another type of 32 bits.
    pub(crate) fn cast(&mut self, expr: Value, kind: ScalarKind) -> Value {
        self.ex(Expression::As {
            expr,
            kind,
            convert: None,
        })
    }

    pub(crate) fn convert(&mut self, expr: Value, kind: ScalarKind) -> Value {
        self.convert_to(expr, kind, 4)
    }

    /// To a type of `bytes` bytes.
    pub(crate) fn convert_to(&mut self, expr: Value, kind: ScalarKind, bytes: u8) -> Value {
        self.ex(Expression::As {
            expr,
            kind,
            convert: Some(bytes),
        })
    }

    pub(crate) fn signed(&mut self, word: Value) -> Value {
        self.cast(word, ScalarKind::Sint)
    }

    pub(crate) fn unsigned(&mut self, value: Value) -> Value {
        self.cast(value, ScalarKind::Uint)
    }

    /// A word's bits as a float. Text has no literal of those that are not finite, and drivers may drop subnormals, so
    /// such bits come from the uniform.
    pub(crate) fn float(&mut self, word: Value) -> Value {
        let word = match self.known(word) {
            Some(bits) if is_plain(f32::from_bits(bits)) => {
                return self.plain(Expression::Literal(Literal::F32(f32::from_bits(bits))));
            }
            Some(bits) => match self.m.layout.bits(bits) {
                Some(at) => self.param(at),
                // A variable's value is no literal.
                None => {
                    let name = format!("bits_{bits:08x}");
                    let variable = self.local(&name, None);
                    self.store(variable, word);
                    self.load(variable)
                }
            },
            None => word,
        };
        self.cast(word, ScalarKind::Float)
    }

    pub(crate) fn pair(&mut self, low: Value, high: Value) -> Value {
        let ty = self.m.ty.pair;
        let components = vec![low, high];
        self.ex(Expression::Compose { ty, components })
    }

    pub(crate) fn quad(&mut self, components: [Value; 4]) -> Value {
        let (ty, components) = (self.m.ty.quad, components.to_vec());
        self.ex(Expression::Compose { ty, components })
    }

    /// A component, or a pointer to one.
    pub(crate) fn part(&mut self, base: Value, index: u32) -> Value {
        self.ex(Expression::AccessIndex { base, index })
    }

    pub(crate) fn at(&mut self, base: Value, index: Value) -> Value {
        match self.known(index) {
            Some(index) => self.part(base, index),
            None => self.ex(Expression::Access { base, index }),
        }
    }

    pub(crate) fn load(&mut self, pointer: Value) -> Value {
        self.ex(Expression::Load { pointer })
    }

    /// What all invocations of a workgroup find there, once all have come here.
    pub(crate) fn uniform_load(&mut self, pointer: Value) -> Value {
        let ty = self.m.ty.u32;
        let result = self.plain(Expression::WorkGroupUniformLoadResult { ty });
        self.push(Statement::WorkGroupUniformLoad { pointer, result });
        result
    }

    /// A variable: a word, or of another type.
    pub(crate) fn local(&mut self, name: &str, ty: Option<Handle<Type>>) -> Value {
        let variable = LocalVariable {
            name: Some(name.to_owned()),
            ty: ty.unwrap_or(self.m.ty.u32),
            init: None,
        };
        let variable = self.f.local_variables.append(variable, Span::UNDEFINED);
        self.plain(Expression::LocalVariable(variable))
    }

    /// A word that is 0 at the start.
    pub(crate) fn zeroed(&mut self, name: &str) -> Value {
        let init = self.u(0);
        let variable = LocalVariable {
            name: Some(name.to_owned()),
            ty: self.m.ty.u32,
            init: Some(init),
        };
        let variable = self.f.local_variables.append(variable, Span::UNDEFINED);
        self.plain(Expression::LocalVariable(variable))
    }

    pub(crate) fn global(&mut self, global: Global) -> Value {
        if let Some(&made) = self.globals.get(&global) {
            return made;
        }
        let variable = self.m.global(global);
        let made = self.plain(Expression::GlobalVariable(variable));
        self.globals.insert(global, made);
        made
    }

    /// A word of the uniform.
    pub(crate) fn param(&mut self, at: u32) -> Value {
        if at == Layout::ROUND && self.m.counts_rounds {
            let pointer = self.dispatches(Word::Round as u32);
            return self.load(pointer);
        }
        if self.m.traded.contains(&at) {
            let pointer = self.block(0, at);
            return self.load(pointer);
        }
        let known = self.blocks.iter().rev();
        if let Some(&value) = known.flat_map(|(_, known)| known.get(&at)).next() {
            return value;
        }
        let params = self.global(Global::Params);
        let pointer = self.part(params, at);
        let value = self.load(pointer);
        self.name(value, self.m.layout.params[at as usize].name.clone());
        let (_, known) = self.blocks.last_mut().expect("a block is open");
        known.insert(at, value);
        value
    }

    /// Pointer to a word of a storage buffer.
    pub(crate) fn memory(&mut self, arena: Arena, at: Value) -> Value {
        let base = self.global(Global::Memory(arena));
        self.ex(Expression::Access { base, index: at })
    }

    /// Pointer to a word of the control buffer.
    pub(crate) fn control(&mut self, at: u32) -> Value {
        let base = self.global(Global::Control);
        self.part(base, at)
    }

    pub(crate) fn control_now(&mut self, at: u32) -> Value {
        let pointer = self.control(at);
        let value = self.load(pointer);
        self.name(value, self.m.layout.control[at as usize].name.clone());
        value
    }

    /// Pointer to a word of the arguments of dispatches.
    pub(crate) fn dispatches(&mut self, at: u32) -> Value {
        let base = self.global(Global::Dispatches);
        self.part(base, at)
    }

    /// Pointer to a word of a wave's uniform.
    pub(crate) fn block(&mut self, block: u32, at: u32) -> Value {
        let stride = self.dispatches(Word::Stride as u32);
        let stride = self.load(stride);
        let first = self.with(Bin::Multiply, stride, block);
        let at = self.plus(first, at);
        let base = self.global(Global::Blocks);
        self.ex(Expression::Access { base, index: at })
    }

    /// Pointer to a word of the records.
    pub(crate) fn record(&mut self, at: Value) -> Value {
        let base = self.global(Global::Control);
        let records = self.part(base, self.m.layout.control.len() as u32);
        self.ex(Expression::Access {
            base: records,
            index: at,
        })
    }

    /// Pointer to the words that a workgroup shares.
    pub(crate) fn shared_words(&mut self) -> Value {
        let base = self.global(Global::Shared);
        self.part(base, 0)
    }

    /// Pointers to the nodes of a frontier that have no slots yet, and to how many there are, where these are staged.
    pub(crate) fn staged(&mut self, frontier: u16) -> Option<(Value, Value)> {
        let frontiers = &self.m.sharing.frontiers;
        let nth = frontiers.iter().position(|&of| of == frontier)? as u32;
        let base = self.global(Global::Shared);
        Some((self.part(base, 1 + 2 * nth), self.part(base, 2 + 2 * nth)))
    }

    /// Pointers to the edges out of what a workgroup has pushed, and to how many of its invocations have edges left to
    /// look at, where its sweep may pull and what it pushes is staged.
    pub(crate) fn pull_cells(&mut self) -> Option<[Value; PULL_CELLS as usize]> {
        let sharing = &self.m.sharing;
        let staged = sharing.frontiers.len() as u32;
        if sharing.pulling.is_none() || staged == 0 {
            return None;
        }
        let base = self.global(Global::Shared);
        Some([1, 2].map(|at| self.part(base, 2 * staged + at)))
    }

    pub(crate) fn own(&mut self, own: Own) -> Value {
        self.global(Global::Own(own))
    }
}
