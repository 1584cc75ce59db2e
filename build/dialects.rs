//! The dialects. Read by the build script, and by the generator of the reference pages in `xtask`.

/// One dialect: folder under `dialects-td/`, prefix of its files and records, files that hold its enums and its op
/// interfaces, dialects whose headers it includes.
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
