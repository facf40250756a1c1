//! What examples with relations share: room that grows until it is enough, and how two sets of pairs differ.

use crate::cli::{Failure, count, number, plural};
use vyre::{Error, TrapKind};

/// Tuples that a relation can have room for, so that the cells of its table have numbers of 32 bits.
pub const MOST: u32 = 2_800_000_000;

/// The option that says how many tuples a relation has room for.
#[derive(Clone, Debug, clap::Args)]
pub struct Room {
    /// Pairs that there is room for [default: begin with a few for each edge, and double where that is too few]
    #[arg(long, value_name = "N", value_parser = number::<u32>(0..=MOST))]
    room: Option<u32>,
}

impl Room {
    /// Runs with the room that was asked for. Without that option it begins with `first`, and doubles the room while a
    /// relation is full, up to `most`. Returns also the room that was enough.
    pub fn enough<T>(
        &self,
        first: u64,
        most: u64,
        mut run: impl FnMut(u32) -> Result<T, Failure>,
    ) -> Result<(T, u32), Failure> {
        let most = most.min(MOST.into());
        let mut room = match self.room {
            Some(room) => room,
            None => first.min(most) as u32,
        };
        loop {
            match run(room) {
                Err(Failure::Run(Error::Trap(trap)))
                    if trap.kind == TrapKind::RelationOverflow
                        && self.room.is_none()
                        && u64::from(room) < most =>
                {
                    // How many tuples there are is known when all are found; here it is a lower bound.
                    room = trap.index.max(2 * u64::from(room)).min(most) as u32;
                }
                Ok(result) => return Ok((result, room)),
                Err(failure) => return Err(failure),
            }
        }
    }
}

/// Says how many pairs of how many nodes or variables were found, and in room for how many.
///
/// ```
/// use vyre_examples::relation::found;
/// assert_eq!(found(1, (2_000, "node"), 30), "1 pair of 2,000 nodes, in room for 30");
/// ```
pub fn found(pairs: u64, (number, of): (u64, &str), room: u32) -> String {
    format!(
        "{} {} of {} {}, in room for {}",
        count(pairs),
        plural(pairs, "pair"),
        count(number),
        plural(number, of),
        count(room)
    )
}

/// Describes the first pair that only one of two sorted sets has.
///
/// ```
/// use vyre_examples::relation::first_difference;
/// assert_eq!(first_difference(&[[0, 1], [0, 2]], &[[0, 1], [0, 2]]), None);
/// let found = first_difference(&[[0, 1], [0, 2]], &[[0, 1]]);
/// assert_eq!(found.unwrap(), "0 to 2 was found; 2 pairs, not 1");
/// let lost = first_difference(&[[0, 2]], &[[0, 1], [0, 2]]);
/// assert_eq!(lost.unwrap(), "0 to 1 was not found; 1 pairs, not 2");
/// ```
pub fn first_difference(ours: &[[u32; 2]], expected: &[[u32; 2]]) -> Option<String> {
    let same = ours.iter().zip(expected).take_while(|(a, b)| a == b);
    let at = same.count();
    let (found, [from, to]) = match (ours.get(at), expected.get(at)) {
        (Some(pair), None) => ("found", pair),
        (Some(pair), Some(other)) if pair < other => ("found", pair),
        (_, Some(pair)) => ("not found", pair),
        (None, None) => return None,
    };
    let counts = format!("{} pairs, not {}", count(ours.len()), count(expected.len()));
    Some(format!("{from} to {to} was {found}; {counts}"))
}
