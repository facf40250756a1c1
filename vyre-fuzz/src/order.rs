//! What code does, read from its words, and whether it shows in which order items run. What a program's tables say
//! about both may be mutated.

use vyre_core::plan::hazard::join;
use vyre_core::vir0::flow;
use vyre_core::vir0::group::groups_of;
use vyre_core::vir0::isa::{Effect, IMM, Op, Word};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;

/// The program with the accesses that its code has. What results show the order of is a write.
pub(crate) fn honest(program: &Program) -> Program {
    let mut honest = program.clone();
    for wave in &mut honest.waves {
        let kernel = &program.kernels[wave.kernel.index()];
        let by_code = kernel.code.iter().filter_map(|&word| {
            let mode = match mode(program, word) {
                Mode::Update(UpdateOp::Push | UpdateOp::Append) => Mode::Write,
                mode => mode,
            };
            Some((word.names()?, mode))
        });
        let by_uniforms = kernel.uniforms.iter().filter_map(|u| match *u {
            Uniform::Reduction(r) => Some((Resource::Reduction(r), Mode::Read)),
            _ => None,
        });
        let swept = wave.domain.reads().map(|r| (r, Mode::Read));
        let mut accesses: Vec<Access> = Vec::new();
        for (resource, mode) in by_code.chain(by_uniforms).chain(swept) {
            match accesses.iter_mut().find(|a| a.resource == resource) {
                Some(access) => access.mode = join(access.mode, mode),
                None => accesses.push(Access { resource, mode }),
            }
        }
        accesses.sort_unstable();
        wave.accesses = accesses;
    }
    honest
}

fn is_float(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::F32 | Scalar::F64)
}

/// How a word uses its resource.
fn mode(program: &Program, word: Word) -> Mode {
    let Some(op) = Op::from_code(word.op) else {
        return Mode::Write;
    };
    let float = |scalar: Option<Scalar>| scalar.is_none_or(is_float);
    match op.row().effect {
        Effect::Load | Effect::AtomicLoad | Effect::Ask => Mode::Read,
        Effect::Push | Effect::Reserve | Effect::Field => match word.names() {
            Some(Resource::Queue(q)) => Mode::Update(q.adds()),
            _ => Mode::Write,
        },
        Effect::Reduce => {
            let reduction = program.reductions.get(usize::from(word.resource()));
            match float(reduction.map(|r| r.scalar)) {
                false => Mode::Update(UpdateOp::Reduce),
                true => Mode::Write,
            }
        }
        Effect::Update if word.d == IMM => {
            let mut parts = op.row().mnemonic.split('.').skip(1);
            match (parts.next(), parts.next()) {
                (_, Some("f32" | "f64")) => Mode::Write,
                (Some("add"), _) => Mode::Update(UpdateOp::Add),
                (Some("min"), _) => Mode::Update(UpdateOp::Min),
                (Some("max"), _) => Mode::Update(UpdateOp::Max),
                (Some("and"), _) => Mode::Update(UpdateOp::And),
                (Some("or"), _) => Mode::Update(UpdateOp::Or),
                (Some("xor"), _) => Mode::Update(UpdateOp::Xor),
                _ => Mode::Write,
            }
        }
        _ => Mode::Write,
    }
}

/// Whether results are the same in whatever order the items of a barrier group run, by rules that a reader can check:
/// no floats; a slot of a list only takes stores; no kernel looks at an item's position; and what a group changes it
/// either only updates, by one operation, or changes in one wave, each item its own element.
pub(crate) fn is_order_free(program: &Program) -> bool {
    let float = |word: &Word| {
        let op = Op::from_code(word.op);
        op.is_none_or(|op| op.row().mnemonic.contains(".f32") || op.row().mnemonic.contains(".f64"))
    };
    let kernels = || program.kernels.iter();
    if kernels().flat_map(|k| &k.code).any(float)
        || program.reductions.iter().any(|r| is_float(r.scalar))
        || !kernels().all(slots_only_take_stores)
    {
        return false;
    }
    let positions = |wave: &Wave| {
        let kernel = &program.kernels[wave.kernel.index()];
        kernel.item.index.is_some() && !wave.domain.fields(program).is_empty()
    };
    if program.waves.iter().any(positions) {
        return false;
    }
    let groups = groups_of(&program.schedule);
    let mut uses: Vec<(u32, Resource, WaveId, Mode, bool)> = Vec::new();
    for (step, group) in program.schedule.iter().zip(groups) {
        let Step::Wave(id) = *step else { continue };
        let wave = &program.waves[id.index()];
        let kernel = &program.kernels[wave.kernel.index()];
        for &word in &kernel.code {
            if let Some(resource) = word.names() {
                let own = is_own(program, (wave, kernel), word);
                uses.push((group, resource, id, mode(program, word), own));
            }
        }
        for uniform in &kernel.uniforms {
            if let Uniform::Reduction(r) = *uniform {
                uses.push((group, Resource::Reduction(r), id, Mode::Read, false));
            }
        }
        if let Some((list, _)) = wave.domain.list() {
            uses.push((group, list.into(), id, Mode::Read, false));
        }
    }
    uses.sort_unstable();
    uses.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).all(|uses| {
        let (_, resource, wave, mode, _) = uses[0];
        match resource {
            Resource::Topology(_) => true,
            // What is pushed is swept from the next group on.
            Resource::Queue(QueueId::Frontier(_)) => true,
            // A sweep beside an append may see what is appended, or not. Lists are compared as sets.
            Resource::Queue(QueueId::List(_)) | Resource::Buffer(_) | Resource::Reduction(_) => {
                let alike = mode != Mode::Write && uses.iter().all(|u| u.3 == mode);
                alike || uses.iter().all(|u| u.2 == wave && u.4)
            }
        }
    })
}

/// Each item that this word runs for has an element of its own, or there is one item.
fn is_own(program: &Program, (wave, kernel): (&Wave, &Kernel), word: Word) -> bool {
    if wave.domain == Domain::Once {
        return true;
    }
    let kept = |row: u8| !kernel.code.iter().any(|w| flow::writes(w).has(row));
    let indexed = kernel
        .item
        .index
        .is_some_and(|row| word.a == row && kept(row));
    indexed && wave.domain.owns_indices(program)
}

/// The slot of an append or of a pushed item is the slot of stores to the same list or frontier, and nothing else is.
fn slots_only_take_stores(kernel: &Kernel) -> bool {
    let does = |word: &Word, effect| {
        let op = Op::from_code(word.op);
        op.is_some_and(|op| op.row().effect == effect)
    };
    let stores = || kernel.code.iter().filter(|w| does(w, Effect::Field));
    let slots = || kernel.code.iter().filter(|w| does(w, Effect::Reserve));
    let reserved = |store: &Word| slots().any(|w| w.d == store.a && w.names() == store.names());
    if !stores().all(reserved) {
        return false;
    }
    slots().all(|slot| {
        kernel.code.iter().all(|word| {
            if word == slot {
                return true;
            }
            let used_here = flow::uses(word).has(slot.d);
            let stores = does(word, Effect::Field) && word.names() == slot.names();
            let allowed = stores && word.b != slot.d;
            !flow::writes(word).has(slot.d) && (!used_here || allowed)
        })
    })
}
