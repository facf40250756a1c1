//! Runs that somebody stops, at whatever instant.

use super::*;
use std::cell::Cell;

/// Where an image has the word that says that the run is to stop, and how often CTAs read it; where control words say that
/// a run was cut short, and that its launch came to its end.
const ABORT: usize = 160;
const LOOK_TICKS: usize = 168;
const ABORTED: usize = 420;
const FINISHED: usize = 424;
/// Where an image has the steps that the run may take, and control words those that it took.
const MOST_STEPS: usize = 176;
const STEPS: usize = 512;

impl Caught {
    /// Has CTAs read the word whenever they come to it, and not once in a number of ticks of a clock.
    fn look_always(&mut self) {
        self.image()[LOOK_TICKS..][..4].fill(0);
    }
}

/// Has somebody say that the run is to stop, beside all that the launch does: the first lane of the last CTA, whenever it
/// comes to the beginning of a function. The other warps find that sooner or later.
fn stopped_at(caught: &mut Caught, function: &str) -> Module {
    let abort = caught.of_image(ABORT);
    caught.look_always();
    let last = caught.launched.ctas - 1;
    let tells = format!(
        "{{
            .reg .pred %tells<2>; .reg .b32 %told<3>; .reg .b64 %here;
            mov.u32 %told0, %ctaid.x; mov.u32 %told1, %tid.x; mov.u32 %told2, 1; mov.u64 %here, {abort};
            setp.eq.s32 %tells0, %told0, {last}; setp.eq.and.s32 %tells1, %told1, 0, %tells0;
            @%tells1 st.relaxed.gpu.global.u32 [%here], %told2;
        }}"
    );
    Module::parse(&beginning(MEGAKERNEL, function, &tells)).expect("it is PTX")
}

/// All CTAs of a run that is stopped come to the end, at whatever instant that is; what it leaves is right unless it says
/// that it was cut short. How many of the ends were, and were not.
fn stops_alike(name: &str, caught: &Caught, machine: Machine) -> [u32; 2] {
    let control = caught.of_image(CONTROL);
    let ends = [Cell::new(0), Cell::new(0)];
    let explored = explore(machine, MOST, &|end| {
        let said = |at: usize| end.memory.bytes(control + at as u64, 4) != [0; 4];
        if !said(FINISHED) {
            return Err("it ends before the pass".to_owned());
        }
        let kind = &ends[usize::from(!said(ABORTED))];
        kind.set(kind.get() + 1);
        if said(ABORTED) {
            Ok(())
        } else {
            caught.judge(end)
        }
    });
    let Report { states, .. } = explored.unwrap_or_else(|e| panic!("{name}: {e}"));
    let ends = ends.map(Cell::into_inner);
    println!("protocol {name}: {states} states, ends that were cut short and others: {ends:?}");
    count(states, 1, [0; 2]);
    ends
}

#[test]
#[ignore = "explores for a minute: scripts/protocols"]
fn ctas_stop_together_in_every_order() {
    let little = little_for_searches();
    for ctas in [1, 2] {
        let mut caught = search(&with_clique(&[(0, 1)]), (ctas, 1), little);
        let module = stopped_at(&mut caught, ".func _Z16sweep_edges_fromv");
        let name = format!("stop in a sweep, {ctas} CTAs");
        let machine = caught.machine(Rc::new(module), |launch| launch);
        let [short, others] = stops_alike(&name, &caught, machine);
        assert!(short + others > 0);
    }
    let mut caught = search(&graphs::chain(2), (2, 1), MUCH);
    let module = stopped_at(&mut caught, ".func _Z12quick_roundsILb0EEvRK4Step");
    let mut machine = caught.machine(Rc::new(module), |launch| launch);
    machine.in_turn_from = 1;
    let [short, others] = stops_alike("stop in narrow rounds, 2 CTAs", &caught, machine);
    assert!(short + others > 0);
}

#[test]
fn what_was_stopped_before_it_began_does_nothing() {
    let mut caught = search(&fan(), (2, 1), little_for_searches());
    let abort = caught.of_image(ABORT);
    caught.look_always();
    caught.set(abort, &[1, 0, 0, 0]);
    let machine = caught.machine(Rc::new(shipped()), |launch| launch);
    let [short, others] = stops_alike("stop before, 2 CTAs", &caught, machine);
    assert!(short > 0 && others == 0);
}

/// What a run counts that comes to its end is the same in every order. One that may take fewer steps than that stops
/// before, and has counted more than it may: so the host finds the same in every order.
#[test]
fn steps_decide_the_same_in_every_order() {
    let little = little_for_searches();
    let graph = with_clique(&[(0, 1)]);
    let mut caught = caught((2, 1), little, |runtime| {
        let mut session = bfs::Session::new(runtime, &graph).expect("it fits");
        assert!(session.set_step_limit(Some(1 << 20)));
        let out = session.run(bfs::Run { source: 0 }).expect("no trap");
        Some(vec![out.dist])
    })
    .expect("it was launched");
    let control = caught.of_image(CONTROL);
    let of = |end: &Machine, at: usize| word(&end.memory.bytes(control + at as u64, 8), 0);
    let total = word(caught.after(control + STEPS as u64, 8), 0);
    // The nodes, then two rounds of one node each, of which the first has an edge.
    assert_eq!(total, 28 + (1 + 1 + 1) + (1 + 1));
    for limit in [total, total - 1, 28] {
        caught.image()[MOST_STEPS..][..8].copy_from_slice(&limit.to_le_bytes());
        let machine = caught.machine(Rc::new(shipped()), |launch| launch);
        let judge = |end: &Machine| {
            let steps = of(end, STEPS);
            if of(end, FINISHED) as u32 == 0 {
                return Err("it ends before the pass".to_owned());
            }
            match limit < total {
                true if steps > limit => Ok(()),
                false if steps == total => caught.judge(end),
                _ => Err(format!("it counts {steps} steps, and may take {limit}")),
            }
        };
        told(
            &format!("{limit} steps of {total}, 2 CTAs"),
            explore(machine, MOST, &judge),
        );
    }
}
