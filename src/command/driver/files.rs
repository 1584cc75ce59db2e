//! Files that a user names: how much is read of them, and which of them can be waited for in vain.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The most bytes that a file may have. Devices give bytes without an end, and no program comes near this.
pub const LARGEST: u64 = 1 << 30;

/// The bytes of a file; `-` is standard input.
///
/// # Errors
/// What the system says, or that there are more than [`LARGEST`] bytes.
pub fn read_or_stdin(path: &Path) -> io::Result<Vec<u8>> {
    if path.as_os_str() == "-" { read_all(io::stdin().lock(), LARGEST) } else { read(path) }
}

/// The bytes of a file.
///
/// # Errors
/// As of [`read_or_stdin`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // A file that tells its size need not be read to find out.
    if file.metadata()?.len() > LARGEST {
        return Err(too_large(LARGEST));
    }
    read_all(file, LARGEST)
}

/// The text of a file.
///
/// # Errors
/// As of [`read_or_stdin`], or that it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
}

fn read_all(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {} MiB", most >> 20))
}

/// Why a program that nobody watches should not open the file of this name to read it; `None` if it may. Whoever reads
/// a pipe or a terminal waits for somebody who writes.
pub fn waits_to_read(path: &Path) -> Option<&'static str> {
    let kind = path.metadata().ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then_some("it is no regular file")
}

/// The same of a file to write. A device, such as the null device, takes what it gets.
pub fn waits_to_write(path: &Path) -> Option<&'static str> {
    path.metadata().ok()?.file_type().is_fifo().then_some("it is a pipe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_may_be() {
        assert_eq!(read_all(&b"four"[..], 4).unwrap(), b"four");
        let error = read_all(io::repeat(0), 4 << 20).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::FileTooLarge, "it has more than 4 MiB"));
        assert!(read_all(&b"fives"[..], 4).is_err());
    }

    #[test]
    fn files_that_are_too_large_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), "it has more than 1024 MiB");
        file.set_len(3).unwrap();
        assert_eq!((read(&path).unwrap(), read_text(&path).unwrap()), (vec![0; 3], "\0\0\0".to_owned()));
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(read(folder.path()).is_err());
        assert_eq!((waits_to_read(&path), waits_to_read(folder.path())), (None, None));
        assert_eq!(
            (waits_to_read(Path::new("/dev/null")), waits_to_write(Path::new("/dev/null"))),
            (Some("it is no regular file"), None)
        );
    }
}
