//! Bounded reads of files that a user names, and checks for files that could block forever.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The largest readable file in bytes. Devices may be endless, and no program comes near this size.
pub const LARGEST: u64 = 1 << 30;

/// Reads a file. `-` is standard input.
///
/// # Errors
/// The system's error, or a file of more than [`LARGEST`] bytes.
pub fn read_or_stdin(path: &Path) -> io::Result<Vec<u8>> {
    if path.as_os_str() == "-" { read_all(io::stdin().lock(), LARGEST) } else { read(path) }
}

/// Reads a file.
///
/// # Errors
/// See [`read_or_stdin`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // A file that reports its size can be rejected without reading it.
    if file.metadata()?.len() > LARGEST {
        return Err(too_large(LARGEST));
    }
    read_all(file, LARGEST)
}

/// Reads a text file.
///
/// # Errors
/// See [`read_or_stdin`]. Also a file that is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
}

fn read_all(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", most >> 20))
}

/// The reason why an unattended program should not open this file for reading, or `None`. Reading a pipe or a
/// terminal blocks until its other end writes.
pub fn read_may_block(path: &Path) -> Option<&'static str> {
    let kind = path.metadata().ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then_some("it is not a regular file")
}

/// The same for writing. Devices, such as the null device, are fine.
pub fn write_may_block(path: &Path) -> Option<&'static str> {
    path.metadata().ok()?.file_type().is_fifo().then_some("it is a pipe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_may_be() {
        assert_eq!(read_all(&b"four"[..], 4).unwrap(), b"four");
        let error = read_all(io::repeat(0), 4 << 20).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it is larger than 4 MiB")
        );
        assert!(read_all(&b"fives"[..], 4).is_err());
    }

    #[test]
    fn files_that_are_too_large_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), "it is larger than 1024 MiB");
        file.set_len(3).unwrap();
        assert_eq!((read(&path).unwrap(), read_text(&path).unwrap()), (vec![0; 3], "\0\0\0".to_owned()));
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(read(folder.path()).is_err());
        assert_eq!((read_may_block(&path), read_may_block(folder.path())), (None, None));
        assert_eq!(
            (read_may_block(Path::new("/dev/null")), write_may_block(Path::new("/dev/null"))),
            (Some("it is not a regular file"), None)
        );
    }
}
