//! A connection on which a test writes and reads HTTP itself, byte by byte where it wants to.

use crate::answer::Answer;
use crate::certificates::Authority;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::SupportedProtocolVersion;
use tokio_rustls::rustls::pki_types::ServerName;

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection to loopback, with TLS or without.
pub struct Socket {
    stream: Box<dyn Stream>,
    /// What was read and belongs to no answer yet.
    read: Vec<u8>,
    certificate: Option<Vec<u8>>,
}

impl Socket {
    /// A plain connection.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn connect(port: u16) -> io::Result<Self> {
        Self::connect_from(Ipv4Addr::LOCALHOST, port).await
    }

    /// A plain connection from another address of loopback.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn connect_from(source: Ipv4Addr, port: u16) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((source, 0)))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Self::over(socket.connect(address).await?, None))
    }

    /// A plain connection whose end has room for a few kilobytes that nobody has read.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn connect_narrow(port: u16) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Self::over(socket.connect(address).await?, None))
    }

    /// A connection with TLS to a server whose certificate is of `authority`.
    ///
    /// # Errors
    /// When nobody listens, or the handshake fails.
    pub async fn secure(port: u16, authority: &Authority) -> io::Result<Self> {
        Self::secure_with(port, authority, &[]).await
    }

    /// The same with these versions of TLS only; all, where none is named.
    ///
    /// # Errors
    /// When nobody listens, or the handshake fails.
    pub async fn secure_with(
        port: u16,
        authority: &Authority,
        versions: &[&'static SupportedProtocolVersion],
    ) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let connector = TlsConnector::from(authority.client(versions));
        let name = ServerName::try_from("localhost").unwrap();
        let stream = connector.connect(name, stream).await?;
        let certificate = stream.get_ref().1.peer_certificates();
        let certificate = certificate.and_then(|it| it.first()).map(|it| it.to_vec());
        Ok(Self::over(stream, certificate))
    }

    fn over(stream: impl Stream + 'static, certificate: Option<Vec<u8>>) -> Self {
        Self {
            stream: Box::new(stream),
            read: Vec::new(),
            certificate,
        }
    }

    /// The server's own certificate, in DER; none without TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<&[u8]> {
        self.certificate.as_deref()
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn send(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(text.as_bytes()).await?;
        self.stream.flush().await
    }

    /// Sends any bytes as they are.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Reads so many bytes.
    ///
    /// # Errors
    /// When the connection ends before.
    pub async fn receive(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.read.len() < length {
            let mut buffer = [0; 4_096];
            let read = self.stream.read(&mut buffer).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.read.extend_from_slice(&buffer[..read]);
        }
        Ok(self.read.drain(..length).collect())
    }

    /// Sends a GET below `/public-api` and reads its answer.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn get(&mut self, path: &str, headers: &str) -> io::Result<Answer> {
        let head = format!("GET /public-api{path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        self.send(&head).await?;
        self.answer().await
    }

    /// Sends a POST with a body below `/public-api` and reads its answer.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn post(&mut self, path: &str, headers: &str, body: &str) -> io::Result<Answer> {
        let length = body.len();
        let head = format!(
            "POST /public-api{path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        self.send(&(head + body)).await?;
        self.answer().await
    }

    /// Reads one whole answer.
    ///
    /// # Errors
    /// When the connection ends before.
    pub async fn answer(&mut self) -> io::Result<Answer> {
        loop {
            if let Some((answer, length)) = Answer::parse(&self.read) {
                self.read.drain(..length);
                return Ok(answer);
            }
            let mut buffer = [0; 4_096];
            let read = self.stream.read(&mut buffer).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.read.extend_from_slice(&buffer[..read]);
        }
    }

    /// Waits until the server has ended the connection, in order or not.
    pub async fn ended(&mut self) {
        let mut buffer = [0; 4_096];
        while let Ok(1..) = self.stream.read(&mut buffer).await {}
    }
}
