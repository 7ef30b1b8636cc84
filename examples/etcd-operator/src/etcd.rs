//! A client of etcd's maintenance and membership API.
//!
//! It speaks JSON to the gRPC gateway that every etcd serves on its client port. The types have the fields
//! that this operator reads. The gateway writes 64-bit numbers as strings, and leaves out zeros.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::{Stream, StreamExt, TryStreamExt};
use reqwest::{Certificate, Identity};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// The port for clients.
pub const CLIENT_PORT: u16 = 2379;

/// How long a change may take. etcd itself gives up on one after 7 s.
const TIMEOUT: Duration = Duration::from_secs(8);

/// How long a read may take. A member without a leader answers only after seconds, which must not delay the answers of
/// the others.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it may take to rewrite a database.
const DEFRAGMENTATION_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a connection may take. A member that is gone must not hold up the others.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// An error of a call to etcd.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot reach etcd: {0}")]
    Unreachable(#[from] reqwest::Error),
    /// The code is one of gRPC.
    #[error("etcd refused: {message}")]
    Refused { code: i32, message: String },
    #[error("etcd sent something else than expected: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// What a client needs to trust a member, and to be trusted.
#[derive(Clone)]
pub struct Credentials {
    /// The certificate of the CA, as PEM.
    pub ca: Vec<u8>,
    /// The certificate of the client and its key, as PEM.
    pub identity: Vec<u8>,
}

/// A client of one member, or of the Service in front of all.
#[derive(Clone)]
pub struct Etcd {
    http: reqwest::Client,
    url: String,
}

impl Etcd {
    /// A client of the server that is called `host` in its certificate. With `address`, no name has to be
    /// resolved.
    pub fn new(
        host: &str,
        address: Option<IpAddr>,
        credentials: &Credentials,
    ) -> Result<Self, Error> {
        let mut http = reqwest::Client::builder()
            .tls_certs_only([Certificate::from_pem(&credentials.ca)?])
            .identity(Identity::from_pem(&credentials.identity)?)
            .connect_timeout(CONNECT_TIMEOUT)
            .no_proxy();
        if let Some(address) = address {
            http = http.resolve(host, SocketAddr::new(address, CLIENT_PORT));
        }
        Ok(Self {
            http: http.build()?,
            url: format!("https://{host}:{CLIENT_PORT}/v3"),
        })
    }

    /// The members, as a majority knows them.
    pub async fn members(&self) -> Result<MemberList, Error> {
        self.read_from("cluster/member/list", json!({ "linearizable": true }))
            .await
    }

    /// Adds a member that does not vote yet.
    pub async fn add_learner(&self, peer_url: &str) -> Result<(), Error> {
        let request = json!({ "peerURLs": [peer_url], "isLearner": true });
        self.call("cluster/member/add", request).await.map(ignore)
    }

    /// Lets a learner vote. etcd refuses until the learner has caught up.
    pub async fn promote(&self, id: Id) -> Result<(), Error> {
        self.call("cluster/member/promote", json!({ "ID": id }))
            .await
            .map(ignore)
    }

    /// Removes a member. etcd refuses if the others would not be a majority.
    pub async fn remove(&self, id: Id) -> Result<(), Error> {
        self.call("cluster/member/remove", json!({ "ID": id }))
            .await
            .map(ignore)
    }

    /// The state of this member.
    pub async fn status(&self) -> Result<Status, Error> {
        self.read_from("maintenance/status", json!({})).await
    }

    /// The alarms that members raised.
    pub async fn alarms(&self) -> Result<Vec<Alarm>, Error> {
        let alarms: Alarms = self
            .read_from("maintenance/alarm", json!({ "action": "GET" }))
            .await?;
        Ok(alarms.alarms)
    }

    /// Hands leadership from this member, the leader, to another one.
    pub async fn move_leader(&self, to: Id) -> Result<(), Error> {
        self.call("maintenance/transfer-leadership", json!({ "targetID": to }))
            .await
            .map(ignore)
    }

    /// Gives free space of the database back to the disk. The member answers nothing else meanwhile.
    pub async fn defragment(&self) -> Result<(), Error> {
        self.send("maintenance/defragment", json!({}), DEFRAGMENTATION_TIMEOUT)
            .await
            .map(ignore)
    }

    /// Reads through a majority: succeeds if the cluster serves its clients.
    pub async fn read(&self) -> Result<(), Error> {
        let key = BASE64_STANDARD.encode("health");
        self.read_from("kv/range", json!({ "key": key, "keys_only": true }))
            .await
            .map(ignore)
    }

    /// A snapshot of the database, and behind it the SHA-256 of all bytes before.
    pub async fn snapshot(
        &self,
    ) -> Result<impl Stream<Item = Result<Vec<u8>, Error>> + use<>, Error> {
        let url = format!("{}/maintenance/snapshot", self.url);
        let response = self.http.post(url).json(&json!({})).send().await?;
        let bytes = response.error_for_status()?.bytes_stream();
        Ok(
            lines(bytes.map_err(Error::from)).map(|line| match serde_json::from_slice(&line?)? {
                Part::Result(part) => Ok(BASE64_STANDARD
                    .decode(part.blob)
                    .map_err(serde_json::Error::custom)?),
                Part::Error(Refusal { code, message }) => Err(Error::Refused { code, message }),
            }),
        )
    }

    async fn call<T: DeserializeOwned>(&self, path: &str, request: Value) -> Result<T, Error> {
        self.send(path, request, TIMEOUT).await
    }

    async fn read_from<T: DeserializeOwned>(&self, path: &str, request: Value) -> Result<T, Error> {
        self.send(path, request, READ_TIMEOUT).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        path: &str,
        request: Value,
        timeout: Duration,
    ) -> Result<T, Error> {
        let url = format!("{}/{path}", self.url);
        let request = self.http.post(url).timeout(timeout).json(&request);
        let response = request.send().await?;
        let is_success = response.status().is_success();
        let body = response.bytes().await?;
        if is_success {
            return Ok(serde_json::from_slice(&body)?);
        }
        let Refusal { code, message } = serde_json::from_slice(&body)?;
        Err(Error::Refused { code, message })
    }
}

fn ignore(_: serde::de::IgnoredAny) {}

/// Splits a stream of bytes into its lines.
fn lines<B: AsRef<[u8]>>(
    bytes: impl Stream<Item = Result<B, Error>>,
) -> impl Stream<Item = Result<Vec<u8>, Error>> {
    let start = (Box::pin(bytes), Vec::new());
    futures::stream::try_unfold(start, async |(mut bytes, mut rest)| {
        loop {
            if let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                return Ok(Some((line, (bytes, rest))));
            }
            match bytes.try_next().await? {
                Some(more) => rest.extend_from_slice(more.as_ref()),
                None => return Ok(None),
            }
        }
    })
}

/// The ID of a member or a cluster. etcd prints it in hexadecimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u64);

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl std::str::FromStr for Id {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer).map(Self)
    }
}

fn number<'de, D, N>(deserializer: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: std::str::FromStr<Err: std::fmt::Display>,
{
    String::deserialize(deserializer)?
        .parse()
        .map_err(D::Error::custom)
}

/// What every answer begins with.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Header {
    pub cluster_id: Id,
    /// The revision of the data: 1 if nothing was ever written.
    #[serde(default, deserialize_with = "number")]
    pub revision: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct MemberList {
    pub header: Header,
    pub members: Vec<Member>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Member {
    #[serde(rename = "ID")]
    pub id: Id,
    /// Empty until the member has started.
    #[serde(default)]
    pub name: String,
    #[serde(rename = "peerURLs")]
    pub peer_urls: Vec<String>,
    #[serde(rename = "isLearner", default)]
    pub is_learner: bool,
}

/// The state of one member.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    pub header: Header,
    pub version: String,
    /// The size of the database file, in bytes.
    #[serde(rename = "dbSize", default, deserialize_with = "number")]
    pub size: u64,
    /// The part of it that holds data, in bytes.
    #[serde(rename = "dbSizeInUse", default, deserialize_with = "number")]
    pub size_in_use: u64,
    #[serde(rename = "isLearner", default)]
    pub is_learner: bool,
    /// The ID of the leader; 0 if the member knows none.
    #[serde(default)]
    pub leader: Id,
    /// The term of the election that made it the leader.
    #[serde(rename = "raftTerm", default, deserialize_with = "number")]
    pub term: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Alarm {
    #[serde(rename = "memberID")]
    pub member: Id,
    /// `NOSPACE` or `CORRUPT`.
    #[serde(default)]
    pub alarm: String,
}

#[derive(Deserialize)]
struct Alarms {
    #[serde(default)]
    alarms: Vec<Alarm>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Result(SnapshotPart),
    Error(Refusal),
}

#[derive(Deserialize)]
struct SnapshotPart {
    #[serde(default)]
    blob: String,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i32,
    #[serde(default)]
    message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_etcd_are_read() {
        let list: MemberList = serde_json::from_value(json!({
            "header": { "cluster_id": "17237436991929493444", "raft_term": "2" },
            "members": [
                { "ID": "9372538179322589801", "name": "a-0", "peerURLs": ["https://a-0.a.ns.svc:2380"] },
                { "ID": "1", "peerURLs": ["https://a-1.a.ns.svc:2380"], "isLearner": true },
            ],
        }))
        .unwrap();
        assert_eq!(list.header.cluster_id.to_string(), "ef37ad9dc622a7c4");
        assert_eq!(list.members[0].id.to_string(), "8211f1d0f64f3269");
        assert!(list.members[1].name.is_empty() && list.members[1].is_learner);
        assert_eq!("8211f1d0f64f3269".parse(), Ok(list.members[0].id));
        let alarms: Alarms = serde_json::from_value(json!({ "header": {} })).unwrap();
        assert!(alarms.alarms.is_empty());
    }

    #[tokio::test]
    async fn a_stream_is_split_into_lines() {
        let chunks = ["{\"a\"", ":1}\n{\"b\":", "2}\n", ""].map(Ok::<_, Error>);
        let lines: Vec<_> = lines(futures::stream::iter(chunks))
            .map(|line| String::from_utf8(line.unwrap()).unwrap())
            .collect()
            .await;
        assert_eq!(lines, ["{\"a\":1}\n", "{\"b\":2}\n"]);
    }
}
