//! The proxy on loopback for the calls of runs. It forwards them with the operator's own client, which writes only while the operator
//! leads, and marks what a run creates as belonging to the custom resource. A run has a token, which is void after its end.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
    serve::ListenerExt as _,
};
use kube::{Client, client::Body as ClientBody};
use operator_runtime::{NotLeading, in_one_line};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    program,
    session::{Session, deleted},
    target::Target,
};

/// The largest object that a run may send. That of the API server is 3 MiB.
const LARGEST: usize = 16 << 20;

/// Headers that are about a connection, or about who calls.
const OWN: [header::HeaderName; 8] = [
    header::AUTHORIZATION,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::HOST,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    // The body may have to be read.
    header::ACCEPT_ENCODING,
];

const APPLY: &str = "application/apply-patch+yaml";

/// The proxy. It ends when this is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    sessions: Arc<Sessions>,
    task: JoinHandle<()>,
}

type Sessions = Mutex<HashMap<String, Arc<Session>>>;

/// A run that may use the proxy, until this is dropped.
pub(crate) struct Permission {
    pub(crate) kubeconfig: String,
    token: String,
    sessions: Arc<Sessions>,
}

impl Drop for Permission {
    fn drop(&mut self) {
        self.sessions.lock().remove(&self.token);
    }
}

#[derive(Clone)]
struct Shared {
    client: Client,
    sessions: Arc<Sessions>,
}

impl Proxy {
    /// Starts a proxy, in the current runtime.
    pub(crate) fn start(client: Client) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let sessions = Arc::<Sessions>::default();
        let shared = Shared {
            client,
            sessions: sessions.clone(),
        };
        let router = Router::new().fallback(forward).with_state(shared);
        let task = tokio::spawn(async move {
            // A head and a body are two writes, of which the second would wait for an acknowledgment.
            let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
            // It ends with the task.
            _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            sessions,
            task,
        })
    }

    /// Permits a run.
    pub(crate) fn permit(&self, session: Session) -> io::Result<Permission> {
        let token = program::random(32)?;
        let namespace = session.owner.namespace.clone();
        let named = |key: &str, value: Value| json!({ "name": "run", key: value });
        let context =
            json!({ "cluster": "run", "user": "run", "namespace": namespace.unwrap_or_default() });
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [named("cluster", json!({ "server": format!("http://{}", self.address) }))],
            "users": [named("user", json!({ "token": token }))],
            "contexts": [named("context", context)],
            "current-context": "run",
        });
        self.sessions
            .lock()
            .insert(token.clone(), Arc::new(session));
        Ok(Permission {
            kubeconfig: kubeconfig.to_string(),
            token,
            sessions: self.sessions.clone(),
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer in the form of the API server's.
fn refuse(code: StatusCode, reason: &str, message: impl Into<String>) -> Response {
    let status = json!({
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": message.into(),
        "reason": reason,
        "code": code.as_u16(),
    });
    let json = [(header::CONTENT_TYPE, "application/json")];
    (code, json, status.to_string()).into_response()
}

fn session(shared: &Shared, headers: &HeaderMap) -> Option<Arc<Session>> {
    let token = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let token = token.strip_prefix("Bearer ")?;
    shared.sessions.lock().get(token).cloned()
}

async fn forward(State(shared): State<Shared>, request: Request) -> Response {
    let Some(session) = session(&shared, request.headers()) else {
        let message = "the run of this token has ended";
        return refuse(StatusCode::UNAUTHORIZED, "Unauthorized", message);
    };
    if request.headers().contains_key(header::UPGRADE) {
        let message = "the proxy of operator-ansible forwards no exec, attach, cp and port-forward";
        return refuse(StatusCode::NOT_IMPLEMENTED, "NotImplemented", message);
    }
    match answer(&shared, &session, request).await {
        Ok(response) => response,
        // Clients try a call again whose answer is that the service is unavailable.
        Err(error) if error.is_fenced => refuse(StatusCode::FORBIDDEN, "Forbidden", error.message),
        Err(error) => refuse(StatusCode::BAD_GATEWAY, "InternalError", error.message),
    }
}

/// Why a call was not answered.
struct Failure {
    is_fenced: bool,
    message: String,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self {
            is_fenced: false,
            message: message.into(),
        }
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        let is_fenced = matches!(&error, kube::Error::Service(source) if source.is::<NotLeading>());
        Self {
            is_fenced,
            message: in_one_line(&error),
        }
    }
}

async fn answer(shared: &Shared, session: &Session, request: Request) -> Result<Response, Failure> {
    let (mut parts, body) = request.into_parts();
    let target = Target::of(parts.uri.path());
    let path = parts
        .uri
        .path_and_query()
        .map_or("/", |it| it.as_str())
        .to_owned();
    for name in OWN {
        parts.headers.remove(name);
    }
    let is_tried = path.contains("dryRun=");
    if parts.method == Method::GET
        && let Some(target) = target.as_ref()
        && asks_plainly(&parts)
        && let Some(object) = session.memory.get(target)
    {
        session.note(target, &parts.method, &object);
        let head = [
            (header::CONTENT_TYPE, "application/json"),
            (HeaderName::from_static("x-cache"), "HIT"),
        ];
        return Ok((head, object.to_string()).into_response());
    }
    let body = to_bytes(body, LARGEST).await;
    let mut body = body.map_err(|error| Failure::new(error.to_string()))?;
    if let Some(target) = target.as_ref().filter(|target| target.is_object())
        && session.marks
        && let Some(marked) = mark(shared, session, target, &parts, &body).await?
    {
        body = marked.into();
    }
    let is_read = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let mut write = target
        .as_ref()
        .filter(|_| !is_read && !is_tried)
        .map(|target| session.memory.write(target));
    let mut call = http::Request::builder()
        .method(parts.method.clone())
        .uri(&path);
    if let Some(headers) = call.headers_mut() {
        *headers = parts.headers;
    }
    let call = call.body(ClientBody::from(body.to_vec()));
    let call = call.map_err(|error| Failure::new(error.to_string()))?;
    let (mut head, body) = shared.client.send(call).await?.into_parts();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    if head.status.is_client_error()
        && let Some(write) = &mut write
    {
        write.was_refused();
    }
    let is_json = head.headers.get(header::CONTENT_TYPE);
    let is_json = is_json.is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
    let target = target.filter(|it| {
        let is_one = it.name.is_some() || parts.method == Method::POST;
        it.is_object() && is_one && head.status.is_success() && is_json
    });
    let Some(target) = target else {
        return Ok(Response::from_parts(head, Body::new(body)));
    };
    let mut bytes: Bytes = body.collect_bytes().await?;
    if let Ok(mut object) = serde_json::from_slice::<Value>(&bytes) {
        if !is_tried {
            session.note(&target, &parts.method, &object);
        }
        if parts.method == Method::DELETE {
            let uid = deleted(&object);
            write.iter_mut().for_each(|write| write.deleted(uid));
        } else if !is_tried {
            if let Some(patch) = session.label(&object)
                && let Some(labelled) = label(shared, &target, &object, patch).await
            {
                session.note(&target, &Method::PATCH, &labelled);
                object = labelled;
            }
            session.memory.saw(&target, &object);
            write
                .iter_mut()
                .for_each(|write| write.was_answered(&object));
        }
        // What is read from memory has none, and modules compare what they read with the answer to a write.
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        bytes = object.to_string().into();
    }
    head.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(head, Body::from(bytes)))
}

/// Whether a call asks for an object as it is now, as JSON.
fn asks_plainly(parts: &http::request::Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    let is_plain = |part: &str| {
        matches!(
            part.trim_end_matches('='),
            "" | "labelSelector" | "fieldSelector" | "pretty"
        )
    };
    let accepts = parts.headers.get(header::ACCEPT).map(HeaderValue::to_str);
    let accepts = accepts.is_none_or(|it| {
        it.is_ok_and(|it| {
            let first = it.split(',').next().unwrap_or_default().trim();
            matches!(first, "application/json" | "*/*")
        })
    });
    query.split('&').all(is_plain) && accepts
}

/// Adds the label to an object, and returns it as it is then.
async fn label(shared: &Shared, target: &Target, object: &Value, patch: Value) -> Option<Value> {
    let path = target.path(object["metadata"]["name"].as_str()?);
    let request = http::Request::patch(format!("{path}?fieldManager=operator-ansible"))
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, "application/merge-patch+json")
        .body(patch.to_string().into_bytes())
        .ok()?;
    match shared.client.request::<Value>(request).await {
        Ok(labelled) => {
            tracing::info!(path, "an object of operator-sdk is watched from now on");
            Some(labelled)
        }
        Err(error) => {
            let error = in_one_line(&error);
            tracing::warn!(
                path,
                error,
                "an object of operator-sdk cannot be labelled, and is not watched"
            );
            None
        }
    }
}

/// The body with the marks of the owner, if the call creates an object, or replaces one of the owner's.
async fn mark(
    shared: &Shared,
    session: &Session,
    target: &Target,
    parts: &http::request::Parts,
    body: &Bytes,
) -> Result<Option<Vec<u8>>, Failure> {
    let content = parts
        .headers
        .get(header::CONTENT_TYPE)
        .map(HeaderValue::as_bytes);
    let is_apply = content.is_some_and(|it| it.starts_with(APPLY.as_bytes()));
    let may_create = match parts.method {
        Method::POST => target.name.is_none(),
        Method::PUT => true,
        Method::PATCH => is_apply,
        _ => false,
    };
    if !may_create || target.is_virtual() {
        return Ok(None);
    }
    let Ok(mut object) = serde_json::from_slice::<Value>(body) else {
        // Protobuf, or YAML.
        tracing::debug!(
            path = parts.uri.path(),
            "an object that is no JSON gets no owner reference"
        );
        return Ok(None);
    };
    if parts.method != Method::POST {
        // An apply without the reference would remove it, and a replacement, too.
        let remembered = session.memory.get(target);
        let current = match remembered {
            Some(found) => Some(found),
            None => current(shared, parts.uri.path()).await?,
        };
        match current {
            Some(current) if !session.owner.owns(&current) => return Ok(None),
            None if parts.method == Method::PUT => return Ok(None),
            _ => {}
        }
    }
    session.owner.mark(&mut object, target.namespace.as_deref());
    Ok(serde_json::to_vec(&object).ok())
}

/// The object at a path, if it exists.
async fn current(shared: &Shared, path: &str) -> Result<Option<Value>, Failure> {
    let request = http::Request::get(path).header(header::ACCEPT, "application/json");
    let request = request.body(Vec::new());
    let request = request.map_err(|error| Failure::new(error.to_string()))?;
    match shared.client.request::<Value>(request).await {
        Ok(found) => Ok(Some(found)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error.into()),
    }
}
