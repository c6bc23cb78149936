//! What goes through one connection of a proxy.

use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

/// What is held back is read this far; then whoever sends has to wait, as on a real network.
const HELD_BYTES: usize = 256 * 1024;
/// What goes through at once where it is slow.
const PIECE_BYTES: usize = 16 * 1024;

/// What a proxy does with what passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gates {
    pub(super) hold_to_server: bool,
    pub(super) hold_to_client: bool,
    pub(super) pause: Duration,
    pub(super) refuse: bool,
    pub(super) cuts: u64,
    pub(super) forgotten: u64,
}

/// Carries both directions until one of them ends.
pub(super) async fn carry(
    client: TcpStream,
    server: TcpStream,
    gates: watch::Receiver<Gates>,
    record: Option<impl Fn(&[u8])>,
) {
    // What was sent is told even while it is held back, so all of it is read.
    let limit = if record.is_some() {
        usize::MAX
    } else {
        HELD_BYTES
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let up = Pump {
        from: from_client,
        to: to_server,
        gates: gates.clone(),
        held: |it| it.hold_to_server,
        limit,
    };
    let down = Pump {
        from: from_server,
        to: to_client,
        gates,
        held: |it| it.hold_to_client,
        limit: HELD_BYTES,
    };
    let record = |bytes: &[u8]| {
        if let Some(record) = &record {
            record(bytes);
        }
    };
    tokio::select! {
        () = up.run(record) => {}
        () = down.run(|_| {}) => {}
    }
}

struct Pump {
    from: OwnedReadHalf,
    to: OwnedWriteHalf,
    gates: watch::Receiver<Gates>,
    held: fn(&Gates) -> bool,
    limit: usize,
}

impl Pump {
    /// Writes nothing after a cut.
    async fn run(mut self, record: impl Fn(&[u8])) {
        let Gates {
            cuts, forgotten, ..
        } = *self.gates.borrow();
        let mut buffer = vec![0; PIECE_BYTES];
        let mut waiting = Vec::new();
        loop {
            let now = *self.gates.borrow_and_update();
            if now.cuts != cuts {
                return;
            }
            if now.forgotten != forgotten {
                return self.swallow(buffer).await;
            }
            if !(self.held)(&now) && !waiting.is_empty() {
                tokio::time::sleep(now.pause).await;
                // The pause may have outlived the connection.
                if self.gates.borrow().cuts != cuts || self.to.write_all(&waiting).await.is_err() {
                    return;
                }
                waiting.clear();
            }
            tokio::select! {
                read = self.from.read(&mut buffer), if waiting.len() < self.limit => match read {
                    Ok(0) | Err(_) => return,
                    Ok(read) => {
                        record(&buffer[..read]);
                        waiting.extend_from_slice(&buffer[..read]);
                    }
                },
                changed = self.gates.changed() => if changed.is_err() {
                    return;
                },
            }
        }
    }
    /// Confirms and passes on nothing, and never tells the other side.
    async fn swallow(mut self, mut buffer: Vec<u8>) {
        while let Ok(1..) = self.from.read(&mut buffer).await {}
        std::future::pending().await
    }
}
