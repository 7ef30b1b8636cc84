//! Runs a property on many inputs, and names the input where it cannot be shrunk: of an endless loop, and of what ends the
//! process, as an overflow of the stack does.

use std::{
    fmt::Debug,
    fs::{self, File},
    io::{Seek, Write},
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use proptest::{
    prelude::*,
    test_runner::{FileFailurePersistence, TestCaseResult, TestError, TestRunner},
};

/// How many inputs a plain `cargo test` tries, of all targets together.
const INPUTS: u32 = 3_000;

/// Longer than any input takes that ends: nothing else is judged by it.
const ENDLESS: Duration = Duration::from_secs(120);

/// Tries `share` thousandths of `FUZZ_INPUTS`. `PROPTEST_RNG_SEED` makes it the same ones again.
pub fn fuzz<T: Debug + Clone + Send + 'static, S: Strategy<Value = T>>(
    target: &'static str,
    share: u32,
    inputs: impl FnOnce() -> S + Send,
    property: impl Fn(&T) -> TestCaseResult + Send,
) {
    let all = std::env::var("FUZZ_INPUTS").map_or(INPUTS, |text| {
        text.parse().expect("FUZZ_INPUTS is a number")
    });
    let cases = (u64::from(all) * u64::from(share) / 1000).max(1) as u32;
    let config = ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        max_shrink_iters: 4_000,
        ..ProptestConfig::default()
    };
    let now = Arc::new(Mutex::new(None::<(Instant, T)>));
    let (ended, end) = mpsc::channel::<()>();
    let watched = now.clone();
    let watch = thread::spawn(move || {
        while end.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
            if let Some((since, input)) = &*watched.lock().unwrap()
                && since.elapsed() > ENDLESS
            {
                eprintln!("{target} does not end with {input:?}");
                std::process::abort();
            }
        }
    });
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}"));
    let last = Mutex::new(File::create(&path).expect("a file for the last input"));
    let slowest = Mutex::new((Duration::ZERO, String::new()));
    let begin = Instant::now();
    let (running, told, worst) = (&now, &last, &slowest);
    let test = move |input: T| {
        let shown = format!("{input:?}");
        let mut file = told.lock().unwrap();
        file.rewind()
            .and_then(|()| file.write_all(shown.as_bytes()))
            .expect("a disk with space");
        file.set_len(shown.len() as u64).expect("a disk with space");
        drop(file);
        let since = Instant::now();
        *running.lock().unwrap() = Some((since, input.clone()));
        let result = property(&input);
        *running.lock().unwrap() = None;
        let mut slowest = worst.lock().unwrap();
        if since.elapsed() > slowest.0 {
            *slowest = (since.elapsed(), shown);
        }
        result
    };
    // As the program itself does, whose stack no text may overflow.
    let threads = operator_forge::command::threads().expect("threads");
    let result = threads.install(|| TestRunner::new(config).run(&inputs(), test));
    drop(ended);
    watch.join().expect("the watch ends");
    let (time, input) = slowest.into_inner().unwrap();
    println!(
        "{target}: {} inputs in {:.1} s; the slowest took {:.0} ms and has {} bytes: {:.60}",
        cases,
        begin.elapsed().as_secs_f64(),
        time.as_secs_f64() * 1000.0,
        input.len(),
        input,
    );
    let _ = fs::remove_file(path);
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("{target}: {why}\nwith {input:?}"),
        Err(error) => panic!("{target}: {error}"),
    }
}
