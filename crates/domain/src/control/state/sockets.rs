//! Car sockets: each has its own entry, and an action is over with its last one.

use super::{Ended, State, end_after, replaced};
use crate::control::action::SocketWish;
use crate::control::desired::Socket;
use crate::time::Timestamp;
use std::collections::BTreeSet;
use uuid::Uuid;

impl State {
    pub(super) fn take_sockets(
        &mut self,
        action_uuid: Uuid,
        wishes: &[SocketWish],
        now: Timestamp,
        ended: &mut Vec<Ended>,
    ) {
        let wished: BTreeSet<Uuid> = wishes.iter().map(|it| it.sensor_uuid).collect();
        let sockets = &mut self.desired.ev_sockets;
        let old = sockets.extract_if(.., |it| wished.contains(&it.sensor_uuid));
        let old: BTreeSet<Uuid> = old.map(|it| it.action_uuid).collect();
        for action in old {
            if !self.has_socket_of(action) {
                replaced(Some(action), ended);
            }
        }
        self.desired
            .ev_sockets
            .extend(wishes.iter().map(|wish| Socket {
                action_uuid,
                sensor_uuid: wish.sensor_uuid,
                charge_watts: wish.charge_watts,
                until: end_after(now, wish.timeout_s),
            }));
        self.desired.ev_sockets.sort_by_key(|it| it.sensor_uuid);
    }

    pub(super) fn has_socket_of(&self, action_uuid: Uuid) -> bool {
        let mut sockets = self.desired.ev_sockets.iter();
        sockets.any(|it| it.action_uuid == action_uuid)
    }
}
