//! Contract: the engine's modules use each other in one direction only (see `src/lib.rs`).
//! Cargo forbids cycles between crates; inside a crate nothing but this test does.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::{Path, PathBuf};

/// Each module may use those before it.
const ORDER: [&str; 11] = [
    "math",
    "mesh",
    "scene",
    "state",
    "constraint",
    "collide",
    "model",
    "solver",
    "backend",
    "simulation",
    "output",
];

/// Modules that must not know threads, clocks or files' names of the operating system.
const FREE_OF_THREADS: [&str; 6] = ["math", "state", "constraint", "collide", "model", "solver"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The top-level module that a file belongs to.
fn module_of(path: &Path, root: &Path) -> String {
    let first = path.strip_prefix(root).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// The top-level modules that a line names through `crate::`.
fn used_modules(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or("");
    let after = code.split("crate::").skip(1);
    after
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == module)
}

#[test]
fn modules_use_only_what_comes_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for path in sources(&root) {
        let module = module_of(&path, &root);
        if module == "lib" {
            continue;
        }
        let own = rank(&module).unwrap_or_else(|| {
            panic!("{}: module `{module}` has no place in ORDER", path.display())
        });
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            for used in used_modules(line) {
                let place = format!("{}:{}", path.display(), number + 1);
                let used_rank = rank(&used)
                    .unwrap_or_else(|| panic!("{place}: `crate::{used}` is not a module in ORDER"));
                assert!(used_rank <= own, "{place}: `{module}` must not use `{used}`");
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "only {checked} uses found: does this test still read the code?");
}

#[test]
fn kernels_and_solvers_know_no_threads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in sources(&root) {
        if FREE_OF_THREADS.contains(&module_of(&path, &root).as_str()) {
            let text = fs::read_to_string(&path).unwrap();
            for forbidden in ["std::thread", "std::time", "std::fs", "rayon::", "sync::atomic"] {
                assert!(!text.contains(forbidden), "{}: {forbidden}", path.display());
            }
        }
    }
}

#[test]
fn only_five_files_may_be_unsafe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allows = |path: &PathBuf| fs::read_to_string(path).unwrap().contains("allow(unsafe_code)");
    let unsafe_files: Vec<PathBuf> = sources(&root).into_iter().filter(allows).collect();
    let known = [
        "backend/crew.rs",
        "backend/disjoint.rs",
        "backend/gpu/cache.rs",
        "math/fetch.rs",
        "math/x86.rs",
    ];
    assert_eq!(unsafe_files, known.map(|file| root.join(file)));
}
