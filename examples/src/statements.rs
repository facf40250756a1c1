//! Programs of assignments through pointers, for the example `points_to`.

use std::collections::HashMap;
use vyre::Csr;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `to = &from`.
    Address,
    /// `to = from`.
    Copy,
    /// `to = *from`.
    Load,
    /// `*to = from`.
    Store,
}

/// How far the numbers of most variables are from each other that stand in one random statement.
const NEAR: u32 = 32;

/// The statements of a program. Their order is no part of it.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// Of variables, by their numbers: what is assigned to, and what is assigned.
    all: Vec<(Kind, u32, u32)>,
    variables: usize,
    /// Names of the variables, where they have some.
    names: Vec<String>,
}

impl Statements {
    /// Reads statements, each on a line of its own. Blank lines, and what follows `//` or `;`, are left out. An error
    /// begins with the line's number.
    ///
    /// ```
    /// use vyre_examples::statements::{Kind, Statements};
    /// let program = Statements::parse("p = &x\n*p = q; // x = q\n").unwrap();
    /// assert_eq!(program.all(), [(Kind::Address, 0, 1), (Kind::Store, 0, 2)]);
    /// assert_eq!((program.name(2), program.variables()), ("q".to_owned(), 3));
    /// assert_eq!(Statements::parse("p = *").unwrap_err(), "1: `p = *` is no statement");
    /// ```
    pub fn parse(text: &str) -> Result<Statements, String> {
        let mut program = Statements::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split("//").next().unwrap_or_default();
            let line = line.split(';').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (kind, to, from) =
                statement(line).ok_or_else(|| format!("{number}: `{line}` is no statement"))?;
            let mut variable = |name: &str| match numbers.get(name) {
                Some(&number) => number,
                None => {
                    let number = program.names.len() as u32;
                    numbers.insert(name.to_owned(), number);
                    program.names.push(name.to_owned());
                    number
                }
            };
            let (to, from) = (variable(to), variable(from));
            program.all.push((kind, to, from));
        }
        program.variables = program.names.len();
        Ok(program)
    }

    /// Random statements, of as many variables. Of ten, four are copies, three take addresses, two load and one
    /// stores. Most are of two variables with near numbers, as those of a function are.
    pub fn random(len: u32, seed: u32) -> Statements {
        let variables = len;
        let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = || {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            let bits = state ^ state >> 29;
            (bits.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
        };
        let mut statement = || {
            let kind = match random() % 10 {
                0..4 => Kind::Copy,
                4..7 => Kind::Address,
                7..9 => Kind::Load,
                _ => Kind::Store,
            };
            let mut below = |n: u32| ((u64::from(random()) * u64::from(n)) >> 32) as u32;
            let to = below(variables);
            let from = match below(64) {
                0 => below(variables),
                _ => (to + below(NEAR)) % variables,
            };
            (kind, to, from)
        };
        Statements {
            all: (0..len).map(|_| statement()).collect(),
            variables: variables as usize,
            names: Vec::new(),
        }
    }

    /// Each with what is assigned to, and what is assigned.
    pub fn all(&self) -> &[(Kind, u32, u32)] {
        &self.all
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// A variable as the program calls it.
    pub fn name(&self, variable: u32) -> String {
        match self.names.get(variable as usize) {
            Some(name) => name.clone(),
            None => format!("v{variable}"),
        }
    }

    /// The statements of a kind as a graph of the variables, with edges from the one that may point to something: from
    /// `p` to `o` in `p = &o`, from `q` to `p` in `p = q` and `p = *q`, from `p` to `q` in `*p = q`.
    pub fn graph(&self, kind: Kind) -> Csr {
        let own = self.all.iter().filter(|(of, ..)| *of == kind);
        let edges: Vec<(u32, u32)> = own
            .map(|&(_, to, from)| match kind {
                Kind::Address | Kind::Store => (to, from),
                Kind::Copy | Kind::Load => (from, to),
            })
            .collect();
        Csr::from_edges(self.variables, &edges).expect("variables are numbered")
    }
}

/// The kind of a statement, and its variables.
fn statement(line: &str) -> Option<(Kind, &str, &str)> {
    let (to, from) = line.split_once('=')?;
    let (to, from) = (to.trim(), from.trim());
    let (kind, to, from) = match (to.strip_prefix('*'), from.chars().next()?) {
        (Some(to), _) => (Kind::Store, to.trim(), from),
        (None, '&') => (Kind::Address, to, from[1..].trim()),
        (None, '*') => (Kind::Load, to, from[1..].trim()),
        (None, _) => (Kind::Copy, to, from),
    };
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    };
    (is_name(to) && is_name(from)).then_some((kind, to, from))
}
