//! What runs took on each side of a runtime: in memory, for the runtime and its clones, and in a file where the user
//! names one.
//!
//! The file is text. After a line that names the format, each line is one kind of work on one side:
//!
//! ```text
//! vyre costs 1
//! 9f0c3a5d11e2b874 17 18 15 1 6 4 152.4,149.9,150.2 native, x86_64, 16 threads
//! ```
//!
//! These are the program's hash; nodes, edges, longest buffer and queries as powers of two and swept items as a power
//! of eight ([`Work`]); runs; nanoseconds a swept item in the last runs; the side. Lines that say nothing are skipped,
//! and a file of anything else is neither read nor written. A new file takes the place of the old one by a rename, so
//! that a reader never sees half of it. Of two processes that write at once one may lose what it learned; it will learn
//! it again. Nothing that goes wrong with the file is an error: then there is no memory beyond the process.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use vyre_core::plan::side::{Seen, Work, power_of_two, swept_items};
use vyre_core::run::outcome::Report;
use vyre_core::vir0::container::program_hash;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::sizes::Sizes;

/// The first line of a file.
const FORMAT: &str = "vyre costs 1";
/// Lines that a file has at most, and bytes that are read of it.
const MOST_LINES: usize = 10_000;
const MOST_BYTES: u64 = 4 << 20;

/// A pass on graphs of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Subject {
    program: u64,
    nodes: u8,
    edges: u8,
}

impl Subject {
    pub(crate) fn new(program: &Program, sizes: &Sizes) -> Subject {
        Subject {
            // With the values of named constants; their spelling does not count.
            program: program_hash(program, ""),
            ..Subject::default()
        }
        .on(sizes)
    }

    /// A pass on many graphs at a time, which is other work than the same pass on one.
    pub(crate) fn many<'s>(
        program: &Program,
        topologies: impl Iterator<Item = &'s Sizes>,
    ) -> Subject {
        let of = |sizes: &Sizes| (sizes.nodes, most_edges(sizes));
        let (nodes, edges) = topologies.map(of).fold((0, 0), |sum: (u64, u64), of| {
            (sum.0.saturating_add(of.0), sum.1.saturating_add(of.1))
        });
        Subject {
            program: program_hash(program, "many"),
            nodes: power_of_two(nodes),
            edges: power_of_two(edges),
        }
    }

    /// The same pass on other graphs.
    pub(crate) fn on(self, sizes: &Sizes) -> Subject {
        Subject {
            nodes: power_of_two(sizes.nodes),
            edges: power_of_two(most_edges(sizes)),
            ..self
        }
    }
}

/// Edges of the largest graph.
fn most_edges(sizes: &Sizes) -> u64 {
    sizes.edges.iter().copied().max().unwrap_or(0)
}

/// How much a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) rounds: u64,
    pub(crate) items: u64,
}

impl Did {
    /// What the run of this report did.
    pub(crate) fn of(program: &Program, sizes: &Sizes, report: &Report) -> Did {
        let frontier_items = report.activity.map_or(0, |a| a.items);
        Did {
            rounds: report.total_rounds(),
            items: swept_items(program, sizes, &report.rounds, frontier_items),
        }
    }

    /// Of both.
    pub(crate) fn plus(self, other: Did) -> Did {
        Did {
            rounds: self.rounds.saturating_add(other.rounds),
            items: self.items.saturating_add(other.items),
        }
    }

    /// Of `runs` like this.
    pub(crate) fn times(self, runs: u64) -> Did {
        Did {
            rounds: self.rounds.saturating_mul(runs),
            items: self.items.saturating_mul(runs),
        }
    }
}

/// What is known before a run.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    /// What the last run did that was alike in what is known before it.
    pub(crate) did: Did,
    /// By side.
    pub(crate) seen: Vec<Seen>,
    /// By side, whether any run of the subject is known there.
    pub(crate) tried: Vec<bool>,
    /// What runs of the subject took since the last trial.
    pub(crate) spent_ns: u64,
}

/// One kind of work on one side.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    seen: Seen,
    /// As the file has it.
    saved: Option<f64>,
    /// Measured by this process.
    ours: bool,
}

#[derive(Debug, Default)]
struct OfSubject {
    /// By what is known before a run: what the last one did.
    last: BTreeMap<(u8, u8), Did>,
    spent_ns: u64,
    entries: BTreeMap<(Work, usize), Entry>,
}

#[derive(Debug, Default)]
struct Known {
    read: bool,
    changed: bool,
    subjects: BTreeMap<Subject, OfSubject>,
}

/// The costs of a runtime and its clones.
#[derive(Debug)]
pub(crate) struct Costs {
    /// What tells each side from those of other machines and builds.
    sides: Vec<String>,
    file: Option<PathBuf>,
    known: Mutex<Known>,
}

/// A line of a file: what it is about, and what was seen.
type Line = ((Subject, Work, String), Seen);

impl Costs {
    pub(crate) fn new(sides: Vec<String>, file: Option<PathBuf>) -> Costs {
        Costs {
            sides,
            file,
            known: Mutex::default(),
        }
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file is read when something is asked for first.
    fn known(&self) -> MutexGuard<'_, Known> {
        let mut known = self.lock();
        if !known.read {
            known.read = true;
            let lines = self.file.as_deref().and_then(read).unwrap_or_default();
            for ((subject, work, side), seen) in lines {
                let Some(side) = self.sides.iter().position(|name| *name == side) else {
                    continue;
                };
                let entry = Entry {
                    seen,
                    saved: seen.cost(),
                    ours: false,
                };
                let of = known.subjects.entry(subject).or_default();
                of.entries.insert((work, side), entry);
            }
        }
        known
    }

    /// What is known before a run with buffers of this length, in a batch of this size, whatever it sweeps; `None`:
    /// before a single run with buffers of any length.
    pub(crate) fn before(&self, subject: Subject, wanted: Option<Work>) -> Before {
        let mut known = self.known();
        let of = known.subjects.entry(subject).or_default();
        let work = wanted.unwrap_or(Work::new(0, 1, 0));
        let alike = |(l, q): (u8, u8)| q == work.queries && (wanted.is_none() || l == work.length);
        let last = of.last.iter().rfind(|(at, _)| alike(**at));
        let (work, did) = match last {
            Some((&(length, queries), &did)) => {
                let items = Work::new(0, 0, did.items).items;
                (
                    Work {
                        length,
                        queries,
                        items,
                    },
                    did,
                )
            }
            // What most of the runs in the file were.
            None => {
                let entries = of.entries.iter();
                let entries = entries.filter(|((w, _), _)| alike((w.length, w.queries)));
                match entries.max_by_key(|(_, entry)| entry.seen.runs()) {
                    None => (work, Did::default()),
                    Some(((work, _), _)) => {
                        let items = 1 << (3 * u32::from(work.items)).min(63);
                        (*work, Did { rounds: 0, items })
                    }
                }
            }
        };
        let seen = |side| of.entries.get(&(work, side)).map(|e| e.seen);
        let tried = |side| of.entries.keys().any(|(_, at)| *at == side);
        Before {
            did,
            seen: (0..self.sides.len())
                .map(|side| seen(side).unwrap_or_default())
                .collect(),
            tried: (0..self.sides.len()).map(tried).collect(),
            spent_ns: of.spent_ns,
        }
    }

    /// A run on a side took so long, and did so much. `trial`: to see what it takes there.
    pub(crate) fn add(
        &self,
        subject: Subject,
        (side, trial): (usize, bool),
        work: Work,
        did: Did,
        wall_ns: u64,
    ) {
        let mut known = self.known();
        let of = known.subjects.entry(subject).or_default();
        let work = Work {
            items: Work::new(0, 0, did.items).items,
            ..work
        };
        of.last.insert((work.length, work.queries), did);
        of.spent_ns = if trial { 0 } else { of.spent_ns };
        of.spent_ns = of.spent_ns.saturating_add(wall_ns);
        let entry = of.entries.entry((work, side)).or_default();
        entry.seen.add(wall_ns, did.items);
        entry.ours = true;
        let far = |saved: f64, now: f64| (now / saved).max(saved / now) > 1.5;
        let cost = entry.seen.cost();
        let few = entry.seen.runs() <= 2;
        let news = few
            || entry
                .saved
                .zip(cost)
                .is_none_or(|(saved, now)| far(saved, now));
        known.changed |= news;
    }

    /// Writes the file, where there is one and something worth telling has changed.
    pub(crate) fn save(&self) {
        let Some(path) = &self.file else { return };
        let mut known = self.lock();
        if !std::mem::take(&mut known.changed) {
            return;
        }
        // Others may have written meanwhile. What is no such file stays as it is.
        let Some(theirs) = read(path) else { return };
        let mut lines: BTreeMap<(Subject, Work, String), Seen> = theirs.into_iter().collect();
        for (&subject, of) in &mut known.subjects {
            for (&(work, side), entry) in of.entries.iter_mut().filter(|(_, e)| e.ours) {
                entry.saved = entry.seen.cost();
                lines.insert((subject, work, self.sides[side].clone()), entry.seen);
            }
        }
        let _or_it_is_learned_again = write(path, &lines);
    }
}

/// The lines of a file, none of a file that is not there; `None` where it is something else: another file, a device, a
/// pipe, a link, whose place a file of ours must not take.
fn read(path: &Path) -> Option<Vec<Line>> {
    let mut text = String::new();
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Some(Vec::new()),
        Ok(found) if found.is_file() => {
            let file = std::fs::File::open(path).ok()?;
            file.take(MOST_BYTES).read_to_string(&mut text).ok()?
        }
        _ => return None,
    };
    let mut lines = text.lines();
    match lines.next() {
        None => Some(Vec::new()),
        Some(FORMAT) => Some(lines.filter_map(parse).take(MOST_LINES).collect()),
        Some(_) => None,
    }
}

fn parse(line: &str) -> Option<Line> {
    let mut words = line.splitn(9, ' ');
    let program = u64::from_str_radix(words.next()?, 16).ok()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    let mut power = || number().and_then(|n| u8::try_from(n).ok());
    let (nodes, edges) = (power()?, power()?);
    let (length, queries, items) = (power()?, power()?, power()?);
    let runs = number()?;
    let recent = words.next()?.split(',').map(str::parse::<f64>);
    let recent: Vec<f64> = recent.collect::<Result<_, _>>().ok()?;
    let seen = Seen::from_parts(runs, &recent)?;
    let side = words.next()?.to_owned();
    let subject = Subject {
        program,
        nodes,
        edges,
    };
    let work = Work {
        length,
        queries,
        items,
    };
    Some(((subject, work, side), seen))
}

fn write(path: &Path, lines: &BTreeMap<(Subject, Work, String), Seen>) -> std::io::Result<()> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let mut text = format!("{FORMAT}\n");
    for ((subject, work, side), seen) in lines.iter().take(MOST_LINES) {
        let Subject {
            program,
            nodes,
            edges,
        } = subject;
        let Work {
            length,
            queries,
            items,
        } = work;
        let costs: Vec<String> = seen.recent().iter().map(f64::to_string).collect();
        let (runs, costs) = (seen.runs(), costs.join(","));
        let _infallible = writeln!(
            text,
            "{program:016x} {nodes} {edges} {length} {queries} {items} {runs} {costs} {side}"
        );
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let number = WRITTEN.fetch_add(1, Relaxed);
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.{number}", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::File::create_new(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _or_it_stays = std::fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: Subject = Subject {
        program: 0xabc,
        nodes: 15,
        edges: 15,
    };

    fn costs(file: &Path) -> Costs {
        let sides = ["cuda, a device", "native, 16 threads"].map(str::to_owned);
        Costs::new(sides.to_vec(), Some(file.to_owned()))
    }

    fn run(costs: &Costs, side: usize, ms: u64) {
        let did = Did {
            rounds: 20_000,
            items: 20_000,
        };
        let work = Work::new(20_000, 1, 0);
        costs.add(CHAIN, (side, false), work, did, ms * 1_000_000);
    }

    fn seen(costs: &Costs) -> Vec<Vec<f64>> {
        let before = costs.before(CHAIN, None);
        before.seen.iter().map(|s| s.recent().to_vec()).collect()
    }

    /// A folder of this test alone, gone when it ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("vyre-costs-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).expect("a folder");
            Folder(folder)
        }

        fn names(&self) -> Vec<std::ffi::OsString> {
            let entries = std::fs::read_dir(&self.0).expect("the folder");
            entries.map(|e| e.expect("an entry").file_name()).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _gone = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_one_process_learned_the_next_one_knows() {
        let folder = Folder::new("next");
        let file = folder.0.join("in/a/folder/costs");
        // What learned nothing has nothing to save, so it does not look at the file, and reads it when it is asked.
        let early = costs(&file);
        early.save();
        let first = costs(&file);
        run(&first, 0, 33);
        run(&first, 1, 3);
        assert_eq!(seen(&first), [[1650.0], [150.0]]);
        first.save();
        assert_eq!(seen(&costs(&file)), [[1650.0], [150.0]]);
        assert_eq!(seen(&early), [[1650.0], [150.0]]);
        // Of a device with another name nothing is known; its lines stay.
        let other = Costs::new(vec!["cuda, another".to_owned()], Some(file.clone()));
        assert_eq!(seen(&other), [[0.0; 0]]);
        run(&other, 0, 40);
        other.save();
        let third = costs(&file);
        assert_eq!(seen(&third), [[1650.0], [150.0]]);
        // Two that write one after the other keep what each learned.
        run(&third, 1, 4);
        run(&first, 0, 32);
        third.save();
        first.save();
        assert_eq!(seen(&costs(&file))[0], [1650.0, 1600.0]);
        let text = std::fs::read_to_string(&file).expect("the file");
        assert_eq!(text.lines().count(), 4);
        // Nothing new: the file is not touched.
        std::fs::remove_file(&file).expect("the file");
        third.save();
        assert!(!file.exists());
    }

    #[test]
    fn other_files_stay_as_they_are_and_damaged_lines_are_skipped() {
        let folder = Folder::new("damaged");
        let file = folder.0.join("costs");
        for text in ["My thesis\n", "vyre costs 2\nfuture\n"] {
            std::fs::write(&file, text).expect("writes");
            let costs = costs(&file);
            run(&costs, 0, 33);
            costs.save();
            assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
            assert_eq!(seen(&costs), [vec![1650.0], vec![]]);
        }
        #[cfg(unix)]
        {
            let link = folder.0.join("link");
            let target = folder.0.join("target");
            std::os::unix::fs::symlink(&target, &link).expect("a link");
            let costs = costs(&link);
            run(&costs, 0, 33);
            costs.save();
            assert!(link.is_symlink() && !target.exists());
            std::fs::remove_file(&link).expect("the link");
        }
        let good = "0000000000000abc 15 15 15 1 4 1 150 native, 16 threads";
        for bad in [
            "",
            "0000000000000abc 15 15 15 1 4 1 150",
            "0000000000000abc 15 15 15 1 4 1 NaN native, 16 threads",
            "0000000000000abc 15 15 15 1 4 9 1,2 native, 16 threads",
            "0000000000000abc 15 15 15 1 400 1 150 native, 16 threads",
            "\u{1f980}",
        ] {
            std::fs::write(&file, format!("{FORMAT}\n{bad}\n{good}\n{bad}")).expect("writes");
            assert_eq!(seen(&costs(&file)), [vec![], vec![150.0]], "{bad}");
        }
        // Bytes that are no text, and a place that cannot be written, are no errors either.
        std::fs::write(&file, [FORMAT.as_bytes(), b"\n\xff\xfe\n"].concat()).expect("writes");
        assert_eq!(seen(&costs(&file)), [[0.0; 0]; 2]);
        let below = costs(&file.join("below"));
        run(&below, 0, 33);
        below.save();
        // Nothing is left beside the file.
        assert_eq!(folder.names(), ["costs"]);
    }

    #[test]
    fn many_processes_at_once_leave_a_whole_file() {
        let folder = Folder::new("many");
        let file = folder.0.join("costs");
        std::thread::scope(|scope| {
            for side in [0, 1, 0, 1] {
                let file = &file;
                scope.spawn(move || {
                    for ms in 1..20 {
                        let costs = costs(file);
                        run(&costs, side, ms);
                        costs.save();
                        let text = std::fs::read_to_string(file).expect("the file");
                        assert!(text.starts_with(FORMAT) && text.ends_with('\n'), "{text}");
                    }
                });
            }
        });
        assert_eq!(folder.names(), ["costs"]);
    }
}
