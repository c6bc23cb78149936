//! Asking a server whether it answers, in its own protocol.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

/// How long one question may take; a frozen server must not hold up the next look at its process.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Connects to a port on loopback.
pub(crate) fn connect(port: u16) -> io::Result<TcpStream> {
    let stream =
        TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Sends `question` and reads the first `N` bytes of the answer.
pub(crate) fn ask<const N: usize>(
    stream: &mut (impl Read + Write),
    question: &[u8],
) -> io::Result<[u8; N]> {
    stream.write_all(question)?;
    let mut answer = [0; N];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

/// The error for an answer that is none.
pub(crate) fn not_understood(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}
