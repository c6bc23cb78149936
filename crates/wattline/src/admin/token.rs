//! `wattline admin token`: refresh tokens that were handed out, and the keys that sign.

use crate::admin::table::Table;
use crate::admin::{
    changing, given, listing, load, make, must_have_user, now, positional, print, subcommand,
    unknown, with_store,
};
use crate::command_line::{switch, with_settings};
use crate::failure::Failure;
use crate::settings::LOGGING;
use clap::{Arg, ArgGroup, ArgMatches, Command, value_parser};
use serde_json::json;
use store::{Change, KeptToken};
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
        .subcommand(with_settings(
            "new-key",
            "Puts a fresh key first into the key file, made when missing",
            &[LOGGING, &["token_key_file"]],
        ))
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
    let settings = load(matches)?;
    let path = settings.path("token_key_file")?;
    api::token::Keys::new_key_first(&path)
        .map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
    print(&format!("a fresh key stands first in {}", path.display()))
}
