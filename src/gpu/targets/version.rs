//! The version of the PTX language, as in `.version 8.8`.

use std::fmt;
use std::str::FromStr;

/// A PTX ISA version. Ordered by major, then minor number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    pub major: u8,
    pub minor: u8,
}

impl PtxVersion {
    /// Every version from 7.0, the first with sm_80, to the newest with which the tables were measured.
    pub const KNOWN: &[PtxVersion] = &[
        v(7, 0),
        v(7, 1),
        v(7, 2),
        v(7, 3),
        v(7, 4),
        v(7, 5),
        v(7, 6),
        v(7, 7),
        v(7, 8),
        v(8, 0),
        v(8, 1),
        v(8, 2),
        v(8, 3),
        v(8, 4),
        v(8, 5),
        v(8, 6),
        v(8, 7),
        v(8, 8),
        v(9, 0),
        v(9, 1),
        v(9, 2),
        v(9, 3),
        v(9, 4),
    ];

    /// The name of LLVM's subtarget feature for this version, e.g. `ptx83`.
    pub fn llvm_feature(self) -> String {
        format!("ptx{}{}", self.major, self.minor)
    }

    /// The first release of the CUDA toolkit with a ptxas that accepts this version.
    pub fn first_toolkit(self) -> &'static str {
        match (self.major, self.minor) {
            (7, 0) => "11.0",
            (7, 1) => "11.1",
            (7, 2) => "11.2",
            (7, 3) => "11.3",
            (7, 4) => "11.4",
            (7, 5) => "11.5",
            (7, 6) => "11.6",
            (7, 7) => "11.7",
            (7, 8) => "11.8",
            (8, 0) => "12.0",
            (8, 1) => "12.1",
            (8, 2) => "12.2",
            (8, 3) => "12.3",
            (8, 4) => "12.4",
            (8, 5) => "12.5",
            (8, 6) => "12.7",
            (8, 7) => "12.8",
            (8, 8) => "12.9",
            (9, 0) => "13.0",
            (9, 1) => "13.1",
            (9, 2) => "13.2",
            (9, 3) => "13.3",
            (9, 4) => "13.4",
            _ => "newer than 13.4",
        }
    }
}

/// Short form for tables.
pub(crate) const fn v(major: u8, minor: u8) -> PtxVersion {
    PtxVersion { major, minor }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PtxVersion {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once('.').ok_or(())?;
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(major) || !digits(minor) {
            return Err(());
        }
        Ok(PtxVersion { major: major.parse().map_err(|_| ())?, minor: minor.parse().map_err(|_| ())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_order() {
        for pair in PtxVersion::KNOWN.windows(2) {
            assert!(pair[0] < pair[1], "{} and {} are out of order", pair[0], pair[1]);
        }
        for version in PtxVersion::KNOWN {
            assert_eq!(version.to_string().parse(), Ok(*version));
        }
        for bad in ["", "8", "8.", ".8", "8.8.1", "a.b", "-1.0", "300.1", "+8.8"] {
            assert_eq!(bad.parse::<PtxVersion>(), Err(()), "{bad}");
        }
        assert_eq!(v(8, 3).llvm_feature(), "ptx83");
    }
}
