//! Settings as flags of a command line.

use super::Setting;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The name of the flag for the file.
const CONFIG: &str = "config";

/// The flags of the settings with these keys, and `--config`. Defaults are told in the help only: a
/// default that clap filled in could not be told from a flag, which comes first.
///
/// # Panics
/// When the table has no setting with one of the keys.
#[must_use]
pub fn arguments(table: &'static [Setting], keys: &[&str]) -> Vec<Arg> {
    let config = Arg::new(CONFIG)
        .long(CONFIG)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("TOML file with settings, each by the name of its flag with _ in place of -");
    let mut arguments = vec![config];
    for key in keys {
        let setting = table.iter().find(|setting| setting.key == *key);
        let setting = setting.unwrap_or_else(|| panic!("the table has no setting {key}"));
        arguments.push(value_argument(setting));
        arguments.extend(setting.secret.then(|| file_argument(setting)));
    }
    arguments
}

/// The values that a command line gives, by key, for [`super::Settings::load`].
#[must_use]
pub fn flags(table: &'static [Setting], matches: &ArgMatches) -> BTreeMap<String, String> {
    let keys = table.iter().flat_map(|setting| {
        let by_file = setting.secret.then(|| format!("{}_file", setting.key));
        [Some(setting.key.to_owned()), by_file]
            .into_iter()
            .flatten()
    });
    keys.filter_map(|key| {
        // A subcommand lists only the settings that it uses; one that it does not list is not given.
        let value = matches.try_get_one::<String>(&key).ok().flatten()?.clone();
        Some((key, value))
    })
    .collect()
}

/// The file that `--config` names.
#[must_use]
pub fn config_path(matches: &ArgMatches) -> Option<PathBuf> {
    matches
        .try_get_one::<PathBuf>(CONFIG)
        .ok()
        .flatten()
        .cloned()
}

fn value_argument(setting: &Setting) -> Arg {
    let mut help = format!("{} [environment: {}]", setting.help, setting.variable());
    // A secret's default would be shown to everybody, and is not one that anybody should use.
    if let Some(default) = setting
        .default
        .filter(|text| !setting.secret && !text.is_empty())
    {
        help.push_str(&format!(" [default: {default}]"));
    }
    argument(setting.key.to_owned(), setting.flag())
        .value_name("VALUE")
        .help(help)
}

fn file_argument(setting: &Setting) -> Arg {
    let help = format!(
        "File that holds the value of --{} [environment: {}_FILE]",
        setting.flag(),
        setting.variable()
    );
    argument(
        format!("{}_file", setting.key),
        format!("{}-file", setting.flag()),
    )
    .value_name("FILE")
    .help(help)
}

fn argument(id: String, flag: String) -> Arg {
    Arg::new(id)
        .long(flag)
        .action(ArgAction::Set)
        .allow_hyphen_values(true)
}
