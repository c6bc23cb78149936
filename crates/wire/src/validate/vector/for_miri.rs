//! The three instructions of the vector path that Miri does not know, in other words. Only Miri compiles this.

use super::{load_32, load_64, store_32};
use std::arch::x86_64::{__m512i, __mmask32, __mmask64};

/// The marked bytes, one behind the other, and zeros behind them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn _mm512_maskz_compress_epi8(marked: __mmask64, bytes: __m512i) -> __m512i {
    let all = words(bytes);
    let all = all.iter().flat_map(|it| it.to_le_bytes()).enumerate();
    let mut compressed = [0; 64];
    let kept = all.filter(|(place, _)| marked >> place & 1 == 1);
    for (to, (_, from)) in compressed.iter_mut().zip(kept) {
        *to = from;
    }
    load_64(&compressed)
}

/// At each place the word whose place stands there.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn _mm512_permutexvar_epi16(places: __m512i, from: __m512i) -> __m512i {
    _mm512_maskz_permutexvar_epi16(u32::MAX, places, from)
}

/// The same, and zeros where none is marked.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn _mm512_maskz_permutexvar_epi16(
    marked: __mmask32,
    places: __m512i,
    from: __m512i,
) -> __m512i {
    let (places, from) = (words(places), words(from));
    let mut found = [0; 32];
    for (number, to) in found.iter_mut().enumerate() {
        if marked >> number & 1 == 1 {
            *to = from[usize::from(places[number] % 32)];
        }
    }
    load_32(&found)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn words(vector: __m512i) -> [u16; 32] {
    let mut words = [0; 32];
    store_32(&mut words, vector);
    words
}
