//! The Redis Cluster slot of a key. Knows nothing of which node serves it.

/// One of the 16,384 slots of a Redis Cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RedisSlot(u16);

impl RedisSlot {
    /// The slot's number, 0 to 16,383.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// The slot of `key`: CRC16/XMODEM of its hash tag, or of all of it where it has none, modulo 16,384.
///
/// Source: the Redis Cluster specification. An empty tag (`{}`) counts as none.
#[must_use]
pub fn redis_slot(key: &[u8]) -> RedisSlot {
    RedisSlot(crc16_xmodem(hash_tag(key).unwrap_or(key)) % 16_384)
}

fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|byte| *byte == b'{')?;
    let inside = &key[open + 1..];
    let length = inside.iter().position(|byte| *byte == b'}')?;
    (length > 0).then(|| &inside[..length])
}

fn crc16_xmodem(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x1021
            }
        })
    })
}
