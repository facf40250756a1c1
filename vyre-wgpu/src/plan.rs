//! The plan of a pass, as `vyre-naga` writes it and docs/PORTABLE.md explains it, with numbers in the place of names.

use serde_json::Value;
use std::collections::HashMap;
use vyre_core::dsl::error::RunError;
use vyre_core::vir0::module::QueueId;
use vyre_core::vir0::sizes::Sizes;

/// A step of a length in postfix order.
#[derive(Clone, Debug)]
enum Term {
    Number(u64),
    Nodes,
    Edges(usize),
    Scalar(usize),
    Op(String),
}

/// A number that depends on the sizes of a run.
#[derive(Clone, Debug)]
pub(crate) struct Length {
    terms: Vec<Term>,
    /// What is so long.
    of: String,
}

/// What lies in an arena.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// The binding of its arena.
    pub(crate) arena: u32,
    pub(crate) words: Length,
}

/// What a word of the uniform is.
#[derive(Clone, Debug)]
pub(crate) enum Param {
    Place(usize),
    Length(Length),
    /// The most edges of a node of a topology.
    Degree(usize),
    Scalar(usize, u32),
    Bits(u32),
    RoundOf(usize),
    Turns,
    Round,
    Groups,
    Pulls,
    Fill(usize),
}

/// How many items a sweep has.
#[derive(Clone, Debug)]
pub(crate) enum Items {
    Length(Length),
    /// The word of `control` that has their number.
    Word(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Wave {
    pub(crate) sweep: usize,
    pub(crate) close: usize,
    /// The sweep that pulls, where it may.
    pub(crate) pull: Option<usize>,
    pub(crate) items: Items,
    /// Those of a workgroup of the sweep.
    pub(crate) invocations: u64,
    pub(crate) record_words: u64,
    /// Few items may have more workgroups than there are invocations for.
    pub(crate) spreads: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Fixpoint {
    pub(crate) begin: usize,
    pub(crate) until: usize,
    /// Places that trade.
    pub(crate) swaps: Vec<(usize, usize)>,
    /// Where rounds follow each other without the host.
    pub(crate) round: Option<Round>,
}

/// Barrier groups that follow each other outside of such rounds.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// The steps that it begins and ends with.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) round: Round,
}

/// What a round dispatches, or a stretch.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) parts: Vec<Part>,
    /// Words of the arguments.
    pub(crate) words: u32,
    /// Uniforms of waves.
    pub(crate) blocks: u32,
    /// Takes rounds in one workgroup.
    pub(crate) narrow: Option<usize>,
    /// Starts the fixpoint behind a stretch that the host did not look at.
    pub(crate) start: Option<usize>,
}

/// A dispatch of a round: the word with its workgroups, and the number of its uniform.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Of sweeps that pull, by the shader.
    Pull {
        shader: usize,
        word: usize,
        block: u32,
    },
    Sweep {
        wave: usize,
        word: usize,
        block: u32,
    },
    Close {
        wave: usize,
        word: usize,
        block: u32,
    },
    End {
        shader: usize,
    },
}

impl Round {
    /// Whether a wave is in the first group.
    pub(crate) fn begins_with(&self, of: usize) -> bool {
        let first = self.parts.iter();
        let mut first = first.take_while(|part| !matches!(part, Part::End { .. }));
        first.any(|part| matches!(*part, Part::Sweep { wave, .. } if wave == of))
    }
}

/// A topology that has to be its own reverse where sweeps pull.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) topology: usize,
    /// Finds out.
    pub(crate) shader: usize,
    /// The word of `control` that is 0 then.
    pub(crate) unless: usize,
}

/// Words of `control` about a frontier or a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) items: usize,
    pub(crate) tail: usize,
}

/// The number of each trap word in `control`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrapWords {
    pub(crate) wave: usize,
    pub(crate) kind: usize,
    pub(crate) item: usize,
    pub(crate) pc: usize,
    pub(crate) index: usize,
    pub(crate) len: usize,
}

/// A plan. Numbers of waves, fixpoints, buffers and so on are those of the program.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) turns: u32,
    /// Bindings of the arenas that the pass has.
    pub(crate) arenas: Vec<u32>,
    pub(crate) places: Vec<Place>,
    pub(crate) params: Vec<Param>,
    /// Words of `control` before the records.
    pub(crate) control_words: usize,
    pub(crate) status: usize,
    pub(crate) verdict: usize,
    pub(crate) trap: TrapWords,
    pub(crate) frontiers: Vec<Held>,
    pub(crate) lists: Vec<Held>,
    /// Low and high word.
    pub(crate) reductions: Vec<(usize, Option<usize>)>,
    pub(crate) waves: Vec<Wave>,
    pub(crate) fixpoints: Vec<Fixpoint>,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) begin: usize,
    pub(crate) settle: usize,
    pub(crate) asked: Vec<Asked>,
    /// Places with what is known of each node of a frontier, which runs begin with zeros in: always, or only where sweeps
    /// pull.
    pub(crate) stamps: Vec<(usize, bool)>,
    /// By binding of the arena.
    pub(crate) fills: HashMap<u32, usize>,
    by_name: HashMap<String, usize>,
}

/// Bindings.
pub(crate) const PARAMS: u32 = 0;
pub(crate) const FIXED: u32 = 1;
pub(crate) const CONTROL: u32 = 4;
pub(crate) const DISPATCHES: u32 = 6;
pub(crate) const BLOCKS: u32 = 7;

/// The words of the arguments of dispatches before the first one's.
const HEAD: [&str; 13] = [
    "going", "ended", "failed", "round", "most", "stride", "groups", "spread", "narrow", "left",
    "pulls", "pulled", "missed",
];

/// The words of the uniform that change from dispatch to dispatch.
const FILLS: [&str; 5] = ["fill at", "fill len", "fill words", "fill low", "fill high"];

/// A plan that does not say what it should is a fault of `vyre-naga`, or of this file.
fn wrong(why: impl Into<String>) -> RunError {
    RunError::Invalid(format!("the plan of the shaders: {}", why.into()))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Names of a table, by number.
struct Numbers<'v>(HashMap<&'v str, usize>);

impl<'v> Numbers<'v> {
    fn of(plan: &'v Value, key: &str) -> Numbers<'v> {
        let names = list(plan, key).iter().map(|entry| text(entry, "name"));
        Numbers(names.zip(0..).collect())
    }

    fn get(&self, name: &str) -> Result<usize, RunError> {
        let found = self.0.get(name).copied();
        found.ok_or_else(|| wrong(format!("there is no `{name}`")))
    }
}

struct Reader<'v> {
    plan: &'v Value,
    topologies: Numbers<'v>,
    scalars: Numbers<'v>,
    places: Numbers<'v>,
    waves: Numbers<'v>,
    fixpoints: Numbers<'v>,
    control: Numbers<'v>,
    entries: HashMap<&'v str, usize>,
}

impl<'v> Reader<'v> {
    fn length(&self, terms: &Value, of: &str) -> Result<Length, RunError> {
        let term = |term: &Value| {
            if let Some(number) = term.as_u64() {
                return Ok(Term::Number(number));
            }
            if let Some(topology) = term["edges"].as_str() {
                return Ok(Term::Edges(self.topologies.get(topology)?));
            }
            if let Some(scalar) = term["scalar"].as_str() {
                return Ok(Term::Scalar(self.scalars.get(scalar)?));
            }
            match term.as_str() {
                Some("nodes") => Ok(Term::Nodes),
                Some(op) => Ok(Term::Op(op.to_owned())),
                None => Err(wrong(format!("a length has {term}"))),
            }
        };
        let terms = terms.as_array().into_iter().flatten().map(term);
        Ok(Length {
            terms: terms.collect::<Result<_, _>>()?,
            of: of.to_owned(),
        })
    }

    fn entry(&self, name: &str) -> Result<usize, RunError> {
        let found = self.entries.get(name).copied();
        found.ok_or_else(|| wrong(format!("there is no shader `{name}`")))
    }

    /// The shader that a name is of, where there is one.
    fn maybe(&self, name: &Value) -> Result<Option<usize>, RunError> {
        name.as_str().map(|name| self.entry(name)).transpose()
    }

    fn param(&self, param: &Value) -> Result<Param, RunError> {
        let is = &param["is"];
        if let Some(place) = is["place"].as_str() {
            return Ok(Param::Place(self.places.get(place)?));
        }
        if !is["length"].is_null() {
            return Ok(Param::Length(
                self.length(&is["length"], text(param, "name"))?,
            ));
        }
        if let Some(topology) = is["degree"].as_str() {
            return Ok(Param::Degree(self.topologies.get(topology)?));
        }
        if let Some(scalar) = is["scalar"].as_str() {
            let half = is["half"].as_u64().unwrap_or(0) as u32;
            return Ok(Param::Scalar(self.scalars.get(scalar)?, half));
        }
        if let Some(bits) = is["bits"].as_u64() {
            return Ok(Param::Bits(bits as u32));
        }
        if let Some(fixpoint) = is["round"].as_str() {
            return Ok(Param::RoundOf(self.fixpoints.get(fixpoint)?));
        }
        let fill = |is: &str| FILLS.iter().position(|fill| *fill == is);
        match is.as_str() {
            Some("round") => Ok(Param::Round),
            Some("groups") => Ok(Param::Groups),
            Some("pulls") => Ok(Param::Pulls),
            Some("turns") => Ok(Param::Turns),
            Some(is) => fill(is)
                .map(Param::Fill)
                .ok_or_else(|| wrong(format!("a word is {is}"))),
            None => Err(wrong(format!("a word is {is}"))),
        }
    }

    /// The word of `control` that is this of a thing.
    fn word_of(&self, key: &str, name: &str, half: u64) -> Option<usize> {
        let mut words = list(self.plan, "control").iter();
        words.position(|word| text(word, key) == name && word["half"].as_u64().unwrap_or(0) == half)
    }

    fn held(&self, key: &str) -> Result<Vec<Held>, RunError> {
        let held = list(self.plan, key).iter().map(|of| {
            let name = text(of, "name");
            let word = |key| {
                let found = self.word_of(key, name, 0);
                found.ok_or_else(|| wrong(format!("`{name}` has no word that is `{key}` it")))
            };
            Ok(Held {
                items: word("items of")?,
                tail: word("tail of")?,
            })
        });
        held.collect()
    }

    fn wave(&self, wave: &Value) -> Result<Wave, RunError> {
        let name = text(wave, "name");
        let items = &wave["items"];
        let items = match items["items of"].as_str() {
            Some(of) => {
                let word = self.word_of("items of", of, 0);
                Items::Word(word.ok_or_else(|| wrong(format!("nobody counts `{of}`")))?)
            }
            None => Items::Length(self.length(&items["length"], name)?),
        };
        Ok(Wave {
            sweep: self.entry(text(wave, "sweep"))?,
            close: self.entry(text(wave, "close"))?,
            pull: self.maybe(&wave["pull"])?,
            items,
            invocations: self.plan["entries"][text(wave, "sweep")]["invocations"]
                .as_u64()
                .unwrap_or(0)
                .max(1),
            record_words: wave["record_words"].as_u64().unwrap_or(0),
            spreads: wave["spreads"] == true,
        })
    }

    fn fixpoint(&self, fixpoint: &Value) -> Result<Fixpoint, RunError> {
        let swaps = list(fixpoint, "swaps").iter().map(|swap| {
            let place = |at: usize| self.places.get(swap[at].as_str().unwrap_or_default());
            Ok((place(0)?, place(1)?))
        });
        Ok(Fixpoint {
            begin: self.entry(text(fixpoint, "begin"))?,
            until: self.entry(text(fixpoint, "until"))?,
            swaps: swaps.collect::<Result<_, RunError>>()?,
            round: fixpoint["round"]
                .is_array()
                .then(|| self.round(list(fixpoint, "round"), fixpoint))
                .transpose()?,
        })
    }

    fn stretch(&self, stretch: &Value) -> Result<Stretch, RunError> {
        let step = |key: &str| {
            let step = stretch[key].as_u64();
            step.ok_or_else(|| wrong(format!("a stretch has no `{key}`")))
        };
        Ok(Stretch {
            from: step("from")? as usize,
            to: step("to")? as usize,
            round: self.round(list(stretch, "parts"), stretch)?,
        })
    }

    fn round(&self, parts: &[Value], of: &Value) -> Result<Round, RunError> {
        let mut round = Round {
            parts: Vec::new(),
            words: HEAD.len() as u32,
            blocks: 0,
            narrow: self.maybe(&of["narrow"])?,
            start: self.maybe(&of["start"])?,
        };
        for part in parts {
            let number = |key: &str| part[key].as_u64().unwrap_or(0) as u32;
            let (word, block) = (number("word") as usize, number("block"));
            if let Some(end) = part["end"].as_str() {
                let shader = self.entry(end)?;
                round.parts.push(Part::End { shader });
                continue;
            }
            round.words = round.words.max(word as u32 + 3);
            round.blocks = round.blocks.max(block + 1);
            let wave = |key: &str| part[key].as_str().map(|wave| self.waves.get(wave));
            round
                .parts
                .push(if let Some(wave) = wave("pull").transpose()? {
                    let shader = self.maybe(&list(self.plan, "waves")[wave]["pull"])?;
                    Part::Pull {
                        shader: shader.ok_or_else(|| wrong("a sweep pulls that may not"))?,
                        word,
                        block,
                    }
                } else if let Some(wave) = wave("sweep").transpose()? {
                    Part::Sweep { wave, word, block }
                } else {
                    let wave = self.waves.get(text(part, "close"))?;
                    Part::Close { wave, word, block }
                });
        }
        Ok(round)
    }
}

impl Plan {
    /// What counts the items of a queue.
    pub(crate) fn held(&self, id: QueueId) -> &Held {
        match id {
            QueueId::Frontier(f) => &self.frontiers[f.index()],
            QueueId::List(l) => &self.lists[l.index()],
        }
    }

    /// Reads a plan of shaders with these entry points, none of which is missing.
    pub(crate) fn read<'v>(
        plan: &'v Value,
        entries: impl Iterator<Item = &'v str>,
    ) -> Result<Plan, RunError> {
        if plan["version"] != vyre_naga::VERSION {
            return Err(wrong(format!("version {}", plan["version"])));
        }
        if !list(plan, "dispatches").iter().eq(HEAD.iter()) {
            return Err(wrong("the arguments of dispatches begin otherwise"));
        }
        let reader = Reader {
            plan,
            topologies: Numbers::of(plan, "topologies"),
            scalars: Numbers::of(plan, "scalars"),
            places: Numbers::of(plan, "places"),
            waves: Numbers::of(plan, "waves"),
            fixpoints: Numbers::of(plan, "fixpoints"),
            control: Numbers::of(plan, "control"),
            entries: entries.zip(0..).collect(),
        };
        let bindings = list(plan, "bindings").iter();
        let bindings: HashMap<&str, u32> = bindings
            .map(|b| (text(b, "name"), b["binding"].as_u64().unwrap_or(0) as u32))
            .collect();
        let places = list(plan, "places").iter().map(|place| {
            let (name, arena) = (text(place, "name"), text(place, "arena"));
            let arena = bindings.get(arena).copied();
            Ok(Place {
                name: name.to_owned(),
                arena: arena.ok_or_else(|| wrong(format!("`{name}` lies nowhere")))?,
                words: reader.length(&place["words"], name)?,
            })
        });
        let places = places.collect::<Result<Vec<_>, RunError>>()?;
        let params = list(plan, "params").iter().map(|p| reader.param(p));
        let params = params.collect::<Result<Vec<_>, _>>()?;
        let reductions = list(plan, "reductions").iter().map(|reduction| {
            let name = text(reduction, "name");
            let low = reader.word_of("reduction", name, 0);
            let low = low.ok_or_else(|| wrong(format!("nobody holds `{name}`")))?;
            Ok((low, reader.word_of("reduction", name, 1)))
        });
        let mut arenas: Vec<u32> = bindings.values().copied().collect();
        arenas.retain(|&binding| binding != PARAMS && binding != CONTROL);
        arenas.sort_unstable();
        let fills = bindings.iter().filter_map(|(name, &binding)| {
            let entry = reader.entries.get(format!("fill_{name}").as_str());
            Some((binding, *entry?))
        });
        let word = |name: &str| reader.control.get(name);
        let asked = (0..)
            .zip(list(plan, "topologies"))
            .filter_map(|(topology, of)| {
                let symmetric = &of["symmetric"];
                let entry = symmetric["entry"].as_str()?;
                Some((topology, entry, text(symmetric, "unless")))
            });
        let asked = asked.map(|(topology, entry, unless)| {
            Ok(Asked {
                topology,
                shader: reader.entry(entry)?,
                unless: word(unless)?,
            })
        });
        let stamps = list(plan, "frontiers").iter();
        let stamps = stamps.filter(|f| f["stamped"] == true).map(|f| {
            let place = reader.places.get(&format!("{}.seen", text(f, "name")))?;
            Ok((place, f["unique"] == true))
        });
        Ok(Plan {
            turns: plan["turns"].as_u64().unwrap_or(0) as u32,
            arenas,
            params,
            control_words: list(plan, "control").len(),
            status: word("status")?,
            verdict: word("verdict")?,
            trap: TrapWords {
                wave: word("trap_wave")?,
                kind: word("trap_kind")?,
                item: word("trap_item")?,
                pc: word("trap_pc")?,
                index: word("trap_index")?,
                len: word("trap_len")?,
            },
            frontiers: reader.held("frontiers")?,
            lists: reader.held("lists")?,
            reductions: reductions.collect::<Result<_, RunError>>()?,
            waves: list(plan, "waves")
                .iter()
                .map(|w| reader.wave(w))
                .collect::<Result<_, _>>()?,
            fixpoints: list(plan, "fixpoints")
                .iter()
                .map(|f| reader.fixpoint(f))
                .collect::<Result<_, _>>()?,
            stretches: list(plan, "stretches")
                .iter()
                .map(|s| reader.stretch(s))
                .collect::<Result<_, _>>()?,
            begin: reader.entry("begin")?,
            asked: asked.collect::<Result<_, RunError>>()?,
            stamps: stamps.collect::<Result<_, RunError>>()?,
            settle: reader.entry("settle")?,
            fills: fills.collect(),
            by_name: places.iter().map(|p| p.name.clone()).zip(0..).collect(),
            places,
        })
    }

    /// Whether a shader ends a group of a round or a stretch, or starts a fixpoint.
    pub(crate) fn is_end(&self, of: usize) -> bool {
        let ends = |part: &Part| matches!(*part, Part::End { shader } if shader == of);
        let mut rounds = self.rounds();
        rounds.any(|round| round.start == Some(of) || round.parts.iter().any(ends))
    }

    /// Whether a sweep may pull.
    pub(crate) fn may_pull(&self) -> bool {
        self.waves.iter().any(|wave| wave.pull.is_some())
    }

    /// Whether a shader takes rounds in one workgroup.
    pub(crate) fn is_narrow(&self, of: usize) -> bool {
        self.rounds().any(|round| round.narrow == Some(of))
    }

    fn rounds(&self) -> impl Iterator<Item = &Round> {
        let straight = self.stretches.iter().map(|of| &of.round);
        let rounds = self.fixpoints.iter().filter_map(|f| f.round.as_ref());
        rounds.chain(straight)
    }

    /// The number of a place.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The word of the uniform that says where a place begins.
    pub(crate) fn param_of(&self, place: usize) -> Option<usize> {
        let mut params = self.params.iter();
        params.position(|param| matches!(param, Param::Place(of) if *of == place))
    }
}

impl Length {
    /// Its value. Steps are integers, and the end is not negative.
    ///
    /// # Errors
    /// It has none.
    pub(crate) fn value(&self, sizes: &Sizes) -> Result<u64, RunError> {
        let none = || RunError::NoLength {
            name: self.of.clone(),
            length: "the plan's length".to_owned(),
            why: "it has no value".to_owned(),
        };
        let mut stack: Vec<i128> = Vec::new();
        for term in &self.terms {
            let value = match term {
                Term::Number(n) => (*n).into(),
                Term::Nodes => sizes.nodes.into(),
                Term::Edges(t) => sizes.edges.get(*t).copied().ok_or_else(none)?.into(),
                Term::Scalar(s) => {
                    // Before a run, a session may know some.
                    let of_session = || sizes.of_session.iter().find(|(id, _)| id.index() == *s);
                    let bits = sizes.scalars.get(*s).copied();
                    let bits = bits.or_else(|| of_session().map(|&(_, bits)| bits));
                    i128::from(bits.ok_or_else(none)? as u32)
                }
                Term::Op(op) if op == "words" => {
                    let bits = stack.pop().ok_or_else(none)?;
                    bits.div_euclid(32) + i128::from(bits % 32 != 0)
                }
                Term::Op(op) => {
                    let b = stack.pop().ok_or_else(none)?;
                    let a = stack.pop().ok_or_else(none)?;
                    let value = match op.as_str() {
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
                    value.ok_or_else(none)?
                }
            };
            stack.push(value);
        }
        let end = stack.pop().ok_or_else(none)?;
        u64::try_from(end).map_err(|_| none())
    }
}
