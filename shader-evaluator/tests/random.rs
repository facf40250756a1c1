//! Random programs with random schedules, as shaders and on the interpreter. `VYRE_FUZZ` is the number of programs.

use shader_evaluator::backend::Shaders;
use std::cell::Cell;
use std::sync::Arc;
use vyre_core::cpu::Vir0;
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Opening};
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::disasm;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::verify::verify;
use vyre_naga::{Options, Target, shaders};
use vyre_tests::graphs::chain;
use vyre_tests::passes::walk;
use vyre_tests::programs::{graph, program, until_settled};
use vyre_tests::random::cases;

/// What a run leaves: outputs, lists sorted, reductions, rounds.
type Left = (Vec<Column>, Vec<Vec<u64>>, Vec<u64>, Vec<u64>);

fn run(
    backend: &dyn Backend,
    program: &Arc<Program>,
    graph: &Csr,
    args: &Args<'_>,
) -> Result<Left, RunError> {
    let topology = TopologyArgs {
        graphs: vec![graph],
        columns: vec![],
        scalars: vec![],
    };
    let mut executor = backend.open(Opening {
        program: Arc::clone(program),
        topology: &topology,
        allocation: Allocation::Separate,
        native: None,
    })?;
    let mut outcome = Outcome::default();
    executor.run_series(std::slice::from_ref(args), &mut outcome)?;
    let lists = outcome.lists.iter().flat_map(|(_, columns)| columns);
    let lists = lists.map(|column| {
        let mut items: Vec<u64> = (0..column.len()).filter_map(|i| column.get(i)).collect();
        items.sort_unstable();
        items
    });
    Ok((
        outcome.outputs.iter().map(|(_, c)| c.clone()).collect(),
        lists.collect(),
        outcome.reductions.iter().map(|(_, bits)| *bits).collect(),
        outcome.report.rounds,
    ))
}

/// Names of which some are one name where a language has only letters, digits and underscores, or where a file system
/// does not tell `A` from `a`; and names of other things.
const NAMES: [&str; 8] = ["a_b", "a::b", "A_b", "a_b_2", "1", "if", "status", "round"];

fn rename(program: &mut Program) {
    let waves = program.waves.iter_mut().map(|w| &mut w.name);
    let fixpoints = program.fixpoints.iter_mut().map(|f| &mut f.name);
    let reductions = program.reductions.iter_mut().map(|r| &mut r.name);
    let kinds: [Vec<&mut String>; 3] = [waves.collect(), fixpoints.collect(), reductions.collect()];
    for names in kinds {
        for (at, name) in names.into_iter().enumerate() {
            *name = NAMES
                .get(at)
                .map_or_else(|| format!("{name}::{at}"), |n| (*n).to_owned());
        }
    }
}

/// Rounds in one workgroup know what a list held when they began.
#[test]
fn narrow_rounds_end_once_a_list_has_settled() {
    let mut program = Program::clone(&walk::PLAN.program());
    until_settled(&mut program);
    verify(&program).expect("its condition is of what there is");
    let made = shaders(&program, Target::Vulkan, Options::default()).expect("naga takes it");
    assert_eq!(made.plan["fixpoints"][0]["narrow"], "step_narrow");
    let (program, graph) = (Arc::new(program), chain(60));
    for most in [0, 1, 20] {
        let args = Args {
            scalars: vec![most],
            ..Args::default()
        };
        let expected = run(&Vir0, &program, &graph, &args).expect("no trap");
        assert_eq!(expected.3, [most + 1], "the last round notes nothing");
        for rounds in [0, 1, 3, 100] {
            let shaders = Shaders::new(Target::Vulkan).with_rounds_at_once(rounds);
            let found = run(&shaders, &program, &graph, &args);
            assert_eq!(found.as_ref(), Ok(&expected), "{most}, {rounds} at once");
        }
    }
}

#[test]
fn random_programs_do_as_shaders_what_they_do_interpreted() {
    let (finished, trapped, unordered) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let nth = Cell::new(0);
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    cases(60, |u| {
        let mut program = program(u)?;
        // Shaders do not fill memory between rounds.
        program.buffers.iter_mut().for_each(|b| b.reset = None);
        program.frontiers.iter_mut().for_each(|f| f.reset = None);
        program.lists.iter_mut().for_each(|l| l.reset = None);
        let graph = graph(u)?;
        nth.set(nth.get() + 1);
        if nth.get() % 3 == 0 {
            until_settled(&mut program);
        }
        if verify(&program).is_err() {
            return Ok(());
        }
        if finished.get() % 2 == 1 {
            rename(&mut program);
        }
        let made = shaders(&program, Target::WebGpu, Options::default()).expect("naga takes it");
        assert!(made.refusals.is_empty(), "{}", made.refusals[0]);
        // What is not ordered within a group is seen by whoever comes later, one after the other.
        if !check::program(&program).is_empty() {
            more(&unordered);
            return Ok(());
        }
        let program = Arc::new(program);
        let none = Args::default();
        let expected = run(&Vir0, &program, &graph, &none);
        let target = match finished.get() % 2 {
            0 => Target::WebGpu,
            _ => Target::Vulkan,
        };
        for rounds in [0, 3] {
            let options = Options {
                shares_edges: nth.get() % 4 < 2,
                ..Options::default()
            };
            let shaders = Shaders::new(target).with(options);
            let shaders = shaders.with_rounds_at_once(rounds);
            let found = run(&shaders, &program, &graph, &none);
            assert_eq!(found, expected, "{}", disasm::program(&program));
        }
        more(if expected.is_ok() {
            &finished
        } else {
            &trapped
        });
        Ok(())
    });
    println!("{finished:?} finished, {trapped:?} trapped, {unordered:?} are only validated");
    assert!(finished.get() > 0 && trapped.get() > 0 && unordered.get() > 0);
}
