//! Four numbers as the vectors leave them: a bit for each byte, sixteen bytes a number.

/// The last byte of each four.
pub(super) const LAST: u64 = 0x8000_8000_8000_8000;

/// A bit for each byte in which a point stands.
#[derive(Clone, Copy)]
pub(super) struct Points(pub(super) u64);

impl Points {
    /// The third and the fourth number.
    pub(super) const LANES: u64 = 0xffff_ffff_0000_0000;

    /// The point of a number, as a bit of sixteen.
    #[inline]
    const fn of(self, number: usize) -> u64 {
        (self.0 >> (16 * number)) & 0xffff
    }

    #[inline]
    pub(super) const fn more_than_one(self) -> u64 {
        let (third, fourth) = (self.of(2), self.of(3));
        (third & third.wrapping_sub(1)) | (fourth & fourth.wrapping_sub(1))
    }

    /// Every byte up to the point of its number, if it has one.
    #[inline]
    pub(super) const fn and_before(self) -> u64 {
        let (third, fourth) = (self.of(2), self.of(3));
        (up_to(third) << 32) | (up_to(fourth) << 48)
    }
}

/// The bit and all below it; none for none.
#[inline]
const fn up_to(bit: u64) -> u64 {
    (bit << 1).saturating_sub(1)
}

/// Four numbers; each twice, as the vector leaves them.
pub(super) struct Four {
    pub(super) magnitudes: [u64; 8],
    /// A bit for each byte, sixteen an integer: where a sign stands.
    pub(super) minus: u64,
    /// The same, all sixteen of one that is null.
    pub(super) nulls: u64,
    pub(super) points: Points,
}

impl Four {
    /// One of them, unless it is null.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "none is beyond i32")]
    pub(super) fn value(&self, number: usize) -> Option<i32> {
        let bits = |all: u64| (all >> (16 * number)) & 0xffff;
        let sign = -i32::from(bits(self.minus) != 0);
        let magnitude = self.magnitudes[2 * number] as i32;
        (bits(self.nulls) == 0).then_some((magnitude ^ sign) - sign)
    }

    /// One that may have a point: all its digits, and how many of them stand behind the point.
    #[inline]
    pub(super) const fn with_point(&self, number: usize) -> (u64, usize) {
        // Of sixteen bits; without a point sixteen zeros lead.
        let decimals = self.points.of(number).leading_zeros() as usize - 48;
        (self.magnitudes[2 * number], decimals & 15)
    }

    /// Whether one of them has a sign; zero has none.
    #[inline]
    pub(super) const fn any_below_0(&self) -> bool {
        self.minus != 0
    }
}
