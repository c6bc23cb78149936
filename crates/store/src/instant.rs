//! `domain::time::Timestamp` as PostgreSQL's `timestamptz`, to the microsecond.

use domain::time::Timestamp;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

/// 2000-01-01T00:00:00Z, from which PostgreSQL counts, in microseconds since 1970.
const POSTGRES_EPOCH_US: i64 = 946_684_800_000_000;

/// A point in time on its way to or from the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Instant(pub(crate) Timestamp);

impl Instant {
    /// The type's binary form.
    pub(crate) const fn to_bytes(self) -> [u8; 8] {
        let micros = self.0.micros().saturating_sub(POSTGRES_EPOCH_US);
        micros.to_be_bytes()
    }
}

impl Type<Postgres> for Instant {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("timestamptz")
    }
}

impl PgHasArrayType for Instant {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("_timestamptz")
    }
}

impl Encode<'_, Postgres> for Instant {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let micros = self.0.micros().saturating_sub(POSTGRES_EPOCH_US);
        <i64 as Encode<Postgres>>::encode(micros, buffer)
    }

    fn size_hint(&self) -> usize {
        size_of::<i64>()
    }
}

impl<'r> Decode<'r, Postgres> for Instant {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        match value.format() {
            PgValueFormat::Binary => {
                let micros = <i64 as Decode<Postgres>>::decode(value)?;
                Ok(Self(Timestamp::from_micros(
                    micros.saturating_add(POSTGRES_EPOCH_US),
                )))
            }
            PgValueFormat::Text => Err("timestamptz is read in binary only".into()),
        }
    }
}
