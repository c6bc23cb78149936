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
    mut gates: watch::Receiver<Gates>,
    record: impl Fn(&[u8]),
) {
    let cuts = gates.borrow().cuts;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = pump(from_client, to_server, gates.clone(), |it| it.hold_to_server, record) => {}
        () = pump(from_server, to_client, gates.clone(), |it| it.hold_to_client, |_| {}) => {}
        _ = gates.wait_for(|it| it.cuts != cuts) => {}
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut gates: watch::Receiver<Gates>,
    held: impl Fn(&Gates) -> bool,
    record: impl Fn(&[u8]),
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match from.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        record(&buffer[..read]);
        if gates.wait_for(|gates| !held(gates)).await.is_err() {
            return;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
