//! The question whose answer tells that Kafka is ready.

use std::io;

use crate::answer;

/// Asks for the metadata of no topic (api key 3, version 1) and wants at least one broker in the answer:
/// before it is registered with itself, Kafka answers with none.
pub(super) fn metadata(port: u16) -> io::Result<()> {
    const LENGTH: [u8; 4] = [0, 0, 0, 14];
    const HEADER: [u8; 10] = [0, 3, 0, 1, 0, 0, 0, 7, 0xff, 0xff];
    const NO_TOPICS: [u8; 4] = [0, 0, 0, 0];
    let question = [&LENGTH[..], &HEADER, &NO_TOPICS].concat();
    let answer: [u8; 12] = answer::ask(&mut answer::connect(port)?, &question)?;
    let [_, _, _, _, c1, c2, c3, c4, b1, b2, b3, b4] = answer;
    if [c1, c2, c3, c4] != [0, 0, 0, 7] {
        return Err(answer::not_understood("not Kafka"));
    }
    match u32::from_be_bytes([b1, b2, b3, b4]) {
        0 => Err(answer::not_understood("Kafka knows no broker yet")),
        _ => Ok(()),
    }
}
