//! The validator's vector path, for what most records are: all fields, in the schema's order, without white space.
//!
//! Such a record is cut by its 22 commas and closing braces. Once these are found, no field has to wait for the one
//! before it: the text between two values is compared with what must stand there, and integers are read four at a time.
//! As in the scanner, what is not certain is none of its business. AVX-512 as of Ice Lake and Zen 4.
#![expect(unsafe_code, reason = "vectors are loaded and stored through pointers")]

#[cfg(miri)]
mod for_miri;
mod four;
mod shape;

use super::number::{percent_of, time_of};
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
#[cfg(miri)]
use for_miri::{
    _mm512_maskz_compress_epi8, _mm512_maskz_permutexvar_epi16, _mm512_permutexvar_epi16,
};
use four::{Four, LAST, Points};
use shape::*;
use std::arch::x86_64::*;

const LARGEST: i64 = 2_147_483_647;

/// The same as [`telemetry`], and nothing where the machine does not have what it needs.
#[inline]
pub(super) fn telemetry_if_here(payload: &[u8]) -> Option<TelemetryRecord> {
    if !is_here() {
        return None;
    }
    // SAFETY: the machine has been asked for every feature.
    unsafe { telemetry(payload) }
}

/// Whether this machine has what [`telemetry`] needs.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("popcnt")
}

/// The record, if it has all fields in order and no white space, and is certain.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn telemetry(payload: &[u8]) -> Option<TelemetryRecord> {
    if !(SHORTEST..=LONGEST).contains(&payload.len()) {
        return None;
    }
    let spans = Spans::of(payload)?;
    if !spans.keys_match(payload) {
        return None;
    }
    let or_null = spans.numbers::<true, false>(payload, OR_NULL)?;
    let any = spans.numbers::<false, false>(payload, ANY)?;
    let at_least_0 = spans.numbers::<false, false>(payload, AT_LEAST_0)?;
    let others = spans.numbers::<false, true>(payload, OTHERS)?;
    let (setpoint_w, rated_w) = (others.value(0)?, others.value(1)?);
    if at_least_0.any_below_0() || setpoint_w > 0 || rated_w < 0 {
        return None;
    }
    let (time, time_decimals) = others.with_point(2);
    let (soc, soc_decimals) = others.with_point(3);
    let [meter_status, battery_status, solar_status] = spans.statuses(payload)?;
    Some(TelemetryRecord {
        time: time_of(time, time_decimals)?,
        main_meter: Some(MainMeter {
            status: meter_status,
            active_power_w: any.value(0),
        }),
        battery: Some(Battery {
            status: battery_status,
            active_power_w: any.value(1),
            active_power_setpoint_w: any.value(2),
            baseline_power_w: or_null.value(0),
            soc_percent: Some(percent_of(soc, soc_decimals)?),
            charge_limit_w: at_least_0.value(0),
            remaining_charge_time_s: at_least_0.value(1),
            discharge_limit_w: at_least_0.value(2),
            remaining_discharge_time_s: at_least_0.value(3),
        }),
        solar: Some(Solar {
            status: solar_status,
            active_power_w: any.value(3),
            active_power_setpoint_w: Some(setpoint_w),
            rated_power_w: Some(rated_w),
            min_power_w: or_null.value(1),
            max_power_w: or_null.value(2),
            baseline_power_w: or_null.value(3),
        }),
    })
}

/// Where the text before each value begins, where the value ends, and how long it is, in bytes.
struct Spans {
    begins: [u16; 32],
    ends: [u16; 32],
    lengths: __m512i,
}

impl Spans {
    /// Finds the ends, unless there are not as many as a full record has, or a value is too long.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    fn of(payload: &[u8]) -> Option<Self> {
        let (comma, brace) = (
            _mm512_set1_epi8(b','.cast_signed()),
            _mm512_set1_epi8(b'}'.cast_signed()),
        );
        let in_order = load_64(&IN_ORDER);
        let mut places = [0_u16; ENDS + 16];
        let mut found = 0;
        let mut block_begins = 0;
        for block in payload.chunks(64) {
            let bytes = load_up_to_64(block);
            let is_end =
                _mm512_cmpeq_epi8_mask(bytes, comma) | _mm512_cmpeq_epi8_mask(bytes, brace);
            let within = _mm512_maskz_compress_epi8(is_end, in_order);
            let within = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(within));
            let within = _mm256_add_epi16(within, _mm256_set1_epi16(block_begins));
            store_16(places.get_mut(found..)?.first_chunk_mut()?, within);
            let count = is_end.count_ones() as usize;
            if count > 16 {
                return None;
            }
            found += count;
            if found > ENDS {
                return None;
            }
            block_begins += 64;
        }
        if found != ENDS {
            return None;
        }
        let places = load_32(places.first_chunk()?);
        let ends = _mm512_permutexvar_epi16(load_32(&END_OF), places);
        let begins = _mm512_maskz_permutexvar_epi16(!1, load_32(&VALUE_BEFORE), ends);
        let lengths = _mm512_sub_epi16(_mm512_sub_epi16(ends, begins), load_32(&BEFORE_LENGTHS));
        // Below 1 wraps around.
        let less_one = _mm512_sub_epi16(lengths, _mm512_set1_epi16(1));
        let longest = _mm512_set1_epi16(LONGEST_VALUE.cast_signed() - 1);
        let too_long = _mm512_cmpgt_epu16_mask(less_one, longest) & ((1 << VALUES) - 1);
        let mut spans = Self {
            begins: [0; 32],
            ends: [0; 32],
            lengths,
        };
        store_32(&mut spans.begins, begins);
        store_32(&mut spans.ends, ends);
        (too_long == 0).then_some(spans)
    }

    /// Whether before and behind all values stands what must.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    fn keys_match(&self, payload: &[u8]) -> bool {
        let mut differs = 0;
        // The last one has less than 32 bytes from its begin on.
        let (last, all_but_last) = (VALUES - 1, VALUES - 1);
        for place in 0..all_but_last {
            let begin = usize::from(self.begins[place]);
            let Some(text) = payload.get(begin..).and_then(|it| it.first_chunk()) else {
                return false;
            };
            let (text, expected) = (load_bytes_32(text), load_bytes_32(&PADDED[place]));
            differs |= _mm256_mask_cmpneq_epi8_mask(COMPARED[place], text, expected);
        }
        let text = |from: u16, expected: &[u8]| {
            payload
                .get(usize::from(from)..)
                .is_some_and(|it| it.starts_with(expected))
        };
        differs == 0
            && text(self.begins[last], BEFORE[last])
            && payload.get(usize::from(self.ends[last])..) == Some(BEHIND)
    }

    /// Where a value begins and ends.
    #[inline]
    fn value(&self, place: usize) -> (usize, usize) {
        let begin = usize::from(self.begins[place]) + BEFORE[place].len();
        (begin, usize::from(self.ends[place]))
    }

    /// The three, without a branch for which: the length tells what it can only be.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    fn statuses(&self, payload: &[u8]) -> Option<[Status; 3]> {
        const SHORTEST: usize = 10;
        const WORDS: [(&[u8; 16], Status); 4] = [
            (b"\"degraded\"......", Status::Degraded),
            (b"\"available\".....", Status::Available),
            // No status is that long: what no payload that came so far has in it.
            (&[0; 16], Status::Unavailable),
            (b"\"unavailable\"...", Status::Unavailable),
        ];
        let mut found = [Status::Available; 3];
        let mut differs = 0;
        for (found, place) in found.iter_mut().zip(STATUSES) {
            let (begin, end) = self.value(place);
            let text = load_bytes_16(payload.get(begin..)?.first_chunk()?);
            let length = end - begin;
            let (word, status) = WORDS.get(length.wrapping_sub(SHORTEST))?;
            differs |= _mm_cmpneq_epi8_mask(text, load_bytes_16(word)) & !(u16::MAX << length);
            *found = *status;
        }
        (differs == 0).then_some(found)
    }

    /// Four numbers; with `POINTS` the last two of them may have one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    fn numbers<const OR_NULL: bool, const POINTS: bool>(
        &self,
        payload: &[u8],
        places: [usize; 4],
    ) -> Option<Four> {
        let bytes = self.four(payload, places)?;
        // The low byte of each one's length, sixteen times.
        let lengths = _mm512_permutexvar_epi8(load_64(&low_bytes(places)), self.lengths);
        let first = _mm512_sub_epi8(_mm512_set1_epi8(16), lengths);
        let position = _mm512_and_si512(load_64(&IN_ORDER), _mm512_set1_epi8(15));
        let within = _mm512_cmpge_epu8_mask(position, first);
        let begins = _mm512_cmpeq_epi8_mask(position, first);
        let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
        let minus = begins & is(b'-');
        let points = if POINTS {
            Points(within & is(b'.') & Points::LANES)
        } else {
            Points(0)
        };
        let digits = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0'.cast_signed()));
        let is_digit = within & !minus & !points.0;
        // A sign in the last byte is wrong by itself, so that it does not matter where it is shifted to.
        let after_sign = minus << 1;
        let first_digit = (begins & !minus) | after_sign;
        let zeros = _mm512_cmpeq_epi8_mask(digits, _mm512_setzero_si512());
        // Where a zero is the whole of a number, or all that stands before its point.
        let alone = (LAST | (points.0 >> 1)) & !after_sign;
        let wrong = (is_digit & _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9)))
            | (first_digit & zeros & !alone)
            | (minus & (LAST | if POINTS { Points::LANES } else { 0 }))
            | (points.0 & (LAST | begins))
            | points.more_than_one();
        let nulls = if OR_NULL { nulls(bytes, begins) } else { 0 };
        if wrong & !nulls != 0 {
            return None;
        }
        let mut digits = _mm512_maskz_mov_epi8(is_digit & !nulls, digits);
        if POINTS {
            let moved = _mm512_bslli_epi128::<1>(digits);
            digits = _mm512_mask_mov_epi8(digits, points.and_before(), moved);
        }
        let values = eight_and_eight(digits);
        let beyond = _mm512_cmpgt_epu64_mask(values, _mm512_set1_epi64(LARGEST));
        if beyond & if POINTS { 0x0f } else { 0xff } != 0 {
            return None;
        }
        let mut four = Four {
            magnitudes: [0; 8],
            minus,
            nulls,
            points,
        };
        store_8(&mut four.magnitudes, values);
        Some(four)
    }

    /// Four values, each in sixteen bytes that end where it ends.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    fn four(&self, payload: &[u8], places: [usize; 4]) -> Option<__m512i> {
        let text = |place: usize| -> Option<__m128i> {
            let (_, end) = self.value(place);
            // A short time ends too near to the payload's begin.
            Some(load_bytes_16(payload.get(..end)?.last_chunk()?))
        };
        let [one, two, three, four] = places;
        let bytes = _mm512_castsi128_si512(text(one)?);
        let bytes = _mm512_inserti32x4::<1>(bytes, text(two)?);
        let bytes = _mm512_inserti32x4::<2>(bytes, text(three)?);
        Some(_mm512_inserti32x4::<3>(bytes, text(four)?))
    }
}

/// Every byte of each four in which `null` stands and nothing else.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn nulls(bytes: __m512i, begins: u64) -> u64 {
    let text = _mm512_set1_epi32(i32::from_le_bytes(*b"null"));
    let equal = _mm512_cmpeq_epi8_mask(bytes, text);
    // In the last byte of each: the four last are equal, and the first of these begins the value.
    let last =
        equal & (equal << 1) & (equal << 2) & (equal << 3) & (begins << 3) & 0x8000_8000_8000_8000;
    (last >> 15) * 0xffff
}

/// The values of sixteen digits each: pairs, fours, eights, all.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn eight_and_eight(digits: __m512i) -> __m512i {
    let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
    let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064));
    let fours = _mm512_packus_epi32(fours, fours);
    let eights = _mm512_madd_epi16(fours, _mm512_set1_epi32(0x0001_2710));
    let upper = _mm512_mul_epu32(eights, _mm512_set1_epi64(100_000_000));
    _mm512_add_epi64(upper, _mm512_srli_epi64::<32>(eights))
}

/// Zeros behind the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_up_to_64(bytes: &[u8]) -> __m512i {
    let mask = u64::MAX >> (64 - bytes.len().clamp(1, 64));
    // SAFETY: only as many bytes are read as there are; `chunks` gives no empty one.
    unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

macro_rules! access {
    ($($name:ident($array:ty) -> $Vector:ty = $intrinsic:ident;)+) => {
        $(
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
            fn $name(array: &$array) -> $Vector {
                const { assert!(size_of::<$array>() == size_of::<$Vector>()) };
                // SAFETY: the array has as many bytes as the vector, and needs no alignment.
                unsafe { $intrinsic(array.as_ptr().cast()) }
            }
        )+
    };
}

access! {
    load_bytes_16([u8; 16]) -> __m128i = _mm_loadu_si128;
    load_bytes_32([u8; 32]) -> __m256i = _mm256_loadu_si256;
    load_64([u8; 64]) -> __m512i = _mm512_loadu_si512;
    load_32([u16; 32]) -> __m512i = _mm512_loadu_si512;
}

macro_rules! store {
    ($($name:ident($array:ty, $Vector:ty) = $intrinsic:ident;)+) => {
        $(
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
            fn $name(array: &mut $array, vector: $Vector) {
                const { assert!(size_of::<$array>() == size_of::<$Vector>()) };
                // SAFETY: the array has as many bytes as the vector, and needs no alignment.
                unsafe { $intrinsic(array.as_mut_ptr().cast(), vector) }
            }
        )+
    };
}

store! {
    store_16([u16; 16], __m256i) = _mm256_storeu_si256;
    store_32([u16; 32], __m512i) = _mm512_storeu_si512;
    store_8([u64; 8], __m512i) = _mm512_storeu_si512;
}
