//! An HTTP proxy between an operator and the API server: it counts requests, and can answer them itself,
//! end open watches, or never answer.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Instant,
};

use anyhow::Result;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    response::Response,
};
use futures::StreamExt;
use http::{StatusCode, header::CONTENT_TYPE};
use kube::Client;
use tokio_util::sync::CancellationToken;

/// A request of an operator.
#[derive(Clone, Debug)]
pub struct Ask {
    pub method: String,
    pub path: String,
    pub query: String,
    pub at: Instant,
}

impl Ask {
    pub fn is_watch(&self) -> bool {
        self.query.contains("watch=")
    }

    /// A list that is streamed as a watch.
    pub fn streams(&self) -> bool {
        self.query.contains("sendInitialEvents=true")
    }

    /// A list or a watch of objects of this plural.
    pub fn reads(&self, plural: &str) -> bool {
        self.method == "GET" && self.path.ends_with(&format!("/{plural}"))
    }

    pub fn changes(&self) -> bool {
        self.method != "GET"
    }
}

/// The response of the gate instead of the API server.
#[derive(Clone, Debug)]
pub enum Answer {
    Failure(u16, &'static str),
    /// A watch that sends this and ends.
    Watch(String),
    /// This, and then a gigabyte without a line break.
    Endless(&'static str),
    Nothing,
}

impl Answer {
    /// The API server's end of a watch with an expired resource version.
    pub fn expired() -> Self {
        let status = failure(410, "Expired");
        Self::Watch(format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n"))
    }
}

fn failure(code: u16, reason: &str) -> String {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "made by the test", "reason": reason, "code": code,
    });
    status.to_string()
}

type Rule = Arc<dyn Fn(&Ask) -> Option<Answer> + Send + Sync>;

#[derive(Clone)]
pub struct Gate {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    api_server: Client,
    rule: Mutex<Option<Rule>>,
    asked: Mutex<Vec<Ask>>,
    watches: Mutex<CancellationToken>,
}

impl Gate {
    /// Serves on the runtime of the caller; calls the API server with the permissions of `client`.
    pub fn open(client: Client) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            api_server: client,
            rule: Mutex::default(),
            asked: Mutex::default(),
            watches: Mutex::default(),
        });
        let router = Router::new().fallback(pass).with_state(shared.clone());
        let server = axum_server::from_tcp(listener)?.serve(router.into_make_service());
        tokio::spawn(server);
        Ok(Self { port, shared })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A kubeconfig with the address of the gate.
    pub fn kubeconfig(&self, name: &str) -> Result<PathBuf> {
        super::kubeconfig(name, &format!("http://127.0.0.1:{}", self.port), "")
    }

    /// Answers requests by this rule from now on.
    pub fn rule(&self, rule: impl Fn(&Ask) -> Option<Answer> + Send + Sync + 'static) {
        *self.shared.rule.lock().unwrap() = Some(Arc::new(rule));
    }

    /// Forwards everything again.
    pub fn pass(&self) {
        *self.shared.rule.lock().unwrap() = None;
    }

    /// Ends every open watch.
    pub fn end_watches(&self) {
        let open = std::mem::take(&mut *self.shared.watches.lock().unwrap());
        open.cancel();
    }

    /// The number of requests since a time that pass the filter.
    pub fn count(&self, since: Instant, filter: impl Fn(&Ask) -> bool) -> usize {
        let asked = self.shared.asked.lock().unwrap();
        asked
            .iter()
            .filter(|ask| ask.at >= since && filter(ask))
            .count()
    }

    /// The highest number of requests within one second, since a time.
    pub fn rate(&self, since: Instant) -> usize {
        let mut seconds = BTreeMap::<u64, usize>::new();
        for ask in self.shared.asked.lock().unwrap().iter() {
            if let Some(passed) = ask.at.checked_duration_since(since) {
                *seconds.entry(passed.as_secs()).or_default() += 1;
            }
        }
        seconds.into_values().max().unwrap_or_default()
    }
}

async fn pass(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let ask = Ask {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        at: Instant::now(),
    };
    shared.asked.lock().unwrap().push(ask.clone());
    let rule = shared.rule.lock().unwrap().clone();
    match rule.and_then(|rule| rule(&ask)) {
        Some(Answer::Nothing) => std::future::pending().await,
        Some(Answer::Watch(text)) => respond(200, text),
        Some(Answer::Endless(begin)) => {
            let chunks = std::iter::once(begin.as_bytes().to_vec())
                .chain(std::iter::repeat_n(vec![b'a'; 1 << 20], 1 << 10));
            let chunks = futures::stream::iter(chunks.map(Ok::<_, std::convert::Infallible>));
            Response::new(Body::from_stream(chunks))
        }
        Some(Answer::Failure(code, reason)) => respond(code, failure(code, reason)),
        None => {
            let mut request = http::Request::builder()
                .method(parts.method)
                .uri(parts.uri.path_and_query().map_or("/", |path| path.as_str()));
            for name in [CONTENT_TYPE, http::header::ACCEPT] {
                if let Some(value) = parts.headers.get(&name) {
                    request = request.header(name, value);
                }
            }
            let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
            let request = request.body(body.into()).unwrap();
            forward(&shared, &ask, request).await
        }
    }
}

async fn forward(
    shared: &Shared,
    ask: &Ask,
    request: http::Request<kube::client::Body>,
) -> Response {
    let end = shared.watches.lock().unwrap().clone();
    match shared.api_server.send(request).await {
        Ok(response) if ask.is_watch() => {
            let (parts, body) = response.into_parts();
            let body = Body::new(body).into_data_stream();
            let body = body.take_until(end.cancelled_owned());
            Response::from_parts(parts, Body::from_stream(body))
        }
        Ok(response) => response.map(Body::new),
        Err(error) => respond(502, error.to_string()),
    }
}

fn respond(code: u16, text: String) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(code).unwrap())
        .header(CONTENT_TYPE, "application/json")
        .header("Retry-After", "1")
        .body(Body::from(text))
        .unwrap()
}
