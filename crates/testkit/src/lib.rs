#![doc = include_str!("../README.md")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, with its place"
)]
#![expect(
    clippy::print_stderr,
    reason = "a failing test shows the logs of its processes"
)]

mod answer;
mod api_client;
mod api_under_clock;
mod certificates;
mod control_under_clock;
mod controller;
mod desired_documents;
mod eventually;
mod log_reader;
mod proxy;
mod running;
pub mod servers;
mod shipped_broker;
mod socket;
mod world;

pub use answer::Answer;
pub use api_client::Client;
pub use api_under_clock::ApiUnderClock;
pub use certificates::{Authority, CertifiedPair, PairFiles};
pub use control_under_clock::ControlUnderClock;
pub use controller::Controller;
pub use desired_documents::{DesiredDocuments, ReceivedDocument};
pub use eventually::{eventually, eventually_within};
pub use log_reader::{LogRecord, read_topic};
pub use proxy::{Direction, Proxy};
pub use reqwest::Method;
pub use running::{Running, send_signal};
pub use servers::{DatabaseServer, Edition, KafkaServer};
pub use shipped_broker::ShippedBroker;
pub use socket::Socket;
pub use tokio_rustls::rustls::version as tls_version;
pub use world::{BuildingPlan, Mode, PASSWORD, USERNAME, World};
