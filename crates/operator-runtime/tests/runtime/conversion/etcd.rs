//! The contents of etcd, independent of the API server.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use operator_runtime::envtest::Cluster;
use serde_json::{Value, from_value, json};

/// The number of widgets in etcd in each version.
pub fn stored(cluster: &Cluster) -> Result<BTreeMap<String, usize>> {
    let kubeconfig = cluster.control_plane().kubeconfig();
    let directory = kubeconfig.parent().context("no directory")?;
    let mut versions = BTreeMap::new();
    for object in etcd(directory, "/registry/test.example.com/widgets/")? {
        let version = object["apiVersion"]
            .as_str()
            .context("no version")?
            .to_owned();
        *versions.entry(version).or_default() += 1;
    }
    Ok(versions)
}

/// The keys of etcd below `prefix`, through its JSON gateway.
fn etcd(directory: &Path, prefix: &str) -> Result<Vec<Value>> {
    let base64 = |text: &str| json!(ByteString(text.as_bytes().to_vec()));
    let end = format!("{}0", prefix.trim_end_matches('/'));
    let query = json!({ "key": base64(prefix), "range_end": base64(&end) }).to_string();
    let mut socket = UnixStream::connect(directory.join("client.sock"))?;
    let length = query.len();
    write!(
        socket,
        "POST /v3/kv/range HTTP/1.0\r\nHost: etcd\r\nContent-Length: {length}\r\n\r\n{query}"
    )?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    ensure!(head.contains(" 200 "), "{head}");
    let answer: Value = serde_json::from_str(body)?;
    let values = answer["kvs"].as_array().into_iter().flatten().map(|pair| {
        let value: ByteString = from_value(pair["value"].clone())?;
        Ok(serde_json::from_slice(&value.0)?)
    });
    values.collect()
}
