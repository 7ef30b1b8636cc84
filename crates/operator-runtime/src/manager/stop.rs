//! Shutdown: the first signal is graceful; a second signal, or the end of the grace period, ends the
//! process.

use std::{io, process::exit, thread, time::Duration};

use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

/// controller-runtime's default of the time for the whole shutdown: reconciles, release of the lease,
/// servers.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// The part of this time for running reconciles to finish after the first signal.
pub(crate) fn drain(grace: Duration) -> Duration {
    grace * 3 / 4
}

/// The time, each, for the work without leadership, the watches and the servers.
pub(crate) const REST: Duration = Duration::from_secs(5);

/// The time for running reconciles to stop after leadership is lost.
pub(crate) const LOST: Duration = Duration::from_secs(2);

/// Ends the process if it still runs after `time`. Uses a thread, because a blocking reconcile may occupy
/// every worker of the runtime.
pub(crate) fn end_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        tracing::error!("still running after {time:?}, ending the process");
        exit(1)
    });
}

/// Cancels `stop` at the first SIGTERM or SIGINT. Ends the process at the second signal, or after the grace
/// period. Uses a thread for the same reason.
pub(crate) fn on_signals(stop: CancellationToken, grace: Duration) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let inside = runtime.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    drop(inside);
    let wait = async move {
        for first in [true, false] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if first {
                tracing::info!("stopping");
                end_after(grace);
                stop.cancel();
            }
        }
        tracing::error!("second signal, ending the process");
        exit(1)
    };
    thread::spawn(move || runtime.block_on(wait));
    Ok(())
}
