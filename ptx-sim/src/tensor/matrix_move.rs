//! `ldmatrix`, `stmatrix` and `movmatrix`.
//!
//! A matrix in shared memory is a set of 16-byte rows whose addresses come from the lanes: row `i` of matrix `j` from
//! lane `rows * j + i`. The caller supplies these rows by index, and supplies or receives registers.

/// The element format of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixFormat {
    /// 8 elements of 16 bits.
    B16,
    /// 16 elements of 8 bits.
    B8,
    /// 16 elements of 6 bits in the first 12 bytes; each is loaded into a byte.
    B6x16P32,
    /// 16 elements of 4 bits in the first 8 bytes; each is loaded into a byte.
    B4x16P64,
}

impl MatrixFormat {
    /// Bytes of a 16-byte row that hold elements; the rest is padding.
    pub(crate) const fn row_bytes(self) -> usize {
        match self {
            MatrixFormat::B4x16P64 => 8,
            MatrixFormat::B6x16P32 => 12,
            MatrixFormat::B8 | MatrixFormat::B16 => 16,
        }
    }

    /// Element `i` of a row.
    fn element(self, row: &[u8; 16], i: usize) -> u8 {
        let packed = |bits: usize| {
            let word = u128::from_le_bytes(*row);
            (word >> (i * bits)) as u8 & ((1 << bits) - 1)
        };
        match self {
            MatrixFormat::B4x16P64 => packed(4),
            MatrixFormat::B6x16P32 => packed(6),
            MatrixFormat::B8 | MatrixFormat::B16 => row[i],
        }
    }
}

/// One `ldmatrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadMatrix {
    pub format: MatrixFormat,
    /// Matrices per instruction: 1, 2 or 4 (16-row matrices: 1 or 2).
    pub count: usize,
    /// `.trans`. For 8-bit elements it also selects 16-row matrices (`.m16n16`); otherwise 8-bit matrices have 8 rows
    /// (`.m8n16`).
    pub transpose: bool,
}

impl LoadMatrix {
    /// Rows, and so addresses, per matrix.
    pub const fn rows(&self) -> usize {
        if matches!(self.format, MatrixFormat::B16) || !self.transpose { 8 } else { 16 }
    }

    /// Destination registers per thread.
    pub const fn registers(&self) -> usize {
        self.count * self.rows() / 8
    }

    /// The number of lanes whose addresses are used, starting at lane 0.
    pub const fn address_lanes(&self) -> usize {
        self.count * self.rows()
    }

    /// Executes the load. `row(lane)` returns the 16 bytes at that lane's address. The result is indexed
    /// `[lane][register]`; registers beyond the count are zero.
    ///
    /// # Errors
    ///
    /// Returns the errors of `row`.
    pub fn execute<E>(&self, mut row: impl FnMut(usize) -> Result<[u8; 16], E>) -> Result<[[u32; 4]; 32], E> {
        let mut out = [[0; 4]; 32];
        // 32 lanes supply addresses for 32 rows.
        for matrix in 0..self.count.min(32 / self.rows()) {
            let mut rows = [[0u8; 16]; 16];
            for (i, bytes) in rows.iter_mut().enumerate().take(self.rows()) {
                *bytes = row(matrix * self.rows() + i)?;
            }
            for (lane, registers) in out.iter_mut().enumerate() {
                let (g, t) = (lane / 4, lane % 4);
                if self.format == MatrixFormat::B16 {
                    let half = |row: usize, col: usize| {
                        u32::from(u16::from_le_bytes([rows[row][2 * col], rows[row][2 * col + 1]]))
                    };
                    registers[matrix] = if self.transpose {
                        half(2 * t, g) | half(2 * t + 1, g) << 16
                    } else {
                        half(g, 2 * t) | half(g, 2 * t + 1) << 16
                    };
                } else if self.transpose {
                    // Register r of the pair holds row g + 8r of the transposed matrix, which is a column in memory.
                    for r in 0..2 {
                        let byte = |j: usize| self.format.element(&rows[4 * t + j], g + 8 * r);
                        registers[2 * matrix + r] = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
                    }
                } else {
                    let byte = |j: usize| self.format.element(&rows[g], 4 * t + j);
                    registers[matrix] = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
                }
            }
        }
        Ok(out)
    }
}

/// One `stmatrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreMatrix {
    /// [`MatrixFormat::B16`] (`.m8n8`) or [`MatrixFormat::B8`] (`.m16n8.trans`).
    pub format: MatrixFormat,
    pub count: usize,
    pub transpose: bool,
}

impl StoreMatrix {
    /// The number of lanes whose addresses are used.
    pub const fn address_lanes(&self) -> usize {
        8 * self.count
    }

    /// Executes the store. `registers[lane][matrix]` are the sources; `write(lane, row)` receives the 16 bytes for
    /// that lane's address.
    ///
    /// # Errors
    ///
    /// Returns the errors of `write`.
    pub fn execute<E>(
        &self,
        registers: &[[u32; 4]; 32],
        mut write: impl FnMut(usize, [u8; 16]) -> Result<(), E>,
    ) -> Result<(), E> {
        for matrix in 0..self.count.min(4) {
            let mut rows = [[0u8; 16]; 8];
            for (lane, words) in registers.iter().enumerate() {
                let (g, t) = (lane / 4, lane % 4);
                let bytes = words[matrix].to_le_bytes();
                if self.format == MatrixFormat::B16 {
                    for j in 0..2 {
                        let (row, col) = if self.transpose { (2 * t + j, g) } else { (g, 2 * t + j) };
                        rows[row][2 * col..2 * col + 2].copy_from_slice(&bytes[2 * j..2 * j + 2]);
                    }
                } else {
                    // The bytes are the four accumulator elements of a 16x8 tile, in rows g and g + 8 and in columns
                    // 2t and 2t + 1. Memory holds columns.
                    for (j, byte) in bytes.into_iter().enumerate() {
                        rows[2 * t + (j & 1)][g + 8 * (j >> 1)] = byte;
                    }
                }
            }
            for (i, row) in rows.into_iter().enumerate() {
                write(matrix * 8 + i, row)?;
            }
        }
        Ok(())
    }
}

/// `movmatrix.m8n8.trans.b16`: transposes an 8x8 matrix held across the warp.
pub fn movmatrix(source: &[u32; 32]) -> [u32; 32] {
    let element = |row: usize, col: usize| source[row * 4 + col / 2] >> (16 * (col % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (g, t) = (lane / 4, lane % 4);
        element(2 * t, g) | element(2 * t + 1, g) << 16
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rows = Vec<[u8; 16]>;

    fn load(op: LoadMatrix, rows: &Rows) -> [[u32; 4]; 32] {
        op.execute(|lane| Ok::<_, ()>(rows[lane])).unwrap()
    }

    /// Row `i` holds halves `100 * i + column`.
    fn halves() -> Rows {
        (0..32u16)
            .map(|i| {
                let mut row = [0; 16];
                for c in 0..8u16 {
                    row[2 * c as usize..][..2].copy_from_slice(&(100 * i + c).to_le_bytes());
                }
                row
            })
            .collect()
    }

    fn bytes() -> Rows {
        (0..32u8).map(|i| std::array::from_fn(|c| 16u8.wrapping_mul(i).wrapping_add(c as u8))).collect()
    }

    #[test]
    fn m8n8_places_pairs_along_a_row() {
        let op = LoadMatrix { format: MatrixFormat::B16, count: 4, transpose: false };
        assert_eq!((op.registers(), op.address_lanes()), (4, 32));
        let out = load(op, &halves());
        assert_eq!(out[0][0], 1 << 16);
        assert_eq!(out[6][0], 105 << 16 | 104);
        assert_eq!(out[31][3], 3107 << 16 | 3106);
        let op = LoadMatrix { transpose: true, ..op };
        let out = load(op, &halves());
        assert_eq!(out[0][0], 100 << 16);
        assert_eq!(out[6][0], 501 << 16 | 401);
        assert_eq!(out[31][2], 2307 << 16 | 2207);
    }

    #[test]
    fn m16n16_takes_sixteen_rows_and_transposes() {
        let op = LoadMatrix { format: MatrixFormat::B8, count: 2, transpose: true };
        assert_eq!((op.registers(), op.address_lanes(), op.rows()), (4, 32, 16));
        let out = load(op, &bytes());
        // Thread 0: column 0 of rows 0..4, then column 8.
        assert_eq!(out[0][0].to_le_bytes(), [0, 16, 32, 48]);
        assert_eq!(out[0][1].to_le_bytes(), [8, 24, 40, 56]);
        // Thread 5 is g = 1, t = 1.
        assert_eq!(out[5][0].to_le_bytes(), [65, 81, 97, 113]);
        assert_eq!(out[5][2].to_le_bytes(), out[5][0].to_le_bytes());
    }

    /// The words are fragments of operand B of `mma.m16n8k32` with its K along the rows of memory: lane `4 g + t` has
    /// bytes `4 t` to `4 t + 3` of column `g`. Two matrices are the two words of K, and the two words of a matrix are
    /// the same of two instructions. CUTLASS's `Copy_Traits` of this instruction describe the same lanes and bytes.
    #[test]
    fn m16n16_gives_fragments_of_bytes() {
        let element = |k: usize, n: usize| (7 * k + 13 * n) as u8;
        let rows: Rows = (0..32).map(|k| std::array::from_fn(|n| element(k, n))).collect();
        let out = load(LoadMatrix { format: MatrixFormat::B8, count: 2, transpose: true }, &rows);
        for (lane, words) in out.iter().enumerate() {
            let (g, t) = (lane / 4, lane % 4);
            for (half, right) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let wanted = std::array::from_fn(|j| element(16 * half + 4 * t + j, 8 * right + g));
                assert_eq!(words[2 * half + right].to_le_bytes(), wanted, "lane {lane}");
            }
        }
    }

    #[test]
    fn packed_formats_expand_into_bytes() {
        let mut row = [0u8; 16];
        row[..8].copy_from_slice(&[0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe]);
        let op = LoadMatrix { format: MatrixFormat::B4x16P64, count: 1, transpose: false };
        let out = load(op, &vec![row; 8]);
        assert_eq!(out[0][0].to_le_bytes(), [0, 1, 2, 3]);
        assert_eq!(out[7][0].to_le_bytes(), [12, 13, 14, 15]);
        let packed = (0..16u128).fold(0u128, |word, i| word | (i + 40) << (6 * i));
        let op = LoadMatrix { format: MatrixFormat::B6x16P32, ..op };
        let out = load(op, &vec![packed.to_le_bytes(); 8]);
        assert_eq!(out[2][0].to_le_bytes(), [48, 49, 50, 51]);
        let op = LoadMatrix { format: MatrixFormat::B4x16P64, count: 1, transpose: true };
        let out = load(op, &vec![row; 16]);
        assert_eq!(out[4][1].to_le_bytes(), [9; 4]);
    }

    #[test]
    fn stores_undo_loads() {
        for transpose in [false, true] {
            let rows = halves();
            let regs = load(LoadMatrix { format: MatrixFormat::B16, count: 4, transpose }, &rows);
            let mut back = vec![[0; 16]; 32];
            let op = StoreMatrix { format: MatrixFormat::B16, count: 4, transpose };
            op.execute(&regs, |lane, row| {
                back[lane] = row;
                Ok::<_, ()>(())
            })
            .unwrap();
            assert_eq!(back, rows);
        }
    }

    #[test]
    fn byte_store_writes_columns_of_the_tile() {
        // Element (row, col) of the 16x8 tile is 16 * col + row.
        let mut regs = [[0u32; 4]; 32];
        for (lane, words) in regs.iter_mut().enumerate() {
            let at = |j: usize| (16 * (2 * (lane % 4) + (j & 1)) + lane / 4 + 8 * (j >> 1)) as u8;
            words[0] = u32::from_le_bytes([at(0), at(1), at(2), at(3)]);
        }
        let op = StoreMatrix { format: MatrixFormat::B8, count: 1, transpose: true };
        op.execute(&regs, |lane, row| {
            assert_eq!(row, std::array::from_fn(|c| (16 * lane + c) as u8));
            Ok::<_, ()>(())
        })
        .unwrap();
    }

    #[test]
    fn movmatrix_transposes() {
        let source = std::array::from_fn(|lane| {
            let at = |c: usize| (10 * (lane / 4) + c) as u32;
            at(2 * (lane % 4)) | at(2 * (lane % 4) + 1) << 16
        });
        let out = movmatrix(&source);
        assert_eq!(out[0], 10 << 16);
        assert_eq!(out[7], 71 << 16 | 61);
        assert_eq!(movmatrix(&out), source);
    }
}
