//! A TCP proxy on loopback: the network between two parts, which can be cut, held back or slowed.

mod pump;

use pump::{Gates, carry};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Which bytes a proxy holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From whoever connected to the server.
    ToServer,
    /// From the server to whoever connected.
    ToClient,
}

/// What each connection has sent towards the server, in order of connections.
type Recorded = Arc<Mutex<Vec<Vec<u8>>>>;

/// A way to a server; ends when dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    gates: Arc<watch::Sender<Gates>>,
    recorded: Recorded,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Opens a way to the server at 127.0.0.1:`server_port`.
    pub async fn open(server_port: u16) -> Self {
        Self::start(server_port, false).await
    }

    /// The same, and keeps what is sent towards the server, also what it holds back: see
    /// [`Self::sent_to_server`].
    pub async fn recording(server_port: u16) -> Self {
        Self::start(server_port, true).await
    }

    async fn start(server_port: u16, recording: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gates = Arc::new(watch::Sender::new(Gates::default()));
        let mut tasks = JoinSet::new();
        let recorded = Recorded::default();
        let kept = recording.then(|| Arc::clone(&recorded));
        tasks.spawn(accept(listener, server_port, Arc::clone(&gates), kept));
        Self {
            address,
            gates,
            recorded,
            _tasks: tasks,
        }
    }

    /// Where to connect.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Lets no byte of this direction through from now on; nothing is lost.
    pub fn hold(&self, direction: Direction) {
        self.gates.send_modify(|gates| match direction {
            Direction::ToServer => gates.hold_to_server = true,
            Direction::ToClient => gates.hold_to_client = true,
        });
    }

    /// Lets a piece of at most 16 KiB through in either direction, and then waits this long.
    pub fn slow(&self, pause: Duration) {
        self.gates.send_modify(|gates| gates.pause = pause);
    }

    /// Cuts every connection, and every new one at once, until [`Self::release`].
    pub fn refuse(&self) {
        self.gates.send_modify(|gates| {
            gates.refuse = true;
            gates.cuts += 1;
        });
    }

    /// Lets nothing more through on the connections that there are, and tells neither side: as a network that has
    /// forgotten them. New ones are taken.
    pub fn forget(&self) {
        self.gates.send_modify(|gates| gates.forgotten += 1);
    }

    /// Lets everything through again, at full speed.
    pub fn release(&self) {
        self.gates.send_modify(|gates| {
            *gates = Gates {
                cuts: gates.cuts,
                forgotten: gates.forgotten,
                ..Gates::default()
            };
        });
    }

    /// The bytes that each connection has sent towards the server, also those held back; nothing unless it was
    /// opened with [`Self::recording`].
    #[must_use]
    pub fn sent_to_server(&self) -> Vec<Vec<u8>> {
        self.recorded.lock().unwrap().clone()
    }

    /// Cuts every connection; new ones are taken.
    pub fn cut(&self) {
        self.gates.send_modify(|gates| gates.cuts += 1);
    }
}

async fn accept(
    listener: TcpListener,
    server_port: u16,
    gates: Arc<watch::Sender<Gates>>,
    recorded: Option<Recorded>,
) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let number = recorded.as_ref().map_or(0, |recorded| {
            let mut recorded = recorded.lock().unwrap();
            recorded.push(Vec::new());
            recorded.len() - 1
        });
        let (gates, recorded) = (gates.subscribe(), recorded.clone());
        if gates.borrow().refuse {
            continue;
        }
        connections.spawn(async move {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)).await else {
                return;
            };
            let record = recorded.map(|recorded| {
                move |bytes: &[u8]| recorded.lock().unwrap()[number].extend_from_slice(bytes)
            });
            carry(client, server, gates, record).await;
        });
    }
}
