//! What can be broken, how often and for how long.

use rand::{Rng, RngExt};
use std::fmt;
use std::time::Duration;
use testkit::Direction;

/// A process of ours; by number where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// One of the bridges.
    Bridge(usize),
    /// One of the aggregators.
    Aggregator(usize),
    /// The control role.
    Control,
    /// The api.
    Api,
}

/// The network between two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// All controllers to the broker.
    ControllersToBroker,
    /// A bridge to the broker.
    BridgeToBroker(usize),
    /// A bridge to Kafka.
    BridgeToKafka(usize),
    /// An aggregator to Kafka.
    AggregatorToKafka(usize),
    /// An aggregator to the database.
    AggregatorToDatabase(usize),
    /// Control to the broker.
    ControlToBroker,
    /// Control to the database.
    ControlToDatabase,
    /// The api to the database.
    ApiToDatabase,
}

/// What is broken by a fault, and so by one fault at a time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A process of ours.
    Role(Role),
    /// The network between two parts.
    Route(Route),
    /// The log.
    Kafka,
    /// PostgreSQL.
    Database,
    /// Mosquitto.
    Broker,
}

/// One thing that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL, and started again.
    Kill(Role),
    /// SIGSTOP, and SIGCONT.
    Freeze(Role),
    /// Stopped in order, and back again: a member leaves and joins.
    Leave(Role),
    /// The process's time of day is off by so many hours.
    StepClock(Role, i64),
    /// SIGKILL, and restarted.
    KillKafka,
    /// SIGSTOP, and SIGCONT.
    FreezeKafka,
    /// The topics take no message as large as ours: Kafka answers and takes nothing.
    RefuseWrites,
    /// SIGKILL of all of PostgreSQL's processes, and restarted.
    KillDatabase,
    /// SIGSTOP, and SIGCONT.
    FreezeDatabase,
    /// Every session is ended by the server.
    EndSessions,
    /// Statements wait for a lock that somebody holds.
    HangStatements,
    /// No byte more fits on the database's disk.
    FillDisk,
    /// Stopped in order, and restarted.
    RestartBroker,
    /// SIGSTOP, and SIGCONT.
    FreezeBroker,
    /// Every connection is cut once.
    Cut(Route),
    /// Every connection is cut, and every new one.
    Refuse(Route),
    /// Nothing arrives in one direction.
    Hold(Route, Direction),
    /// Everything takes longer.
    Slow(Route),
}

/// How many there are of what there may be several of.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bridges with a shared subscription.
    pub bridges: usize,
    /// Aggregators in one consumer group.
    pub aggregators: usize,
    /// Whether the database's disk can be filled: only where this user may mount one.
    pub small_disk: bool,
    /// Whether clocks can be stepped: only with libfaketime.
    pub clocks: bool,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "as the faults of these names")]
pub enum Kind {
    Kill,
    Freeze,
    Leave,
    StepClock,
    KillKafka,
    FreezeKafka,
    RefuseWrites,
    KillDatabase,
    FreezeDatabase,
    EndSessions,
    HangStatements,
    FillDisk,
    RestartBroker,
    FreezeBroker,
    Cut,
    Refuse,
    Hold,
    Slow,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Kill,
        Self::Freeze,
        Self::Leave,
        Self::StepClock,
        Self::KillKafka,
        Self::FreezeKafka,
        Self::RefuseWrites,
        Self::KillDatabase,
        Self::FreezeDatabase,
        Self::EndSessions,
        Self::HangStatements,
        Self::FillDisk,
        Self::RestartBroker,
        Self::FreezeBroker,
        Self::Cut,
        Self::Refuse,
        Self::Hold,
        Self::Slow,
    ];

    /// Whether it can be had in a run of this shape.
    #[must_use]
    pub fn is_possible(self, shape: Shape) -> bool {
        (self != Self::FillDisk || shape.small_disk) && (self != Self::StepClock || shape.clocks)
    }

    /// How many of them are in a deck of faults: what is over in a moment comes oftener.
    #[must_use]
    pub const fn weight(self) -> usize {
        match self {
            Self::Kill | Self::Cut => 6,
            Self::Freeze | Self::Leave | Self::Refuse | Self::Hold | Self::Slow => 3,
            Self::EndSessions | Self::HangStatements => 2,
            Self::StepClock
            | Self::KillKafka
            | Self::FreezeKafka
            | Self::RefuseWrites
            | Self::KillDatabase
            | Self::FreezeDatabase
            | Self::FillDisk
            | Self::RestartBroker
            | Self::FreezeBroker => 1,
        }
    }

    /// How long it lasts at least and at most, in milliseconds. Some outlive the time after which a part counts as
    /// gone: ten seconds for a consumer, some seconds for a connection.
    #[must_use]
    pub const fn lasts_ms(self) -> (u64, u64) {
        match self {
            Self::Kill | Self::Leave => (0, 3_000),
            Self::Freeze => (200, 16_000),
            Self::KillKafka | Self::KillDatabase | Self::RestartBroker => (0, 4_000),
            Self::FreezeKafka | Self::FreezeDatabase | Self::FreezeBroker => (500, 8_000),
            Self::RefuseWrites | Self::FillDisk | Self::HangStatements => (1_000, 8_000),
            Self::StepClock => (2_000, 10_000),
            Self::EndSessions | Self::Cut => (0, 1),
            Self::Refuse | Self::Hold => (200, 8_000),
            Self::Slow => (1_000, 10_000),
        }
    }

    /// Chooses what it strikes.
    pub fn aim(self, draw: &mut impl Rng, shape: Shape) -> Fault {
        match self {
            Self::Kill => Fault::Kill(role(draw, shape)),
            Self::Freeze => Fault::Freeze(role(draw, shape)),
            Self::Leave => Fault::Leave(scaled(draw, shape)),
            Self::StepClock => {
                let hours = if draw.random_bool(0.5) { 1 } else { -1 };
                Fault::StepClock(scaled(draw, shape), hours)
            }
            Self::KillKafka => Fault::KillKafka,
            Self::FreezeKafka => Fault::FreezeKafka,
            Self::RefuseWrites => Fault::RefuseWrites,
            Self::KillDatabase => Fault::KillDatabase,
            Self::FreezeDatabase => Fault::FreezeDatabase,
            Self::EndSessions => Fault::EndSessions,
            Self::HangStatements => Fault::HangStatements,
            Self::FillDisk => Fault::FillDisk,
            Self::RestartBroker => Fault::RestartBroker,
            Self::FreezeBroker => Fault::FreezeBroker,
            Self::Cut => Fault::Cut(route(draw, shape)),
            Self::Refuse => Fault::Refuse(route(draw, shape)),
            Self::Hold => {
                let up = draw.random_bool(0.5);
                let direction = if up {
                    Direction::ToServer
                } else {
                    Direction::ToClient
                };
                Fault::Hold(route(draw, shape), direction)
            }
            Self::Slow => Fault::Slow(route(draw, shape)),
        }
    }

    /// Draws how long one of them lasts.
    pub fn lasts(self, draw: &mut impl Rng) -> Duration {
        let (least, most) = self.lasts_ms();
        Duration::from_millis(draw.random_range(least..=most))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self:?}")
    }
}

impl Shape {
    /// Every process.
    #[must_use]
    pub fn roles(self) -> Vec<Role> {
        let bridges = (0..self.bridges).map(Role::Bridge);
        let aggregators = (0..self.aggregators).map(Role::Aggregator);
        let single = [Role::Control, Role::Api];
        bridges.chain(aggregators).chain(single).collect()
    }

    /// Every network.
    #[must_use]
    pub fn routes(self) -> Vec<Route> {
        let mut routes = vec![
            Route::ControllersToBroker,
            Route::ControlToBroker,
            Route::ControlToDatabase,
            Route::ApiToDatabase,
        ];
        for bridge in 0..self.bridges {
            routes.extend([Route::BridgeToBroker(bridge), Route::BridgeToKafka(bridge)]);
        }
        for aggregator in 0..self.aggregators {
            routes.extend([
                Route::AggregatorToKafka(aggregator),
                Route::AggregatorToDatabase(aggregator),
            ]);
        }
        routes
    }
}

impl Fault {
    /// What it breaks.
    #[must_use]
    pub const fn part(self) -> Part {
        match self {
            Self::Kill(role)
            | Self::Freeze(role)
            | Self::Leave(role)
            | Self::StepClock(role, _) => Part::Role(role),
            Self::KillKafka | Self::FreezeKafka | Self::RefuseWrites => Part::Kafka,
            Self::KillDatabase
            | Self::FreezeDatabase
            | Self::EndSessions
            | Self::HangStatements
            | Self::FillDisk => Part::Database,
            Self::RestartBroker | Self::FreezeBroker => Part::Broker,
            Self::Cut(route) | Self::Refuse(route) | Self::Hold(route, _) | Self::Slow(route) => {
                Part::Route(route)
            }
        }
    }
}

fn role(draw: &mut impl Rng, shape: Shape) -> Role {
    let roles = shape.roles();
    roles[draw.random_range(0..roles.len())]
}

/// One of those of which there are several.
fn scaled(draw: &mut impl Rng, shape: Shape) -> Role {
    let number = draw.random_range(0..shape.bridges + shape.aggregators);
    if number < shape.bridges {
        Role::Bridge(number)
    } else {
        Role::Aggregator(number - shape.bridges)
    }
}

fn route(draw: &mut impl Rng, shape: Shape) -> Route {
    let routes = shape.routes();
    routes[draw.random_range(0..routes.len())]
}
