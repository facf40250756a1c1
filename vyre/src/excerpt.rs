//! An error with the line of source that it is about, laid out as rustc does it.
//!
//! Displaying an error reads no files; this does. It shows a line only where it most likely is the one that was
//! compiled: a Rust file in the folders around the executable or the current one, not changed since the executable was
//! made, with a word or a sign where the fault was.

use crate::Error;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthChar;
use vyre_core::vir0::trap::Site;
use vyre_core::vir0::untrusted::does_more_than_show;

/// Longer files are not looked at, and longer lines not shown.
const FILE_BYTES: u64 = 16 << 20;
const LINE_CHARS: usize = 400;

/// Columns of a tab, as rustc shows it.
const TAB: &str = "    ";

/// An error, and below it the line of source where a kernel trapped: see [`Error::with_excerpt`].
#[derive(Clone, Copy, Debug)]
pub struct WithExcerpt<'e>(&'e Error);

impl Error {
    /// The error for people: of a trap, the line of source with the place marked, where its file can be read and is as
    /// it was compiled. Otherwise it is the error's own text.
    ///
    /// ```
    /// use vyre::prelude::*;
    ///
    /// #[kernel]
    /// fn gather(at: &u32, from: &Buf<u32>, to: &mut u32) {
    ///     *to = from[*at];
    /// }
    ///
    /// let error = gather::run(&Runtime::native(), &[1, 3], &[4, 5, 6], &mut [0; 2]).unwrap_err();
    /// eprintln!("error: {}", error.with_excerpt());
    /// # assert!(error.with_excerpt().to_string().starts_with("index 3 is outside of `from` (3 elements) in `gather` at item 1"));
    /// ```
    ///
    /// ```text
    /// error: index 3 is outside of `from` (3 elements) in `gather` at item 1
    ///  --> src/main.rs:5:15
    ///   |
    /// 5 |     *to = from[*at];
    ///   |               ^^^^^
    /// ```
    pub fn with_excerpt(&self) -> WithExcerpt<'_> {
        WithExcerpt(self)
    }
}

impl fmt::Display for WithExcerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let excerpt = self.0.trap().and_then(|trap| {
            let line = line_of(&find(Path::new(&trap.site.file))?, trap.site.line)?;
            Some((trap, excerpt(&trap.site, &line)?))
        });
        match excerpt {
            Some((trap, excerpt)) => write!(f, "{}\n{excerpt}", trap.headline()),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The file, if it is there and not newer than the executable. rustc names a file as it was given it: from the folder of
/// the workspace, or from the root.
fn find(file: &Path) -> Option<PathBuf> {
    let rust = file.extension().is_some_and(|e| e == "rs");
    let program = std::env::current_exe().ok().filter(|_| rust)?;
    let built = program.metadata().and_then(|m| m.modified()).ok();
    let here = std::env::current_dir().ok();
    let around = program
        .ancestors()
        .skip(1)
        .chain(here.iter().flat_map(|here| here.ancestors()));
    let found = around
        .map(|folder| folder.join(file))
        .find(|path| path.is_file())?;
    let about = found.metadata().ok()?;
    let changed = about
        .modified()
        .ok()
        .zip(built)
        .is_some_and(|(file, program)| file > program);
    (!changed && about.len() <= FILE_BYTES).then_some(found)
}

/// A line, counted from 1, without its end.
fn line_of(file: &Path, line: u32) -> Option<String> {
    let text = BufReader::new(File::open(file).ok()?.take(FILE_BYTES));
    text.lines()
        .nth(usize::try_from(line).ok()?.checked_sub(1)?)?
        .ok()
}

/// The place, the line, and what is below it; `None` where the line is none that has a fault there.
fn excerpt(site: &Site, line: &str) -> Option<String> {
    let chars: Vec<char> = line.chars().collect();
    let first = usize::try_from(site.column).ok()?.checked_sub(1)?;
    let at = *chars.get(first)?;
    if chars.len() > LINE_CHARS || at.is_whitespace() || at.is_control() {
        return None;
    }
    let marked = first..first + marked(&chars[first..]);
    let width = |chars: &[char]| -> usize { chars.iter().map(|&c| shown(c).1).sum() };
    let text: String = chars.iter().map(|&c| shown(c).0).collect();
    let (before, carets) = (width(&chars[..first]), width(&chars[marked]).max(1));
    let number = site.line.to_string();
    let (margin, text) = (" ".repeat(number.len()), text.trim_end());
    Some(format!(
        "{margin}--> {site}\n{margin} |\n{number} | {text}\n{margin} | {}{}",
        " ".repeat(before),
        "^".repeat(carets)
    ))
}

/// How many characters are marked: a word, or what stands in brackets (rustc says of `xs[i]` where the bracket is).
fn marked(chars: &[char]) -> usize {
    if chars[0] == '[' {
        let mut depth = 0;
        let end = chars.iter().position(|c| {
            depth += i32::from(*c == '[') - i32::from(*c == ']');
            depth == 0
        });
        return end.map_or(1, |end| end + 1);
    }
    let is_word = |c: &&char| c.is_alphanumeric() || **c == '_';
    chars.iter().take_while(is_word).count().max(1)
}

/// How a character is shown, and how wide. What would move the cursor, reverse the direction of text or be unseen is a
/// mark.
fn shown(c: char) -> (String, usize) {
    match c {
        '\t' => (TAB.to_owned(), TAB.len()),
        _ if does_more_than_show(c) => ('\u{fffd}'.to_string(), 1),
        _ => (c.to_string(), c.width().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn shows(line: &str, column: u32) -> Option<String> {
        let site = Site {
            file: "src/main.rs".to_owned(),
            line: 14,
            column,
        };
        excerpt(&site, line)
    }

    #[test]
    fn a_caret_stands_below_the_place() {
        let shown =
            "  --> src/main.rs:14:15\n   |\n14 |     *to = from[*at];\n   |               ^^^^^";
        assert_eq!(shows("    *to = from[*at];", 15).as_deref(), Some(shown));
        let shown = "  --> src/main.rs:14:9\n   |\n14 | a = b + /* c */ d;  \n   |         ^";
        assert_eq!(
            shows("a = b + /* c */ d;  ", 9),
            Some(shown.replace(";  ", ";"))
        );
    }

    #[test]
    fn what_is_wide_narrow_or_unseen_moves_the_caret_with_it() {
        for (line, column, expected, below) in [
            (
                "\t\tx[i[0]] + 1",
                4,
                "        x[i[0]] + 1",
                "         ^^^^^^",
            ),
            ("\t\tx[i", 4, "        x[i", "         ^"),
            ("\t\tx[i]", 3, "        x[i]", "        ^"),
            (
                "/* \u{6f22}\u{5b57} */ x[i]",
                10,
                "/* \u{6f22}\u{5b57} */ x[i]",
                "           ^",
            ),
            (
                "/* e\u{301} */ x[i]",
                10,
                "/* e\u{301} */ x[i]",
                "        ^",
            ),
            (
                "/* \u{1b}[2J\u{202e} */ x[i]",
                13,
                "/* \u{fffd}[2J\u{fffd} */ x[i]",
                "            ^",
            ),
            (
                "/* \u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2060}\u{feff} */ x[i]",
                15,
                "/* \u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd} */ x[i]",
                "              ^",
            ),
            ("\u{6f22}\u{5b57} + 1", 1, "\u{6f22}\u{5b57} + 1", "^^^^"),
        ] {
            let excerpt = shows(line, column).expect("there is a word");
            let lines: Vec<&str> = excerpt.lines().collect();
            assert_eq!(lines[2], format!("14 | {expected}"));
            assert_eq!(lines[3], format!("   | {below}"));
        }
    }

    #[test]
    fn a_line_that_has_nothing_there_is_not_shown() {
        for (line, column) in [
            ("", 1),
            ("x[i]", 0),
            ("x[i]", 5),
            ("x [i]", 2),
            ("x\u{7}[i]", 2),
        ] {
            assert_eq!(shows(line, column), None, "{line:?}");
        }
        assert_eq!(shows(&"x".repeat(LINE_CHARS + 1), 1), None);
    }

    /// Files are looked for around the executable, which is in a folder of the build's.
    #[test]
    fn a_file_is_read_where_it_is_as_it_was_compiled() {
        let program = std::env::current_exe().expect("it runs");
        let folder = program.with_file_name(format!("excerpt_{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let name = folder.file_name().map(PathBuf::from).expect("it has one");
        let built = program.metadata().and_then(|about| about.modified());
        let built = built.expect("it has a time");
        let before = built - Duration::from_secs(1);
        let wrote = |file: &str, text: &[u8], when: SystemTime| {
            let path = folder.join(file);
            std::fs::write(&path, text).expect("it is written");
            let file = File::options().write(true).open(path).expect("it is there");
            file.set_modified(when).expect("it has a time");
        };
        wrote("old.rs", b"one\r\ntwo\r\nthree", before);
        wrote("new.rs", b"one\ntwo\nthree", built + Duration::from_secs(1));
        wrote("old.txt", b"one\ntwo\nthree", before);
        wrote("bytes.rs", b"one\n\xff\xfe\n", before);
        let line = |file: &str, line| line_of(&find(&name.join(file))?, line);
        assert_eq!(line("old.rs", 2).as_deref(), Some("two"));
        assert_eq!(line("old.rs", 3).as_deref(), Some("three"));
        for (file, at) in [
            ("old.rs", 0),
            ("old.rs", 4),
            ("new.rs", 2),
            ("old.txt", 2),
            ("none.rs", 1),
            ("bytes.rs", 2),
        ] {
            assert_eq!(line(file, at), None, "{file}:{at}");
        }
        assert_eq!(find(&folder), None);
        std::fs::remove_dir_all(&folder).expect("it was there");
    }
}
