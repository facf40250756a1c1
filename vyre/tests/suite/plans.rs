//! Plans that the macros made, looked at by the independent checker.

use vyre::RunError;
use vyre::prelude::*;
use vyre_core::plan::check::{self, Violation};
use vyre_core::plan::footprint::{Allocation, footprint};
use vyre_core::vir0::module::{Program, Step, WaveId};
use vyre_core::vir0::sizes::Sizes;
use vyre_tests::backend_tests;
use vyre_tests::graphs::edgeless;
use vyre_tests::passes::{phases, tight};

fn program() -> Program {
    phases::PLAN.program()
}

#[test]
fn compiled_passes_have_legal_schedules() {
    assert_eq!(check::program(&program()), []);
}

#[test]
fn no_barrier_of_a_compiled_schedule_can_go() {
    let program = program();
    for at in 0..program.schedule.len() {
        if program.schedule[at] == Step::Barrier {
            let mut shorter = program.clone();
            shorter.schedule.remove(at);
            let found = check::program(&shorter);
            assert!(
                found
                    .iter()
                    .any(|v| matches!(v, Violation::Order { .. } | Violation::Waves { .. })),
                "barrier {at} of {:?}",
                program.schedule
            );
        }
    }
}

#[test]
fn scratch_of_different_phases_can_share_memory() {
    let sizes = Sizes {
        nodes: 1_000,
        edges: vec![5_000],
        ..Sizes::default()
    };
    let takes = footprint(&program(), &sizes).unwrap();
    // 4 x 6,001 of the graph, two outputs, two reductions; then 8 x 2,000 of the frontier, as two places push each node
    // once, and 4,000 of `early`, or 8,000 of `late`.
    // The frontier once more, and two chunks of its edges.
    assert_eq!(
        takes.resident_bytes,
        24_004 + 8_000 + 16 + takes.beside_bytes
    );
    assert_eq!(takes.peak_bytes, takes.resident_bytes + 16_000 + 4_000);
    assert_eq!(takes.separate_bytes, takes.peak_bytes + 8_000);
    // No group without waves, though two fixpoints end one after the other.
    let waves: Vec<usize> = takes.groups.iter().map(|g| g.waves.len()).collect();
    assert_eq!(waves, [2, 1, 1, 1, 1]);
    assert!(takes.fit(takes.peak_bytes, Allocation::Shared).is_ok());
    assert!(takes.fit(takes.peak_bytes, Allocation::Separate).is_err());
}

fn a_level_over_its_budget_is_split_and_memory_is_shared(runtime: &Runtime) {
    let program = tight::PLAN.program();
    // 4,004 of the graph, 24 of reductions, and three times 8,000 are 28,028.
    assert_eq!(
        program.schedule,
        [
            Step::Wave(WaveId(0)),
            Step::Wave(WaveId(1)),
            Step::Barrier,
            Step::Wave(WaveId(2)),
            Step::End
        ]
    );
    assert_eq!(check::program(&program), []);
    let graph = edgeless(1_000);
    for (memory, groups, peak) in [
        (30_000, 2, 20_028),
        (20_028, 2, 20_028),
        (12_028, 3, 12_028),
    ] {
        let runtime = runtime.clone().with_memory(memory);
        let mut session = tight::Session::new(&runtime, &graph).unwrap();
        let barriers = |s: &&Step| matches!(s, Step::Barrier);
        let schedule = &session.program().schedule;
        assert_eq!(schedule.iter().filter(barriers).count() + 1, groups);
        assert_eq!(check::program(session.program()), []);
        for _ in 0..2 {
            let out = session.run(tight::Run { k: 1 }).unwrap();
            assert_eq!((out.x, out.y, out.z), (499_500, 506_500, 499_500));
            assert_eq!(session.peak_bytes(), Some(peak));
        }
    }
    let error = tight::Session::new(&runtime.clone().with_memory(12_027), &graph).unwrap_err();
    assert_eq!(
        error.to_string(),
        "barrier group 0 (wave `first` alone) does not fit; 12028 bytes are needed, 12027 are available"
    );
    let error = tight::Session::new(runtime, &edgeless(1_001)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the graph has 1001 nodes; the pass's limits allow 1000"
    );
}

#[test]
fn pictures_hold_every_wave_and_resource() {
    let plan = phases::PLAN;
    if let Some(path) = std::env::var_os("VYRE_PICTURE") {
        std::fs::write(path, plan.svg()).unwrap();
    }
    let program = plan.program();
    for picture in [plan.svg(), plan.dot(), plan.mermaid()] {
        for wave in &program.waves {
            assert!(picture.contains(&wave.name), "{}: {picture}", wave.name);
        }
        for buffer in &program.buffers {
            assert!(picture.contains(&buffer.name), "{}: {picture}", buffer.name);
        }
        assert!(picture.contains("front.is_empty()"), "{picture}");
    }
    let text = plan.to_string();
    assert!(text.contains("until started == 0"), "{text}");
}

/// Capacities that no memory has.
#[wave_graph]
mod far {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = 4_294_967_295)]
        front: Frontier<(u64, u64)>,
        #[list(capacity = 4_294_967_295)]
        log: List<u64>,
    }

    #[wave(nodes)]
    fn fill(v: Node, front: &Push<(u64, u64)>, log: &Append<u64>) {
        front.push((v as u64, 2));
        log.append(1);
    }
}

fn plans_of_huge_capacities_are_shown_and_their_sessions_refused(runtime: &Runtime) {
    // 2^32 - 1 pairs of numbers on both sides, and as many numbers.
    let bytes = ["137_438_953_440 B", "34_359_738_360 B"];
    for shown in [far::PLAN.svg(), far::PLAN.to_string()] {
        for bytes in bytes {
            assert!(shown.contains(bytes), "{bytes}: {shown}");
        }
    }
    assert!(far::PLAN.dot().contains("fill") && far::PLAN.mermaid().contains("fill"));
    let runtime = runtime.clone().with_memory(1 << 30);
    let error = far::Session::new(&runtime, &edgeless(3)).unwrap_err();
    assert!(
        matches!(error, Error::Run(RunError::Memory { .. })),
        "{error}"
    );
}

/// What a wave does to all scalars of a struct is said of the field, and what it does to one of that one.
#[wave_graph]
mod bodies {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Body {
        pub at: (f32, f32),
        pub mass: f32,
    }

    pub struct Data {
        #[input(per = n)]
        start: Body,
        #[scratch(per = n)]
        moved: Body,
        #[output(per = n)]
        mass: f32,
        n: u32,
    }

    #[wave(range(n))]
    fn shift(start: &Body, moved: &mut Body) {
        *moved = Body {
            at: (start.at.1, start.at.0),
            mass: start.mass,
        };
    }

    #[wave(range(n), after(shift))]
    fn weigh(moved: &Body, mass: &mut f32) {
        *mass = moved.mass;
    }
}

#[test]
fn fields_of_structs_are_named_once() {
    let plan = bodies::PLAN.to_string();
    assert!(plan.contains("reads start, writes moved"), "{plan}");
    assert!(plan.contains("reads moved.mass, writes mass"), "{plan}");
    let dot = bodies::PLAN.dot();
    assert!(
        dot.contains("writes moved") && !dot.contains("writes moved."),
        "{dot}"
    );
}

/// For `scripts/shaders`, which looks at the suite's passes in a package that vyre does not know.
#[test]
#[ignore = "writes programs to the folder VYRE_PROGRAMS"]
fn passes_are_written_for_shaders() {
    let folder = std::env::var_os("VYRE_PROGRAMS").expect("VYRE_PROGRAMS names a folder");
    for (number, pass) in vyre::passes().iter().enumerate() {
        let bytes = vyre_core::vir0::container::encode(&pass.plan().program());
        let path = std::path::Path::new(&folder).join(format!("{number}.vir0"));
        std::fs::write(path, bytes).expect("it can be written");
    }
}

/// Those of which a target does not get all waves are in docs/PORTABLE.md.
#[test]
fn plans_say_which_waves_can_be_shaders() {
    let text = tight::PLAN.to_string();
    let shaders =
        "\nshaders\n  webgpu: 3 of 3 waves\n  vulkan: 3 of 3 waves\n  metal: 3 of 3 waves\n";
    assert!(text.ends_with(shaders), "{text}");
}

#[test]
fn plans_say_what_each_backend_takes() {
    let text = tight::PLAN.to_string();
    for line in [
        "on native               28 B x nodes + 4 B x edges + 28 B  at most 28_068 B, shared 20_068 B: within the budget",
        "on vir0                 28 B x nodes + 4 B x edges + 28 B  at most 28_068 B, shared 20_068 B: within the budget",
        "on cuda                 28 B x nodes + 4 B x edges + 28 B  at most 28_644 B, shared 20_452 B: within the budget",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // Two sides of 8 B for each node, since two places push; on a device two edge ranges of 8 B for each node besides.
    let text = phases::PLAN.to_string();
    for line in [
        "on native               40 B x nodes + 4 B x edges + 20 B",
        "on vir0                 40 B x nodes + 4 B x edges + 20 B",
        "on cuda                 56 B x nodes + 4 B x edges + 20 B",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

backend_tests!(cpus:
    a_level_over_its_budget_is_split_and_memory_is_shared,
    plans_of_huge_capacities_are_shown_and_their_sessions_refused,
);
