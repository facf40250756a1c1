//! Rounds that few warps hold: of one CTA, of all, and of a cluster, by the interpreter and by compiled modules.

use super::*;
use vyre_tests::passes::three_waves;

const QUICK: &str = ".func _Z12quick_roundsILb0EEvRK4Step";

/// The module of a compiled pass.
fn compiled(caught: &Caught) -> Module {
    Module::parse(&caught.launched.ptx).expect("it is PTX")
}

fn two_of_a_cluster(launch: Launch) -> Launch {
    Launch {
        ctas: 2,
        cluster: 2,
        ..launch
    }
}

#[test]
fn narrow_rounds_end_alike_in_every_order() {
    let caught = search(&graphs::chain(4), (2, 1), MUCH);
    checked("narrow rounds, 2 CTAs", &caught, shipped());
    let trapping = Module::parse(&beginning(MEGAKERNEL, QUICK, "trap;")).expect("it is PTX");
    assert!(comes_to(caught.machine(Rc::new(trapping), |launch| launch)));
}

/// A search whose second round has an item for each of two CTAs, and whose third is of what the other one kept.
fn shared_graph() -> Csr {
    with_clique(&[(0, 1), (0, 2), (0, 3), (3, 4)])
}

pub(crate) fn shared_search() -> Caught {
    search(&shared_graph(), (2, 1), MUCH)
}

#[test]
fn narrow_rounds_of_all_ctas_end_alike_in_every_order() {
    let caught = shared_search();
    let mut machine = caught.machine(Rc::new(shipped()), |launch| launch);
    machine.in_turn_from = 1;
    checked_as("narrow rounds of all CTAs, 2 CTAs", &caught, machine);
}

#[test]
fn compiled_narrow_rounds_end_alike_in_every_order() {
    let caught = compiled_search(&graphs::chain(4), (2, 1));
    checked("compiled narrow rounds, 2 CTAs", &caught, compiled(&caught));
    let trapping = beginning(&caught.launched.ptx, QUICK, "trap;");
    let trapping = Module::parse(&trapping).expect("it is PTX");
    assert!(comes_to(caught.machine(Rc::new(trapping), |launch| launch)));
}

#[test]
fn compiled_narrow_rounds_of_all_ctas_end_alike_in_every_order() {
    let caught = compiled_search(&shared_graph(), (2, 1));
    let mut machine = caught.machine(Rc::new(compiled(&caught)), |launch| launch);
    machine.in_turn_from = 1;
    checked_as(
        "compiled narrow rounds of all CTAs, 2 CTAs",
        &caught,
        machine,
    );
}

/// A search that a cluster holds, of whose warps one takes part: fewer than the host asks for.
fn clustered() -> Caught {
    let mut caught = search(&with_clique(&[(0, 1), (0, 2), (0, 3)]), (8, 8), MUCH);
    let warps = &mut caught.image()[140..144];
    assert!(matches!(*warps, [8 | 16, 0, 0, 0]), "{warps:?}");
    warps.copy_from_slice(&1u32.to_le_bytes());
    caught
}

#[test]
fn clusters_end_alike_in_every_order() {
    let caught = clustered();
    let module = Module::parse_with_clusters(MEGAKERNEL).expect("it is PTX");
    let machine = caught.machine(Rc::new(module), two_of_a_cluster);
    checked_as("cluster of 2 CTAs", &caught, machine);
    // It does come to what is asked about.
    let told = MEGAKERNEL
        .lines()
        .find(|line| line.contains("st.async."))
        .expect("clusters tell each other");
    let module =
        Module::parse_with_clusters(&MEGAKERNEL.replace(told, "trap;")).expect("it is PTX");
    assert!(comes_to(caught.machine(Rc::new(module), two_of_a_cluster)));
}

/// Several waves a round, which one CTA runs while another waits.
#[test]
fn compiled_rounds_of_several_waves_end_alike_in_every_order() {
    let caught = caught((2, 1), MUCH, |runtime| {
        let graph = graphs::chain(3);
        let mut session = three_waves::Session::new(runtime, &graph).expect("it fits");
        session.compile_now().expect("any text is taken");
        let run = three_waves::Run {
            source: 0,
            too_far: 77,
        };
        let out = session.run(run).expect("no trap");
        Some(vec![out.dist, out.label])
    })
    .expect("it was launched");
    let mut machine = caught.machine(Rc::new(compiled(&caught)), |launch| launch);
    machine.in_turn_from = 1;
    checked_as("compiled rounds of several waves, 2 CTAs", &caught, machine);
    let trapping = beginning(&caught.launched.ptx, ".func _Z10run_roundsv", "trap;");
    let trapping = Module::parse(&trapping).expect("it is PTX");
    assert!(comes_to(caught.machine(Rc::new(trapping), |launch| launch)));
}
