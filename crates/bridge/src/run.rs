//! The bridge's loop: one task owns the connection, the client and the ledger.

mod bridge;
mod silence;
mod stopping;

use crate::config::{Config, Handles};
use crate::log::Log;
use bridge::{Bridge, Ended};
use mqtt::{Line, Turned};
use ops::failure::Fatal;
use ops::shutdown::Shutdown;
use rumqttc::v5::mqttbytes::v5::Packet;
use stopping::Stopping;
use tokio::select;
use tokio::time::{Duration, Interval, MissedTickBehavior, interval, sleep};

/// Between two looks at whether the log still reports and the broker still answers.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// What the loop wakes up for.
enum Happening {
    Line(Result<Turned, String>),
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
    while let Err(cause) = bridge.end_session().await {
        sleep(bridge.lose(cause)).await;
    }
    tracing::info!("nothing is left at the broker, and the session has ended");
}

/// One connection, from its CONNECT to its end.
async fn connection(bridge: &mut Bridge, shutdown: &Shutdown) -> Ended {
    let connected = select! {
        connected = bridge.connect() => connected,
        () = shutdown.requested() => Err(Ended::Stopped),
    };
    match connected {
        Ok((mut line, answer)) => {
            bridge.connected(&mut line, &answer);
            carry(bridge, &mut line, shutdown).await
        }
        Err(ended) => ended,
    }
}

/// Whatever happens on a connection, until it ends.
async fn carry(bridge: &mut Bridge, line: &mut Line, shutdown: &Shutdown) -> Ended {
    let mut stopping = Stopping::default();
    let mut looks = interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let step = match next(bridge, line, &mut looks, shutdown, &stopping).await {
            Happening::Line(Ok(Turned::Written)) => Ok(()),
            Happening::Line(Ok(Turned::Read)) => read(bridge, line, &stopping),
            Happening::Line(Err(cause)) => Err(stopping.lost(bridge, cause)),
            Happening::Reported => bridge.settle(line),
            Happening::Room => bridge.hand_over(),
            Happening::LookDue => bridge.look(line),
            Happening::StopRequested => {
                stopping.begin();
                Ok(())
            }
            Happening::StopOverdue => stopping.give_up(bridge, line),
        };
        if let Err(ended) = stopping.proceed(step, bridge, line, shutdown) {
            return ended;
        }
    }
}

async fn next(
    bridge: &Bridge,
    line: &mut Line,
    looks: &mut Interval,
    shutdown: &Shutdown,
    stopping: &Stopping,
) -> Happening {
    select! {
        turned = line.turn(bridge.may_read()) => Happening::Line(turned),
        () = bridge.reported() => Happening::Reported,
        () = bridge.room(), if bridge.has_waiting() => Happening::Room,
        _ = looks.tick() => Happening::LookDue,
        () = shutdown.requested(), if !stopping.begun() => Happening::StopRequested,
        () = stopping.overdue(), if stopping.begun() => Happening::StopOverdue,
    }
}

/// All packets that have come.
fn read(bridge: &mut Bridge, line: &mut Line, stopping: &Stopping) -> Result<(), Ended> {
    bridge.hear();
    while let Some(packet) = line.packet().map_err(Ended::Lost)? {
        received(bridge, line, packet, stopping)?;
    }
    Ok(())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all others are for those who publish, or for brokers"
)]
fn received(
    bridge: &mut Bridge,
    line: &mut Line,
    packet: Packet,
    stopping: &Stopping,
) -> Result<(), Ended> {
    match packet {
        Packet::SubAck(answer) => bridge.subscribed(&answer),
        Packet::UnsubAck(_) => bridge.unsubscribed(line),
        // Not entered and never acknowledged: the broker delivers it again.
        Packet::Publish(_) if stopping.begun() => Ok(()),
        Packet::Publish(publish) => bridge.arrive(publish),
        Packet::Disconnect(farewell) => {
            let cause = farewell.reason_code;
            Err(Ended::Lost(format!(
                "the broker ends the connection: {cause:?}"
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
