//! A small generator of random numbers (SplitMix64), so that a session is the same in every run and with every library.

/// Random numbers of a seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Neighbouring seeds give numbers that have nothing in common.
    pub fn new(seed: u64) -> Self {
        Self::at(seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0x5E55_1076)
    }

    /// The sequence from this place on.
    pub fn at(place: u64) -> Self {
        Self(place)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number of this range, both ends in it.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + (self.bits() % (most - least + 1) as u64) as usize
    }

    /// From 0 up to 1, without 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A length of a log-normal distribution with this median and this 99th percentile; no more than ten times the latter.
    pub fn log_normal(&mut self, median: f64, p99: f64) -> usize {
        // How many standard deviations the 99th percentile lies above the median.
        const P99: f64 = 2.326_347_874;
        let sigma = (p99 / median).ln() / P99;
        let normal = (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        (median * (sigma * normal).exp()).min(p99 * 10.0) as usize
    }

    /// Appends so many characters, or up to nine more, that no compression makes smaller than base64's three quarters.
    pub fn push_base64(&mut self, text: &mut String, len: usize) {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for _ in 0..len.div_ceil(10) {
            let bits = self.bits();
            text.extend((0..10).map(|n| char::from(ALPHABET[(bits >> (6 * n)) as usize % 64])));
        }
    }
}
