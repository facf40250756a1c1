//! What a pass means, and what a session of it does, from source to results. [`vyre_tests::backend_tests!`] runs a
//! test on every backend.

#![allow(
    missing_docs,
    reason = "modules of tests, whose passes are public only to be like a user's"
)]

pub mod agreement;
pub mod anew;
pub mod arrays;
pub mod backends;
pub mod determinism;
pub mod devices;
pub mod entries;
pub mod forms;
pub mod fragments;
pub mod full_rows;
pub mod fused;
pub mod grids;
pub mod include;
pub mod kernels;
pub mod language;
pub mod lints;
pub mod lists;
pub mod macros;
pub mod meanings;
pub mod megakernel;
pub mod own_kernels;
pub mod pipeline;
pub mod planners;
pub mod plans;
pub mod pull;
pub mod raw_names;
pub mod results;
pub mod rounds;
pub mod row_values;
pub mod sessions;
pub mod shared_memory;
pub mod sites;
pub mod texts;
pub mod tiers;
pub mod told;
pub mod traps;
