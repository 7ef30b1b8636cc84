//! A client with fenced connections.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body as Answer;
use http::{Request, Response};

use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{
        self,
        connect::{Connect, Connected, Connection, HttpConnector},
    },
    rt::{TokioExecutor, TokioIo},
};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, ConfigExt},
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};

use super::{Fence, NotLeading};
use crate::{
    client::{
        Observers,
        spans::Spans,
        unanswered::{Unanswered, streams},
    },
    clock::since_boot,
    crypto,
};

/// A client that writes only if the fence permits it. Bytes in flight are dropped after `margin` without an
/// acknowledgement, or when the process ends: TCP would otherwise retransmit and deliver them while another
/// process leads.
///
/// Through a proxy, this is kube's own client behind the first check of the fence.
pub(crate) fn client(
    config: Config,
    observers: Observers,
    fence: &Fence,
    margin: Duration,
) -> kube::Result<Client> {
    crypto::provider();
    if config.proxy_url.is_some() {
        let client = ClientBuilder::try_from(config)?.with_layer(&observers.calls);
        let client = client.with_layer(&observers.warnings).with_layer(&Spans);
        return Ok(client.with_layer(fence).build());
    }
    let fenced = !fence.is_always_open();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(margin).filter(|_| fenced));
    let guard = fence.clone();
    let tcp = tcp.map_response(move |stream| {
        let stream = stream.into_inner();
        if fenced && let Err(error) = stream.set_zero_linger() {
            tracing::debug!(%error, "cannot drop unsent bytes when the process ends");
        }
        let fence = guard.clone();
        TokioIo::new(Guarded { stream, fence })
    });
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    let connections = Connections::new(connector);

    let service = ServiceBuilder::new()
        .layer(Spans)
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        // The innermost layer, because fetching credentials may take time.
        .layer(fence)
        .map_err(BoxError::from)
        .layer(observers.warnings)
        .layer(observers.calls)
        .service(service_fn(move |request| connections.clone().send(request)));
    Ok(Client::new(service, config.default_namespace))
}

/// The HTTP/1.1 connections of a client. A call that waited in vain closes its own, and every idle one: what
/// silenced the first may have silenced them, and each would cost another call its timeout.
#[derive(Clone)]
struct Connections<C> {
    connector: C,
    pool: Arc<Mutex<Arc<legacy::Client<C, Body>>>>,
}

impl<C: Connect + Clone + Send + Sync + 'static> Connections<C> {
    fn new(connector: C) -> Self {
        let pool = Arc::new(Mutex::new(Self::pool(connector.clone())));
        Self { connector, pool }
    }

    fn pool(connector: C) -> Arc<legacy::Client<C, Body>> {
        Arc::new(legacy::Client::builder(TokioExecutor::new()).build(connector))
    }

    async fn send(self, request: Request<Body>) -> Result<Response<Answer>, BoxError> {
        let pool = self.pool.lock().clone();
        let (streams, response) = (streams(&request), pool.request(request));
        let call = Unanswered::new(move || {
            let mut current = self.pool.lock();
            if Arc::ptr_eq(&current, &pool) {
                *current = Self::pool(self.connector);
            }
        });
        call.wait(streams, response).await
    }
}

/// A connection that writes nothing after the deadline of the fence.
#[derive(Debug)]
struct Guarded {
    stream: TcpStream,
    fence: Fence,
}

impl Guarded {
    fn check(&self) -> io::Result<()> {
        if self.fence.is_over(since_boot()) {
            return Err(io::Error::other(NotLeading));
        }
        Ok(())
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Connection for Guarded {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, io::Read, net::TcpListener};

    use super::*;
    use crate::{client::Warnings, metrics::Metrics};

    async fn write(guarded: &mut Guarded, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *guarded).poll_write(context, bytes)).await
    }

    #[tokio::test]
    async fn a_connection_stops_writing_when_the_time_is_over() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let fence = Fence::closed();
        let mut guarded = Guarded {
            stream,
            fence: fence.clone(),
        };
        // A follower reads, and a read also writes bytes.
        assert_eq!(write(&mut guarded, b"a").await.unwrap(), 1);
        fence.hold(since_boot() + Duration::from_secs(60));
        assert_eq!(write(&mut guarded, b"b").await.unwrap(), 1);
        fence.hold(since_boot());
        let error = write(&mut guarded, b"c").await.unwrap_err();
        assert!(
            error
                .get_ref()
                .is_some_and(|error| error.is::<NotLeading>())
        );
        let slices = [io::IoSlice::new(b"d")];
        poll_fn(|context| Pin::new(&mut guarded).poll_write_vectored(context, &slices))
            .await
            .unwrap_err();
        drop(guarded);
        let mut received = Vec::new();
        server.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"ab");
    }

    #[tokio::test]
    async fn clients_use_such_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = [0; 4];
            // An error: the connection was reset.
            _ = stream.read_exact(&mut received);
            received
        });
        let fence = Fence::closed();
        let mut config = Config::new(url.parse().unwrap());
        config.default_retry = false;
        let observers = Observers {
            calls: Metrics::default().calls("localhost:443"),
            warnings: Warnings::default(),
        };
        let client = client(config, observers, &fence, Duration::from_secs(5)).unwrap();
        fence.hold(since_boot());
        let request = http::Request::get("/version").body(Vec::new()).unwrap();
        let error = client.request_text(request).await.unwrap_err();
        let error = crate::error::chain(&error);
        assert!(error.contains(&NotLeading.to_string()), "{error}");
        drop(client);
        assert_eq!(server.join().unwrap(), [0; 4]);
    }
}
