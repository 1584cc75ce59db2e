//! The list of dialects, for the build script and for the generator of reference pages in `xtask`.

/// A dialect: its directory in `dialects-td/`, the prefix of its files and records, the files of its enums and op
/// interfaces, and the dialects whose headers it includes.
pub struct Dialect {
    pub name: &'static str,
    pub prefix: &'static str,
    pub enums: &'static str,
    pub interfaces: &'static str,
    pub uses: &'static [&'static str],
}

pub const DIALECTS: &[Dialect] = &[
    Dialect { name: "cuda_tile", prefix: "CudaTile", enums: "Ops", interfaces: "Ops", uses: &[] },
    Dialect { name: "nv_tileaa", prefix: "NvTileAA", enums: "Dialect", interfaces: "Interfaces", uses: &[] },
    Dialect { name: "nv_tileas", prefix: "NvTileAS", enums: "Dialect", interfaces: "Dialect", uses: &["nv_tileaa"] },
];
