//! Runs that are awaited: they give what other runs give, and one that is dropped leaves a session that works.
#![allow(missing_docs, reason = "a pass of tests")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use vyre::core::cpu::Vir0;
use vyre::core::plan::side::Floor;
use vyre::core::run::args::{Args, TopologyArgs};
use vyre::core::run::backend::{Backend, Executor, Holder, Opening, Running};
use vyre::core::run::outcome::Outcome;
use vyre::core::vir0::module::Program;
use vyre::prelude::*;
use vyre::{Cancelled, RunError, TrapKind};
use vyre_tests::backend_tests;

/// Halves until every number is odd; zero never is, and there is no number at `items`.
#[wave_graph]
mod halves {
    pub struct Data {
        #[input(per = items)]
        from: u32,
        #[output(per = items)]
        odd: u32,
        #[reduce(or)]
        again: bool,
        items: u32,
        look: u32,
    }

    #[wave(range(items))]
    fn init(from: &u32, odd: &mut u32) {
        *odd = *from;
    }

    #[fixpoint(after(init), until(!again), max_rounds = 32)]
    mod rounds {
        #[wave(range(items))]
        fn halve(i: Index, look: u32, from: &Buf<u32>, odd: &mut u32, again: &Reduce<Or<bool>>) {
            if (from[i + look] | *odd) & 1 == 0 {
                *odd /= 2;
                again.or(true);
            }
        }
    }
}

const NUMBERS: [u32; 3] = [40, 7, 6];

fn run(look: u32) -> halves::Run<'static> {
    halves::Run {
        from: &NUMBERS,
        items: 3,
        look,
    }
}

/// Polls until it is done; how often that was.
fn polled<T>(future: impl Future<Output = T>) -> (T, u32) {
    let mut future = pin!(future);
    for times in 1..100 {
        if let Poll::Ready(done) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return (done, times);
        }
    }
    panic!("it is never done");
}

fn an_awaited_run_gives_what_a_run_gives(runtime: &Runtime) {
    let mut session = halves::Session::new(runtime, ()).expect("it fits");
    let (out, _) = polled(session.run_async(run(0)));
    let out = out.expect("it runs");
    assert_eq!(out.odd, [5, 7, 3]);
    assert_eq!(out.report.rounds, [4]);
    assert_eq!(out.report.backend, runtime.backend());
    assert_eq!(session.decisions().len(), 1);

    let (trapped, _) = polled(session.run_async(run(1)));
    let trapped = trapped.expect_err("it looks beyond the end");
    assert_eq!(
        trapped.trap().map(|t| t.kind),
        Some(TrapKind::IndexOutOfBounds)
    );
    let expected = session.run(run(1)).expect_err("so does this");
    assert_eq!(trapped.to_string(), expected.to_string());

    let (short, _) = polled(session.run_async(halves::Run { items: 4, ..run(0) }));
    assert!(matches!(
        short,
        Err(Error::Run(RunError::Length {
            expected: 4,
            actual: 3,
            ..
        }))
    ));
    session.canceller().cancel();
    let (cancelled, _) = polled(session.run_async(run(0)));
    assert!(matches!(cancelled, Err(Error::Cancelled(Cancelled::Asked))));
    let (again, _) = polled(session.run_async(run(0)));
    assert_eq!(again.expect("it runs").odd, [5, 7, 3]);
}

backend_tests!(an_awaited_run_gives_what_a_run_gives);

/// The interpreter behind a device that is waited for: a run is done when it is polled for the third time.
struct Device;

struct Far(Box<dyn Executor>);

impl Backend for Device {
    fn name(&self) -> &'static str {
        "far"
    }
    fn device(&self) -> String {
        "the interpreter".to_owned()
    }
    fn floor(&self) -> Floor {
        Vir0.floor()
    }
    fn holder(&self, program: &Program, topology: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Vir0.holder(program, topology)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        Ok(Box::new(Far(Vir0.open(opening)?)))
    }
}

impl Executor for Far {
    fn run_series(&mut self, _: &[Args<'_>], _: &mut Outcome) -> Result<(), RunError> {
        Err(RunError::Backend(
            "this device cannot be blocked on".to_owned(),
        ))
    }
    fn run_async<'a>(&'a mut self, args: &'a Args<'a>, results: &'a mut Outcome) -> Running<'a> {
        let mut waits = 2;
        Box::pin(async move {
            poll_fn(|_| match waits {
                0 => Poll::Ready(()),
                _ => {
                    waits -= 1;
                    Poll::Pending
                }
            })
            .await;
            self.0.run_series(std::slice::from_ref(args), results)
        })
    }
}

#[test]
fn a_device_is_waited_for() {
    let runtime = Runtime::on(Arc::new(Device));
    let mut session = halves::Session::new(&runtime, ()).expect("it fits");
    let blocked = session.run(run(0)).expect_err("it only runs later");
    assert!(
        blocked.to_string().contains("cannot be blocked on"),
        "{blocked}"
    );

    let (out, times) = polled(session.run_async(run(0)));
    assert_eq!((out.expect("it runs").odd, times), (vec![5, 7, 3], 3));

    // Nobody waits for this one any more.
    {
        let mut dropped = pin!(session.run_async(run(0)));
        let polled = dropped
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }
    let (out, times) = polled(session.run_async(run(0)));
    assert_eq!((out.expect("it runs").odd, times), (vec![5, 7, 3], 3));
    // Four were decided, of which two have ended.
    assert_eq!(session.decisions().len(), 4);
}
