//! The broker's configuration; `deploy/mosquitto/mosquitto.conf` explains the same limits.

use std::path::Path;

use super::MosquittoOptions;

/// The limits that a broker in front of wattline has; a test compares the shipped configuration.
pub(super) const LIMITS: &str = "\
max_inflight_messages 0
max_queued_messages 1000000
max_queued_bytes 0
message_size_limit 262144
max_packet_size 266240
set_tcp_nodelay true
";

/// Writes the configuration of a broker in `folder`.
pub(super) fn text(folder: &Path, port: u16, options: &MosquittoOptions) -> String {
    let mut text = match &options.configuration {
        Some(whole) => format!("{whole}\n"),
        None => private(folder, port, options),
    };
    if rustix::process::geteuid().is_root() {
        // It would become the user mosquitto, who may not write to this folder.
        text.push_str("user root\n");
    }
    text
}

fn private(folder: &Path, port: u16, options: &MosquittoOptions) -> String {
    let mut text = format!(
        "listener {port} 127.0.0.1\n\
         allow_anonymous {}\n\
         persistence true\n\
         persistence_location {}/\n\
         autosave_interval 5\n\
         log_dest stderr\n\
         log_type error\nlog_type warning\nlog_type notice\n\
         connection_messages false\n\
         {LIMITS}",
        options.password_file.is_none(),
        folder.display(),
    );
    let files = [
        ("password_file", &options.password_file),
        ("acl_file", &options.acl_file),
    ];
    for (key, path) in files {
        if let Some(path) = path {
            text.push_str(&format!("{key} {}\n", path.display()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::LIMITS;

    #[test]
    fn the_shipped_configuration_has_the_same_limits() {
        let shipped = include_str!("../../../../deploy/mosquitto/mosquitto.conf");
        for limit in LIMITS.lines() {
            assert!(
                shipped.lines().any(|line| line == limit),
                "{limit} is missing"
            );
        }
    }
}
