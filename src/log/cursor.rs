//! Reading numbers out of bytes with every bound checked; it also refuses bytes that nobody has read.

use uuid::Uuid;

/// A field would reach past the end of its bytes, or bytes are left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} bytes wanted at byte {at} of {len}")]
pub(crate) struct OutOfBounds {
    pub(crate) at: usize,
    pub(crate) wanted: usize,
    pub(crate) len: usize,
}

/// Takes fields off the front of some bytes.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], OutOfBounds> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..len).ok_or(OutOfBounds { at: self.at, wanted: len, len: self.bytes.len() })?;
        self.at += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], OutOfBounds> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, OutOfBounds> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, OutOfBounds> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, OutOfBounds> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, OutOfBounds> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64, OutOfBounds> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(crate) fn uuid(&mut self) -> Result<Uuid, OutOfBounds> {
        Ok(Uuid::from_bytes(self.array()?))
    }

    /// All bytes have been read.
    pub(crate) fn finish(self) -> Result<(), OutOfBounds> {
        match self.bytes.len().checked_sub(self.at) {
            Some(0) => Ok(()),
            _ => Err(OutOfBounds { at: self.at, wanted: 0, len: self.bytes.len() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_in_order_and_leftover_bytes_are_refused() {
        let mut cursor = Cursor::new(&[1, 2, 0, 3, 0, 0, 0, 9]);
        assert_eq!(cursor.u8(), Ok(1));
        assert_eq!(cursor.u16(), Ok(2));
        assert_eq!(cursor.u32(), Ok(3));
        assert!(cursor.clone().finish().is_err());
        assert_eq!(cursor.take(1), Ok(&[9][..]));
        assert_eq!(cursor.finish(), Ok(()));
    }

    #[test]
    fn a_field_past_the_end_is_an_error_and_takes_nothing() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(cursor.u64(), Err(OutOfBounds { at: 0, wanted: 8, len: 3 }));
        assert_eq!(cursor.take(usize::MAX), Err(OutOfBounds { at: 0, wanted: usize::MAX, len: 3 }));
        assert_eq!(cursor.u16(), Ok(0x0201));
    }
}
