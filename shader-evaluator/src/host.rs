//! A host that knows a pass by its plan alone: it places memory, writes the uniform, dispatches, and follows the steps,
//! as docs/PORTABLE.md says a host does. It reads no program.

use crate::machine::{Memory, Random, Shader, Wrong};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thiserror::Error;

/// A pass that was exported.
pub struct Pass {
    plan: Value,
    shaders: HashMap<String, Shader>,
    /// Most workgroups of a dispatch.
    pub most_groups: u32,
    /// Rounds of a fixpoint that follow each other without a look at what they left, where they can; 0: none.
    pub rounds_at_once: u32,
    /// The fewest edges of a frontier that a sweep pulls from, in such rounds; 0: none does.
    pub pull_from: u32,
    /// Sweeps that pulled.
    pub pulled: AtomicU64,
}

/// What a run is given, by name. Values are raw bits.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Offsets and targets of each topology, reverses included.
    pub graphs: HashMap<String, (Vec<u32>, Vec<u32>)>,
    /// Scalars.
    pub scalars: HashMap<String, u64>,
    /// Buffers of the roles topology, input and inout.
    pub buffers: HashMap<String, Vec<u64>>,
}

/// What a run gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Outputs and inouts.
    pub buffers: HashMap<String, Vec<u64>>,
    /// Fields of output lists.
    pub lists: HashMap<String, Vec<Vec<u64>>>,
    /// Output reductions.
    pub reductions: HashMap<String, u64>,
    /// Rounds of each fixpoint, over all its entries.
    pub rounds: HashMap<String, u64>,
}

/// A fault of an item or of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of its wave in the plan; of a condition, that of the fixpoint.
    pub of: usize,
    /// VIR0's kind.
    pub kind: u32,
    /// What traps name of an item.
    pub item: u32,
    /// The word.
    pub pc: u32,
    /// The index that was out of bounds.
    pub index: u32,
    /// The length it was checked against.
    pub len: u32,
}

/// Why a run ends early.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Stop {
    /// At the step `at` a barrier group ended in a fault, or in more items than there is room for.
    #[error("failed at step {at}: {fault:?}, {overflows:?}")]
    Failed {
        /// The step.
        at: usize,
        /// The lowest fault.
        fault: Option<Fault>,
        /// Frontiers and lists, what they would hold, and what they can hold.
        overflows: Vec<(String, u64, u64)>,
    },
    /// A condition faulted.
    #[error("a condition faulted: {0:?}")]
    Condition(Fault),
    /// A fixpoint took as many rounds as it may. What it watches: counts and reductions by name.
    #[error("fixpoint {fixpoint} is not finished")]
    RoundLimit {
        /// Its number in the plan.
        fixpoint: usize,
        /// Items that wait in frontiers and lists, and totals of reductions.
        now: HashMap<String, u64>,
    },
    /// An invocation took more turns of loops than it may.
    #[error("an invocation took more than {0} turns")]
    Turns(u64),
    /// A shader does what it must not.
    #[error("{entry}: {why}")]
    Wrong {
        /// Its entry point.
        entry: String,
        /// What.
        why: Wrong,
    },
    /// The plan does not say what it should, or is not of this version.
    #[error("the plan: {0}")]
    Plan(String),
    /// A length has no value.
    #[error("the length of {0} has no value")]
    Length(String),
}

/// The kind of a fault that is the limit of turns.
const TURNS: u32 = 255;
const CONTROL: u32 = 4;
const DISPATCHES: u32 = 6;
const BLOCKS: u32 = 7;
const INVOCATIONS: u64 = 64;

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn find<'v>(plan: &'v Value, key: &str, name: &str) -> Result<(usize, &'v Value), Stop> {
    let mut all = list(plan, key).iter().enumerate();
    let found = all.find(|(_, value)| text(value, "name") == name);
    found.ok_or_else(|| Stop::Plan(format!("there is no `{name}` among {key}")))
}

/// Words of an element of a type.
fn width(ty: &str) -> u64 {
    match ty {
        "u64" | "i64" | "f64" => 2,
        _ => 1,
    }
}

impl Pass {
    /// Takes the text of a plan and its shaders.
    ///
    /// # Errors
    /// The text is no plan of this version, or something is refused or missing.
    pub fn new(plan: &str, shaders: Vec<Shader>) -> Result<Pass, Stop> {
        let plan: Value = serde_json::from_str(plan).map_err(|e| Stop::Plan(e.to_string()))?;
        if plan["version"] != 3 {
            return Err(Stop::Plan(format!("version {}", plan["version"])));
        }
        if let Some(refusal) = list(&plan, "refused").first() {
            let (name, why) = (text(refusal, "name"), text(refusal, "why"));
            return Err(Stop::Plan(format!("{name} is refused: {why}")));
        }
        let shaders = shaders.into_iter().map(|s| (s.entry().to_owned(), s));
        Ok(Pass {
            plan,
            shaders: shaders.collect(),
            most_groups: 3,
            rounds_at_once: 0,
            pull_from: 0,
            pulled: AtomicU64::new(0),
        })
    }

    /// Runs the pass. The seed decides the order of workgroups and of their invocations.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn run(&self, given: &Given, seed: u64) -> Result<Results, Stop> {
        let mut run = Run {
            pass: self,
            given,
            bound: HashMap::new(),
            places: HashMap::new(),
            random: Random(seed),
            params: Params::default(),
            rounds: HashMap::new(),
            entered: HashMap::new(),
            pulls: 0,
        };
        run.place()?;
        run.begin()?;
        run.follow()?;
        run.results()
    }
}

/// What changes in the uniform from dispatch to dispatch.
#[derive(Clone, Copy, Default)]
struct Params {
    round: u32,
    groups: u32,
    fill: [u32; 5],
}

struct Run<'p> {
    pass: &'p Pass,
    given: &'p Given,
    bound: HashMap<u32, Memory>,
    /// By name of a place: its arena's binding, where it begins, its words.
    places: HashMap<String, (u32, u64, u64)>,
    random: Random,
    params: Params,
    rounds: HashMap<String, u64>,
    /// The round that each fixpoint is in, since it was entered.
    entered: HashMap<String, u32>,
    /// The fewest edges of a frontier that a sweep pulls from; 0: none does.
    pulls: u32,
}

impl Run<'_> {
    fn plan(&self) -> &Value {
        &self.pass.plan
    }

    // Lengths, in postfix order: steps are integers, and the end is a u32.
    fn length(&self, terms: &Value, of: &str) -> Result<u64, Stop> {
        let none = || Stop::Length(of.to_owned());
        let mut stack: Vec<i128> = Vec::new();
        for term in terms.as_array().into_iter().flatten() {
            if let Some(number) = term.as_u64() {
                stack.push(number.into());
            } else if let Some(edges) = term["edges"].as_str() {
                let graph = self.given.graphs.get(edges).ok_or_else(none)?;
                stack.push(graph.1.len() as i128);
            } else if let Some(scalar) = term["scalar"].as_str() {
                let bits = self.given.scalars.get(scalar).ok_or_else(none)?;
                stack.push(i128::from(*bits as u32));
            } else {
                match term.as_str() {
                    Some("nodes") => stack.push(self.nodes().into()),
                    Some("words") => {
                        let bits = stack.pop().ok_or_else(none)?;
                        stack.push(bits.div_euclid(32) + i128::from(bits % 32 != 0));
                    }
                    Some(op) => {
                        let (b, a) = (stack.pop().ok_or_else(none)?, stack.pop().ok_or_else(none)?);
                        let value = match op {
                            "+" => a.checked_add(b),
                            "-" => a.checked_sub(b),
                            "*" => a.checked_mul(b),
                            "/" => a.checked_div(b),
                            "%" => a.checked_rem(b),
                            "min" => Some(a.min(b)),
                            "div_ceil" => {
                                let quotient = a.checked_div(b);
                                quotient.map(|q| q + i128::from(a % b != 0))
                            }
                            _ => None,
                        };
                        stack.push(value.ok_or_else(none)?);
                    }
                    None => return Err(none()),
                }
            }
        }
        let end = stack.pop().ok_or_else(none)?;
        u64::try_from(end).map_err(|_| none())
    }

    fn nodes(&self) -> u64 {
        let first = list(self.plan(), "topologies").first();
        let first = first.and_then(|t| self.given.graphs.get(text(t, "name")));
        first.map_or(0, |(offsets, _)| offsets.len().saturating_sub(1) as u64)
    }

    /// Lays places one behind the other in their arenas, and allocates those.
    fn place(&mut self) -> Result<(), Stop> {
        let binding = |name: &str| -> Result<u32, Stop> {
            let (_, found) = find(self.plan(), "bindings", name)?;
            Ok(found["binding"].as_u64().unwrap_or(0) as u32)
        };
        let mut ends: HashMap<u32, u64> = HashMap::new();
        let mut places = HashMap::new();
        for place in list(self.plan(), "places") {
            let (name, arena) = (text(place, "name"), binding(text(place, "arena"))?);
            let words = self.length(&place["words"], name)?;
            let end = ends.entry(arena).or_default();
            places.insert(name.to_owned(), (arena, *end, words));
            *end += words;
        }
        self.places = places;
        let plan = self.plan().clone();
        for arena in list(&plan, "bindings") {
            let (name, at) = (
                text(arena, "name"),
                arena["binding"].as_u64().unwrap_or(0) as u32,
            );
            let words = match name {
                "params" => list(self.plan(), "params").len() as u64,
                "control" => {
                    let records = list(self.plan(), "waves").iter();
                    let most = records
                        .map(|w| w["record_words"].as_u64().unwrap_or(0))
                        .max();
                    let words = list(self.plan(), "control").len() as u64;
                    words + most.unwrap_or(0) * u64::from(self.pass.most_groups)
                }
                // A binding has at least a word.
                _ => ends.get(&at).copied().unwrap_or(0).max(1),
            };
            let words = usize::try_from(words).map_err(|_| Stop::Length(name.to_owned()))?;
            if words > 1 << 28 {
                return Err(Stop::Length(name.to_owned()));
            }
            self.bound.insert(at, Memory::new(name, words));
        }
        Ok(())
    }

    fn write(&mut self, place: &str, words: impl IntoIterator<Item = u32>) -> Result<(), Stop> {
        let Some(&(arena, at, len)) = self.places.get(place) else {
            return Err(Stop::Plan(format!("there is no place `{place}`")));
        };
        let memory = self.bound.get_mut(&arena).expect("arenas are bound");
        let mut count = 0;
        for (offset, word) in (0..).zip(words) {
            count += 1;
            let set = memory.set(at + offset, word);
            set.map_err(|_| Stop::Length(place.to_owned()))?;
        }
        match count == len {
            true => Ok(()),
            false => Err(Stop::Length(place.to_owned())),
        }
    }

    fn begin(&mut self) -> Result<(), Stop> {
        let plan = self.plan().clone();
        for topology in list(&plan, "topologies") {
            let name = text(topology, "name");
            let Some((offsets, targets)) = self.given.graphs.get(name).cloned() else {
                return Err(Stop::Plan(format!("`{name}` is not given")));
            };
            self.write(&format!("{name}.offsets"), offsets)?;
            self.write(&format!("{name}.targets"), targets)?;
        }
        self.dispatch("begin", 1)?;
        for buffer in list(&plan, "buffers") {
            let (name, words) = (text(buffer, "name"), width(text(buffer, "type")));
            if let Some(init) = buffer["init"].as_array() {
                let bits: Vec<u32> = init
                    .iter()
                    .map(|w| w.as_u64().unwrap_or(0) as u32)
                    .collect();
                self.fill(name, words, [bits[0], bits[1]])?;
                continue;
            }
            let given = self.given.buffers.get(name).cloned().unwrap_or_default();
            let halves = given.iter().flat_map(|&bits| {
                let halves = [bits as u32, (bits >> 32) as u32];
                halves.into_iter().take(words as usize)
            });
            self.write(name, halves.collect::<Vec<_>>())?;
        }
        let may_pull = self.pass.pull_from > 0;
        for frontier in list(&plan, "frontiers") {
            if frontier["unique"] == true || may_pull && frontier["stamped"] == true {
                self.fill(&format!("{}.seen", text(frontier, "name")), 1, [0, 0])?;
            }
        }
        // Graphs that are asked for stay what they are.
        let asked = list(&plan, "topologies").iter().filter(|_| may_pull);
        let mut is_symmetric = true;
        for topology in asked.filter(|t| !t["symmetric"].is_null()) {
            let edges = self.given.graphs[text(topology, "name")].1.len() as u64;
            self.dispatch(text(&topology["symmetric"], "entry"), edges)?;
            is_symmetric &= self.control(text(&topology["symmetric"], "unless"))? == 0;
        }
        if may_pull && is_symmetric {
            self.pulls = self.pass.pull_from;
        }
        Ok(())
    }

    fn fill(&mut self, place: &str, width: u64, bits: [u32; 2]) -> Result<(), Stop> {
        let &(arena, at, words) = self.places.get(place).expect("buffers have places");
        let bindings = list(self.plan(), "bindings").iter();
        let mut named = bindings.filter(|b| b["binding"].as_u64() == Some(arena.into()));
        let name = named.next().map(|b| text(b, "name").to_owned());
        let entry = format!("fill_{}", name.unwrap_or_default());
        self.params.fill = [
            at as u32,
            (words / width) as u32,
            width as u32,
            bits[0],
            bits[1],
        ];
        self.dispatch(&entry, words / width)
    }

    // Dispatches.

    fn uniform(&mut self) -> Result<(), Stop> {
        let words = self.uniform_words()?;
        self.set_words(0, &words)
    }

    fn set_words(&mut self, binding: u32, words: &[u32]) -> Result<(), Stop> {
        let memory = self.bound.get_mut(&binding).expect("it is bound");
        for (at, &word) in (0..).zip(words) {
            let set = memory.set(at, word);
            set.map_err(|_| Stop::Length(format!("binding {binding}")))?;
        }
        Ok(())
    }

    fn uniform_words(&self) -> Result<Vec<u32>, Stop> {
        let plan = &self.pass.plan;
        let mut words = Vec::new();
        for param in list(plan, "params") {
            let (name, is) = (text(param, "name"), &param["is"]);
            let fills = ["at", "len", "words", "low", "high"];
            let value = if let Some(fixpoint) = is["round"].as_str() {
                self.entered.get(fixpoint).copied().unwrap_or(0).into()
            } else if let Some(place) = is["place"].as_str() {
                self.places[place].1
            } else if !is["length"].is_null() {
                self.length(&is["length"], name)?.min(u32::MAX.into())
            } else if let Some(topology) = is["degree"].as_str() {
                let graph = self.given.graphs.get(topology);
                let offsets = graph.map_or(&[][..], |(offsets, _)| offsets);
                let degrees = offsets.windows(2).map(|ends| ends[1] - ends[0]);
                degrees.max().unwrap_or(0).into()
            } else if let Some(scalar) = is["scalar"].as_str() {
                let bits = self.given.scalars.get(scalar);
                let bits = bits.ok_or_else(|| Stop::Plan(format!("`{scalar}` is not given")))?;
                bits >> (32 * is["half"].as_u64().unwrap_or(0))
            } else if let Some(bits) = is["bits"].as_u64() {
                bits
            } else {
                match is.as_str() {
                    Some("round") => self.params.round.into(),
                    Some("groups") => self.params.groups.into(),
                    Some("pulls") => self.pulls.into(),
                    Some("turns") => plan["turns"].as_u64().unwrap_or(0),
                    Some(fill) => {
                        let which = fill.strip_prefix("fill ").unwrap_or_default();
                        let which = fills.iter().position(|f| *f == which);
                        let which = which.ok_or_else(|| Stop::Plan(format!("a word is {fill}")))?;
                        self.params.fill[which].into()
                    }
                    None => return Err(Stop::Plan(format!("a word is {is}"))),
                }
            };
            words.push(value as u32);
        }
        Ok(words)
    }

    fn dispatch(&mut self, entry: &str, items: u64) -> Result<(), Stop> {
        let groups = items.div_ceil(INVOCATIONS);
        let groups = groups.clamp(1, self.pass.most_groups.into()) as u32;
        if !entry.ends_with("_close") {
            self.params.groups = groups;
        }
        self.uniform()?;
        self.launch(entry, groups)
    }

    fn launch(&mut self, entry: &str, groups: u32) -> Result<(), Stop> {
        let Some(shader) = self.pass.shaders.get(entry) else {
            return Err(Stop::Plan(format!("there is no shader `{entry}`")));
        };
        let done = shader.dispatch(groups, &mut self.bound, &mut self.random);
        done.map_err(|why| Stop::Wrong {
            entry: entry.to_owned(),
            why,
        })
    }

    /// A word of the arguments of dispatches.
    fn argument(&self, at: u64) -> Result<u32, Stop> {
        let word = self.bound[&DISPATCHES].get(at);
        word.map_err(|why| Stop::Wrong {
            entry: "the arguments".to_owned(),
            why,
        })
    }

    /// A word of the control buffer.
    fn control(&self, name: &str) -> Result<u32, Stop> {
        let (at, _) = find(self.plan(), "control", name)?;
        self.control_at(at)
    }

    fn control_at(&self, at: usize) -> Result<u32, Stop> {
        let word = self.bound[&CONTROL].get(at as u64);
        word.map_err(|why| Stop::Wrong {
            entry: "control".to_owned(),
            why,
        })
    }

    /// The word of the control buffer that is something of this name.
    fn control_of(&self, key: &str, name: &str, half: u64) -> Result<Option<u32>, Stop> {
        let words = list(self.plan(), "control");
        let at = words
            .iter()
            .position(|word| text(word, key) == name && word["half"].as_u64().unwrap_or(0) == half);
        at.map(|at| self.control_at(at)).transpose()
    }

    fn fault(&self, of: usize) -> Result<Fault, Stop> {
        let word = |name| self.control(&format!("trap_{name}"));
        Ok(Fault {
            of,
            kind: word("kind")?,
            item: word("item")?,
            pc: word("pc")?,
            index: word("index")?,
            len: word("len")?,
        })
    }

    // Steps.

    fn follow(&mut self) -> Result<(), Stop> {
        let plan = self.pass.plan.clone();
        let steps = list(&plan, "steps");
        let (mut at, mut unseen) = (0, None);
        loop {
            let Some(step) = steps.get(at) else {
                return Err(Stop::Plan("it has no end".to_owned()));
            };
            if let Some(wave) = step["wave"].as_str() {
                let (_, wave) = find(&plan, "waves", wave)?;
                let round = wave["fixpoint"].as_str().and_then(|f| self.entered.get(f));
                let round = round.copied().unwrap_or(0);
                let mut stretches = list(&plan, "stretches").iter();
                let together = self.pass.rounds_at_once > 0;
                let stretch = stretches.find(|of| together && of["from"] == at);
                if let Some(stretch) = stretch {
                    let parts = list(stretch, "parts");
                    let (_, failed) = self.submit((parts, None), None, (round, 1, 1))?;
                    at = stretch["to"].as_u64().unwrap_or(0) as usize;
                    // A fixpoint that starts behind it finds out by itself.
                    let next = steps.get(at + 1).and_then(|step| step["loop"].as_str());
                    match next
                        .map(|name| find(&plan, "fixpoints", name))
                        .transpose()?
                    {
                        Some((_, next)) if next["round"].is_array() => unseen = Some(failed),
                        _ => self.went(failed)?,
                    }
                    if steps[at] == "end" {
                        return Ok(());
                    }
                } else {
                    self.params.round = round;
                    self.sweep(wave)?;
                }
            } else if let Some(fixpoint) = step["loop"].as_str() {
                self.entered.insert(fixpoint.to_owned(), 0);
                let (_, fixpoint) = find(&plan, "fixpoints", fixpoint)?;
                let unseen = unseen.take();
                if unseen.is_none() {
                    self.dispatch(text(fixpoint, "begin"), 1)?;
                }
                if self.pass.rounds_at_once > 0 && fixpoint["round"].is_array() {
                    let name = text(fixpoint, "name");
                    let ends = |step: &Value| step["until"].as_str() == Some(name);
                    let until = steps.iter().position(ends);
                    at = until.ok_or_else(|| Stop::Plan(format!("`{name}` has no end")))?;
                    self.together(fixpoint, unseen)?;
                }
            } else if let Some(name) = step["until"].as_str() {
                self.settle(at)?;
                let (_, fixpoint) = find(&plan, "fixpoints", name)?;
                self.swap(fixpoint);
                self.params.round = self.entered[name];
                self.dispatch(text(fixpoint, "until"), 1)?;
                if self.again(fixpoint, 1)? {
                    let first = steps.iter().position(|s| s["loop"].as_str() == Some(name));
                    at = first.expect("a fixpoint that ends has begun");
                }
            } else {
                match step.as_str() {
                    Some("settle") => self.settle(at)?,
                    Some("end") => return self.settle(at),
                    _ => return Err(Stop::Plan(format!("step {step}"))),
                }
            }
            at += 1;
        }
    }

    /// Buffers trade places.
    fn swap(&mut self, fixpoint: &Value) {
        for swap in list(fixpoint, "swaps") {
            let name = |i: usize| swap[i].as_str().unwrap_or_default().to_owned();
            let (a, b) = (self.places[&name(0)], self.places[&name(1)]);
            self.places.insert(name(0), b);
            self.places.insert(name(1), a);
        }
    }

    /// Rounds have ended, and the condition of the last one has spoken: whether another one has begun.
    fn again(&mut self, fixpoint: &Value, ended: u32) -> Result<bool, Stop> {
        let name = text(fixpoint, "name");
        *self.rounds.entry(name.to_owned()).or_default() += u64::from(ended);
        let (number, _) = find(self.plan(), "fixpoints", name)?;
        match self.control("verdict")? {
            1 => Ok(false),
            0 => {
                let round = self.entered[name] + ended;
                self.entered.insert(name.to_owned(), round);
                let most = fixpoint["max_rounds"].as_u64().unwrap_or(0);
                if u64::from(round) >= most {
                    let fixpoint = number;
                    let now = self.now()?;
                    return Err(Stop::RoundLimit { fixpoint, now });
                }
                self.params.round = round;
                self.dispatch(text(fixpoint, "begin"), 1)?;
                Ok(true)
            }
            _ => {
                let fault = self.fault(number)?;
                Err(match fault.kind == TURNS {
                    true => Stop::Turns(self.plan()["turns"].as_u64().unwrap_or(0)),
                    false => Stop::Condition(fault),
                })
            }
        }
    }

    /// Rounds of a fixpoint that has begun follow each other by what shaders say, to its end.
    /// Behind a stretch that nobody has looked at, it starts by itself: `unseen` is what the stretch said of a failure.
    fn together(&mut self, fixpoint: &Value, mut unseen: Option<u32>) -> Result<(), Stop> {
        let name = text(fixpoint, "name");
        loop {
            let round = self.entered[name];
            let left = fixpoint["max_rounds"].as_u64().unwrap_or(0) - u64::from(round);
            let most = left.clamp(1, self.pass.rounds_at_once.into()) as u32;
            // One workgroup may take as many rounds again.
            let steps = most.div_ceil(2);
            let (parts, narrow) = (list(fixpoint, "round"), fixpoint["narrow"].as_str());
            let start = fixpoint["start"].as_str().filter(|_| unseen.is_some());
            let rounds = (round, most, steps);
            let (ended, failed) = self.submit((parts, narrow), start, rounds)?;
            self.went(unseen.take().unwrap_or(0))?;
            self.went(failed)?;
            for _ in 0..ended {
                self.swap(fixpoint);
            }
            if !self.again(fixpoint, ended)? {
                return Ok(());
            }
        }
    }

    /// What barrier groups said of a failure.
    fn went(&self, failed: u32) -> Result<(), Stop> {
        match failed.checked_sub(1) {
            Some(at) => Err(self.failed(at as usize)?),
            None => Ok(()),
        }
    }

    /// Barrier groups follow each other by what shaders say, so many times; how many rounds have ended, and whether one
    /// failed.
    fn submit(
        &mut self,
        (parts, narrow): (&[Value], Option<&str>),
        start: Option<&str>,
        (round, most, steps): (u32, u32, u32),
    ) -> Result<(u32, u32), Stop> {
        let plan = self.pass.plan.clone();
        let head = list(&plan, "dispatches").len();
        let number = |part: &Value, key: &str| part[key].as_u64().unwrap_or(0) as usize;
        let stride = list(&plan, "params").len();
        let groups = self.pass.most_groups;
        let goes = u32::from(start.is_none());
        let (stride_word, pulls) = (stride as u32, self.pulls);
        let mut args = vec![
            goes,
            0,
            0,
            round,
            most,
            stride_word,
            groups,
            2,
            0,
            steps,
            pulls,
        ];
        args.resize(head, 0);
        let mut blocks = Vec::new();
        let mut is_first = start.is_none();
        self.params.round = round;
        for part in parts {
            if part["pull"].is_string() {
                // The first round pushes.
                args.resize(number(part, "word"), 1);
                args.push(0);
                continue;
            }
            let Some(wave) = part["sweep"].as_str().or(part["close"].as_str()) else {
                is_first = false;
                continue;
            };
            let (_, wave) = find(&plan, "waves", wave)?;
            // Those of later groups are for the ends to say.
            let mut groups = 0;
            if is_first {
                let most = u64::from(self.pass.most_groups);
                groups = self.items(wave)?.div_ceil(INVOCATIONS).min(most) as u32;
            }
            self.params.groups = groups;
            let closes = part["close"].is_string();
            args.resize(number(part, "word"), 1);
            args.push(if closes { groups.min(1) } else { groups });
            let at = number(part, "block") * stride;
            blocks.truncate(at);
            blocks.extend(self.uniform_words()?);
        }
        args.extend([1, 1]);
        self.bound
            .insert(DISPATCHES, Memory::new("dispatches", args.len()));
        self.bound
            .insert(BLOCKS, Memory::new("blocks", blocks.len()));
        self.set_words(DISPATCHES, &args)?;
        self.set_words(BLOCKS, &blocks)?;
        let common = self.uniform_words()?;
        for once in [start, narrow].into_iter().flatten() {
            self.set_words(0, &common)?;
            self.launch(once, 1)?;
        }
        for _ in 0..steps {
            for part in parts {
                if let Some(end) = part["end"].as_str() {
                    self.set_words(0, &common)?;
                    self.launch(end, 1)?;
                    continue;
                }
                let groups = self.argument(number(part, "word") as u64)?;
                let at = number(part, "block") * stride;
                let block = (at..at + stride).map(|at| self.bound[&BLOCKS].get(at as u64));
                let block = block.collect::<Result<Vec<u32>, Wrong>>();
                let block = block.map_err(|why| Stop::Wrong {
                    entry: "the uniforms".to_owned(),
                    why,
                })?;
                self.set_words(0, &block)?;
                let keys = ["pull", "sweep", "close"];
                let key = keys.into_iter().find(|key| part[key].is_string());
                let key = key.ok_or_else(|| Stop::Plan(format!("a round has {part}")))?;
                let (_, wave) = find(&plan, "waves", text(part, key))?;
                if groups > 0 {
                    self.launch(text(wave, key), groups)?;
                }
            }
        }
        self.pass
            .pulled
            .fetch_add(self.argument(11)?.into(), Relaxed);
        Ok((self.argument(1)?, self.argument(2)?))
    }

    fn items(&self, wave: &Value) -> Result<u64, Stop> {
        let items = &wave["items"];
        match items["items of"].as_str() {
            Some(name) => Ok(u64::from(
                self.control_of("items of", name, 0)?.unwrap_or(0),
            )),
            None => self.length(&items["length"], text(wave, "name")),
        }
    }

    fn sweep(&mut self, wave: &Value) -> Result<(), Stop> {
        let items = self.items(wave)?;
        self.dispatch(text(wave, "sweep"), items)?;
        self.dispatch(text(wave, "close"), 1)
    }

    fn settle(&mut self, at: usize) -> Result<(), Stop> {
        self.dispatch("settle", 1)?;
        match self.control("status")? {
            0 => Ok(()),
            _ => Err(self.failed(at)?),
        }
    }

    /// Why a barrier group failed.
    fn failed(&self, at: usize) -> Result<Stop, Stop> {
        let mut overflows = Vec::new();
        let plan = &self.pass.plan;
        for held in list(plan, "frontiers").iter().chain(list(plan, "lists")) {
            let name = text(held, "name");
            let tail = self.control_of("tail of", name, 0)?.unwrap_or(0);
            let capacity = self.length(&held["capacity"], name)?;
            if u64::from(tail) > capacity {
                overflows.push((name.to_owned(), tail.into(), capacity));
            }
        }
        let fault = match self.control("trap_kind")? {
            0 => None,
            TURNS => return Ok(Stop::Turns(plan["turns"].as_u64().unwrap_or(0))),
            _ => Some(self.fault(self.control("trap_wave")? as usize)?),
        };
        Ok(Stop::Failed {
            at,
            fault,
            overflows,
        })
    }

    /// What waits, and totals.
    fn now(&self) -> Result<HashMap<String, u64>, Stop> {
        let mut now = HashMap::new();
        let plan = self.plan();
        for held in list(plan, "frontiers").iter().chain(list(plan, "lists")) {
            let name = text(held, "name");
            let tail = self.control_of("tail of", name, 0)?.unwrap_or(0);
            now.insert(name.to_owned(), tail.into());
        }
        for reduction in list(plan, "reductions") {
            let name = text(reduction, "name");
            now.insert(name.to_owned(), self.total(reduction)?);
        }
        Ok(now)
    }

    fn total(&self, reduction: &Value) -> Result<u64, Stop> {
        let (name, ty) = (text(reduction, "name"), text(reduction, "type"));
        let low = self.control_of("reduction", name, 0)?.unwrap_or(0);
        let high = self.control_of("reduction", name, 1)?;
        Ok(bits(ty, low, high.unwrap_or(0)))
    }

    fn read(&self, place: &str, ty: &str, count: Option<u64>) -> Result<Vec<u64>, Stop> {
        let (arena, at, words) = self.places[place];
        let width = width(ty);
        let memory = &self.bound[&arena];
        let word = |at: u64| {
            let word = memory.get(at);
            word.map_err(|why| Stop::Wrong {
                entry: place.to_owned(),
                why,
            })
        };
        let count = count.unwrap_or(words / width);
        let element = |i: u64| {
            let low = word(at + i * width)?;
            let high = if width == 2 {
                word(at + i * width + 1)?
            } else {
                0
            };
            Ok(bits(ty, low, high))
        };
        (0..count).map(element).collect()
    }

    fn results(self) -> Result<Results, Stop> {
        let mut results = Results {
            rounds: self.rounds.clone(),
            ..Results::default()
        };
        let plan = self.plan();
        for buffer in list(plan, "buffers") {
            let name = text(buffer, "name");
            if matches!(text(buffer, "role"), "output" | "inout") {
                let values = self.read(name, text(buffer, "type"), None)?;
                results.buffers.insert(name.to_owned(), values);
            }
        }
        for held in list(plan, "lists").iter().filter(|l| l["output"] == true) {
            let name = text(held, "name");
            let len = self.control_of("items of", name, 0)?.unwrap_or(0);
            let fields = (0..).zip(list(held, "fields"));
            let fields = fields.map(|(i, ty)| {
                let place = format!("{name}.items.{i}");
                self.read(&place, ty.as_str().unwrap_or_default(), Some(len.into()))
            });
            let fields = fields.collect::<Result<_, _>>()?;
            results.lists.insert(name.to_owned(), fields);
        }
        for reduction in list(plan, "reductions")
            .iter()
            .filter(|r| r["output"] == true)
        {
            let total = self.total(reduction)?;
            results
                .reductions
                .insert(text(reduction, "name").to_owned(), total);
        }
        Ok(results)
    }
}

/// Raw bits, as vyre has them: an i32 is sign-extended.
fn bits(ty: &str, low: u32, high: u32) -> u64 {
    match ty {
        "i32" => low as i32 as i64 as u64,
        _ => u64::from(high) << 32 | u64::from(low),
    }
}
