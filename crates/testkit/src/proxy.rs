//! A TCP proxy on loopback that can hold back one direction or cut all connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gates {
    hold_to_server: bool,
    hold_to_client: bool,
    cuts: u64,
}

/// What each connection has sent towards the server, in order of connections.
type Recorded = Arc<Mutex<Vec<Vec<u8>>>>;

/// A way to a server; ends when dropped.
pub struct Proxy {
    address: SocketAddr,
    gates: Arc<watch::Sender<Gates>>,
    recorded: Recorded,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Opens a way to the server at 127.0.0.1:`server_port`.
    pub async fn open(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gates = Arc::new(watch::Sender::new(Gates::default()));
        let mut tasks = JoinSet::new();
        let recorded = Recorded::default();
        tasks.spawn(accept(
            listener,
            server_port,
            Arc::clone(&gates),
            Arc::clone(&recorded),
        ));
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

    /// Lets everything through again.
    pub fn release(&self) {
        self.gates.send_modify(|gates| {
            gates.hold_to_server = false;
            gates.hold_to_client = false;
        });
    }

    /// The bytes that each connection has sent towards the server, also those held back.
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
    recorded: Recorded,
) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let number = {
            let mut recorded = recorded.lock().unwrap();
            recorded.push(Vec::new());
            recorded.len() - 1
        };
        let (gates, recorded) = (gates.subscribe(), Arc::clone(&recorded));
        connections.spawn(async move {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)).await else {
                return;
            };
            let record = move |bytes: &[u8]| {
                recorded.lock().unwrap()[number].extend_from_slice(bytes);
            };
            carry(client, server, gates, record).await;
        });
    }
}

async fn carry(
    client: TcpStream,
    server: TcpStream,
    gates: watch::Receiver<Gates>,
    record: impl Fn(&[u8]),
) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = pump(from_client, to_server, gates.clone(), |it| it.hold_to_server, record) => {}
        () = pump(from_server, to_client, gates, |it| it.hold_to_client, |_| {}) => {}
    }
}

/// Reads on while it holds back, so that what was sent is known; writes nothing after a cut.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut gates: watch::Receiver<Gates>,
    held: impl Fn(&Gates) -> bool,
    record: impl Fn(&[u8]),
) {
    let cuts = gates.borrow().cuts;
    let mut buffer = vec![0; 64 * 1024];
    let mut waiting = Vec::new();
    loop {
        let now = *gates.borrow_and_update();
        if now.cuts != cuts {
            return;
        }
        if !held(&now) && !waiting.is_empty() {
            if to.write_all(&waiting).await.is_err() {
                return;
            }
            waiting.clear();
        }
        tokio::select! {
            read = from.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => {
                    record(&buffer[..read]);
                    waiting.extend_from_slice(&buffer[..read]);
                }
            },
            changed = gates.changed() => if changed.is_err() {
                return;
            },
        }
    }
}
