//! The PTX that is shipped, read and run in small.

use ptx_emulator::Module;

const MEGAKERNEL: &str = include_str!("../../vyre-cuda/kernels/megakernel.ptx");

#[test]
fn every_form_of_the_megakernel_is_known() {
    let bodies = MEGAKERNEL.lines().filter(|line| *line == "{").count();
    for module in [
        Module::parse(MEGAKERNEL),
        Module::parse_with_clusters(MEGAKERNEL),
    ] {
        let module = module.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(module.functions().count(), bodies);
        assert!(module.instructions() > 40_000, "{}", module.instructions());
    }
}
