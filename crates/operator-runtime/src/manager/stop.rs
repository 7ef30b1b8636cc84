//! Stopping: once asked, finish; asked twice, or too slow, end.

use std::{io, process::exit, thread, time::Duration};

use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

/// How long running reconciles may take to finish after the first signal.
pub(crate) const DRAIN: Duration = Duration::from_secs(22);

/// How long the whole stop may take: after the reconciles, the lease is released, and the servers end.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// How long what needs no leadership, the watches and the servers may take, each.
pub(crate) const REST: Duration = Duration::from_secs(5);

/// How long running reconciles may take to notice that leadership is lost.
pub(crate) const LOST: Duration = Duration::from_secs(2);

/// Ends the process if it still runs after `time`. From a thread, because a reconcile that blocks may
/// keep every worker of the runtime.
pub(crate) fn end_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        tracing::error!("still running after {} s, ending", time.as_secs());
        exit(1)
    });
}

/// Cancels `stop` at the first SIGTERM or SIGINT; ends the process at the second, or when the
/// grace period is over. On a thread of its own, for the same reason.
pub(crate) fn on_signals(stop: CancellationToken) -> io::Result<()> {
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
                end_after(GRACE);
                stop.cancel();
            }
        }
        tracing::error!("second signal, ending");
        exit(1)
    };
    thread::spawn(move || runtime.block_on(wait));
    Ok(())
}
