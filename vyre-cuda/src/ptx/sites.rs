//! The user's lines in the text of a pass's module, for people who read it.
//!
//! A body marks where words begin whose place in the source is known: which kernel, which word. What the driver gets is
//! [`without`] marks, so its cache holds wherever the user's lines move to; [`shown`] has comments in their place.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::trap::Site;

/// What a mark begins with. It is a directive, which folding keeps where it stands.
const MARK: &str = ".loc ";

/// The mark of a word, without the semicolon; `None` where its place is not known.
pub(super) fn mark(program: &Program, kernel: usize, pc: usize) -> Option<String> {
    let sites = &program.kernels[kernel].sites;
    let known = sites.binary_search_by_key(&(pc as u32), |&(pc, _)| pc);
    known.ok().map(|_| format!("{MARK}{kernel} {pc}"))
}

/// The kernel and the word that a line marks.
fn marked(line: &str) -> Option<(usize, u32)> {
    let numbers = line.trim().strip_prefix(MARK)?.strip_suffix(';')?;
    let (kernel, pc) = numbers.split_once(' ')?;
    Some((kernel.parse().ok()?, pc.parse().ok()?))
}

/// The text without its marks.
pub(crate) fn without(text: &str) -> String {
    let lines = text.lines().filter(|line| marked(line).is_none());
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The text with a comment in the place of each mark that leads to another line of source than the one before: the
/// file, the line, and what stands there. `read`: a file, if it can be read.
pub(crate) fn shown(
    text: &str,
    program: &Program,
    read: impl Fn(&str) -> Option<String>,
) -> String {
    let mut files: HashMap<&str, Option<String>> = HashMap::new();
    let mut out = String::new();
    // The place of the code that follows, and the one that was told last.
    let (mut here, mut told) = (None, None);
    for line in text.lines() {
        if let Some((kernel, pc)) = marked(line) {
            here = site(program, kernel, pc).map(|site| (&*site.file, site.line));
            continue;
        }
        let bare = line.trim();
        if bare.ends_with(':') || bare.starts_with(".func") || bare.contains(".entry") {
            // Control comes here from elsewhere.
            told = None;
        }
        let is_code = bare.ends_with(';') && !bare.starts_with('.');
        if let Some((file, number)) = here.take_if(|_| is_code)
            && told != Some((file, number))
        {
            let source = files.entry(file).or_insert_with(|| read(file));
            let source = source
                .as_ref()
                .and_then(|s| s.lines().nth(number as usize - 1));
            let source = source.map_or_else(String::new, |line| format!("  {}", line.trim()));
            let indent = &line[..line.len() - line.trim_start().len()];
            let comment = plain(&format!("{file}:{number}{source}"));
            writeln!(out, "{indent}// {comment}").expect("writing to a string succeeds");
            told = Some((file, number));
        }
        out += line;
        out.push('\n');
    }
    out
}

fn site(program: &Program, kernel: usize, pc: u32) -> Option<&Site> {
    let sites = &program.kernels.get(kernel)?.sites;
    let at = sites.binary_search_by_key(&pc, |&(pc, _)| pc).ok()?;
    let site = program.sites.get(sites[at].1.index())?;
    (site.line > 0).then_some(site)
}

/// One line of ASCII, as PTX has it.
fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii() && !c.is_control();
    text.chars()
        .map(|c| if is_plain(c) { c } else { '?' })
        .collect()
}

/// The file of a [`Site`], which is told from where the compiler ran: the folder of the crate or of its workspace.
pub(crate) fn read(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let places = here.ancestors().map(|folder| folder.join(Path::new(file)));
    places
        .into_iter()
        .find_map(|place| std::fs::read_to_string(place).ok())
}
