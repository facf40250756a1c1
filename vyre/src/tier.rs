//! Which of a device's two routes a pass takes: the interpreter, or compiled code of its own.

use std::borrow::Cow;
use std::collections::BTreeMap;
use vyre_core::plan::launch::Route;
use vyre_core::plan::side::{Policy, RECENT, Seen, Work};
use vyre_core::plan::thresholds::Thresholds;

/// What is to run a pass's bytecode, on a backend that can interpret and compile it.
///
/// The interpreter runs any pass at once. Compiled code is a module of machine code for the one pass. The driver takes
/// from a tenth of a second to a few seconds for it, unless it is in the driver's cache, and does so on a thread in the
/// background.
///
/// ```
/// use vyre::{RoutePolicy, Runtime};
/// // On a CPU there is one route only: nothing changes.
/// let runtime = Runtime::native().with_route(RoutePolicy::Auto);
/// assert_eq!(runtime.route(), RoutePolicy::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RoutePolicy {
    /// The interpreter.
    Interpreter,
    /// Compiled code: a run on a GPU waits for it, and fails where it cannot be had. On a CPU nothing changes. For
    /// measuring, and for tests.
    Compiled,
    /// The interpreter first. Where the launch policy finds that compiled code pays ([`Policy`]), and runs of the pass
    /// have taken [`compile_after_ns`] so far, it is made beside the runs, and taken between two of them once it is
    /// there; elsewhere once they have taken [`compile_anyway_after_ns`]. Runs of both are measured, and where compiled
    /// code takes longer for the same work, the session goes back. What cannot be compiled stays interpreted. Both add
    /// floats in the same order. A result that may differ from run to run ([`Agreement::Open`]) may do so from one route
    /// to the other.
    ///
    /// [`Policy`]: vyre_core::plan::launch::Policy
    /// [`compile_after_ns`]: vyre_core::plan::thresholds::Thresholds::compile_after_ns
    /// [`compile_anyway_after_ns`]: vyre_core::plan::thresholds::Thresholds::compile_anyway_after_ns
    /// [`Agreement::Open`]: vyre_core::vir0::module::Agreement::Open
    #[default]
    Auto,
}

/// Runs of compiled code after which the interpreter is measured, where it was not before.
const RUNS_BEFORE_A_TRIAL: u64 = 16;

/// What runs of a session took by either route: runs compare that are alike in how much they swept, and in whether they
/// were one of a series.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    works: BTreeMap<Work, Both>,
    last: Work,
}

/// One kind of work.
#[derive(Clone, Copy, Debug, Default)]
struct Both {
    interpreted: Seen,
    compiled: Seen,
    /// The interpreter has the runs, because it was faster.
    went_back: bool,
}

/// What measurements say of compiled code that there is.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    Take,
    /// The interpreter is to be measured.
    Try,
    /// It took less: nanoseconds an item, compiled and interpreted.
    GoBack([f64; 2]),
}

impl Measured {
    /// A run went this way, swept `items`, and took `ns`; or each of `runs` of a series.
    pub(crate) fn ran(&mut self, route: &str, ns: u64, items: u64, runs: u64) {
        self.last = Work::new(0, runs.min(2), items);
        let both = self.works.entry(self.last).or_default();
        match route {
            "interpreted" => both.interpreted.add(ns, items),
            "compiled" => both.compiled.add(ns, items),
            _ => return,
        }
        both.weigh(Policy::default().hold);
    }

    /// For the next run, which is taken to be like the last.
    fn verdict(&self) -> Verdict {
        let Some(both) = self.works.get(&self.last) else {
            return Verdict::Take;
        };
        let costs = both.compiled.cost().zip(both.interpreted.cost());
        match costs {
            Some((compiled, interpreted)) if both.went_back => {
                Verdict::GoBack([compiled, interpreted])
            }
            _ if both.wants_a_trial(Policy::default().reach) => Verdict::Try,
            _ => Verdict::Take,
        }
    }
}

impl Both {
    /// A route holds until the other one costs less by more than a fraction; costs are those of [`RECENT`] runs.
    fn weigh(&mut self, hold: f64) {
        if self.compiled.runs().min(self.interpreted.runs()) < RECENT as u64 {
            return;
        }
        let Some((compiled, interpreted)) = self.compiled.cost().zip(self.interpreted.cost())
        else {
            return;
        };
        let (here, there) = match self.went_back {
            true => (interpreted, compiled),
            false => (compiled, interpreted),
        };
        if here > there * (1.0 + hold) {
            self.went_back = !self.went_back;
        }
    }

    /// Compiled code had many runs, and the interpreter too few to compare with. One that takes several times as long
    /// is enough.
    fn wants_a_trial(&self, reach: f64) -> bool {
        let costs = self.interpreted.cost().zip(self.compiled.cost());
        let is_far = costs.is_some_and(|(interpreted, compiled)| interpreted > reach * compiled);
        let few = self.interpreted.runs() < RECENT as u64;
        self.compiled.runs() >= RUNS_BEFORE_A_TRIAL && few && !is_far
    }
}

impl RoutePolicy {
    /// The route of a launch for which the planner found `planned`, and why it is not that one. `so_far_ns`: how long
    /// runs of the pass were interpreted, which pays for the compiler once it is long enough.
    pub(crate) fn choose(
        self,
        planned: Route,
        (so_far_ns, thresholds): (u64, &Thresholds),
        measured: &Measured,
    ) -> (Route, Option<Cow<'static, str>>) {
        let interpreted = |why: &'static str| (Route::Interpreter, Some(Cow::Borrowed(why)));
        let after_ns = match (self, planned) {
            (RoutePolicy::Compiled, _) => return (Route::Jit, None),
            (RoutePolicy::Interpreter, Route::Interpreter) => return (Route::Interpreter, None),
            (RoutePolicy::Interpreter, Route::Jit) => {
                return interpreted("compiled code wanted, but the interpreter was asked for");
            }
            (RoutePolicy::Auto, Route::Jit) => thresholds.compile_after_ns,
            (RoutePolicy::Auto, Route::Interpreter) => thresholds.compile_anyway_after_ns,
        };
        if so_far_ns < after_ns {
            let why = (planned == Route::Jit).then(|| {
                let [so_far, after] = [so_far_ns, after_ns].map(|ns| ns as f64 / 1e6);
                format!("compiled code wanted once runs have taken {after} ms; {so_far:.3} so far")
                    .into()
            });
            return (Route::Interpreter, why);
        }
        match measured.verdict() {
            Verdict::Take => (Route::Jit, None),
            Verdict::Try => interpreted("compiled code waits while the interpreter is measured"),
            Verdict::GoBack([compiled, interpreted]) => {
                let why = format!(
                    "compiled code took {compiled:.3} ns an item, the interpreter {interpreted:.3}"
                );
                (Route::Interpreter, Some(why.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    /// Runs have paid for the compiler.
    fn hot() -> (u64, &'static Thresholds) {
        static DEFAULT: LazyLock<Thresholds> = LazyLock::new(Thresholds::default);
        (DEFAULT.compile_after_ns, &DEFAULT)
    }

    #[test]
    fn the_compiler_begins_once_runs_have_taken_a_while() {
        let (_, thresholds) = hot();
        let route = |planned, so_far_ms: u64| {
            let so_far = (so_far_ms * 1_000_000, thresholds);
            RoutePolicy::Auto.choose(planned, so_far, &Measured::default())
        };
        let waits = "compiled code wanted once runs have taken 50 ms; 49.000 so far";
        assert_eq!(
            route(Route::Jit, 49),
            (Route::Interpreter, Some(waits.into()))
        );
        assert_eq!(route(Route::Jit, 50), (Route::Jit, None));
        // What executes little, and takes its time all the same.
        assert_eq!(route(Route::Interpreter, 199), (Route::Interpreter, None));
        assert_eq!(route(Route::Interpreter, 200), (Route::Jit, None));
    }

    /// The routes of `count` runs, whose costs an item are these by route.
    fn runs(measured: &mut Measured, count: u64, [interpreted, compiled]: [u64; 2]) -> String {
        let mut routes = String::new();
        for _ in 0..count {
            let (route, _) = RoutePolicy::Auto.choose(Route::Jit, hot(), measured);
            let (letter, name, cost) = match route {
                Route::Interpreter => ('i', "interpreted", interpreted),
                Route::Jit => ('c', "compiled", compiled),
            };
            routes.push(letter);
            measured.ran(name, cost * 1_000, 1_000, 1);
        }
        routes
    }

    fn interpreted(measured: &mut Measured, count: u64, cost: u64) {
        for _ in 0..count {
            measured.ran("interpreted", cost * 1_000, 1_000, 1);
        }
    }

    #[test]
    fn a_session_goes_back_to_what_took_less_and_stays_near_a_tie() {
        let mut measured = Measured::default();
        interpreted(&mut measured, 5, 100);
        assert_eq!(runs(&mut measured, 6, [100, 105]), "cccccc");
        // The median of three: one slow run says nothing.
        assert_eq!(runs(&mut measured, 1, [100, 900]), "c");
        assert_eq!(runs(&mut measured, 3, [100, 105]), "ccc");
        assert_eq!(runs(&mut measured, 4, [100, 120]), "ccii");
        let why = RoutePolicy::Auto.choose(Route::Jit, hot(), &measured).1;
        let why = why.expect("it is not what was planned");
        assert_eq!(
            why,
            "compiled code took 120.000 ns an item, the interpreter 100.000"
        );
        // Not at once when the interpreter is no longer faster, but when it is slower by more than a little.
        assert_eq!(runs(&mut measured, 4, [125, 120]), "iiii");
        assert_eq!(runs(&mut measured, 5, [140, 120]), "iiccc");
        // Other routes than those asked for do not change it.
        let asked = RoutePolicy::Compiled.choose(Route::Jit, (0, hot().1), &measured);
        assert_eq!(asked, (Route::Jit, None));
    }

    #[test]
    fn the_interpreter_is_measured_where_it_never_was() {
        let compiled = "c".repeat(16);
        let mut measured = Measured::default();
        assert_eq!(
            runs(&mut measured, 16 + 8, [100, 90]),
            format!("{compiled}iiiccccc")
        );
        // Work of another size is another matter, and one that is far slower is enough.
        measured.ran("compiled", 1, 1 << 30, 1);
        let mut slow = Measured::default();
        assert_eq!(
            runs(&mut slow, 16 + 4, [500, 90]),
            format!("{compiled}iccc")
        );
        // And if it is faster, it has the runs from then on.
        let mut fast = Measured::default();
        assert_eq!(
            runs(&mut fast, 16 + 8, [70, 90]),
            format!("{compiled}iiiiiiii")
        );
    }
}
