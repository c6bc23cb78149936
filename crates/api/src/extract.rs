//! What handlers take from a request.

mod acting;
mod body;
mod bytes;
mod client_address;
mod fields;
mod found;
mod idempotency_key;
mod member;
mod page;
mod path;
mod query;
mod user;
mod uuid;

pub(crate) use acting::Acting;
pub(crate) use body::{JsonObject, JsonText};
pub(crate) use bytes::refuse_large_body;
pub(crate) use client_address::ClientAddress;
pub(crate) use fields::{Fields, item_pointer};
pub(crate) use found::Found;
pub(crate) use idempotency_key::IdempotencyKey;
pub(crate) use member::{Link, Member, authorise};
pub(crate) use page::Page;
pub(crate) use path::PathUuid;
pub(crate) use query::{BrokenRule, Parameters, epoch_seconds};
pub(crate) use user::{User, bearer};
pub(crate) use uuid::parse_uuid;
