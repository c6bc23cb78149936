//! The one thread that starts servers.

use std::{
    io,
    process::{Child, Command},
    sync::{
        LazyLock,
        mpsc::{self, Sender},
    },
    thread,
};

/// What to start, and where to answer.
struct Order {
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// Lives as long as the process: the parent-death signal is sent when the thread that started the child
/// ends, not when the process does, so a test's or a runtime's thread must not start one.
static SPAWNER: LazyLock<Sender<Order>> = LazyLock::new(|| {
    let (orders, inbox) = mpsc::channel::<Order>();
    let work = move || {
        for mut order in inbox {
            if let Err(unheard) = order.answer.send(order.command.spawn()) {
                tracing::debug!(error = %unheard, "nobody waits for a server any more");
            }
        }
    };
    if let Err(error) = thread::Builder::new()
        .name("embedded-spawner".to_owned())
        .spawn(work)
    {
        // The inbox is gone with the thread: every order answers with an error.
        tracing::error!(%error, "the thread that starts servers could not be made");
    }
    orders
});

/// Starts a command from the thread that never ends.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    let (answer, outcome) = mpsc::channel();
    let gone = |_| io::Error::other("the thread that starts servers has ended");
    SPAWNER
        .send(Order { command, answer })
        .map_err(|order| gone(order.to_string()))?;
    outcome.recv().map_err(|error| gone(error.to_string()))?
}
