//! Outside test data, where there is some: `LARM_TESTDATA`, else beside the workspace.
//!
//! Tests that find none say so and pass. Archives are read here with the few lines that plain tar
//! files need.

use std::io::Read;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/testdata");
    let named = std::env::var_os("LARM_TESTDATA").map(PathBuf::from);
    named.into_iter().chain([beside]).find(|folder| folder.is_dir())
}

/// A file's bytes, or `None` after saying that there is no test data.
pub fn file(name: &str) -> Option<Vec<u8>> {
    let bytes = folder().and_then(|folder| std::fs::read(folder.join(name)).ok());
    if bytes.is_none() {
        println!("skipped: no testdata");
    }
    bytes
}

/// The regular files of a gzipped tar, by name.
pub fn archive(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let tar = gunzip(&file(name)?);
    let mut files = Vec::new();
    let mut at = 0;
    let mut long_name = None;
    while let Some(header) = tar.get(at..at + 512).filter(|header| header[0] != 0) {
        let size = octal(&header[124..136]);
        let content = &tar[at + 512..at + 512 + size];
        match header[156] {
            b'L' => long_name = Some(until_nul(content)),
            b'0' | 0 => {
                files.push((long_name.take().unwrap_or_else(|| path(header)), content.to_vec()))
            }
            b'x' => long_name = pax_path(content),
            b'g' | b'5' => {}
            other => panic!("a tar entry of type {other}"),
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    assert!(!files.is_empty(), "{name} is empty");
    Some(files)
}

pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

fn path(header: &[u8]) -> String {
    let (name, prefix) = (until_nul(&header[..100]), until_nul(&header[345..500]));
    let is_ustar = &header[257..263] == b"ustar\0";
    if is_ustar && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
}

/// The path that a header of its own has for the next file: `length path=…`, a line each.
fn pax_path(header: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(header);
    text.lines().find_map(|line| Some(line.split_once(" path=")?.1.to_owned()))
}

fn until_nul(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn octal(field: &[u8]) -> usize {
    let digits = field.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |value, digit| value * 8 + usize::from(digit - b'0'))
}
