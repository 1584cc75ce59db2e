//! The identity of this build.
//!
//! Clients store the text of `--version` in their cache keys. It must therefore change with every build that can
//! generate different code, and with no other. During development the version number and the revision are not enough;
//! the fingerprint of the sources is.

#![deny(unsafe_code)]

use tile_driver::Identity;

/// The identity that `--version` prints for this build.
pub const IDENTITY: Identity = Identity {
    version: env!("CARGO_PKG_VERSION"),
    revision: env!("TILE_REVISION"),
    sources: env!("TILE_SOURCES"),
    llvm: env!("TILE_LLVM"),
};

#[cfg(test)]
mod tests {
    #[test]
    fn every_part_is_there() {
        let id = super::IDENTITY;
        assert!(id.version.split('.').count() == 3);
        assert!(!id.revision.is_empty() && !id.revision.contains(char::is_whitespace));
        assert!(id.sources.len() == 16 && id.sources.bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(id.llvm.starts_with("21"));
    }
}
