//! Files that are read whole.

use crate::graph::available_memory_bytes;
use std::fs::{File, metadata};
use std::io::{self, Read};
use std::path::Path;

/// Reads a file. Refused are devices and pipes, which may never end and are not even opened, and what there is no
/// memory for.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let kind = metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file; copy what the device or pipe gives to one",
        ));
    }
    let limit_bytes = available_memory_bytes().unwrap_or(u64::MAX);
    read_up_to(File::open(path)?, limit_bytes)
}

/// Reads a text file, as [`read`].
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// Reads what is left, unless it is longer than this.
pub fn read_up_to(mut from: impl Read, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut from).take(limit_bytes).read_to_end(&mut bytes)?;
    // Files of /proc have no length that could be asked for before.
    if from.read(&mut [0])? > 0 {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("longer than the {limit_bytes} bytes of memory that are free"),
        ));
    }
    Ok(bytes)
}
