//! The dialects. Read by the build script, and by the generator of the reference pages in `xtask`.

/// One dialect: folder under `dialects-td/`, prefix of its files and records, files that hold its enums, dialects whose
/// headers it includes.
pub struct Dialect {
    pub name: &'static str,
    pub prefix: &'static str,
    pub enums: &'static str,
    pub uses: &'static [&'static str],
}

pub const DIALECTS: &[Dialect] = &[
    Dialect { name: "cuda_tile", prefix: "CudaTile", enums: "Ops", uses: &[] },
    Dialect { name: "nv_tileaa", prefix: "NvTileAA", enums: "Dialect", uses: &[] },
    Dialect { name: "nv_tileas", prefix: "NvTileAS", enums: "Dialect", uses: &["nv_tileaa"] },
];
