//! The faulty network between one replica and the API server.

use std::{
    io::{self, ErrorKind},
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Result;
use tokio::{
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

/// The state of the network. A connection that lost bytes never works again: it is reset when the network
/// works again, because TCP cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Forwards everything, after this delay.
    Works(Duration),
    /// Forwards nothing, silently.
    Cut,
}

#[derive(Clone, Copy, Debug)]
struct State {
    network: Network,
    /// Connections before this one are reset.
    reset: u64,
    /// Connections before this one are never served again, nor closed.
    stuck: u64,
    next: u64,
}

/// A TCP proxy on a port of its own, until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    pub port: u16,
    state: watch::Sender<State>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    pub async fn start(server: String) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let state = watch::Sender::new(State {
            network: Network::Works(Duration::ZERO),
            reset: 0,
            stuck: 0,
            next: 0,
        });
        let states = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let mut number = 0;
                states.send_modify(|state| {
                    number = state.next;
                    state.next += 1;
                });
                let connection = Connection {
                    number,
                    state: states.subscribe(),
                };
                tokio::spawn(connection.serve(client, server.clone()));
            }
        });
        Ok(Self { port, state, task })
    }

    /// Sets the state of the network. Connections of a cut network are reset.
    pub fn set(&self, network: Network) {
        self.state.send_modify(|state| {
            if state.network == Network::Cut {
                state.reset = state.next;
            }
            state.network = network;
        });
    }

    /// Resets every connection.
    pub fn reset(&self) {
        self.state.send_modify(|state| state.reset = state.next);
    }

    /// Abandons every connection silently; new ones work.
    pub fn strand(&self) {
        self.state.send_modify(|state| state.stuck = state.next);
    }
}

#[derive(Clone)]
struct Connection {
    number: u64,
    state: watch::Receiver<State>,
}

impl Connection {
    async fn serve(self, client: TcpStream, server: String) {
        let mut state = self.state.clone();
        let reset = state.wait_for(|state| self.number < state.reset);
        let zero = client.set_zero_linger();
        tokio::select! {
            // Both ends are reset when they are dropped.
            _ = reset => {}
            _ = self.clone().pass(client, server), if zero.is_ok() => {}
        }
    }

    async fn pass(mut self, client: TcpStream, server: String) -> Result<()> {
        let works = |state: &State| state.network != Network::Cut;
        self.state.wait_for(works).await?;
        let server = TcpStream::connect(server).await?;
        server.set_zero_linger()?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let lost = Arc::new(Mutex::new(false));
        let up = self.clone().copy(from_client, to_server, lost.clone());
        let down = self.copy(from_server, to_client, lost);
        // A closed end closes the other, after the bytes in flight.
        tokio::select! { result = up => result, result = down => result }
    }

    async fn copy(
        self,
        from: OwnedReadHalf,
        to: OwnedWriteHalf,
        lost: Arc<Mutex<bool>>,
    ) -> Result<()> {
        let (sender, mut receiver) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
        let receive = async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = read(&from, &mut buffer).await {
                _ = sender.send((Instant::now(), buffer[..length].to_vec()));
            }
        };
        let deliver = async {
            while let Some((arrived, bytes)) = receiver.recv().await {
                let network = self.state.borrow().network;
                if let Network::Works(delay) = network {
                    sleep_until(arrived + delay).await;
                }
                let state = *self.state.borrow();
                let mut passes = state.network != Network::Cut && state.stuck <= self.number;
                if let Ok(mut lost) = lost.lock() {
                    *lost |= !passes;
                    passes = !*lost;
                }
                if passes {
                    write_all(&to, &bytes).await?;
                }
            }
            // The end is not forwarded, either.
            let lost = lost.lock().is_ok_and(|lost| *lost);
            if lost || self.state.borrow().network == Network::Cut {
                std::future::pending::<()>().await;
            }
            anyhow::Ok(())
        };
        tokio::join!(receive, deliver).1
    }
}

async fn read(from: &OwnedReadHalf, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        from.readable().await?;
        match from.try_read(buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
}

async fn write_all(to: &OwnedWriteHalf, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        to.writable().await?;
        match to.try_write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => bytes = &bytes[result?..],
        }
    }
    Ok(())
}
