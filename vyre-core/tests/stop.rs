//! What a run that is cancelled while it sweeps ends with: by a sweeper whose sweeps do as a test says.

use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::run::clock::Instant;
use vyre_core::run::schedule::{Failures, Meter, Pending, Sweeper, Verdict, follow};
use vyre_core::run::stop::{All, Canceller, Stop};
use vyre_core::vir0::module::{
    BufferId, Domain, FixpointId, ItemRows, Kernel, KernelId, Program, Step, Uniform, Wave, WaveId,
};
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::trap::{Fault, TrapKind};

/// Two waves, each in a group of its own.
fn program() -> Program {
    let wave = |name: &str| Wave {
        name: name.into(),
        kernel: KernelId(0),
        domain: Domain::Once,
        accesses: vec![],
        fixpoint: None,
        after: vec![],
    };
    let kernel = Kernel {
        name: "kernel".into(),
        code: vec![],
        rows: 0,
        frames: 0,
        item: ItemRows::default(),
        uniforms: vec![],
        sites: vec![],
    };
    Program {
        kernels: vec![kernel],
        waves: vec![wave("first"), wave("second")],
        schedule: vec![
            Step::Wave(WaveId(0)),
            Step::Barrier,
            Step::Wave(WaveId(1)),
            Step::End,
        ],
        ..Program::default()
    }
}

/// What happens in sweeps.
#[derive(Clone, Copy)]
struct Plan {
    /// The wave in which it is cancelled.
    cancels: u16,
    /// That sweep sees it, and is cut short.
    sees: bool,
    /// The wave in which an item faults.
    faults: Option<u16>,
}

struct Planned<'p> {
    program: &'p Program,
    plan: Plan,
    canceller: Canceller,
    sizes: Sizes,
    meter: Meter,
    swept: usize,
    fault: Option<Box<Pending>>,
}

impl Sweeper for Planned<'_> {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    fn sweep(&mut self, wave: WaveId, _: u32) -> Result<(), RunError> {
        self.swept += 1;
        if wave.0 == self.plan.cancels {
            self.canceller.cancel();
            if self.plan.sees {
                let items = (0..1_000).take_while(|_| self.meter.item()).count();
                assert!(items < 1_000, "no sweep is this long without a look");
            }
        }
        if Some(wave.0) == self.plan.faults {
            let fault = Fault {
                pc: 0,
                kind: TrapKind::DivideByZero,
                index: 0,
                len: 0,
            };
            self.fault = Some(Box::new(Pending::new(self.program, (wave, 0), fault)));
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<Option<Box<Failures>>, RunError> {
        let failures = |fault| {
            Box::new(Failures {
                fault: Some(fault),
                overflows: vec![],
            })
        };
        Ok(self.fault.take().map(failures))
    }

    fn exchange(&mut self, _: BufferId, _: BufferId) {}

    fn begin_round(&mut self, _: FixpointId, _: u32) {}

    fn until(&mut self, _: FixpointId, _: u32) -> Result<Verdict, RunError> {
        Ok(Verdict::Done)
    }

    fn uniform(&self, _: Uniform) -> Option<u64> {
        None
    }
}

/// How a run ends, and how many waves were swept.
fn ended(plan: Plan) -> (String, usize) {
    let program = program();
    let stop = Stop::new(&Arc::new(All::default()));
    let _under_way = stop.begin(None).expect("it is not cancelled");
    let mut sweeper = Planned {
        program: &program,
        plan,
        canceller: Canceller::of(&stop),
        sizes: Sizes::default(),
        meter: Meter::default(),
        swept: 0,
        fault: None,
    };
    sweeper.meter.stop = Some(Arc::clone(&stop));
    let ended = match follow(&program, &mut sweeper) {
        Ok(_) => "finished".to_owned(),
        Err(RunError::Trap(trap)) => format!("{:?}", trap.kind),
        Err(other) => other.to_string(),
    };
    (ended, sweeper.swept)
}

#[test]
fn a_trap_of_a_finished_group_goes_before_a_cancel() {
    for (cancels, swept) in [(0, 1), (1, 2)] {
        let plan = Plan {
            cancels,
            sees: false,
            faults: Some(cancels),
        };
        assert_eq!(ended(plan), ("DivideByZero".to_owned(), swept));
        let cut = Plan { sees: true, ..plan };
        assert_eq!(ended(cut), ("the run was cancelled".to_owned(), swept));
    }
}

#[test]
fn a_run_that_has_come_to_its_end_is_not_cancelled() {
    let plan = Plan {
        cancels: 1,
        sees: false,
        faults: None,
    };
    assert_eq!(ended(plan), ("finished".to_owned(), 2));
    let before = Plan { cancels: 0, ..plan };
    assert_eq!(ended(before), ("the run was cancelled".to_owned(), 1));
}

/// The first reason is told; a cancel holds beyond the call, and a time that is over does not.
#[test]
fn a_call_ends_for_the_first_reason() {
    let stop = Stop::new(&Arc::new(All::default()));
    let canceller = Canceller::of(&stop);
    let call = stop.begin(None).expect("it is not cancelled");
    assert_eq!(call.check(), Ok(()));
    canceller.cancel();
    canceller.rearm();
    assert!(!canceller.is_cancelled());
    assert_eq!(call.check(), Err(RunError::Cancelled));
    drop(call);
    let limit = Duration::ZERO;
    let late = stop.begin(Some((Instant::now(), limit))).map(drop);
    assert_eq!(late, Err(RunError::Deadline { limit }));
    let call = stop.begin(None).expect("it has any time");
    assert_eq!(call.check(), Ok(()));
    canceller.cancel();
    drop(call);
    assert_eq!(stop.begin(None).map(drop), Err(RunError::Cancelled));
    canceller.rearm();
    stop.begin(None).map(drop).expect("it was taken back");
}
