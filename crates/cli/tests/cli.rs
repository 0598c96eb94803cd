//! Contract: the command line as scripts rely on it: JSON documents, exit codes, files that are
//! never half written, and Ctrl-C.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn taut(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taut")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = taut(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A small scene on disk.
fn handkerchief(folder: &Path, extra: &str) -> String {
    let path = folder.join("handkerchief.toml");
    let text = format!(
        "{extra}\n[[bodies]]\nname = \"cloth\"\nmesh.grid = {{ particles = [9, 9], size = [1, 1] }}\n\
         elements.stretch = {{ stiffness = 1 }}\n"
    );
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn run_prints_the_document_of_the_contract() {
    let run = json(&["run", "cloth-on-tube", "--steps", "3", "--json"]);
    let contract = [
        "scene",
        "backend",
        "device",
        "threads",
        "solver",
        "partition",
        "particles",
        "bodies",
        "constraints",
        "colors",
        "phantoms",
        "steps",
        "substeps",
        "iterations",
        "dispatches_per_step",
        "ms_per_step",
        "stage_ms",
        "projections_per_second",
        "residual",
        "contacts",
        "dropped_contacts",
        "max_penetration",
        "energy",
        "momentum",
        "state_hash",
    ];
    assert_eq!(keys(&run)[..contract.len()], contract);
    assert_eq!(run["scene"], "cloth-on-tube");
    assert_eq!(run["backend"], "cpu");
    assert_eq!(run["solver"], "gauss-seidel");
    assert_eq!(run["partition"], "coloring");
    assert_eq!(run["particles"], 10_000);
    assert_eq!(run["constraints"]["stretch"], 29_601);
    assert_eq!(run["constraints"]["bend"], 29_205);
    assert_eq!(run["steps"], 3);
    assert_eq!(keys(&run["ms_per_step"]), ["median", "min", "max"]);
    assert_eq!(keys(&run["residual"]["stretch"]), ["rms", "max"]);
    assert_eq!(run["momentum"].as_array().unwrap().len(), 3);
    let hash = run["state_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()));
    // Predict, velocity, and in each of 8 iterations a contact stage and the phases of both kinds.
    let colors: u64 = ["stretch", "bend"].iter().map(|k| run["colors"][k].as_u64().unwrap()).sum();
    assert_eq!(run["dispatches_per_step"].as_u64().unwrap(), 2 + 8 * (colors + 1));
}

#[test]
fn back_ends_and_threads_agree() {
    let hash = |arguments: &[&str]| {
        let base = ["run", "hanging-cloth", "--steps", "5", "--json"];
        json(&[&base, arguments].concat())["state_hash"].clone()
    };
    let reference = hash(&["--backend", "serial"]);
    assert_eq!(hash(&["--backend", "cpu", "--threads", "3"]), reference);
    assert_ne!(hash(&["--set", "bodies.cloth.damping=9"]), reference);
}

#[test]
fn phantoms_have_exactly_as_many_colors_as_asked_for() {
    let run = json(&[
        "run",
        "stretched-cloth",
        "--steps",
        "5",
        "--partition",
        "phantom",
        "--colors",
        "3",
        "--json",
    ]);
    assert_eq!(run["partition"], "phantom");
    assert_eq!(run["colors"]["stretch"], 3);
    assert!(run["phantoms"].as_u64().unwrap() > 100);
}

#[test]
fn partition_prints_the_list_of_the_contract() {
    for method in ["coloring", "phantom", "cluster", "grid"] {
        let list = json(&["partition", "cloth-on-tube", "--partition", method, "--json"]);
        assert_eq!(list.as_array().unwrap().len(), 2);
        for kind in list.as_array().unwrap() {
            let contract = [
                "kind",
                "elements",
                "bodies",
                "partition",
                "order",
                "phases",
                "blocks",
                "batches",
                "largest_phase",
                "smallest_phase",
                "imbalance",
                "lower_bound",
                "phantoms",
                "build_ms",
                "valid",
            ];
            assert_eq!(keys(kind)[..contract.len()], contract);
            assert_eq!((&kind["valid"], &kind["partition"]), (&true.into(), &method.into()));
        }
    }
    let clusters = json(&[
        "partition",
        "cloth-on-tube",
        "--kind",
        "stretch",
        "--partition",
        "cluster",
        "--subsets",
        "16",
        "--json",
    ]);
    assert_eq!((&clusters[0]["blocks"], &clusters[0]["kind"]), (&16.into(), &"stretch".into()));
}

/// Runs the independent checker.
fn python_says_sound(dump: &Path) -> bool {
    let checker = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check_dump.py");
    Command::new("python3").arg(checker).arg(dump).output().unwrap().status.success()
}

#[test]
fn dumped_schedules_pass_an_independent_check_and_broken_ones_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("schedule.json");
    let path = dump.to_str().unwrap();
    for method in ["coloring", "phantom", "cluster", "grid"] {
        let done = taut(&["partition", "hanging-cloth", "--partition", method, "--dump", path]);
        assert!(done.status.success(), "{}", stderr(&done));
        assert!(python_says_sound(&dump), "{method}");
    }
    let mut schedule: Value = serde_json::from_slice(&fs::read(&dump).unwrap()).unwrap();
    let phase = schedule[0]["phase"].as_array_mut().unwrap();
    phase.iter_mut().for_each(|phase| *phase = 0.into());
    fs::write(&dump, schedule.to_string()).unwrap();
    assert!(!python_says_sound(&dump), "the checker accepts a schedule of one phase");
}

#[test]
fn plots_are_readable_svg() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    let done = taut(&["partition", "cloth-on-tube", "--plot", plot.to_str().unwrap()]);
    assert!(done.status.success(), "{}", stderr(&done));
    let svg = fs::read_to_string(plot).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["cloth-on-tube", "bend: 29205 elements", "stretch: 29601 elements", "phase"] {
        assert!(svg.contains(text), "no {text:?} in the plot");
    }
}

#[test]
fn a_mesh_file_can_be_partitioned() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = folder.path().join("mesh.obj");
    let mesh = mesh.to_str().unwrap();
    assert!(taut(&["run", "stretched-cloth", "--steps", "1", "--out", mesh]).status.success());
    let list = json(&["partition", mesh, "--kind", "stretch", "--json"]);
    assert_eq!((&list[0]["elements"], &list[0]["bodies"]), (&1121.into(), &400.into()));
}

#[test]
fn frames_come_as_one_file_or_as_a_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let scene = handkerchief(folder.path(), "");
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (single, sequence) = (at("end.obj"), at("frames/cloth-###.ply"));
    let done = taut(&["run", &scene, "--steps", "6", "--out", &single]);
    assert!(done.status.success(), "{}", stderr(&done));
    let done = taut(&["run", &scene, "--steps", "6", "--every", "3", "--out", &sequence]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(fs::read_to_string(single).unwrap().lines().any(|line| line.starts_with("f ")));
    let mut frames: Vec<_> = fs::read_dir(folder.path().join("frames"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    frames.sort();
    assert_eq!(frames, ["cloth-000.ply", "cloth-001.ply", "cloth-002.ply"]);
}

#[test]
fn a_trace_has_a_row_per_step() {
    let folder = tempfile::tempdir().unwrap();
    let scene = handkerchief(folder.path(), "");
    let trace = folder.path().join("trace.csv");
    let done = taut(&["run", &scene, "--steps", "7", "--trace", trace.to_str().unwrap()]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = fs::read_to_string(&trace).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8);
    for column in ["step", "time_s", "stretch_rms", "kinetic_j", "sweep_stretch_ms"] {
        assert!(lines[0].split(',').any(|name| name == column), "no {column} in {}", lines[0]);
    }
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
}

#[test]
fn scenes_are_listed_and_copied_out() {
    let folder = tempfile::tempdir().unwrap();
    let list = json(&["scenes", "--json", "--write", folder.path().to_str().unwrap()]);
    for scene in list.as_array().unwrap() {
        assert_eq!(keys(scene), ["name", "title", "particles", "constraints"]);
        let copy = folder.path().join(format!("{}.toml", scene["name"].as_str().unwrap()));
        let checked = taut(&["check", copy.to_str().unwrap()]);
        assert!(checked.status.success(), "{}", stderr(&checked));
    }
    assert!(list.as_array().unwrap().len() >= 5);
}

#[test]
fn the_schema_is_one_json_document() {
    assert_eq!(json(&["schema"])["title"], "taut scene");
}

#[test]
fn bad_input_exits_with_2_and_says_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let bad = handkerchief(folder.path(), "dt = -1\niteratons = 3");
    let cases: [(&[&str], &[&str]); 9] = [
        (&["run", "no-such-scene"], &["built-in"]),
        (&["run", "cloth-on-tub"], &["did you mean cloth-on-tube?"]),
        (&["check", &bad], &["handkerchief.toml:1: dt", "iterations"]),
        (&["run", "flag", "--set", "dt"], &["key=value"]),
        (&["run", "flag", "--set", "dt=fast"], &["--set dt=fast"]),
        (&["run", "flag", "--solver", "newton"], &["gauss-seidel"]),
        (&["run", "flag", "--backend", "abacus"], &["serial", "cpu"]),
        (&["run", "flag", "--out", "flag.xyz"], &[".obj", ".ply"]),
        (&["partition", "flag", "--kind", "volume"], &["stretch", "bend"]),
    ];
    for (arguments, expected) in cases {
        let output = taut(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        for text in expected {
            assert!(stderr(&output).contains(text), "{arguments:?}: {}", stderr(&output));
        }
        assert!(output.stdout.is_empty(), "{arguments:?} prints results");
    }
}

#[test]
fn the_partition_of_the_report_is_the_one_that_was_used() {
    let folder = tempfile::tempdir().unwrap();
    let scene = handkerchief(folder.path(), "steps = 1");
    for (solver, partition) in [
        ("gauss-seidel", Value::from("cluster")),
        ("phantom", Value::from("phantom")),
        ("hybrid", Value::from("coloring")),
        ("jacobi", Value::Null),
    ] {
        let flags = ["--solver", solver, "--partition", "cluster", "--json"];
        let run = json(&[&["run", &scene][..], &flags].concat());
        assert_eq!(run["partition"], partition, "{solver}");
    }
}

#[test]
fn a_degenerate_mesh_is_refused_with_the_line_the_key_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    // Two vertices in one place: an edge without length.
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 2 3 4\n";
    fs::write(folder.path().join("double.obj"), mesh).unwrap();
    let scene = folder.path().join("double.toml");
    let text = "[[bodies]]\nname = \"cloth\"\nmesh.file = { path = \"double.obj\" }\n\
                elements.stretch = { stiffness = 1 }\n";
    fs::write(&scene, text).unwrap();
    for command in ["check", "run", "partition"] {
        let output = taut(&[command, scene.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        for text in ["double.toml:3: bodies[0].mesh.file.path: the stretch", "[2, 3]", "weld"] {
            assert!(stderr(&output).contains(text), "{command}: {}", stderr(&output));
        }
    }
    // What an override says has no line.
    let mesh = "bodies.cloth.mesh.file.path=\"double.obj\"";
    let output = taut(&["check", scene.to_str().unwrap(), "--set", mesh]);
    let expected = format!("--set {mesh}: bodies[0].mesh.file.path: the stretch");
    assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    let welded = taut(&["check", scene.to_str().unwrap(), "--set", "bodies.cloth.weld=0.001"]);
    assert!(welded.status.success(), "{}", stderr(&welded));
}

#[test]
fn a_shape_with_too_many_cells_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let shape = "[[shapes]]\nname = \"stone\"\n[shapes.geometry.mesh]\n\
                 source.sphere = { radius = 1, subdivisions = 4 }\ncell = 0.002\n";
    // Distances are needed as far as the cloth is thick.
    let scene = handkerchief(folder.path(), shape);
    let output = taut(&["check", &scene, "--set", "bodies.cloth.thickness=0.9"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let expected = "handkerchief.toml:5: shapes[0].geometry.mesh.cell: a cell of 0.002 m makes";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

#[test]
fn a_scene_that_breaks_its_promises_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let scene = handkerchief(folder.path(), "steps = 3\nexpect.kinetic-energy = 1e-9");
    assert_eq!(taut(&["run", &scene]).status.code(), Some(0));
    let broken = taut(&["run", &scene, "--expect"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(stderr(&broken).contains("expect.kinetic-energy"), "{}", stderr(&broken));
}

#[test]
fn a_simulation_that_diverges_exits_with_1_and_keeps_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let scene = handkerchief(folder.path(), "gravity = [0, -1e37, 0]\ndt = 1");
    let frames = folder.path().join("f-##.obj");
    let trace = folder.path().join("trace.csv");
    let output = taut(&[
        "run",
        &scene,
        "--steps",
        "50",
        "--out",
        frames.to_str().unwrap(),
        "--trace",
        trace.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("diverged in step"), "{}", stderr(&output));
    assert!(folder.path().join("f-00.obj").exists() && trace.exists());
    let partial = fs::read_dir(folder.path())
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".partial"));
    assert!(!partial, "a half-written file was left behind");
}

#[test]
fn ctrl_c_stops_after_the_step_with_closed_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let scene = handkerchief(folder.path(), "");
    let (trace, out) = (folder.path().join("trace.csv"), folder.path().join("f-######.obj"));
    let child = Command::new(env!("CARGO_BIN_EXE_taut"))
        .args(["run", &scene, "--steps", "100000000", "--every", "1000"])
        .args(["--trace", trace.to_str().unwrap(), "--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first frames show that the run is under way.
    while !folder.path().join("f-000001.obj").exists() {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let last = fs::read_to_string(&trace).unwrap();
    assert!(last.ends_with('\n') && last.lines().count() > 1000);
    let left = fs::read_dir(folder.path()).unwrap();
    assert!(
        !left
            .into_iter()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().ends_with(".partial") })
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_taut"))
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(stderr(&output).is_empty() && output.status.success(), "{}", stderr(&output));
}

#[test]
fn bench_names_its_suites() {
    let output = taut(&["bench", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("sweep, peers, gpu"), "{}", stderr(&output));
}

#[cfg(feature = "gpu")]
#[test]
fn a_scene_runs_on_a_graphics_processor() {
    let run = json(&["run", "hanging-cloth", "--steps", "3", "--backend", "gpu", "--json"]);
    assert_eq!(run["backend"], "gpu");
    assert!(!run["device"].as_str().unwrap().is_empty());
    assert!(run["dispatches_per_step"].as_u64().unwrap() > 20);
    let at_home = json(&["run", "hanging-cloth", "--steps", "3", "--json"]);
    for kind in ["stretch", "bend"] {
        let rms = |run: &Value| run["residual"][kind]["rms"].as_f64().unwrap();
        assert!((rms(&run) - rms(&at_home)).abs() <= 1e-4 + 1e-2 * rms(&at_home), "{kind}");
    }
    let output = taut(&["run", "flag", "--steps", "1", "--backend", "gpu", "--device", "abacus"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no graphics device 'abacus'"), "{}", stderr(&output));
    let output = taut(&["run", "flag", "--steps", "1", "--backend", "auto", "--device", "abacus"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("running on the processor"), "{}", stderr(&output));
}

#[cfg(feature = "gpu")]
#[test]
fn a_scene_that_takes_too_much_of_a_device_is_refused_with_what_it_takes() {
    let run = |memory: &str| {
        let line = ["run", "cloth-on-tube", "--steps", "1", "--backend", "gpu"];
        taut(&[&line[..], &["--device-memory", memory]].concat())
    };
    let output = run("1");
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("use a smaller scene or the cpu back-end"), "{message}");
    assert_eq!(output.stdout, b"", "there is nothing to report");
    let (_, rest) = message.split_once("out of memory: this scene takes ").expect("an estimate");
    let (estimate, _) = rest.split_once(" MiB").expect("in MiB");
    assert!(estimate.parse::<u64>().unwrap() > 1, "{message}");
    let output = run(estimate);
    assert!(output.status.success(), "so much is enough: {}", stderr(&output));
    assert_eq!(run("0").status.code(), Some(2));
}

#[cfg(feature = "gpu")]
#[test]
fn devices_are_listed_with_their_limits() {
    let devices = json(&["devices", "--json"]);
    let first = &devices.as_array().unwrap()[0];
    let contract = ["index", "name", "kind", "backend", "driver", "max_buffer"];
    assert_eq!(keys(first)[..contract.len()], contract);
    assert_eq!(first["index"], 0);
    assert!(first["max_storage_binding"].as_u64().unwrap() >= 128 << 20);
    let table = String::from_utf8(taut(&["devices"]).stdout).unwrap();
    assert!(table.starts_with(&format!("0  {}\n", first["name"].as_str().unwrap())), "{table}");
}

#[cfg(all(feature = "gpu", target_os = "linux"))]
#[test]
fn no_device_is_a_failure_that_names_the_package() {
    let output = Command::new(env!("CARGO_BIN_EXE_taut"))
        .args(["devices", "--json"])
        .env("VK_DRIVER_FILES", "/nowhere.json")
        .env("VK_ICD_FILENAMES", "/nowhere.json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"[]\n");
    assert!(stderr(&output).contains("mesa-vulkan-drivers"), "{}", stderr(&output));
}
