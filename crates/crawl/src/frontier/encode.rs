//! Records and rows as bytes: postcard, written straight behind what a vector holds.
//!
//! postcard's own way to write into a vector goes through an iterator for every byte, which is most of
//! what encoding a row would take.

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Appends a value to `out`. All types of records and rows can be written.
pub fn encode_behind<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    postcard::serialize_with_flavor(value, Behind(out))
        .expect("ENCODE: records and rows have no types that cannot be written");
}

struct Behind<'a>(&'a mut Vec<u8>);

impl Flavor for Behind<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_postcard_writes_it_behind_what_is_there() {
        let value = (7_u8, 300_u64, "text", vec![(1_u16, Some([9_u8; 4])), (2, None)]);
        let mut bytes = vec![1, 2, 3];
        encode_behind(&value, &mut bytes);
        assert_eq!(bytes, [vec![1, 2, 3], postcard::to_stdvec(&value).unwrap()].concat());
    }
}
