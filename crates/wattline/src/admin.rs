//! `wattline admin`: making the database match a fleet file, and signing keys.

use crate::command_line::{switch, with_settings};
use crate::failure::Failure;
use crate::fleet_file::FleetFile;
use crate::settings::{DATABASE, LOGGING, SETTINGS};
use crate::{output, process, role};
use clap::{Arg, ArgMatches, Command, value_parser};
use ops::settings::Settings;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use store::{Applied, STATEMENT_TIMEOUT, Store};

pub(crate) fn command() -> Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("fleet file: buildings, sensors, users");
    let prune = switch(
        "prune",
        "deletes what the file does not name, with all its data",
    );
    Command::new("admin")
        .about("Administers buildings, users and signing keys")
        .subcommand_required(true)
        .subcommand(
            with_settings(
                "apply",
                "Makes the database match a fleet file; the same again changes nothing",
                &[LOGGING, DATABASE],
            )
            .arg(file)
            .arg(prune),
        )
        .subcommand(
            Command::new("token")
                .about("Signing keys")
                .subcommand_required(true)
                .subcommand(with_settings(
                    "new-key",
                    "Puts a fresh key first into the key file, made when missing",
                    &[LOGGING, &["token_key_file"]],
                )),
        )
}

pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("apply", matches)) => apply(matches),
        Some(("token", matches)) => match matches.subcommand() {
            Some((_, matches)) => new_key(matches),
            None => Err(Failure::Usage("expected admin token new-key".to_owned())),
        },
        _ => Err(Failure::Usage(
            "expected admin apply or admin token".to_owned(),
        )),
    }
}

fn load(matches: &ArgMatches) -> Result<Settings, Failure> {
    let settings = Settings::from_matches(SETTINGS, matches, &ops::settings::environment())?;
    process::start_logging(&settings)?;
    Ok(settings)
}

fn apply(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = load(matches)?;
    let Some(path) = matches.get_one::<PathBuf>("file") else {
        return Err(Failure::Usage("admin apply: a FILE is expected".to_owned()));
    };
    let fleet = read(path)?;
    let prune = matches.get_flag("prune");
    process::block_on(async {
        let store = role::store(&settings, 1, STATEMENT_TIMEOUT)?;
        let applied = apply_fleet_file(&store, fleet, prune).await?;
        Ok(output::line(&format!(
            "applied: {} buildings, {} users, {} deleted",
            applied.buildings, applied.users, applied.pruned
        ))?)
    })
}

fn read(path: &Path) -> Result<FleetFile, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    FleetFile::parse(&text).map_err(|rule| Failure::Usage(format!("{}: {rule}", path.display())))
}

/// Makes the database match a fleet file. A password that is the user's already keeps its hash, so
/// that the same file again changes nothing.
///
/// # Errors
/// A file that breaks a rule; a database that does not take it.
pub(crate) async fn apply_fleet_file(
    store: &Store,
    file: FleetFile,
    prune: bool,
) -> Result<Applied, Failure> {
    let mut hashes = HashMap::new();
    for (username, password) in file.credentials() {
        let kept = store
            .login(username)
            .await?
            .map(|login| login.password_hash);
        let hash = match kept {
            Some(hash) if api::password::verify(password, &hash).unwrap_or(false) => hash,
            _ => api::password::hash(password)
                .map_err(|error| Failure::Running(format!("password of {username}: {error}")))?,
        };
        hashes.insert(username.to_owned(), hash);
    }
    let fleet = file
        .into_fleet(|username| hashes.get(username).cloned().unwrap_or_default())
        .map_err(|rule| Failure::Usage(format!("fleet file: {rule}")))?;
    Ok(store.apply_fleet(&fleet, prune).await?)
}

fn new_key(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = load(matches)?;
    let path = settings.path("token_key_file")?;
    api::token::Keys::new_key_first(&path)
        .map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
    Ok(output::line(&format!(
        "a fresh key stands first in {}",
        path.display()
    ))?)
}
