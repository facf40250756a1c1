//! Random programs with random schedules, for tests of every executor of bytecode.

use arbtest::arbitrary::{Result as Arbitrary, Unstructured};
use vyre_core::dsl::csr::Csr;
use vyre_core::vir0::isa::{Faults, IMM, Op, UNIFORM_BASE, Word};
use vyre_core::vir0::module::*;
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Site;

/// Scratch buffers; the outputs come behind them.
const SCRATCH: u16 = 4;
const OUTPUTS: u16 = 2;
/// The frontier of the graph itself; each fixpoint has one more.
const GRAPH: FrontierId = FrontierId(0);
/// The list.
const LOG: ListId = ListId(0);

fn word(op: Op, d: u8, a: u8, b: u8, imm: u32) -> Word {
    let op = op as u8;
    Word { op, d, a, b, imm }
}

fn of(id: u16) -> u32 {
    u32::from(id) << 16
}

/// Each fixpoint of a program ends with the round in which its first list has not grown.
pub fn until_settled(program: &mut Program) {
    for fixpoint in &program.fixpoints {
        let until = &mut program.kernels[fixpoint.until.index()];
        until.uniforms = vec![Uniform::Len(LOG.into()), Uniform::Began(LOG)];
        until.code = vec![
            word(Op::Eq32, 0, UNIFORM_BASE, UNIFORM_BASE + 1, 0),
            word(Op::RetV, 0, 0, 0, 0),
        ];
        (until.rows, until.frames, until.sites) = (1, 0, vec![]);
    }
}

struct Generator<'u, 'a> {
    u: &'u mut Unstructured<'a>,
    program: Program,
}

/// A program that verifies, of one topology and what [`graph`] makes.
pub fn program(u: &mut Unstructured<'_>) -> Arbitrary<Program> {
    let buffer = |i: u16| Buffer {
        name: format!("b{i}"),
        scalar: Scalar::U32,
        extent: Extent::Nodes,
        role: if i < SCRATCH {
            Role::Scratch
        } else {
            Role::Output
        },
        init: (i % 2 == 1).then_some(ConstantId(0)),
        reset: None,
    };
    let program = Program {
        name: "random".into(),
        topologies: vec![Topology {
            name: "graph".into(),
            reverse_of: None,
        }],
        buffers: (0..SCRATCH + OUTPUTS).map(buffer).collect(),
        lists: vec![Queue {
            name: "log".into(),
            fields: vec![Scalar::U32],
            capacity: Extent::Fixed(u.int_in_range(5..=200)?),
            unique: false,
            stays: true,
            owner: None,
            output: true,
            reset: None,
        }],
        constants: vec![Constant {
            scalar: Scalar::U32,
            bits: 7,
        }],
        sites: vec![Site::default()],
        ..Program::default()
    };
    let mut generator = Generator { u, program };
    generator.own()?;
    let mut schedule = Vec::new();
    generator.scope(None, 0, &mut schedule)?;
    schedule.push(Step::End);
    generator.program.schedule = schedule;
    generator.anew()?;
    // Conditions are numbered behind the waves.
    let waves = generator.program.waves.len() as u16;
    for f in 0..generator.program.fixpoints.len() as u16 {
        let until = generator.condition(f)?;
        generator.program.kernels.push(until);
        generator.program.fixpoints[usize::from(f)].until = KernelId(waves + f);
    }
    Ok(generator.program)
}

impl Generator<'_, '_> {
    /// A frontier and a reduction for a scope. They are the graph's until a wave sweeps or updates them.
    fn own(&mut self) -> Arbitrary<()> {
        let i = self.program.frontiers.len();
        let unique = self.u.arbitrary()?;
        let list = unique && self.u.ratio(1, 2)?;
        self.program.frontiers.push(Queue {
            name: format!("front{i}"),
            fields: vec![],
            capacity: match unique {
                true => Extent::Nodes,
                false => Extent::Fixed(self.u.int_in_range(2..=60)?),
            },
            unique,
            stays: list,
            owner: None,
            output: false,
            reset: None,
        });
        let (op, scalar) = *self.u.choose(&[
            (ReduceOp::Sum, Scalar::U32),
            (ReduceOp::Max, Scalar::U32),
            (ReduceOp::ExactSum, Scalar::F32),
        ])?;
        self.program.reductions.push(Reduction {
            name: format!("sum{i}"),
            op,
            scalar,
            owner: None,
            output: true,
        });
        Ok(())
    }

    /// Some buffers and lists begin anew with the rounds of a fixpoint around their uses, and some frontiers with those
    /// of a fixpoint around their owner.
    fn anew(&mut self) -> Arbitrary<()> {
        let swapping: Vec<FixpointId> = (0..self.program.fixpoints.len() as u16)
            .map(FixpointId)
            .filter(|f| !self.program.fixpoints[f.index()].swaps.is_empty())
            .collect();
        for id in (0..SCRATCH + OUTPUTS).map(BufferId) {
            let output = self.program.buffers[id.index()].role == Role::Output;
            let uses = |a: &Access| !(output && a.mode == Mode::Read);
            let swapped = id.0 < 2;
            let inside: &[FixpointId] = if swapped { &swapping } else { &[] };
            // Two that trade places begin alike.
            let pair = if swapped { [0, 1] } else { [id.0; 2] };
            let owner = self.around(pair.map(|b| Resource::Buffer(BufferId(b))), uses, inside);
            if id.0 == 1 {
                let alike = self.program.buffers[0].reset;
                self.program.buffers[1].reset = alike;
                if alike.is_some() {
                    self.program.buffers[1].init = self.program.buffers[0].init;
                }
            } else if owner.is_some() && self.u.ratio(1, 2)? {
                self.program.buffers[id.index()].reset = owner;
            }
        }
        for id in (0..self.program.frontiers.len() as u16).map(FrontierId) {
            let declared = &self.program.frontiers[id.index()];
            let flips = match (declared.owner, declared.stays) {
                (Some(owner), _) => vec![owner],
                (None, true) => vec![],
                (None, false) => continue,
            };
            let resource = [Resource::from(id); 2];
            let owner = self.around(resource, |_| true, &flips);
            if owner.is_some() && self.u.ratio(1, 2)? {
                self.program.frontiers[id.index()].reset = owner;
            }
        }
        let new = |w: &Wave| {
            w.domain
                .list()
                .is_some_and(|(_, portion)| portion.goes_on())
        };
        let owner = self.around([Resource::from(LOG); 2], |_| true, &[]);
        if owner.is_some() && !self.program.waves.iter().any(new) && self.u.ratio(3, 4)? {
            let log = &mut self.program.lists[LOG.index()];
            (log.reset, log.output) = (owner, false);
        }
        Ok(())
    }

    /// The innermost fixpoint around all waves that use one of these in such a way, and around each of these fixpoints;
    /// `None` without waves.
    fn around(
        &self,
        resources: [Resource; 2],
        uses: impl Fn(&Access) -> bool,
        inside: &[FixpointId],
    ) -> Option<FixpointId> {
        let program = &self.program;
        let of = |a: &&Access| resources.contains(&a.resource);
        let mut using = (program.waves.iter()).filter(|w| w.accesses.iter().any(|a| of(&a)));
        using.next()?;
        let using = (program.waves.iter())
            .filter(|w| w.accesses.iter().filter(of).any(&uses))
            .map(|w| w.fixpoint);
        let scopes: Vec<Option<FixpointId>> = using.collect();
        // An outer one comes before its inner ones.
        let all = (0..program.fixpoints.len() as u16).map(FixpointId);
        let mut around = all.rev().filter(|&f| {
            let contains = |&s: &Option<FixpointId>| program.is_within(s, f);
            let around = |&s: &FixpointId| s != f && program.is_within(Some(s), f);
            scopes.iter().all(contains) && inside.iter().all(around)
        });
        around.next()
    }

    fn scope(
        &mut self,
        scope: Option<FixpointId>,
        depth: u32,
        schedule: &mut Vec<Step>,
    ) -> Arbitrary<()> {
        for _ in 0..self.u.int_in_range(1..=3)? {
            let behind_wave = matches!(schedule.last(), Some(Step::Wave(_)));
            if behind_wave {
                schedule.push(Step::Barrier);
            }
            if depth < 3 && self.u.ratio(2, 5)? {
                let id = FixpointId(self.program.fixpoints.len() as u16);
                self.program.fixpoints.push(Fixpoint {
                    name: format!("f{}", id.0),
                    parent: scope,
                    until: KernelId(0),
                    condition: String::new(),
                    max_rounds: self.u.int_in_range(1..=6)?,
                    swaps: match self.u.ratio(1, 4)? {
                        true => vec![(BufferId(0), BufferId(1))],
                        false => vec![],
                    },
                    after: vec![],
                    site: SiteId(0),
                });
                self.own()?;
                schedule.push(Step::Loop(id));
                self.scope(Some(id), depth + 1, schedule)?;
                schedule.push(Step::Until(id));
            } else {
                for _ in 0..self.u.int_in_range(1..=3)? {
                    let wave = self.wave(scope)?;
                    schedule.push(Step::Wave(wave));
                }
            }
        }
        Ok(())
    }

    fn scratch(&mut self) -> Arbitrary<u16> {
        self.u.int_in_range(0..=SCRATCH - 1)
    }

    fn output(&mut self) -> Arbitrary<u16> {
        self.u.int_in_range(SCRATCH..=SCRATCH + OUTPUTS - 1)
    }

    /// Frontier and reduction of a scope have one number.
    fn number(scope: Option<FixpointId>) -> u16 {
        scope.map_or(GRAPH.0, |f| f.0 + 1)
    }

    fn wave(&mut self, scope: Option<FixpointId>) -> Arbitrary<WaveId> {
        let own = Self::number(scope);
        let (topology, mut front) = (TopologyId(0), FrontierId(own));
        // Lists of nodes are swept in any scope.
        let frontiers = (0..).map(FrontierId).zip(&self.program.frontiers);
        let lists: Vec<FrontierId> =
            (frontiers.filter(|(_, f)| f.stays).map(|(id, _)| id)).collect();
        if !lists.is_empty() && self.u.ratio(1, 3)? {
            front = *self.u.choose(&lists)?;
        }
        let domain = match self.u.int_in_range(0..=5)? {
            0 | 1 => Domain::Nodes,
            2 => Domain::Range(Extent::Fixed(2)),
            3 => Domain::Items(front),
            4 => Domain::EdgesFrom(topology, front),
            _ => {
                let is_even = self.program.waves.len().is_multiple_of(2);
                let portion = match self.u.ratio(1, 3)? {
                    true if scope.is_some() && is_even => Portion::Last,
                    true => Portion::New,
                    false => Portion::All,
                };
                Domain::ListItems(LOG, portion)
            }
        };
        let mut accesses = Vec::new();
        let mut uses = |resource, mode| {
            let known = accesses
                .iter_mut()
                .find(|a: &&mut Access| a.resource == resource);
            match known {
                Some(a) if a.mode == mode => {}
                Some(a) => a.mode = Mode::Write,
                None => accesses.push(Access { resource, mode }),
            }
        };
        let mut item = ItemRows::default();
        for resource in domain.reads() {
            uses(resource, Mode::Read);
        }
        if let Some(f) = domain.frontier() {
            let frontier = &mut self.program.frontiers[f.index()];
            frontier.owner = scope.filter(|_| !frontier.stays);
        }
        // Row 0 is the node that the lane is about.
        match (domain.frontier().and(domain.topology()), domain.list()) {
            (Some(_), _) => item.dst = Some(0),
            (None, Some(_)) => item.fields[0] = Some(0),
            (None, None) => item.index = Some(0),
        }
        let mut uniforms = vec![Uniform::Nodes];
        if scope.is_some() {
            uniforms.push(Uniform::Round);
        }
        let round = if scope.is_some() { UNIFORM_BASE + 1 } else { 0 };
        let mut code = Vec::new();
        for _ in 0..self.u.int_in_range(1..=4)? {
            match self.u.int_in_range(0..=7)? {
                0 => {
                    let b = self.scratch()?;
                    uses(Resource::Buffer(BufferId(b)), Mode::Write);
                    code.push(word(Op::Add32, 1, 0, round, 0));
                    code.push(word(Op::St32, 0, 0, 1, of(b)));
                }
                1 => {
                    let (from, to) = (self.scratch()?, self.output()?);
                    uses(Resource::Buffer(BufferId(from)), Mode::Read);
                    uses(Resource::Buffer(BufferId(to)), Mode::Update(UpdateOp::Add));
                    code.push(word(Op::Ld32, 1, 0, 0, of(from)));
                    code.push(word(Op::AtomAdd32, IMM, 0, 1, of(to)));
                }
                2 => {
                    // The length of memory that may not be there.
                    let (from, to) = (self.scratch()?, self.output()?);
                    uses(Resource::Buffer(BufferId(from)), Mode::Read);
                    uses(Resource::Buffer(BufferId(to)), Mode::Update(UpdateOp::Add));
                    code.push(word(Op::Len, 1, 0, 0, of(from)));
                    code.push(word(Op::AtomAdd32, IMM, 0, 1, of(to)));
                }
                3 | 4 => {
                    // Somebody's frontier: this scope's, one around it, one inside it.
                    let f = self.u.choose_index(self.program.frontiers.len())? as u16;
                    uses(FrontierId(f).into(), Mode::Update(UpdateOp::Push));
                    let mask = self.u.int_in_range(0..=3)?;
                    let at = code.len() as u32;
                    code.push(word(Op::And32, 1, 0, IMM, mask));
                    code.push(word(Op::If, 0, 1, 0, at + 3));
                    code.push(word(Op::Push, 0, 0, 0, of(f)));
                    code.push(word(Op::EndIf, 0, 0, 0, 0));
                }
                5 => {
                    uses(
                        Resource::Reduction(ReductionId(own)),
                        Mode::Update(UpdateOp::Reduce),
                    );
                    self.program.reductions[usize::from(own)].owner = scope;
                    code.push(word(Op::Reduce32, 0, 0, 0, of(own)));
                }
                6 => {
                    uses(Resource::from(LOG), Mode::Update(UpdateOp::Append));
                    code.push(word(Op::Append, 1, 0, 0, of(0)));
                    code.push(word(Op::ListSt32, 0, 1, 0, of(0)));
                }
                _ => {
                    // A reduction of any scope, as it stands.
                    let r = self.u.choose_index(self.program.reductions.len())? as u16;
                    let to = self.output()?;
                    uses(Resource::Reduction(ReductionId(r)), Mode::Read);
                    uses(Resource::Buffer(BufferId(to)), Mode::Update(UpdateOp::Add));
                    let slot = UNIFORM_BASE + uniforms.len() as u8;
                    uniforms.push(Uniform::Reduction(ReductionId(r)));
                    code.push(word(Op::AtomAdd32, IMM, 0, slot, of(to)));
                }
            }
        }
        code.push(word(Op::Ret, 0, 0, 0, 0));
        // A reduction that is read and updated in one wave is updated.
        for access in &mut accesses {
            if let (Resource::Reduction(r), Mode::Write) = (access.resource, access.mode) {
                let updated = code
                    .iter()
                    .any(|w| w.op == Op::Reduce32 as u8 && w.resource() == r.0);
                assert!(updated, "only an update makes it more than a read");
            }
        }
        accesses.sort_unstable();
        let id = WaveId(self.program.waves.len() as u16);
        let sites = (0..)
            .zip(&code)
            .filter(|(_, w)| Op::from_code(w.op).is_some_and(|op| op.row().faults != Faults::No))
            .map(|(pc, _)| (pc, SiteId(0)))
            .collect();
        let frames = if code.iter().any(|w| w.op == Op::If as u8) {
            2
        } else {
            0
        };
        self.program.kernels.push(Kernel {
            name: format!("w{}", id.0),
            code,
            rows: 2,
            frames,
            item,
            uniforms,
            sites,
        });
        self.program.waves.push(Wave {
            name: format!("w{}", id.0),
            kernel: KernelId(id.0),
            domain,
            accesses,
            fixpoint: scope,
            after: vec![],
        });
        Ok(id)
    }

    /// After some rounds, or once the fixpoint's frontier is empty, its reduction 0, or the list long.
    fn condition(&mut self, f: u16) -> Arbitrary<Kernel> {
        let own = f + 1;
        // What begins anew with the rounds of a fixpoint inside is not asked for.
        let may_ask = |reset: Option<FixpointId>| {
            reset.is_none_or(|r| self.program.is_within(Some(FixpointId(f)), r))
        };
        let front = &self.program.frontiers[usize::from(own)];
        let front = may_ask(front.reset.filter(|_| front.stays));
        let log = may_ask(self.program.lists[LOG.index()].reset);
        let asked = match self.u.int_in_range(0..=4)? {
            0 => Uniform::Round,
            1 if !front => Uniform::Round,
            1 => Uniform::Len(FrontierId(own).into()),
            2 => Uniform::Reduction(ReductionId(own)),
            // Of a fixpoint around, or of the graph.
            3 => {
                let around = self.program.fixpoints[usize::from(f)].parent;
                Uniform::Reduction(ReductionId(around.map_or(0, |f| f.0 + 1)))
            }
            _ if !log => Uniform::Round,
            _ => Uniform::Len(LOG.into()),
        };
        let enough = self.u.int_in_range(1..=4)?;
        let code = match asked {
            Uniform::Round | Uniform::Len(QueueId::List(_)) => {
                word(Op::LtU32, 0, IMM, UNIFORM_BASE, enough - 1)
            }
            _ => word(Op::Eq32, 0, UNIFORM_BASE, IMM, 0),
        };
        Ok(Kernel {
            name: format!("until f{f}"),
            code: vec![code, word(Op::RetV, 0, 0, 0, 0)],
            rows: 1,
            frames: 0,
            item: ItemRows::default(),
            uniforms: vec![asked],
            sites: vec![],
        })
    }
}

/// A few nodes and edges.
pub fn graph(u: &mut Unstructured<'_>) -> Arbitrary<Csr> {
    let nodes = u.int_in_range(4..=12u32)?;
    let edges = u.int_in_range(0..=30)?;
    let end = |u: &mut Unstructured<'_>| u.int_in_range(0..=nodes - 1);
    let edges: Vec<(u32, u32)> = (0..edges)
        .map(|_| Ok((end(u)?, end(u)?)))
        .collect::<Arbitrary<_>>()?;
    Ok(Csr::from_edges(nodes as usize, &edges).expect("edges name nodes"))
}
