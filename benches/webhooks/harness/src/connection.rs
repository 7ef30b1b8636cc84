//! A connection that is kept, over TLS, with HTTP/1.1: one request at a time, as clients written in Go do it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring::{self, cipher_suite::TLS13_AES_128_GCM_SHA256},
    pki_types::{CertificateDer, ServerName},
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How to speak to a server with this certificate.
pub fn tls(certificate: CertificateDer<'static>) -> Result<Arc<ClientConfig>> {
    let mut provider = ring::default_provider();
    // The API server offers this one first.
    let offered = provider.cipher_suites.iter();
    let first = offered
        .map(|suite| suite.suite())
        .position(|suite| suite == TLS13_AES_128_GCM_SHA256.suite())
        .context("no AES-128")?;
    provider.cipher_suites.swap(0, first);
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut config = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config.into())
}

pub struct Connection {
    stream: BufReader<StreamOwned<ClientConnection, TcpStream>>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    pub fn open(port: u16, config: Arc<ClientConfig>) -> Result<Self> {
        let tcp = TcpStream::connect(("127.0.0.1", port))?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(PATIENCE))?;
        let tls = ClientConnection::new(config, ServerName::try_from("localhost")?)?;
        Ok(Self {
            stream: BufReader::with_capacity(16 * 1024, StreamOwned::new(tls, tcp)),
            line: String::new(),
            body: Vec::new(),
        })
    }

    /// The body of the answer to a request, which has to be 200.
    pub fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        let stream = self.stream.get_mut();
        stream.write_all(request)?;
        stream.flush()?;
        let status = self.line()?;
        ensure!(status.starts_with("HTTP/1.1 200"), "it answers {status}");
        let (mut length, mut chunked) = (None, false);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = value.trim() == "chunked";
            }
        }
        self.body.clear();
        match length {
            Some(length) => self.read(length)?,
            None if chunked => self.read_chunks()?,
            None => bail!("the answer has no length"),
        }
        Ok(&self.body)
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<&str> {
        self.line.clear();
        self.stream.read_line(&mut self.line)?;
        let line = self.line.strip_suffix("\r\n");
        line.context("the server has closed the connection")
    }

    fn read(&mut self, length: usize) -> Result<()> {
        let begin = self.body.len();
        self.body.resize(begin + length, 0);
        Ok(self.stream.read_exact(&mut self.body[begin..])?)
    }

    fn read_chunks(&mut self) -> Result<()> {
        loop {
            let length = usize::from_str_radix(self.line()?, 16)?;
            self.read(length)?;
            ensure!(self.line()?.is_empty(), "a chunk does not end");
            if length == 0 {
                return Ok(());
            }
        }
    }
}
