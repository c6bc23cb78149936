//! What handlers take from a request.

mod body;
mod client_address;
mod found;
mod member;
mod query;
mod user;
mod uuid;

pub(crate) use body::JsonObject;
pub(crate) use client_address::ClientAddress;
pub(crate) use found::Found;
pub(crate) use member::{Member, require_membership};
pub(crate) use query::Parameters;
pub(crate) use user::{User, authenticate};
pub(crate) use uuid::parse_uuid;
