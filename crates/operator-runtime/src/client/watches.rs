//! A client for watches that multiplexes many watches over a few HTTP/2 connections.
//!
//! kube's own client speaks HTTP/1.1, which takes a connection per watch: 200 namespaces by 10 types would
//! be 2,000 connections, each with its TLS handshake and its buffers. One HTTP/2 connection would not do
//! either: kube-apiserver allows 100 streams per connection. Connections are therefore opened on demand,
//! and pinged when they are silent.
//!
//! HTTP/1.1 remains where HTTP/2 is not available: through a proxy, without TLS, or behind a TLS terminator
//! without HTTP/2. There, only the end of a watch shows that the connection still works, so watches are
//! short.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::body::Body as Answer;
use futures::StreamExt;
use http::{Request, Response, Uri, uri::Scheme};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_rustls::{
    DefaultServerNameResolver, FixedServerNameResolver, HttpsConnector, ResolveServerName,
};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{
        self,
        connect::{Connection as _, HttpConnector},
    },
    rt::{TokioExecutor, TokioTimer},
};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, ConfigExt},
};
use tokio::sync::Mutex;
use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn, util::MapRequestLayer};

use super::unanswered::{Unanswered, streams};
use crate::{crypto, metrics::Calls};

/// The longest duration of a watch in seconds, which `watcher::Config` must be given. Each watch lasts a
/// random time between half of it and all of it, as in client-go, so that watches that start together do
/// not end together.
pub(crate) const LONGEST: u32 = 600;

/// The longest duration over HTTP/1.1, in seconds. A connection is closed after [a slightly
/// longer](super::WATCH) silence.
const LONGEST_HTTP1: u32 = 50;

/// Streams per connection, unless the API server allows fewer. If a connection breaks, all of its streams
/// do.
const STREAMS: usize = 100;

/// The silence after which a connection is pinged, and then the time for the answer: client-go's
/// `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`.
const PING: Duration = Duration::from_secs(30);
const PONG: Duration = Duration::from_secs(15);

/// The flow-control window of a stream, in bytes. The connection's window is the sum of its streams'
/// windows, so that one slow reader does not block the others.
const WINDOW: u32 = 256 * 1024;

type Connector = TimeoutConnector<HttpsConnector<HttpConnector>>;

/// A client with the timeouts of `config`.
pub(super) fn client(config: Config, calls: &Calls) -> kube::Result<Client> {
    crypto::provider();
    if config.proxy_url.is_some() {
        let client = ClientBuilder::try_from(config)?.with_layer(calls);
        let short = MapRequestLayer::new(|request| lasting(request, LONGEST_HTTP1));
        return Ok(client.with_layer(&short).build());
    }
    let pool = Arc::new(Pool::new(&config)?);
    let send = move |request: Request<Body>| {
        let pool = pool.clone();
        async move { pool.send(request).await }
    };
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .layer(calls)
        .service(service_fn(send));
    Ok(Client::new(service, config.default_namespace))
}

/// Sets a random timeout of at most `most` seconds if `request` starts a watch.
fn lasting(mut request: Request<Body>, most: u32) -> Request<Body> {
    let asked = format!("timeoutSeconds={LONGEST}");
    let uri = request.uri().to_string();
    if uri.contains(&asked) {
        let seconds = fastrand::u32(most / 2..=most);
        let uri = uri.replace(&asked, &format!("timeoutSeconds={seconds}"));
        *request.uri_mut() = uri.parse().expect("other digits of an URI");
    }
    request
}

/// The connections to one API server.
struct Pool {
    server: Uri,
    /// Negotiates HTTP/2 or HTTP/1.1.
    connector: Connector,
    http1: legacy::Client<Connector, Body>,
    /// Whether the API server has refused HTTP/2.
    only_http1: AtomicBool,
    /// Locked while a connection is opened, so that waiting requests share it.
    connections: Mutex<Vec<Connection>>,
}

/// An HTTP/2 connection.
struct Connection {
    sender: SendRequest<Body>,
    /// One reference here, and one per open stream.
    streams: Arc<()>,
    /// The maximum number of open streams.
    most: Arc<AtomicUsize>,
    /// Whether a call waited in vain. The streams that are open last until the ping finds out, too.
    discarded: Arc<AtomicBool>,
}

/// A place on a connection for one request.
struct Place {
    sender: SendRequest<Body>,
    stream: Arc<()>,
    discarded: Arc<AtomicBool>,
}

impl Connection {
    fn has_room(&self) -> bool {
        let open = Arc::strong_count(&self.streams) - 1;
        open < self.most.load(Ordering::Relaxed)
    }

    fn place(&self) -> Place {
        Place {
            sender: self.sender.clone(),
            stream: self.streams.clone(),
            discarded: self.discarded.clone(),
        }
    }
}

impl Pool {
    fn new(config: &Config) -> kube::Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let bounded = |connector| {
            let mut connector = TimeoutConnector::new(connector);
            connector.set_connect_timeout(config.connect_timeout);
            connector.set_read_timeout(config.read_timeout);
            connector.set_write_timeout(config.write_timeout);
            connector
        };
        let http1 = bounded(config.rustls_https_connector_with_connector(tcp.clone())?);
        let mut tls = config.rustls_client_config()?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let name: Arc<dyn ResolveServerName + Send + Sync> = match &config.tls_server_name {
            None => Arc::new(DefaultServerNameResolver::default()),
            Some(name) => {
                let name = name.clone().try_into();
                let name = name.map_err(|error| kube::Error::Service(Box::new(error)))?;
                Arc::new(FixedServerNameResolver::new(name))
            }
        };
        Ok(Self {
            server: config.cluster_url.clone(),
            connector: bounded(HttpsConnector::new(tcp, tls, false, name)),
            http1: legacy::Client::builder(TokioExecutor::new()).build(http1),
            only_http1: AtomicBool::new(config.cluster_url.scheme() != Some(&Scheme::HTTPS)),
            connections: Mutex::default(),
        })
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Answer>, BoxError> {
        let Some(mut place) = self.place().await? else {
            let request = lasting(request, LONGEST_HTTP1);
            return Ok(self.http1.request(request).await?.map(Answer::new));
        };
        let (streams, discarded) = (streams(&request), place.discarded);
        let call = Unanswered::new(move || discarded.store(true, Ordering::Relaxed));
        let response = place.sender.send_request(lasting(request, LONGEST));
        let (response, stream) = (call.wait(streams, response).await?, place.stream);
        // The stream is open until its last frame is read or the body is dropped.
        Ok(response.map(|body| {
            let parts = body.into_data_stream();
            Answer::from_stream(parts.inspect(move |_| _ = &stream))
        }))
    }

    /// A place for a request; `None` if only HTTP/1.1 is available.
    async fn place(&self) -> Result<Option<Place>, BoxError> {
        if self.only_http1.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut connections = self.connections.lock().await;
        connections
            .retain(|found| !found.sender.is_closed() && !found.discarded.load(Ordering::Relaxed));
        if let Some(free) = connections.iter().find(|found| found.has_room()) {
            return Ok(Some(free.place()));
        }
        let Some(new) = self.connect().await? else {
            self.only_http1.store(true, Ordering::Relaxed);
            return Ok(None);
        };
        let place = new.place();
        connections.push(new);
        Ok(Some(place))
    }

    /// Opens a connection; `None` if the API server does not speak HTTP/2.
    async fn connect(&self) -> Result<Option<Connection>, BoxError> {
        let stream = self.connector.clone().oneshot(self.server.clone()).await?;
        if !stream.connected().is_negotiated_h2() {
            return Ok(None);
        }
        let mut http = http2::Builder::new(TokioExecutor::new());
        http.timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(PONG)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW * STREAMS as u32);
        let (sender, mut connection) = http.handshake(stream).await?;
        let most = Arc::new(AtomicUsize::new(STREAMS));
        let allowed = most.clone();
        tokio::spawn(async move {
            let ended = poll_fn(|context| {
                let ended = Pin::new(&mut connection).poll(context);
                let most = connection.current_max_send_streams().clamp(1, STREAMS);
                allowed.store(most, Ordering::Relaxed);
                ended
            });
            if let Err(error) = ended.await {
                tracing::debug!(%error, "a connection for watches broke");
            }
        });
        Ok(Some(Connection {
            sender,
            streams: Arc::default(),
            most,
            discarded: Arc::default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn watches_that_begin_together_do_not_end_together() {
        for most in [LONGEST, LONGEST_HTTP1] {
            let seconds = (0..1000).map(|_| {
                let uri = format!("/pods?&watch=true&timeoutSeconds={LONGEST}&labelSelector=a");
                let request = Request::get(uri).body(Body::empty()).unwrap();
                let uri = lasting(request, most).uri().to_string();
                let (_, seconds) = uri.split_once("timeoutSeconds=").unwrap();
                let (seconds, rest) = seconds.split_once('&').unwrap();
                assert_eq!(rest, "labelSelector=a");
                seconds.parse::<u32>().unwrap()
            });
            let seconds: BTreeSet<_> = seconds.collect();
            assert!(
                seconds
                    .iter()
                    .all(|found| (most / 2..=most).contains(found))
            );
            // 26 or 301 values are possible.
            assert!(seconds.len() > 20, "{seconds:?}");
        }
    }

    #[test]
    fn other_requests_stay_unchanged() {
        for uri in [
            "/pods?&limit=250",
            "/apis/apps/v1",
            "http://a:1/pods?limit=1",
        ] {
            let request = Request::get(uri).body(Body::empty()).unwrap();
            assert_eq!(lasting(request, LONGEST).uri(), uri);
        }
    }
}
