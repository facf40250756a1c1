//! A pass as files: shaders of every target that gets them, and the plans.

use crate::{Error, Options, Refusal, Target, shaders};
use vyre_core::vir0::module::Program;

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the folder, with `/`.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What an export is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Its files, in an order that is the same each time.
    pub files: Vec<File>,
    /// What is missing.
    pub refused: Vec<(Target, Refusal)>,
}

/// The files of a pass, and what its targets do not get. Equal programs give equal files.
///
/// ```text
/// webgpu/plan.json   webgpu/relax_sweep.wgsl  ...
/// vulkan/plan.json   vulkan/relax_sweep.spv   ...
/// metal/plan.json    metal/relax_sweep.metal  ...
/// ```
///
/// # Errors
/// As [`shaders`], and naga cannot write a module.
pub fn export(program: &Program, options: Options) -> Result<Export, Error> {
    let mut export = Export::default();
    for target in Target::ALL {
        let made = shaders(program, target, options)?;
        export.files.push(File {
            path: format!("{target}/plan.json"),
            bytes: made.plan_text().into_bytes(),
        });
        for shader in &made.shaders {
            let text = shader.text(target)?;
            export.files.push(File {
                path: format!("{target}/{}.{}", shader.entry(), text.extension()),
                bytes: text.bytes(),
            });
        }
        let refused = made.refusals.into_iter().map(|r| (target, r));
        export.refused.extend(refused);
    }
    Ok(export)
}
