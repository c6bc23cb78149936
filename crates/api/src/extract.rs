//! What handlers take from a request.

mod body;
mod bytes;
mod client_address;
mod found;
mod member;
mod page;
mod path;
mod query;
mod tree;
mod user;
mod uuid;

pub(crate) use body::{Fields, JsonObject, item_pointer};
pub(crate) use bytes::refuse_large_body;
pub(crate) use client_address::ClientAddress;
pub(crate) use found::Found;
pub(crate) use member::{Link, Member, authorise};
pub(crate) use page::Page;
pub(crate) use path::PathUuid;
pub(crate) use query::{BrokenRule, Parameters, epoch_seconds};
pub(crate) use user::{User, bearer};
pub(crate) use uuid::parse_uuid;
