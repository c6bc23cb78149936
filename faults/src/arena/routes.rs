//! A proxy on every way between two parts.

use super::{kafka_route, setting};
use crate::Outcome;
use crate::fault::{Role, Route, Shape};
use embedded::KafkaRoute;
use std::collections::BTreeMap;
use testkit::Proxy;

/// The proxies, and Kafka's ways in behind them.
pub(crate) struct Routes {
    proxies: BTreeMap<Route, Proxy>,
    /// The port that Kafka listens on behind a route.
    kafka_ports: BTreeMap<Route, u16>,
}

impl Routes {
    pub(super) async fn open(shape: Shape, broker_port: u16, database_port: u16) -> Outcome<Self> {
        let mut routes = Self {
            proxies: BTreeMap::new(),
            kafka_ports: BTreeMap::new(),
        };
        for route in shape.routes() {
            let port = match route {
                Route::ControllersToBroker | Route::BridgeToBroker(_) | Route::ControlToBroker => {
                    broker_port
                }
                Route::AggregatorToDatabase(_)
                | Route::ControlToDatabase
                | Route::ApiToDatabase => database_port,
                Route::BridgeToKafka(_) | Route::AggregatorToKafka(_) => {
                    let port = embedded::free_port()?;
                    routes.kafka_ports.insert(route, port);
                    port
                }
            };
            routes.proxies.insert(route, Proxy::open(port).await);
        }
        Ok(routes)
    }

    pub(super) fn kafka(&self) -> Vec<KafkaRoute> {
        let ports = self.kafka_ports.iter();
        ports
            .map(|(route, port)| kafka_route(*port, &self.proxies[route]))
            .collect()
    }

    pub(super) fn of(&self, route: Route) -> &Proxy {
        &self.proxies[&route]
    }

    /// What a process is told so that it goes its own ways.
    pub(super) fn settings(&self, role: Role, database: &str) -> BTreeMap<String, String> {
        let address = |route| format!("127.0.0.1:{}", self.proxies[&route].port());
        let broker = |route| setting("MQTT_URL", format!("mqtt://{}", address(route)));
        let store = |route| {
            let url = format!("postgres://postgres@{}/{database}", address(route));
            setting("DATABASE_URL", url)
        };
        let kafka = |route| setting("KAFKA_BROKERS", address(route));
        let settings = match role {
            Role::Bridge(number) => vec![
                broker(Route::BridgeToBroker(number)),
                kafka(Route::BridgeToKafka(number)),
                setting("MQTT_CLIENT_ID", format!("bridge-{number}")),
            ],
            Role::Aggregator(number) => vec![
                store(Route::AggregatorToDatabase(number)),
                kafka(Route::AggregatorToKafka(number)),
            ],
            Role::Control => vec![
                broker(Route::ControlToBroker),
                store(Route::ControlToDatabase),
            ],
            Role::Api => vec![
                store(Route::ApiToDatabase),
                setting("HTTP_LISTEN", "127.0.0.1:0".to_owned()),
            ],
        };
        settings.into_iter().collect()
    }
}
