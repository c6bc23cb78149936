//! The network under a connection, encrypted or not.

use crate::Broker;
use rustls::pki_types::ServerName;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A connected socket.
pub(super) enum Socket {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Connects; with `mqtts://` also makes sure who the broker is.
    pub(super) async fn open(broker: &Broker) -> Result<Self, String> {
        let address = &broker.address;
        // An address of IPv6 has brackets in a URL and nowhere else.
        let host = address.host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, address.port))
            .await
            .map_err(|error| error.to_string())?;
        // Acknowledgements are small packets; held back, they would hold back the next messages.
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        let Some(encryption) = &broker.encryption else {
            return Ok(Self::Plain(stream));
        };
        let name =
            ServerName::try_from(host.to_owned()).map_err(|error| format!("TLS: {error}"))?;
        let connector = TlsConnector::from(Arc::clone(encryption));
        let stream = connector.connect(name, stream).await;
        let stream = stream.map_err(|error| format!("TLS: {error}"))?;
        Ok(Self::Encrypted(Box::new(stream)))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
