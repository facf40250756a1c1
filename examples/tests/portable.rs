//! What `portable --export` writes can be read by others.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, front};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vyre_examples::graph::GraphSpec;
use vyre_examples::oracle;

#[path = "../examples/portable.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "an example's own crate, as a module"
)]
mod portable;

use portable::Portable;

/// The files of all passes, in a folder of this name.
fn exported(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier run has left would hide what is not written any more.
    let _ = fs::remove_dir_all(&folder);
    let portable = Portable {
        export: Some(folder.clone()),
    };
    portable.run().expect("every pass can be exported");
    folder
}

/// The names of the files that end so, without the end.
fn stems(folder: &Path, extension: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("it was made");
    let paths = files.map(|file| file.expect("it can be read").path());
    paths
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

/// Validates a module for adapters that have what `capabilities` says, and names its entry points.
fn entries(module: &Module, capabilities: Capabilities) -> Vec<&str> {
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if let Err(e) = validator.validate(module) {
        panic!("{e:?}");
    }
    module
        .entry_points
        .iter()
        .map(|e| e.name.as_str())
        .collect()
}

/// Group and binding of each, in this order.
fn bindings(module: &Module) -> BTreeSet<(u64, u64)> {
    let globals = module.global_variables.iter();
    globals
        .filter_map(|(_, global)| global.binding)
        .map(|of| (of.group.into(), of.binding.into()))
        .collect()
}

/// 64-bit types are naga's own dialect of WGSL.
const WIDE: Capabilities = Capabilities::FLOAT64
    .union(Capabilities::SHADER_INT64)
    .union(Capabilities::SHADER_INT64_ATOMIC_MIN_MAX)
    .union(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS);

#[test]
fn naga_reads_every_pass_back() {
    let folder = exported("read-back");
    let passes = stems(&folder, "json");
    let registered = vyre::passes();
    assert!(registered.len() > 10);
    let ids: BTreeSet<String> = registered.iter().map(|p| p.manifest().id).collect();
    assert_eq!(passes, ids);
    let mut portable = BTreeSet::new();
    for id in &passes {
        let read = |extension: &str| {
            let path = folder.join(format!("{id}.{extension}"));
            fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let plan: Value = serde_json::from_slice(&read("json")).expect("it is JSON");
        let everywhere = plan["refused"].as_array().unwrap().is_empty();
        if everywhere {
            portable.insert(id.clone());
        }
        let named: Vec<&str> = plan["shaders"]["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["name"].as_str().unwrap())
            .collect();
        for wave in plan["waves"].as_array().unwrap() {
            assert!(named.contains(&wave["entry"].as_str().unwrap()), "{id}");
        }
        let slots: BTreeSet<(u64, u64)> = plan["shaders"]["bindings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slot| {
                (
                    slot["group"].as_u64().unwrap(),
                    slot["binding"].as_u64().unwrap(),
                )
            })
            .collect();
        let needed = match everywhere {
            true => Capabilities::empty(),
            false => WIDE,
        };
        let text = String::from_utf8(read("wgsl")).unwrap();
        let wgsl = front::wgsl::parse_str(&text)
            .unwrap_or_else(|e| panic!("{id}: {}", e.emit_to_string(&text)));
        assert_eq!(entries(&wgsl, needed), named, "{id}");
        assert_eq!(bindings(&wgsl), slots, "{id}");
        let spirv = front::spv::parse_u8_slice(&read("spv"), &front::spv::Options::default())
            .unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entries(&spirv, needed), named, "{id}");
        assert_eq!(bindings(&spirv), slots, "{id}");
    }
    assert_eq!(stems(&folder, "metal"), portable);
    assert!(portable.contains("bfs.levels"), "{portable:?}");
}

/// `VYRE_BLESS=1 cargo test -p vyre-examples-tests --test portable` rewrites these; they are reviewed as code.
#[test]
fn metal_is_as_reviewed() {
    let folder = exported("metal");
    for id in ["bfs.levels", "saxpy"] {
        let reviewed = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("metal/{id}.metal"));
        let written = fs::read_to_string(folder.join(format!("{id}.metal"))).unwrap();
        if std::env::var_os("VYRE_BLESS").is_some() {
            fs::write(&reviewed, &written).unwrap();
        }
        let expected = fs::read_to_string(&reviewed).unwrap();
        assert!(written == expected, "{id}: see {}", reviewed.display());
    }
}

#[test]
fn sizes_say_what_they_are_the_number_of() {
    let plan = |id: &str| -> Value {
        let text = fs::read_to_string(exported(id).join(format!("{id}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let named = |table: &Value, name: &str| -> Value {
        let mut rows = table.as_array().unwrap().iter();
        rows.find(|row| row["name"] == name).unwrap().clone()
    };
    let saxpy = plan("saxpy");
    let elements = &named(&saxpy["buffers"], "y")["elements"];
    assert_eq!(elements, &serde_json::json!({ "scalar": "n" }));
    let bfs = plan("bfs.levels");
    assert_eq!(named(&bfs["buffers"], "dist")["elements"], "nodes");
    assert_eq!(
        named(&bfs["frontiers"], "front")["capacity"],
        "nodes + edges"
    );
    let items: Vec<&Value> = bfs["waves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| &w["items"])
        .collect();
    assert_eq!(items, [&Value::from("nodes"), &Value::Null]);
}

/// A host of its own, which knows what docs/WGPU.md says and nothing else, searches a grid with the exported shaders.
#[test]
fn another_program_runs_what_was_exported() {
    let folder = exported("host");
    let (nodes, graph) = (
        60 * 40,
        "grid:60x40".parse::<GraphSpec>().unwrap().load().unwrap(),
    );
    let (offsets, targets) = (graph.csr.offsets(), graph.csr.targets());
    let host = Host::new(&folder, "bfs.levels");
    let plan = &host.plan;
    let at = |table: &str, n: usize| plan[table][n]["state"].as_u64().unwrap() as usize;

    let capacity = nodes + targets.len() as u32;
    let mut state = vec![0u32; plan["state"]["words"].as_u64().unwrap() as usize];
    let mut set = |at: usize, words: &[u32]| state[at..at + words.len()].copy_from_slice(words);
    let own = |name: &str| plan["state"][name].as_u64().unwrap() as usize;
    set(own("budget"), &[16]);
    set(own("narrow_items"), &[64]);
    set(own("nodes"), &[nodes]);
    // Offsets lie in front of the targets in `fixed0`, which are not of more nodes than a workgroup may take.
    set(
        at("topologies", 0),
        &[0, nodes + 1, targets.len() as u32, u32::MAX / 4],
    );
    set(at("buffers", 0), &[0, nodes]);
    // Capacity, no stamps, the first epoch, nothing swept; then the two sides.
    set(at("frontiers", 0), &[capacity, 0, 1, 0, capacity, 0]);
    set(at("scalars", 0), &[7, 0]);
    set(at("waves", 0), &[0, nodes]);

    let arenas = [
        ("state", state.clone()),
        (
            "counts",
            vec![0; plan["counts"]["words"].as_u64().unwrap() as usize],
        ),
        ("fixed0", [offsets, targets].concat()),
        ("plain0", vec![0; 2 * capacity as usize]),
        ("atomic0", vec![0; nodes as usize]),
        (
            "args",
            [0, 1, 1].repeat(plan["waves"].as_array().unwrap().len()),
        ),
        ("here", vec![u32::MAX, 0, 0, 0]),
    ];
    let buffers = arenas.map(|(name, words)| (name, host.buffer(name, &words)));
    let status = own("status");
    let mut submissions = 0;
    // The path is known: the first group, then rounds of the second.
    for group in [u32::MAX, 0].into_iter().chain(std::iter::repeat(1)) {
        host.dispatch(&buffers, group);
        submissions += 1;
        match host.read(&buffers, "state")[status] {
            0 => assert!(submissions < 1_000, "it does not end"),
            status => {
                assert_eq!(status, 1, "it is done");
                break;
            }
        }
    }
    let expected = oracle::bfs(&graph.csr, 7);
    assert_eq!(host.read(&buffers, "atomic0"), expected);
}

/// An adapter with the shaders of one pass.
struct Host {
    plan: Value,
    device: wgpu::Device,
    queue: wgpu::Queue,
    shaders: wgpu::ShaderModule,
}

type Buffers = [(&'static str, wgpu::Buffer)];

impl Host {
    fn new(folder: &Path, id: &str) -> Host {
        let read =
            |extension| fs::read_to_string(folder.join(format!("{id}.{extension}"))).unwrap();
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
            .expect("an adapter; for a software renderer: eval \"$(scripts/software-vulkan)\"");
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))
            .expect("what every WebGPU adapter has");
        let shaders = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(read("wgsl").into()),
        });
        Host {
            plan: serde_json::from_str(&read("json")).unwrap(),
            device,
            queue,
            shaders,
        }
    }

    fn buffer(&self, name: &str, words: &[u32]) -> wgpu::Buffer {
        use wgpu::BufferUsages as Usage;
        let usage = match name {
            "here" => Usage::UNIFORM,
            "args" => Usage::STORAGE | Usage::INDIRECT,
            _ => Usage::STORAGE | Usage::COPY_SRC,
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(name),
            size: bytes.len() as u64,
            usage: usage | Usage::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// The waves of a group, then the control behind it.
    fn dispatch(&self, buffers: &Buffers, group: u32) {
        let find = |name: &str| &buffers.iter().find(|(n, _)| *n == name).unwrap().1;
        self.queue
            .write_buffer(find("here"), 0, &group.to_le_bytes());
        let waves = self.plan["groups"][group as usize].as_array();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for wave in waves.into_iter().flatten() {
            let wave = wave.as_u64().unwrap();
            let entry = self.plan["waves"][wave as usize]["entry"].as_str().unwrap();
            self.encode(&mut encoder, buffers, entry, |pass| {
                pass.dispatch_workgroups_indirect(find("args"), 12 * wave);
            });
        }
        self.encode(&mut encoder, buffers, "control", |pass| {
            pass.dispatch_workgroups(1, 1, 1);
        });
        self.queue.submit([encoder.finish()]);
    }

    fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &Buffers,
        entry: &str,
        dispatch: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) {
        let pipeline = self
            .device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: None,
                module: &self.shaders,
                entry_point: Some(entry),
                compilation_options: Default::default(),
                cache: None,
            });
        let shaders = &self.plan["shaders"];
        let entries = shaders["entries"].as_array().unwrap();
        let used = &entries.iter().find(|e| e["name"] == entry).unwrap()["bindings"];
        let used = used.as_array().unwrap();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        for group in [0, 1] {
            let slots = shaders["bindings"].as_array().unwrap().iter();
            let slots = slots.filter(|slot| slot["group"] == group && used.contains(&slot["name"]));
            let entries: Vec<_> = slots
                .map(|slot| {
                    let buffer = buffers
                        .iter()
                        .find(|(name, _)| slot["name"] == *name)
                        .unwrap();
                    wgpu::BindGroupEntry {
                        binding: slot["binding"].as_u64().unwrap() as u32,
                        resource: buffer.1.as_entire_binding(),
                    }
                })
                .collect();
            if entries.is_empty() {
                continue;
            }
            let bound = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(group),
                entries: &entries,
            });
            pass.set_bind_group(group, &bound, &[]);
        }
        dispatch(&mut pass);
    }

    fn read(&self, buffers: &Buffers, name: &str) -> Vec<u32> {
        let from = &buffers.iter().find(|(n, _)| *n == name).unwrap().1;
        let to = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: from.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &to, 0, from.size());
        self.queue.submit([encoder.finish()]);
        to.slice(..)
            .map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .unwrap();
        let view = to.slice(..).get_mapped_range().unwrap();
        let words = view.as_chunks::<4>().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    }
}
