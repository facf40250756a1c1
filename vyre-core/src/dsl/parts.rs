//! Parts of a graph.

use thiserror::Error;

/// The nodes of a graph, cut into ranges that follow each other: the nodes of part `p` are those from `offsets[p]` up to
/// `offsets[p + 1]`. A part may have none.
///
/// ```
/// use vyre_core::dsl::Parts;
/// let functions = Parts::from_sizes([3, 0, 2]).unwrap();
/// assert_eq!((functions.len(), functions.nodes(2)), (3, 3..5));
/// assert_eq!(functions, Parts::new(vec![0, 3, 3, 5]).unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    offsets: Vec<u32>,
}

/// Why bounds are those of no parts.
#[derive(Clone, Copy, Error, PartialEq, Eq)]
pub enum BoundsError {
    /// Not even where the last part ends.
    #[error("bounds are empty; those of no parts are `[0]`")]
    Empty,
    /// Nodes before it have no part.
    #[error("the first part begins at node {0}; it must be 0")]
    First(u32),
    /// A part ends before it begins.
    #[error("part {part} begins at node {begin} and ends at node {end}")]
    Decreasing {
        /// The part.
        part: usize,
        /// Its first node.
        begin: u32,
        /// The first of the next part.
        end: u32,
    },
    /// More nodes than u32 counts.
    #[error("parts have {0} nodes; at most {max} are supported", max = u32::MAX)]
    TooLarge(u64),
}

crate::debug_is_display!(BoundsError);

impl Parts {
    /// Checks and takes the bounds: where each part begins, and where the last one ends.
    ///
    /// # Errors
    /// There are none, the first is not 0, or they decrease.
    pub fn new(offsets: Vec<u32>) -> Result<Parts, BoundsError> {
        let &first = offsets.first().ok_or(BoundsError::Empty)?;
        if first != 0 {
            return Err(BoundsError::First(first));
        }
        if let Some(part) = offsets.windows(2).position(|w| w[1] < w[0]) {
            return Err(BoundsError::Decreasing {
                part,
                begin: offsets[part],
                end: offsets[part + 1],
            });
        }
        Ok(Parts { offsets })
    }

    /// Parts whose numbers of nodes are given.
    ///
    /// # Errors
    /// They have more nodes than u32 counts.
    pub fn from_sizes(sizes: impl IntoIterator<Item = u32>) -> Result<Parts, BoundsError> {
        let mut offsets = vec![0];
        let mut end = 0u32;
        for size in sizes {
            let sum = u64::from(end) + u64::from(size);
            end = u32::try_from(sum).map_err(|_| BoundsError::TooLarge(sum))?;
            offsets.push(end);
        }
        Ok(Parts { offsets })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes of a part.
    pub fn nodes(&self, part: usize) -> std::ops::Range<u32> {
        self.offsets[part]..self.offsets[part + 1]
    }

    /// Where each part begins, and where the last one ends.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
}
