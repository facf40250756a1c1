//! Grids, whose cells a wave sweeps.

use crate::dsl::Index;

/// The item of `range(w, h)`: a cell of a grid, and what lies around it.
///
/// The cells are numbered row by row. At its ends the grid goes on at its other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Its column, below the width.
    pub x: u32,
    /// Its row, below the height.
    pub y: u32,
    /// Its number, `y * w + x`, which is its position in buffers with `per = w * h`.
    pub index: u32,
    width: u32,
    height: u32,
}

impl Cell {
    /// A cell of a grid, by its number. Panics where the grid has no such cell, or more cells than numbers.
    ///
    /// ```
    /// use vyre_core::dsl::Cell;
    /// let cell = Cell::new(7, (5, 3));
    /// assert_eq!((cell.x, cell.y, cell.index), (2, 1, 7));
    /// assert_eq!((cell.at(-1, 0), cell.at(3, 0), cell.at(0, -2), cell.at(-11, 4)), (6, 5, 12, 11));
    /// ```
    pub fn new(index: u32, (width, height): (u32, u32)) -> Cell {
        let cells = u64::from(width) * u64::from(height);
        assert!(
            cells <= u32::MAX.into(),
            "a grid of {width} * {height} cells has more than {}",
            u32::MAX
        );
        assert!(
            u64::from(index) < cells,
            "a grid of {width} * {height} cells has no cell {index}"
        );
        Cell::swept(index, (width, height))
    }

    /// The same, where the grid has the cell.
    #[inline]
    pub(crate) fn swept(index: u32, (width, height): (u32, u32)) -> Cell {
        Cell {
            x: index % width,
            y: index / width,
            index,
            width,
            height,
        }
    }

    /// The number of the cell that is `dx` columns to the right and `dy` rows down, around the ends of the grid.
    #[inline]
    pub fn at(self, dx: i32, dy: i32) -> Index {
        around(self.y, self.height, dy) * self.width + around(self.x, self.width, dx)
    }
}

/// The place so far from another, of `len` places in a ring.
#[inline]
fn around(at: u32, len: u32, by: i32) -> u32 {
    match by {
        0 => at,
        1 if at + 1 == len => 0,
        1 => at + 1,
        -1 if at == 0 => len - 1,
        -1 => at - 1,
        _ => {
            let place = (i64::from(at) + i64::from(by)).rem_euclid(len.into());
            place as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;

    /// Beyond that many cells, numbers of neighbours would begin again at 0.
    #[test]
    fn grids_have_as_many_cells_as_there_are_numbers() {
        let last = Cell::new(u32::MAX - 1, (u32::MAX, 1));
        assert_eq!((last.at(1, 0), last.at(0, 1)), (0, u32::MAX - 1));
        for sides in [(1 << 16, 1 << 16), (u32::MAX, u32::MAX), (3, u32::MAX)] {
            assert!(std::panic::catch_unwind(|| Cell::new(0, sides)).is_err());
        }
        assert!(std::panic::catch_unwind(|| Cell::new(6, (2, 3))).is_err());
    }
}
