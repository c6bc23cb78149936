//! `wattline admin token`: refresh tokens that were handed out, and the keys that sign.

use crate::admin::table::{self, Table};
use crate::admin::{
    asked_run, changing, difference, dry_run_switch, given, listing, load, make, must_have_user,
    now, positional, print, subcommand, unknown, with_store,
};
use crate::command_line::{switch, with_settings};
use crate::failure::Failure;
use crate::settings::LOGGING;
use api::token::{KeyFileFailure, Keys};
use clap::{Arg, ArgGroup, ArgMatches, Command, value_parser};
use serde_json::json;
use std::path::Path;
use store::{Change, KeptToken, Run};
use uuid::Uuid;
use wire::envelope::format_rfc3339;

const COLUMNS: &[&str] = &["username", "jti", "issued_at", "expires_at"];

pub(super) fn command() -> Command {
    Command::new("token")
        .about("Outstanding refresh tokens, and signing keys")
        .subcommand_required(true)
        .subcommand(
            listing(
                "list",
                "Lists refresh tokens that are neither used nor expired",
            )
            .arg(positional("user", "USER", "only of this user").required(false)),
        )
        .subcommand(
            changing(
                "revoke",
                "Blacklists refresh tokens; access tokens end by themselves within 15 minutes",
            )
            .arg(positional("user", "USER", "whose they are"))
            .arg(
                Arg::new("jti")
                    .value_name("JTI")
                    .help("which one, as list tells it")
                    .value_parser(value_parser!(Uuid)),
            )
            .arg(switch("all", "all that are outstanding"))
            .group(ArgGroup::new("which").args(["jti", "all"]).required(true)),
        )
        .subcommand(
            of_keys(
                "new-key",
                "Puts a fresh key first into the key file, made when missing: from then on it signs",
            )
            .arg(dry_run_switch()),
        )
        .subcommand(
            of_keys(
                "list-keys",
                "Lists the key file's keys by id: the first signs, all verify",
            )
            .arg(table::format()),
        )
        .subcommand(
            of_keys(
                "retire-key",
                "Takes a key out of the key file: what it signed is worth nothing any more",
            )
            .after_help("Who retires a key 60 days after a fresh one was put before it logs nobody out.")
            .arg(positional("kid", "KID", "which one, as list-keys tells it"))
            .arg(dry_run_switch()),
        )
}

/// A command that looks at the key file only.
fn of_keys(name: &'static str, about: &'static str) -> Command {
    with_settings(name, about, &[LOGGING, &["token_key_file"]])
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match subcommand(matches)? {
        ("list", matches) => list(matches),
        ("revoke", matches) => {
            let change = Change::RevokeTokens {
                username: given(matches, "user")?,
                jti: matches.get_one("jti").copied(),
                now: now(),
            };
            make(matches, &change)
        }
        ("new-key", matches) => new_key(matches),
        ("list-keys", matches) => list_keys(matches),
        ("retire-key", matches) => retire_key(matches),
        (other, _) => Err(unknown(other)),
    }
}

fn list(matches: &ArgMatches) -> Result<(), Failure> {
    let user = matches.get_one::<String>("user").map(String::as_str);
    with_store(matches, async |store| {
        if let Some(user) = user {
            must_have_user(store, user).await?;
        }
        let row = |(jti, it): (Uuid, KeptToken)| {
            vec![
                json!(it.username),
                json!(jti),
                json!(format_rfc3339(it.issued_at)),
                json!(format_rfc3339(it.expires_at)),
            ]
        };
        let tokens = store.list_outstanding_tokens(user, now()).await?;
        let rows = tokens.into_iter().map(row).collect();
        Table::new(COLUMNS, rows).print(matches)
    })
}

fn new_key(matches: &ArgMatches) -> Result<(), Failure> {
    let path = load(matches)?.path("token_key_file")?;
    if asked_run(matches) == Run::Dry {
        match Keys::kids(&path) {
            Ok(_) | Err(KeyFileFailure::Empty) => {}
            Err(_) if !path.exists() => {}
            Err(failure) => return Err(refused(&path, &failure)),
        }
        difference::tell_dry_run();
        return print(&format!(
            "a fresh key would stand first in {}",
            path.display()
        ));
    }
    Keys::new_key_first(&path).map_err(|failure| refused(&path, &failure))?;
    print(&format!("a fresh key stands first in {}", path.display()))
}

fn list_keys(matches: &ArgMatches) -> Result<(), Failure> {
    let path = load(matches)?.path("token_key_file")?;
    let kids = Keys::kids(&path).map_err(|failure| refused(&path, &failure))?;
    let kids = kids.into_iter().enumerate();
    let rows = kids.map(|(index, kid)| vec![json!(kid), json!(index == 0)]);
    Table::new(&["kid", "signs"], rows.collect()).print(matches)
}

fn retire_key(matches: &ArgMatches) -> Result<(), Failure> {
    let path = load(matches)?.path("token_key_file")?;
    let kid: String = given(matches, "kid")?;
    if asked_run(matches) == Run::Dry {
        let kids = Keys::kids(&path).map_err(|failure| refused(&path, &failure))?;
        match kids.iter().position(|it| *it == kid) {
            Some(0) => return Err(refused(&path, &KeyFileFailure::Newest(kid))),
            Some(_) => difference::tell_dry_run(),
            None => return Err(refused(&path, &KeyFileFailure::Unknown(kid))),
        }
    } else {
        Keys::retire(&path, &kid).map_err(|failure| refused(&path, &failure))?;
    }
    print(&format!("- key {kid}"))
}

fn refused(path: &Path, failure: &KeyFileFailure) -> Failure {
    match failure {
        // Names the file itself.
        KeyFileFailure::Io { .. } => Failure::Running(failure.to_string()),
        KeyFileFailure::Line { .. }
        | KeyFileFailure::Unknown(_)
        | KeyFileFailure::Newest(_)
        | KeyFileFailure::Empty
        | KeyFileFailure::Randomness(_) => {
            Failure::Running(format!("{}: {failure}", path.display()))
        }
    }
}
