//! The megakernel's machine code: cubins for the common architectures, and the PTX for all others.
//!
//! A cubin for compute capability X.Y runs on X.Z where Z is Y or more, and on no other major version; only GPUs of
//! Tegra chips take none but their own. Its format is that of the compiler: drivers of the compiler's major version
//! take it (of any minor version), and later ones; earlier ones refuse it. PTX runs on whatever is newer than its
//! target, once the driver has compiled it.
//!
//! There is none for 8.9, because the machine code for 8.6 is the same, byte for byte.

use lzma_rust2::LzmaReader;
use std::io::Read;
use thiserror::Error;

/// The megakernel, for compute capability 8.0 and later.
pub(crate) const MEGAKERNEL_PTX: &str = include_str!("../kernels/megakernel.ptx");
/// What begins an instruction of clusters.
const CLUSTERS_ONLY: &str = "//sm_90 ";
/// From here on, cubins have the instructions of clusters.
const CLUSTERS_FROM: (i32, i32) = (9, 0);
/// Oldest driver that takes cubins of the compiler in `kernels/build.json`, as `cuDriverGetVersion` counts.
const CUBINS_DRIVER: i32 = 13_000;
/// Compute capabilities of Tegra chips: Orin, T239, and Thor by its two numbers.
const TEGRA: [(i32, i32); 4] = [(8, 7), (8, 8), (10, 1), (11, 0)];
/// What unpacking may need, in KiB.
const UNPACKING_KIB: u32 = 16 << 10;

/// The cubins, as `scripts/build-ptx` makes them, by capability.
static CUBINS: [Cubin; 5] = [
    Cubin {
        capability: (8, 0),
        file: include_bytes!("../kernels/megakernel.sm_80.cubin.lzma"),
    },
    Cubin {
        capability: (8, 6),
        file: include_bytes!("../kernels/megakernel.sm_86.cubin.lzma"),
    },
    Cubin {
        capability: (9, 0),
        file: include_bytes!("../kernels/megakernel.sm_90.cubin.lzma"),
    },
    Cubin {
        capability: (10, 0),
        file: include_bytes!("../kernels/megakernel.sm_100.cubin.lzma"),
    },
    Cubin {
        capability: (12, 0),
        file: include_bytes!("../kernels/megakernel.sm_120.cubin.lzma"),
    },
];

/// Where a device's megakernel comes from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Code {
    /// A cubin of this crate.
    #[error("the megakernel is the cubin for compute capability {major}.{minor}")]
    Cubin {
        /// Of the compute capability that it was made for: the device's own.
        major: i32,
        /// Of the compute capability that it was made for: at most the device's own.
        minor: i32,
    },
    /// PTX. The driver compiled it, which takes 15 to 30 s, or had it in its cache from an earlier process.
    #[error(
        "the driver compiles the megakernel, so the first program on a machine waits for half a minute: {0}"
    )]
    Ptx(NoCubin),
}

/// Why no cubin was taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoCubin {
    /// `VYRE_PTX=1`.
    #[error("VYRE_PTX=1 asks for it")]
    Asked,
    /// There is none for this device.
    #[error("there is no cubin for compute capability {major}.{minor}")]
    Capability {
        /// Of the device.
        major: i32,
        /// Of the device.
        minor: i32,
    },
    /// The driver is older than the compiler.
    #[error(
        "the driver supports CUDA {}.{}; one for {}.{} or later takes cubins, and does not compile",
        version / 1000,
        version % 1000 / 10,
        CUBINS_DRIVER / 1000,
        CUBINS_DRIVER % 1000 / 10
    )]
    OldDriver {
        /// As `cuDriverGetVersion` gives it.
        version: i32,
    },
    /// `VYRE_CLUSTERS=0`, or a device without them.
    #[error("cubins for compute capability 9.0 and later have clusters, which are left out")]
    WithoutClusters,
    /// The files of this crate were not made together, as while a kernel is worked on.
    #[error(
        "the cubin for compute capability {major}.{minor} was not made from the same sources as the PTX"
    )]
    Stale {
        /// Of the cubin.
        major: i32,
        /// Of the cubin.
        minor: i32,
    },
    /// The driver did not take it.
    #[error("the driver did not take the cubin for compute capability {major}.{minor}: {reason}")]
    Refused {
        /// Of the cubin.
        major: i32,
        /// Of the cubin.
        minor: i32,
        /// The driver's name of the error and its text.
        reason: String,
    },
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Compute capability.
    pub(crate) capability: (i32, i32),
    /// As `cuDriverGetVersion` counts.
    pub(crate) driver: i32,
    pub(crate) clusters: bool,
    /// `VYRE_PTX=1`.
    pub(crate) ptx: bool,
}

impl Target {
    /// The best cubin, or why there is none.
    pub(crate) fn cubin(self) -> Result<&'static Cubin, NoCubin> {
        let (major, minor) = self.capability;
        if self.ptx {
            return Err(NoCubin::Asked);
        }
        let runs = |c: &&Cubin| match TEGRA.contains(&self.capability) {
            true => c.capability == self.capability,
            false => c.capability.0 == major && c.capability.1 <= minor,
        };
        let found = CUBINS.iter().filter(runs).max_by_key(|c| c.capability);
        let cubin = found.ok_or(NoCubin::Capability { major, minor })?;
        if self.driver < CUBINS_DRIVER {
            let version = self.driver;
            return Err(NoCubin::OldDriver { version });
        }
        if cubin.capability >= CLUSTERS_FROM && !self.clusters {
            return Err(NoCubin::WithoutClusters);
        }
        if cubin.sources() != first_line(MEGAKERNEL_PTX.as_bytes()) {
            let (major, minor) = cubin.capability;
            return Err(NoCubin::Stale { major, minor });
        }
        Ok(cubin)
    }

    /// The text for the driver's compiler.
    pub(crate) fn text(self) -> String {
        match self.clusters {
            true => with_clusters(MEGAKERNEL_PTX),
            false => MEGAKERNEL_PTX.to_owned(),
        }
    }
}

/// The text of kernels for devices with clusters, for drivers from 12.1 on.
pub(crate) fn with_clusters(ptx: &str) -> String {
    let ptx = ptx.replacen(".version 7.0", ".version 8.1", 1);
    let ptx = ptx.replacen(".target sm_80", ".target sm_90", 1);
    without_cluster_marks(&ptx, true)
}

/// Functions of the kernels, with the instructions of clusters where there are clusters.
pub(crate) fn without_cluster_marks(ptx: &str, clusters: bool) -> String {
    match clusters {
        true => ptx.replace(CLUSTERS_ONLY, ""),
        false => ptx.to_owned(),
    }
}

/// Which names what a generated file was made from.
fn first_line(file: &[u8]) -> &[u8] {
    file.split(|&b| b == b'\n').next().unwrap_or_default()
}

/// Machine code for a compute capability: a line, and the compressed ELF file.
#[derive(Debug)]
pub(crate) struct Cubin {
    capability: (i32, i32),
    file: &'static [u8],
}

impl Cubin {
    pub(crate) fn code(&self) -> Code {
        let (major, minor) = self.capability;
        Code::Cubin { major, minor }
    }

    pub(crate) fn refused(&self, reason: String) -> NoCubin {
        let (major, minor) = self.capability;
        NoCubin::Refused {
            major,
            minor,
            reason,
        }
    }

    fn sources(&self) -> &'static [u8] {
        first_line(self.file)
    }

    /// The ELF file.
    pub(crate) fn unpack(&self) -> Vec<u8> {
        let packed = &self.file[self.sources().len() + 1..];
        let mut image = Vec::with_capacity(10 * packed.len());
        LzmaReader::new_mem_limit(packed, UNPACKING_KIB, None)
            .and_then(|mut reader| reader.read_to_end(&mut image))
            .expect("a test unpacks every cubin");
        image
    }
}

/// A cubin that no device of this compute capability runs.
#[cfg(test)]
pub(crate) fn of_another_architecture((major, _): (i32, i32)) -> &'static Cubin {
    let mut others = CUBINS.iter().filter(|cubin| cubin.capability.0 != major);
    others.next().expect("there are several major versions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
    /// Of ELF files for CUDA.
    const EM_CUDA: u16 = 190;

    fn kernels() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
    }

    /// FNV-1a, continued.
    fn hash(start: u64, bytes: &[u8]) -> u64 {
        bytes.iter().fold(start, |h, &b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// What `scripts/build-ptx` writes into the first line: the hash of how modules are built, of the source, and of
    /// what that includes, in order of appearance.
    fn sources_of(folder: &Path, module: &str) -> String {
        let mut files = vec![
            kernels().join("build.json"),
            folder.join(module).with_extension("cu"),
        ];
        let mut state = HASH_START;
        let mut next = 0;
        while let Some(file) = files.get(next).cloned() {
            next += 1;
            let bytes = std::fs::read(&file).expect("the source is there");
            let name = file.file_name().expect("it has a name").as_encoded_bytes();
            for part in [name, b"\0", &bytes, b"\0"] {
                state = hash(state, part);
            }
            for line in String::from_utf8_lossy(&bytes).lines() {
                let included = line.strip_prefix("#include \"");
                let included = included.and_then(|rest| rest.split_once('"'));
                let included = included.map(|(name, _)| folder.join(name));
                files.extend(included.filter(|file| !files.contains(file)));
            }
        }
        format!("// sources {state:016x}")
    }

    /// What the bench measures against is made by the same compiler.
    #[test]
    fn what_is_checked_in_was_built_from_the_checked_in_sources() {
        let mut made = Vec::new();
        for folder in [kernels(), kernels().join("../../bench/kernels")] {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if !name.ends_with(".ptx") && !name.ends_with(".lzma") {
                    continue;
                }
                let module = name.split('.').next().unwrap();
                let file = std::fs::read(&path).unwrap();
                let line = String::from_utf8_lossy(first_line(&file)).into_owned();
                assert_eq!(
                    line,
                    sources_of(&folder, module),
                    "{name}: run scripts/build-ptx"
                );
                made.push(name);
            }
        }
        made.sort();
        assert_eq!(made.len(), CUBINS.len() + 4, "{made:?}");
        assert_eq!(made[..2], ["cluster.ptx", "megakernel.ptx"]);
    }

    #[test]
    fn every_cubin_that_is_checked_in_is_in_the_table_and_small() {
        let mut total = 0;
        for entry in std::fs::read_dir(kernels()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".lzma") {
                let file = std::fs::read(&path).unwrap();
                let listed = CUBINS.iter().find(|c| c.file == file);
                let (major, minor) = listed.expect("it is in the table").capability;
                assert_eq!(name, format!("megakernel.sm_{major}{minor}.cubin.lzma"));
                total += file.len();
            }
        }
        assert!(total > 0 && total < 2 << 20, "{total} bytes");
    }

    #[test]
    fn every_cubin_is_an_elf_file_for_its_architecture_with_both_kernels() {
        for cubin in &CUBINS {
            let elf = cubin.unpack();
            let (major, minor) = cubin.capability;
            let half = |at: usize| u16::from_le_bytes(elf[at..at + 2].try_into().unwrap());
            let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap());
            let long = |at: usize| u64::from_le_bytes(elf[at..at + 8].try_into().unwrap()) as usize;
            // 64 bits, little-endian, and NVIDIA's ABI as compilers of CUDA 13 write it: the architecture has the
            // second byte of the flags.
            assert_eq!(elf[..6], [0x7f, b'E', b'L', b'F', 2, 1]);
            assert_eq!(elf[8], 8, "version of the ABI");
            assert_eq!(half(18), EM_CUDA);
            assert_eq!(word(48) >> 8 & 0xff, (10 * major + minor) as u32);
            // The section headers end the file or lie in it; the names of the kernels' code are among theirs.
            let (headers, size, count) = (long(40), half(58) as usize, half(60) as usize);
            assert!(count > 0 && headers + size * count <= elf.len());
            let names = long(headers + size * half(62) as usize + 24);
            let mut code = Vec::new();
            for i in 0..count {
                let header = headers + size * i;
                let name = &elf[names + word(header) as usize..];
                let name = name.split(|&b| b == 0).next().unwrap();
                if let Some(kernel) = name.strip_prefix(b".text.") {
                    assert!(long(header + 24) + long(header + 32) <= elf.len());
                    code.push(String::from_utf8_lossy(kernel).into_owned());
                }
            }
            code.sort();
            assert_eq!(code, ["vyre_megakernel", "vyre_symmetric"]);
        }
    }

    fn on(capability: (i32, i32)) -> Target {
        Target {
            capability,
            driver: CUBINS_DRIVER,
            clusters: capability >= CLUSTERS_FROM,
            ptx: false,
        }
    }

    #[test]
    fn a_device_gets_the_best_cubin_of_its_major_version() {
        let table = [
            ((8, 0), Some((8, 0))),
            ((8, 6), Some((8, 6))),
            ((8, 7), None),
            ((8, 8), None),
            ((8, 9), Some((8, 6))),
            ((9, 0), Some((9, 0))),
            ((10, 0), Some((10, 0))),
            ((10, 1), None),
            ((10, 3), Some((10, 0))),
            ((11, 0), None),
            ((12, 0), Some((12, 0))),
            ((12, 1), Some((12, 0))),
            ((13, 0), None),
        ];
        for ((major, minor), expected) in table {
            let found = on((major, minor)).cubin().map(|c| c.capability);
            let expected = expected.ok_or(NoCubin::Capability { major, minor });
            assert_eq!(found, expected, "{major}.{minor}");
        }
    }

    #[test]
    fn without_a_cubin_there_is_a_reason() {
        let why = |target: Target| target.cubin().unwrap_err().to_string();
        let h100 = on((9, 0));
        let old = Target {
            driver: 12_040,
            ..h100
        };
        assert_eq!(
            why(old),
            "the driver supports CUDA 12.4; one for 13.0 or later takes cubins, and does not compile"
        );
        let asked = Target { ptx: true, ..h100 };
        assert_eq!(why(asked), "VYRE_PTX=1 asks for it");
        let parted = Target {
            clusters: false,
            ..h100
        };
        assert_eq!(parted.cubin().unwrap_err(), NoCubin::WithoutClusters);
        assert_eq!(
            Code::Ptx(on((11, 0)).cubin().unwrap_err()).to_string(),
            "the driver compiles the megakernel, so the first program on a machine waits for half a minute: there is no \
             cubin for compute capability 11.0"
        );
        // Those of 8.x have none to leave out.
        assert!(on((8, 0)).cubin().is_ok());
    }

    #[test]
    fn text_for_clusters_has_their_instructions() {
        // A line of its own each; nothing of it is left in comments.
        let instructions: Vec<&str> = MEGAKERNEL_PTX
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix(CLUSTERS_ONLY))
            .collect();
        let text = on((9, 0)).text();
        for name in [
            "mapa.shared::cluster",
            "st.async.shared::cluster",
            "barrier.cluster.",
        ] {
            assert!(instructions.iter().any(|i| i.contains(name)), "{name}");
            assert!(text.contains(&format!("\t{name}")), "{name}");
        }
        assert!(!text.contains("sm_80") && !text.contains("//sm_90"));
        assert!(text.contains(".target sm_90\n") && text.contains(".version 8.1\n"));
        assert_eq!(on((8, 0)).text(), MEGAKERNEL_PTX);
    }
}
