//! vyre's suite on the backend by wgpu: those of its files that have tests for every backend.

#![allow(
    missing_docs,
    dead_code,
    unused_imports,
    unused_macros,
    reason = "what is about other backends is not used here"
)]

#[path = "../../../vyre/tests/suite/agreement.rs"]
pub mod agreement;
#[path = "../../../vyre/tests/suite/anew.rs"]
pub mod anew;
#[path = "../../../vyre/tests/suite/backends.rs"]
pub mod backends;
#[path = "../../../vyre/tests/suite/determinism.rs"]
pub mod determinism;
#[path = "../../../vyre/tests/suite/devices.rs"]
pub mod devices;
#[path = "../../../vyre/tests/suite/entries.rs"]
pub mod entries;
#[path = "../../../vyre/tests/suite/forms.rs"]
pub mod forms;
#[path = "../../../vyre/tests/suite/fragments.rs"]
pub mod fragments;
#[path = "../../../vyre/tests/suite/full_rows.rs"]
pub mod full_rows;
#[path = "../../../vyre/tests/suite/fused.rs"]
pub mod fused;
#[path = "../../../vyre/tests/suite/grids.rs"]
pub mod grids;
#[path = "../../../vyre/tests/suite/include.rs"]
pub mod include;
#[path = "../../../vyre/tests/indexes.rs"]
pub mod indexes;
#[path = "../../../vyre/tests/suite/kernels.rs"]
pub mod kernels;
#[path = "../../../vyre/tests/suite/language.rs"]
pub mod language;
#[path = "../../../vyre/tests/suite/lints.rs"]
pub mod lints;
#[path = "../../../vyre/tests/suite/macros.rs"]
pub mod macros;
#[path = "../../../vyre/tests/suite/meanings.rs"]
pub mod meanings;
#[path = "../../../vyre/tests/suite/planners.rs"]
pub mod planners;
#[path = "../../../vyre/tests/suite/raw_names.rs"]
pub mod raw_names;
#[path = "../../../vyre/tests/relation_inputs.rs"]
pub mod relation_inputs;
#[path = "../../../vyre/tests/relations.rs"]
pub mod relations;
#[path = "../../../vyre/tests/relations_composed.rs"]
pub mod relations_composed;
#[path = "../../../vyre/tests/suite/results.rs"]
pub mod results;
#[path = "../../../vyre/tests/suite/rounds.rs"]
pub mod rounds;
#[path = "../../../vyre/tests/suite/row_values.rs"]
pub mod row_values;
#[path = "../../../vyre/tests/suite/sessions.rs"]
pub mod sessions;
#[path = "../../../vyre/tests/suite/texts.rs"]
pub mod texts;
#[path = "../../../vyre/tests/suite/told.rs"]
pub mod told;
#[path = "../../../vyre/tests/suite/traps.rs"]
pub mod traps;
