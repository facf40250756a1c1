//! Runs mutated programs that verify on a CUDA device beside the interpreter.
//!
//! ```text
//! compute-sanitizer --tool memcheck --error-exitcode 9 hostile --programs 2000
//! ```
//!
//! The last line is `hostile: ...`. A program that does something else than the interpreter, fails or hangs is named
//! by its seed; `--from SEED --programs 1` runs it alone and shows it.

use clap::{Parser, ValueEnum};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use vyre_core::cpu::Vir0;
use vyre_core::run::backend::Backend;
use vyre_cuda::Cuda;
use vyre_fuzz::device::{Case, Verdict};
use vyre_fuzz::seeded;
use vyre_tests::sequential::Backwards;

#[derive(Parser)]
struct Options {
    /// How many programs
    #[arg(long, default_value_t = 2_000)]
    programs: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Seconds after which no further program is begun
    #[arg(long, default_value_t = 220)]
    seconds: u64,
    /// Seconds that one program may take
    #[arg(long, default_value_t = 60)]
    each: u64,
    /// What runs them
    #[arg(long, value_enum, default_value_t = On::Cuda)]
    backend: On,
}

#[derive(Clone, Copy, ValueEnum)]
enum On {
    Cuda,
    Vir0,
    Backwards,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let backend: Box<dyn Backend> = match options.backend {
        On::Cuda => match Cuda::open(0) {
            Ok(cuda) => Box::new(cuda),
            Err(e) => {
                eprintln!("hostile: {e}");
                return ExitCode::from(2);
            }
        },
        On::Vir0 => Box::new(Vir0),
        On::Backwards => Box::new(Backwards),
    };
    let began = Instant::now();
    let now = Arc::new((AtomicU64::new(0), AtomicU64::new(u64::MAX)));
    watch(Arc::clone(&now), began, Duration::from_secs(options.each));
    let (mut ran, mut same, mut bad) = (0u64, 0u64, 0u64);
    let mut seed = options.from;
    while ran < options.programs && began.elapsed().as_secs() < options.seconds {
        let case = Case::new(&seeded(seed));
        seed += 1;
        let Some(case) = case else { continue };
        // As many whose results are compared as others.
        if !case.is_order_free && ran - same > same {
            continue;
        }
        now.0.store(seed - 1, Relaxed);
        now.1.store(began.elapsed().as_millis() as u64, Relaxed);
        let verdict = case.run(&*backend);
        now.1.store(u64::MAX, Relaxed);
        ran += 1;
        match verdict {
            Ok(Verdict::Same) => same += 1,
            Ok(Verdict::Ran) => {}
            Err(why) => {
                bad += 1;
                println!("--from {} --programs 1: {why}", seed - 1);
                if options.programs == 1 {
                    println!("{}", case.shown());
                }
            }
        }
    }
    println!(
        "seeds {} to {}, {:.0} s",
        options.from,
        seed - 1,
        began.elapsed().as_secs_f64()
    );
    println!("hostile: {ran} run, {same} as the interpreter does, {bad} wrong, 0 hangs");
    ExitCode::from(u8::from(bad > 0))
}

/// Ends the process with status 3 when a program takes too long: a device that hangs gives nothing back.
fn watch(now: Arc<(AtomicU64, AtomicU64)>, began: Instant, each: Duration) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let since = now.1.load(Relaxed);
            if since < u64::MAX && began.elapsed() > Duration::from_millis(since) + each {
                let seed = now.0.load(Relaxed);
                println!("--from {seed} --programs 1: it hangs");
                println!("hostile: 1 hangs");
                std::process::exit(3);
            }
        }
    });
}
