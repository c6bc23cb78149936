//! The bridge's loop: one task owns the connection, the client and the ledger.

mod bridge;
mod silence;
mod stopping;

use crate::config::{Config, Handles};
use crate::log::Log;
use bridge::{Bridge, Ended};
use ops::failure::Fatal;
use ops::shutdown::Shutdown;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, ConnectionError, Event};
use std::pin::{Pin, pin};
use stopping::Stopping;
use tokio::select;
use tokio::time::{Duration, Interval, MissedTickBehavior, interval, sleep};

/// Between two looks at whether the log still reports and the broker still answers.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// What the loop wakes up for.
#[expect(
    clippy::large_enum_variant,
    reason = "lives for one turn of the loop; a box would cost an allocation for each packet"
)]
enum Happening {
    Mqtt(Result<Event, ConnectionError>),
    Reported,
    Room,
    LookDue,
    StopRequested,
    StopOverdue,
}

/// Carries messages from the broker to the log until `shutdown`, whatever servers come and go.
///
/// # Errors
/// A configuration that cannot be used, or a log that will never take a message again.
pub async fn run(
    config: Config,
    log: Log,
    handles: Handles,
    shutdown: Shutdown,
) -> Result<(), Fatal> {
    let mut bridge = Bridge::new(&config, log, handles)?;
    loop {
        match connection(&mut bridge, &shutdown).await {
            Ended::Stopped => return Ok(()),
            Ended::Fatal(fatal) => return Err(fatal),
            Ended::Emptied => break,
            Ended::Lost(cause) => {
                let wait = bridge.lose(cause);
                select! {
                    () = sleep(wait) => {}
                    () = shutdown.requested() => return Ok(()),
                }
            }
        }
    }
    select! {
        () = end_session(&mut bridge) => Ok(()),
        () = shutdown.requested() => Ok(()),
    }
}

/// Ends the session at the broker, in which nothing is left.
async fn end_session(bridge: &mut Bridge) {
    loop {
        let (client, mut eventloop) = bridge.connect_to_end();
        let cause = loop {
            match eventloop.poll().await {
                Ok(Event::Incoming(Packet::ConnAck(_))) => {
                    if let Err(error) = client.try_disconnect() {
                        break error.to_string();
                    }
                }
                Ok(Event::Outgoing(Outgoing::Disconnect)) => {
                    tracing::info!("nothing is left at the broker, and the session has ended");
                    return;
                }
                Ok(Event::Incoming(_) | Event::Outgoing(_)) => {}
                Err(error) => break error.to_string(),
            }
        };
        sleep(bridge.lose(cause)).await;
    }
}

/// One connection, from its CONNECT to its end.
async fn connection(bridge: &mut Bridge, shutdown: &Shutdown) -> Ended {
    let (client, mut eventloop) = bridge.connect();
    let mut stopping = Stopping::default();
    let mut looks = interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // The poll is not dropped before it is ready: it may be in the middle of a packet.
        let mut poll = pin!(eventloop.poll());
        let event = loop {
            let step = match next(bridge, poll.as_mut(), &mut looks, shutdown, &stopping).await {
                Happening::Mqtt(event) => break event,
                Happening::Reported => bridge.settle(&client),
                Happening::Room => bridge.hand_over(),
                Happening::LookDue => bridge.look(&client),
                Happening::StopRequested => stopping.begin(bridge),
                Happening::StopOverdue => stopping.give_up(bridge, &client),
            };
            if let Err(ended) = stopping.proceed(step, bridge, &client, shutdown) {
                return ended;
            }
        };
        let step = match event {
            Ok(event) => received(bridge, &client, event, &stopping),
            Err(error) => Err(stopping.lost(bridge, &error)),
        };
        if let Err(ended) = stopping.proceed(step, bridge, &client, shutdown) {
            return ended;
        }
    }
}

async fn next(
    bridge: &Bridge,
    poll: Pin<&mut impl Future<Output = Result<Event, ConnectionError>>>,
    looks: &mut Interval,
    shutdown: &Shutdown,
    stopping: &Stopping,
) -> Happening {
    select! {
        event = poll => Happening::Mqtt(event),
        () = bridge.reported() => Happening::Reported,
        () = bridge.room(), if bridge.has_waiting() => Happening::Room,
        _ = looks.tick() => Happening::LookDue,
        () = shutdown.requested(), if !stopping.begun() => Happening::StopRequested,
        () = stopping.overdue(), if stopping.begun() => Happening::StopOverdue,
    }
}

fn received(
    bridge: &mut Bridge,
    client: &AsyncClient,
    event: Event,
    stopping: &Stopping,
) -> Result<(), Ended> {
    if matches!(event, Event::Incoming(_)) {
        bridge.hear();
    }
    match event {
        Event::Incoming(Packet::ConnAck(answer)) => bridge.connected(client, &answer),
        Event::Incoming(Packet::SubAck(answer)) => bridge.subscribed(&answer),
        Event::Incoming(Packet::UnsubAck(_)) => bridge.unsubscribed(client),
        // Not entered and never acknowledged: the broker delivers it again.
        Event::Incoming(Packet::Publish(_)) if stopping.begun() => Ok(()),
        Event::Incoming(Packet::Publish(publish)) => bridge.arrive(publish),
        Event::Outgoing(Outgoing::Disconnect) => Err(Ended::Stopped),
        Event::Incoming(_) | Event::Outgoing(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
