//! Backends by name: those of this crate, and those that other crates [offer](crate::offer_backend) to the programs that
//! link them.

use crate::error::Error;
use crate::runtime::Runtime;
use std::fmt;
use std::sync::Arc;
use vyre_core::run::backend::Backend;

/// A backend that a crate offers to the programs that link it: [`offer_backend!`](crate::offer_backend) says so.
#[derive(Clone, Copy, Debug)]
pub struct OfferedBackend {
    /// [`Backend::name`]: what [`Runtime::named`] and command lines call it.
    pub name: &'static str,
    /// What it runs on, in a line for `--help`.
    pub about: &'static str,
    /// Opens it, or says why it cannot be used here. It never panics.
    pub open: fn(Asked) -> Result<Arc<dyn Backend>, String>,
}

/// Who asks for a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A program, by its name: it gets whatever there is, if it is slow.
    ByName,
    /// [`Runtime::auto`]: only what could be faster than the CPU is of use.
    ByAuto,
}

inventory::collect!(OfferedBackend);

/// Offers a backend to the programs that link this crate: [`Runtime::named`] opens it, [`Runtime::available`] lists it, and
/// [`Runtime::auto`] takes it as a side.
///
/// ```standalone_crate
/// use std::sync::Arc;
/// use vyre::Runtime;
/// use vyre::core::cpu::Vir0;
///
/// vyre::offer_backend!(vyre::OfferedBackend {
///     name: "reference",
///     about: "the interpreter under another name",
///     open: |_| Ok(Arc::new(Vir0)),
/// });
///
/// # fn main() {
/// let runtime = Runtime::named("reference").expect("it is always there");
/// assert_eq!(runtime.to_string(), "vir0 (1 thread)");
/// assert!(Runtime::available().iter().any(|known| known.name == "reference"));
/// # }
/// ```
#[macro_export]
macro_rules! offer_backend {
    ($offered:expr) => {
        $crate::__private::inventory::submit! { $offered }
    };
}

/// A backend that this program has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// What [`Runtime::named`] calls it.
    pub name: &'static str,
    /// What it runs on, in a line for `--help`.
    pub about: &'static str,
    /// What it would run on here, or why it cannot.
    pub device: Result<String, String>,
}

impl fmt::Display for Available {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device {
            Ok(device) => write!(f, "{} ({device})", self.name),
            Err(why) => write!(f, "{} cannot be used: {why}", self.name),
        }
    }
}

/// What other crates offer, by name.
pub(crate) fn offered() -> Vec<OfferedBackend> {
    let mut all: Vec<OfferedBackend> = inventory::iter::<OfferedBackend>().copied().collect();
    all.sort_by_key(|offered| offered.name);
    all
}

/// Backends of this crate, with a line about each.
const OWN: &[(&str, &str)] = &[
    (
        "native",
        "The CPU, running the pass's own Rust functions on all threads",
    ),
    ("vir0", "The CPU, interpreting the pass's bytecode"),
    #[cfg(feature = "cuda")]
    ("cuda", "The first CUDA device"),
];

impl Runtime {
    /// What [`named`](Runtime::named) takes besides `"auto"`, with a line about each.
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let offered = offered().into_iter().map(|o| (o.name, o.about));
        OWN.iter().copied().chain(offered).collect()
    }

    /// The backend of this name: `"native"`, `"vir0"`, `"cuda"`, what a linked crate [offers](crate::offer_backend), such as
    /// `"wgpu"`, or `"auto"`, which is [`auto`](Runtime::auto).
    ///
    /// ```
    /// use vyre::Runtime;
    /// let runtime = Runtime::named("vir0")?;
    /// assert_eq!(runtime.backend(), "vir0");
    /// let unknown = Runtime::named("gpu").expect_err("that is no backend's name");
    /// assert!(unknown.to_string().starts_with("no backend `gpu`: this program has native, vir0"));
    /// # Ok::<(), vyre::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoBackend`]: this program has none of this name, or it cannot be used here; of `"cuda"`, as
    /// [`cuda`](Runtime::cuda).
    pub fn named(name: &str) -> Result<Runtime, Error> {
        let no = |why| Error::NoBackend {
            name: name.to_owned(),
            why,
        };
        match name {
            "auto" => Runtime::auto(),
            "native" => Ok(Runtime::native()),
            "vir0" => Ok(Runtime::vir0()),
            #[cfg(feature = "cuda")]
            "cuda" => Runtime::cuda(),
            _ => match offered().iter().find(|offered| offered.name == name) {
                Some(offered) => (offered.open)(Asked::ByName).map(Runtime::on).map_err(no),
                None => {
                    let names: Vec<&str> = Runtime::names().iter().map(|(name, _)| *name).collect();
                    let linked = match name {
                        "wgpu" => "; one with `use vyre_wgpu as _;` has it, too",
                        _ => "",
                    };
                    Err(no(format!("this program has {}{linked}", names.join(", "))))
                }
            },
        }
    }

    /// The backends of this program: what each would run on here, or why it cannot. It opens them to find out.
    pub fn available() -> Vec<Available> {
        let names = Runtime::names().into_iter();
        let all = names.map(|(name, about)| Available {
            name,
            about,
            device: match Runtime::named(name) {
                Ok(runtime) => Ok(runtime.device()),
                Err(Error::NoBackend { why, .. }) => Err(why),
                Err(e) => Err(e.to_string()),
            },
        });
        all.collect()
    }
}
