//! As much of PostgreSQL's protocol as it takes to see that a server answers and to make a database.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use crate::answer;

/// The SQLSTATE of a database that is there already.
pub(super) const DUPLICATE_DATABASE: &str = "42P04";

/// Protocol 3.0, and the two parameters of every session.
const STARTUP: &[u8] = b"\x00\x03\x00\x00user\0postgres\0database\0postgres\0\0";

/// No message that a server sends here is longer.
const LONGEST: u32 = 64 * 1024;

/// How long a statement may take; making a database copies another.
const STATEMENT_PATIENCE: Duration = Duration::from_secs(30);

/// A session that trusts the server as the server trusts it.
pub(super) struct Connection(UnixStream);

impl Connection {
    /// Connects to the socket and waits until the session is ready.
    pub(super) fn open(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(answer::PATIENCE))?;
        stream.set_write_timeout(Some(answer::PATIENCE))?;
        let mut connection = Self(stream);
        connection.send(None, STARTUP)?;
        connection.until_ready()?;
        Ok(connection)
    }

    /// Executes one statement; an error begins with its SQLSTATE.
    pub(super) fn execute(&mut self, statement: &str) -> io::Result<()> {
        self.0.set_read_timeout(Some(STATEMENT_PATIENCE))?;
        self.send(Some(b'Q'), &[statement.as_bytes(), b"\0"].concat())?;
        self.until_ready()
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 4).map_err(io::Error::other)?;
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        self.0.write_all(&message)
    }

    /// Reads until the server waits for us; an error message on the way is the outcome.
    fn until_ready(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        loop {
            let (kind, body) = match self.receive() {
                // A refused session ends with the error message.
                Err(end) => return outcome.and(Err(end)),
                Ok(message) => message,
            };
            match kind {
                b'Z' => return outcome,
                b'E' => outcome = Err(io::Error::other(said(&body))),
                _ => {}
            }
        }
    }

    fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let [kind, l1, l2, l3, l4] = head;
        let length = u32::from_be_bytes([l1, l2, l3, l4]);
        if !(4..LONGEST).contains(&length) {
            return Err(answer::not_understood("not PostgreSQL"));
        }
        let mut body = vec![0; usize::try_from(length - 4).map_err(io::Error::other)?];
        self.0.read_exact(&mut body)?;
        Ok((kind, body))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Said goodbye, or the server's log would complain at every look; one that is gone hears nothing.
        if let Err(error) = self.send(Some(b'X'), b"") {
            tracing::trace!(%error, "no goodbye");
        }
    }
}

/// The SQLSTATE and the text of an error message: fields of one letter and a text that ends with zero.
fn said(body: &[u8]) -> String {
    let field = |letter: u8| {
        body.split(|byte| *byte == 0)
            .find(|field| field.first() == Some(&letter))
            .map(|field| String::from_utf8_lossy(field.get(1..).unwrap_or_default()).into_owned())
            .unwrap_or_default()
    };
    format!("{} {}", field(b'C'), field(b'M'))
}
