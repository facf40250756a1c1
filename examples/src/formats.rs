//! Graph files, by extension, and the binary result file.
//!
//! | extension | format | nodes | weights |
//! | --- | --- | --- | --- |
//! | `.el`, `.txt` | lines `src dst [weight]`; `#` and `%` start comments | from 0, up to the largest named | third column, on all lines or none |
//! | `.mtx` | Matrix Market coordinate; an entry `(i, j)` is the edge `i - 1` to `j - 1`, symmetric ones go both ways | rows | `integer`, or `real` if all are whole; other reals are ignored |
//! | `.gr` | DIMACS shortest paths: `c`, `p sp N M`, `a SRC DST WEIGHT`, from 1 | as declared | always |
//! | `.csr` | `"CSRBIN01"`, u64 n, m, flags (bit 0: weights follow, bit 1: they are signed), u32 offsets\[n + 1\], u32 targets\[m\], \[u32 or i32 weights\[m\]\], little endian | n | by flags |
//!
//! Edges are directed as written; repeated edges and self loops stay.

use crate::files;
use crate::graph::{Graph, Weights};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;
use vyre::{Csr, CsrError};

/// A graph file that cannot be used.
#[derive(Debug, Error)]
#[error("{}: {kind}", path.display())]
pub struct FormatError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub kind: FormatErrorKind,
}

/// What is wrong with a graph file.
#[derive(Debug, Error)]
pub enum FormatErrorKind {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No known extension.
    #[error("unknown extension; graph files end in .el, .txt, .mtx, .gr or .csr")]
    Extension,
    /// A line of a text format.
    #[error("line {line}: expected {expected}, found {found}")]
    Line {
        /// From 1.
        line: usize,
        /// What the format allows there.
        expected: &'static str,
        /// The line, quoted and shortened.
        found: String,
    },
    /// A text file ends too soon.
    #[error("the file ends before {0}")]
    Missing(&'static str),
    /// Fewer or more edges than declared.
    #[error("{declared} edges are declared, {found} are there")]
    Count {
        /// In the header.
        declared: u64,
        /// In the body.
        found: u64,
    },
    /// Node numbers without proportion to the edges: a damaged file, or not a graph.
    #[error("{nodes} nodes for {edges} edges; at most {limit} are accepted for so few")]
    TooSparse {
        /// Largest node number plus one, or as declared.
        nodes: u64,
        /// Edges in the file.
        edges: u64,
        /// What would be accepted.
        limit: u64,
    },
    /// A weight that is neither u32 nor, with negative ones present, i32.
    #[error("weight {0} does not fit 32 bits")]
    Weight(i64),
    /// A Matrix Market kind that is no graph.
    #[error("{0}")]
    Matrix(String),
    /// A `.csr` file does not start with its magic.
    #[error("not a CSR file: it does not start with CSRBIN01")]
    Magic,
    /// A `.csr` file with flags that this version does not know.
    #[error("unknown flags {0:#x}")]
    Flags(u64),
    /// A `.csr` file is cut off or goes on too long.
    #[error("the header asks for {expected} bytes; the file has {actual}")]
    Size {
        /// By the header.
        expected: u128,
        /// Of the file.
        actual: u64,
    },
    /// The arrays are no graph.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

/// Reads a graph file; the format follows from the extension.
pub fn load(path: &Path) -> Result<Graph, FormatError> {
    let at = |kind| FormatError {
        path: path.into(),
        kind,
    };
    let format = Format::of(path).ok_or_else(|| at(FormatErrorKind::Extension))?;
    let bytes = files::read(path).map_err(|e| at(e.into()))?;
    parse(format, &bytes).map_err(at)
}

/// A graph file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.el` and `.txt`.
    EdgeList,
    /// `.mtx`.
    MatrixMarket,
    /// `.gr`.
    Dimacs,
    /// `.csr`.
    CsrBinary,
}

impl Format {
    /// The format of a path, by its extension.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "el" | "txt" => Some(Format::EdgeList),
            "mtx" => Some(Format::MatrixMarket),
            "gr" => Some(Format::Dimacs),
            "csr" => Some(Format::CsrBinary),
            _ => None,
        }
    }
}

/// Reads a graph from the bytes of a file.
pub fn parse(format: Format, bytes: &[u8]) -> Result<Graph, FormatErrorKind> {
    match format {
        Format::EdgeList => edge_list(bytes),
        Format::MatrixMarket => matrix_market(bytes),
        Format::Dimacs => dimacs(bytes),
        Format::CsrBinary => csr_binary(bytes),
    }
}

/// One line of a text file.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a [u8],
}

/// Lines of a text file that are neither empty nor comments.
fn lines(bytes: &[u8], comment: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = Line<'_>> {
    let numbered = (1..).zip(bytes.split(|&b| b == b'\n'));
    let trimmed = numbered.map(|(number, text)| Line {
        number,
        text: text.trim_ascii(),
    });
    trimmed.filter(move |line| !line.text.is_empty() && !comment(line.text))
}

impl<'a> Line<'a> {
    fn fields(self) -> impl Iterator<Item = &'a str> {
        let fields = self.text.split(u8::is_ascii_whitespace);
        // What is not UTF-8 becomes a field that no number and no keyword equals.
        fields
            .filter(|f| !f.is_empty())
            .map(|f| std::str::from_utf8(f).unwrap_or("\u{fffd}"))
    }

    fn error(self, expected: &'static str) -> FormatErrorKind {
        const SHOWN: usize = 40;
        let text = String::from_utf8_lossy(self.text);
        let mut found: String = text.chars().take(SHOWN).collect();
        if found.len() < text.len() {
            found.push_str("...");
        }
        FormatErrorKind::Line {
            line: self.number,
            expected,
            found: format!("{found:?}"),
        }
    }
}

/// Edges as they come from a text file.
#[derive(Default)]
struct Edges {
    ends: Vec<(u32, u32)>,
    weights: Vec<i64>,
}

impl Edges {
    /// Builds the graph. `nodes`: as declared, otherwise up to the largest named node.
    fn graph(self, nodes: Option<u64>) -> Result<Graph, FormatErrorKind> {
        let largest = || {
            self.ends
                .iter()
                .map(|&(s, d)| u64::from(s.max(d)) + 1)
                .max()
        };
        let nodes = nodes.or_else(largest).unwrap_or(0);
        // A node costs memory whether it has edges or not: a stray number must not ask for gigabytes.
        let edges = self.ends.len() as u64;
        let limit = (edges * 64).max(1 << 26);
        if nodes > limit {
            return Err(FormatErrorKind::TooSparse {
                nodes,
                edges,
                limit,
            });
        }
        let (csr, origin) = Csr::from_edges_indexed(nodes as usize, &self.ends)?;
        let weights = if self.weights.is_empty() {
            None
        } else {
            let in_order = origin.iter().map(|&i| self.weights[i as usize]);
            Some(weights(in_order)?)
        };
        Ok(Graph {
            csr,
            weights,
            functions: None,
            cfg: None,
            symmetric: false,
        })
    }
}

fn weights(values: impl Iterator<Item = i64> + Clone) -> Result<Weights, FormatErrorKind> {
    let signed = values.clone().any(|w| w < 0);
    let misfit = |w| move |_| FormatErrorKind::Weight(w);
    Ok(if signed {
        let weights = values.map(|w| i32::try_from(w).map_err(misfit(w)));
        Weights::Signed(weights.collect::<Result<_, _>>()?)
    } else {
        let weights = values.map(|w| u32::try_from(w).map_err(misfit(w)));
        Weights::Unsigned(weights.collect::<Result<_, _>>()?)
    })
}

fn edge_list(bytes: &[u8]) -> Result<Graph, FormatErrorKind> {
    const FORM: &str = "`src dst [weight]` with whole numbers";
    let mut edges = Edges::default();
    for line in lines(bytes, |text| matches!(text[0], b'#' | b'%')) {
        let mut fields = line.fields();
        let mut node = || fields.next()?.parse::<u32>().ok();
        let ends = node().zip(node()).ok_or_else(|| line.error(FORM))?;
        let weighted = edges.weights.len() == edges.ends.len();
        match fields.next() {
            Some(w) if weighted => {
                let weight = w.parse::<i64>().map_err(|_| line.error(FORM))?;
                edges.weights.push(weight);
            }
            None if edges.weights.is_empty() => {}
            Some(_) => return Err(line.error("no weight, as on the lines before")),
            None => return Err(line.error("a weight, as on the lines before")),
        }
        if fields.next().is_some() {
            return Err(line.error(FORM));
        }
        edges.ends.push(ends);
    }
    edges.graph(None)
}

fn matrix_market(bytes: &[u8]) -> Result<Graph, FormatErrorKind> {
    const COMPLEX: &str =
        "the matrix is complex; a graph has no such weights: use `pattern`, `integer` or `real`";
    const HERMITIAN: &str =
        "the matrix is hermitian, which is for complex values; a graph is `symmetric` or `general`";
    const SIZES: &str = "`rows columns entries`";
    const ENTRY: &str =
        "`row column [value]`, rows and columns from 1 and within the declared size";
    let mut lines = lines(bytes, |t| t[0] == b'%' && !t.starts_with(b"%%MatrixMarket"));
    let missing = FormatErrorKind::Missing;
    let header = lines.next().ok_or(missing("the %%MatrixMarket header"))?;
    let words: Vec<String> = header.fields().map(str::to_ascii_lowercase).collect();
    let [magic, object, layout, field, symmetry] = &words[..] else {
        return Err(header.error("`%%MatrixMarket matrix coordinate FIELD SYMMETRY`"));
    };
    if magic != "%%matrixmarket" || object != "matrix" {
        return Err(header.error("`%%MatrixMarket matrix coordinate FIELD SYMMETRY`"));
    }
    if layout != "coordinate" {
        let text = format!("the matrix is in {layout:?} layout; a graph needs `coordinate`");
        return Err(FormatErrorKind::Matrix(text));
    }
    let values = match field.as_str() {
        "pattern" => 0,
        "integer" | "real" | "double" => 1,
        "complex" => return Err(FormatErrorKind::Matrix(COMPLEX.into())),
        _ => return Err(header.error("a field of pattern, integer or real")),
    };
    let mirror_sign = match symmetry.as_str() {
        "general" => None,
        "symmetric" => Some(1),
        "skew-symmetric" => Some(-1),
        "hermitian" => return Err(FormatErrorKind::Matrix(HERMITIAN.into())),
        _ => return Err(header.error("a symmetry of general, symmetric or skew-symmetric")),
    };

    let sizes = lines.next().ok_or(missing("the size line"))?;
    let numbers: Option<Vec<u64>> = sizes.fields().map(|f| f.parse().ok()).collect();
    let Some([rows, columns, declared]) = numbers.and_then(|n| <[u64; 3]>::try_from(n).ok()) else {
        return Err(sizes.error(SIZES));
    };
    if rows != columns {
        let text = format!("the matrix is {rows} x {columns}; a graph needs a square one");
        return Err(FormatErrorKind::Matrix(text));
    }

    let mut edges = Edges::default();
    let mut found = 0;
    let mut whole = values == 1;
    for line in lines {
        let fields: Vec<&str> = line.fields().collect();
        if fields.len() != 2 + values {
            return Err(line.error(ENTRY));
        }
        let node = |f: &str| {
            let n = f.parse::<u64>().ok().filter(|n| (1..=rows).contains(n))?;
            u32::try_from(n - 1).ok()
        };
        let ends = node(fields[0]).zip(node(fields[1]));
        let (src, dst) = ends.ok_or_else(|| line.error(ENTRY))?;
        let mut weight = 0;
        for value in &fields[2..] {
            let value: f64 = value.parse().map_err(|_| line.error(ENTRY))?;
            whole &= value.fract() == 0.0 && value.abs() < 9e15;
            weight = value as i64;
        }
        let mut add = |src, dst, weight| {
            edges.ends.push((src, dst));
            if whole {
                edges.weights.push(weight);
            }
        };
        add(src, dst, weight);
        if let Some(sign) = mirror_sign.filter(|_| src != dst) {
            add(dst, src, sign * weight);
        }
        found += 1;
    }
    if found != declared {
        return Err(FormatErrorKind::Count { declared, found });
    }
    if !whole {
        edges.weights.clear();
    }
    Ok(Graph {
        symmetric: mirror_sign.is_some(),
        ..edges.graph(Some(rows))?
    })
}

fn dimacs(bytes: &[u8]) -> Result<Graph, FormatErrorKind> {
    const PROBLEM: &str = "`p sp NODES EDGES`, once, before the first edge";
    const ARC: &str = "`a SRC DST WEIGHT`, nodes from 1 and within the declared number";
    let mut edges = Edges::default();
    let mut sizes: Option<(u64, u64)> = None;
    for line in lines(bytes, |text| text[0] == b'c') {
        let fields: Vec<&str> = line.fields().collect();
        match (&fields[..], sizes) {
            (["p", "sp", n, m], None) => {
                let parsed = n.parse().ok().zip(m.parse().ok());
                sizes = Some(parsed.ok_or_else(|| line.error(PROBLEM))?);
            }
            (["a", src, dst, weight], Some((nodes, _))) => {
                let node = |f: &str| {
                    let n = f.parse::<u64>().ok().filter(|n| (1..=nodes).contains(n))?;
                    u32::try_from(n - 1).ok()
                };
                let ends = node(src).zip(node(dst));
                let weight = weight.parse::<i64>().ok();
                let (ends, weight) = ends.zip(weight).ok_or_else(|| line.error(ARC))?;
                edges.ends.push(ends);
                edges.weights.push(weight);
            }
            (["a", ..], Some(_)) => return Err(line.error(ARC)),
            (["a" | "p", ..], _) => return Err(line.error(PROBLEM)),
            _ => return Err(line.error("a line that starts with c, p or a")),
        }
    }
    let (nodes, declared) = sizes.ok_or(FormatErrorKind::Missing("the `p sp` line"))?;
    let found = edges.ends.len() as u64;
    if found != declared {
        return Err(FormatErrorKind::Count { declared, found });
    }
    edges.graph(Some(nodes))
}

const CSR_MAGIC: &[u8; 8] = b"CSRBIN01";
const CSR_HEADER_BYTES: usize = 32;
const FLAG_WEIGHTS: u64 = 1;
const FLAG_SIGNED: u64 = 2;

fn csr_binary(bytes: &[u8]) -> Result<Graph, FormatErrorKind> {
    if !bytes.starts_with(CSR_MAGIC) {
        return Err(FormatErrorKind::Magic);
    }
    let actual = bytes.len() as u64;
    if bytes.len() < CSR_HEADER_BYTES {
        return Err(FormatErrorKind::Size {
            expected: CSR_HEADER_BYTES as u128,
            actual,
        });
    }
    let (header, body) = bytes.split_at(CSR_HEADER_BYTES);
    let mut numbers = header[CSR_MAGIC.len()..]
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&b| u64::from_le_bytes(b));
    let mut number = || numbers.next().expect("the header holds three numbers");
    let (nodes, edges, flags) = (number(), number(), number());
    if flags & !(FLAG_WEIGHTS | FLAG_SIGNED) != 0 {
        return Err(FormatErrorKind::Flags(flags));
    }
    let columns = if flags & FLAG_WEIGHTS != 0 { 2 } else { 1 };
    let words = u128::from(nodes) + 1 + columns * u128::from(edges);
    let expected = CSR_HEADER_BYTES as u128 + 4 * words;
    if expected != u128::from(actual) {
        return Err(FormatErrorKind::Size { expected, actual });
    }
    // The sizes are those of memory that is there, so they fit usize.
    let (nodes, edges) = (nodes as usize, edges as usize);
    let words = body.as_chunks::<4>().0;
    let (offsets, rest) = words.split_at(nodes + 1);
    let (targets, rest) = rest.split_at(edges);
    let unsigned = |words: &[[u8; 4]]| words.iter().map(|&b| u32::from_le_bytes(b)).collect();
    let csr = Csr::new(unsigned(offsets), unsigned(targets))?;
    let weights = match (flags & FLAG_WEIGHTS != 0, flags & FLAG_SIGNED != 0) {
        (false, _) => None,
        (true, false) => Some(Weights::Unsigned(unsigned(rest))),
        (true, true) => Some(Weights::Signed(
            rest.iter().map(|&b| i32::from_le_bytes(b)).collect(),
        )),
    };
    Ok(Graph {
        csr,
        weights,
        functions: None,
        cfg: None,
        symmetric: false,
    })
}

/// Writes a graph in the `.csr` format, for reading back without parsing. That it is symmetric is not written: a reader
/// would have to believe it.
///
/// ```
/// use vyre_examples::{formats::{self, Format}, graph::GraphSpec};
/// let graph = "grid:3x2".parse::<GraphSpec>().unwrap().load().unwrap();
/// let mut bytes = Vec::new();
/// formats::write_csr(&graph, &mut bytes).unwrap();
/// assert_eq!(formats::parse(Format::CsrBinary, &bytes).unwrap().csr, graph.csr);
/// ```
pub fn write_csr(graph: &Graph, to: &mut dyn Write) -> io::Result<()> {
    let flags = match graph.weights {
        None => 0,
        Some(Weights::Unsigned(_)) => FLAG_WEIGHTS,
        Some(Weights::Signed(_)) => FLAG_WEIGHTS | FLAG_SIGNED,
    };
    to.write_all(CSR_MAGIC)?;
    let csr = &graph.csr;
    for number in [csr.node_count() as u64, csr.edge_count() as u64, flags] {
        to.write_all(&number.to_le_bytes())?;
    }
    write_values(csr.offsets(), to)?;
    write_values(csr.targets(), to)?;
    match &graph.weights {
        None => Ok(()),
        Some(Weights::Unsigned(w)) => write_values(w, to),
        Some(Weights::Signed(w)) => write_values(w, to),
    }
}

/// A value type of `.vec` files.
pub trait VecValue: Copy {
    /// Rust's name of the type, padded to four bytes.
    const NAME: [u8; 4];
    /// Appends the value's little-endian bytes.
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! vec_values {
    ($($ty:ty = $name:literal;)*) => {$(
        impl VecValue for $ty {
            const NAME: [u8; 4] = *$name;
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

vec_values! { u8 = b"u8  "; u32 = b"u32 "; i32 = b"i32 "; u64 = b"u64 "; i64 = b"i64 "; f32 = b"f32 "; f64 = b"f64 "; }

/// Writes a result in the `.vec` format: `"VECBIN01"`, the type's name in 4 bytes, u32 values a row (`width`), u64
/// rows, the values; little endian. A trailing incomplete row is a bug in the caller and panics.
///
/// ```
/// let mut bytes = Vec::new();
/// vyre_examples::formats::write_vec(1, &[7u32, 9], &mut bytes).unwrap();
/// assert_eq!(bytes, b"VECBIN01u32 \x01\0\0\0\x02\0\0\0\0\0\0\0\x07\0\0\0\x09\0\0\0");
/// ```
pub fn write_vec<T: VecValue>(width: u32, values: &[T], to: &mut dyn Write) -> io::Result<()> {
    let rows = values.len() / width as usize;
    assert_eq!(rows * width as usize, values.len(), "rows are complete");
    to.write_all(b"VECBIN01")?;
    to.write_all(&T::NAME)?;
    to.write_all(&width.to_le_bytes())?;
    to.write_all(&(rows as u64).to_le_bytes())?;
    write_values(values, to)
}

fn write_values<T: VecValue>(values: &[T], to: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(1 << 16);
    for chunk in values.chunks(1 << 13) {
        bytes.clear();
        chunk.iter().for_each(|v| v.append(&mut bytes));
        to.write_all(&bytes)?;
    }
    Ok(())
}

/// Creates `path` and writes it with `write`.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FormatError> {
    let written = File::create(path).and_then(|file| {
        let mut to = BufWriter::new(file);
        write(&mut to)?;
        to.flush()
    });
    written.map_err(|e| FormatError {
        path: path.into(),
        kind: e.into(),
    })
}
