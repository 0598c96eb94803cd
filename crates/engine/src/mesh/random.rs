//! The one source of randomness in taut: the same seed gives the same numbers on every machine.

/// Steele, Lea and Flood's SplitMix64 ('Fast splittable pseudorandom number generators', 2014).
///
/// Small, stateless beyond one word, and good enough to shake meshes and scenes.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator whose numbers follow from `seed` alone.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// `true` or `false`, equally likely.
    pub fn next_bool(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// Uniform in [0, 1).
    pub fn next_unit(&mut self) -> f32 {
        // 24 bits are what an f32 below 1 can hold without rounding up to 1.
        (self.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Uniform in [−1, 1).
    pub fn next_signed(&mut self) -> f32 {
        2.0 * self.next_unit() - 1.0
    }
}

#[cfg(test)]
mod tests {
    //! Contract: the published sequence, and ranges that are kept and filled.
    use super::*;

    #[test]
    fn follows_the_published_sequence() {
        // First outputs of the reference implementation for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!(expected, [random.next_u64(), random.next_u64()]);
    }

    #[test]
    fn numbers_fill_their_range() {
        let mut random = SplitMix64::new(7);
        let units: Vec<f32> = (0..10_000).map(|_| random.next_unit()).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = units.iter().sum::<f32>() / units.len() as f32;
        assert!((mean - 0.5).abs() < 0.02, "mean {mean}");
        let signed: Vec<f32> = (0..10_000).map(|_| random.next_signed()).collect();
        assert!(signed.iter().all(|number| (-1.0..1.0).contains(number)));
        assert!(signed.iter().any(|&number| number < -0.9));
        assert!(signed.iter().any(|&number| number > 0.9));
        let heads = (0..10_000).filter(|_| random.next_bool()).count();
        assert!((4_800..5_200).contains(&heads), "{heads} heads");
    }
}
