//! The bytes of a connection, with limits for its client.

use std::{
    future::{Ready, ready},
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum_server::accept::Accept;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::{
    places::{Connection, Reason},
    visit::Visit,
};

/// Accepts a connection with its place.
#[derive(Clone, Copy)]
pub(super) struct Acceptor {
    /// The time until the first request has arrived, up to its body; the TLS handshake included.
    pub(super) first: Duration,
    /// The time in which a client reads nothing of a response.
    pub(super) unread: Duration,
}

impl Accept<TcpStream, Visit> for Acceptor {
    type Stream = Stream;
    type Service = Visit;
    type Future = Ready<io::Result<(Stream, Visit)>>;

    fn accept(&self, tcp: TcpStream, visit: Visit) -> Self::Future {
        // With Nagle's algorithm, the TLS messages after the handshake would delay the first response of each
        // connection by 40 ms, the client's delayed acknowledgement.
        let no_delay = tcp.set_nodelay(true);
        let connection = visit.connection.clone();
        let stream = Stream {
            tcp,
            closing: Box::pin(connection.closing.clone().cancelled_owned()),
            first: Some(Box::pin(sleep(self.first))),
            unread: self.unread,
            stalled: None,
            connection,
        };
        ready(no_delay.map(|()| (stream, visit)))
    }
}

/// A connection that ends when its place is needed, when its first request is late, or when its client does
/// not read.
pub(super) struct Stream {
    tcp: TcpStream,
    connection: Arc<Connection>,
    closing: Pin<Box<WaitForCancellationFutureOwned>>,
    first: Option<Pin<Box<Sleep>>>,
    unread: Duration,
    /// While nothing can be written.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.connection.leave();
    }
}

impl Stream {
    /// An error if the connection has to end.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.closing.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if let Some(first) = &mut self.first {
            if self.connection.is_asked() {
                self.first = None;
            } else if first.as_mut().poll(context).is_ready() {
                self.connection.close(Reason::Late);
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        if let Poll::Ready(written) = write(Pin::new(&mut self.tcp), context) {
            self.stalled = None;
            return Poll::Ready(written);
        }
        let limit = self.unread;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(stalled.as_mut().poll(context));
        self.connection.close(Reason::Unread);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.tcp).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |tcp, context| tcp.poll_write(context, buffer))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |tcp, context| {
            tcp.poll_write_vectored(context, buffers)
        })
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
