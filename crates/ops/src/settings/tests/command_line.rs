//! Settings as flags.

use super::*;

/// A command with every setting of the table.
fn command() -> clap::Command {
    let keys: Vec<_> = TABLE.iter().map(|setting| setting.key).collect();
    clap::Command::new("bridge").args(arguments(TABLE, &keys))
}

#[test]
fn the_help_lists_flags_variables_and_defaults() {
    let help = command().render_long_help().to_string();
    for part in [
        "--config <FILE>",
        "--partitions <VALUE>",
        "[environment: WATTLINE_PARTITIONS] [default: 12]",
        "--database-url-file <FILE>",
        "[environment: WATTLINE_DATABASE_URL_FILE]",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn flags_of_a_command_line_are_found_by_key_and_defaults_are_not_flags() {
    let matches = command().get_matches_from([
        "bridge",
        "--config",
        "w.toml",
        "--mqtt-url",
        "mqtt://b",
        "--pin-file=p",
    ]);
    let expected = owned(&[("mqtt_url", "mqtt://b"), ("pin_file", "p")]);
    assert_eq!(flags(TABLE, &matches), expected);
    assert_eq!(config_path(&matches), Some(PathBuf::from("w.toml")));
    let bare = clap::Command::new("bare").get_matches_from(["bare"]);
    assert!(flags(TABLE, &bare).is_empty());
    let settings = Settings::from_matches(TABLE, &bare, &|_| None).unwrap();
    assert_eq!(settings.text("mqtt_url").unwrap(), "mqtt://127.0.0.1:1883");
}
