//! Builds the page in `web/` with npm and lists its files for `include!`.
//!
//! Without Node.js, or offline without packages, the program is built without the page, with a
//! warning; `TAUT_REQUIRE_PAGE=1` makes that an error. Nothing is built again while nothing changed.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What the page is made from.
const SOURCES: [&str; 8] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    // The look that it shares with the renderer.
    "../crates/render/look.json",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TAUT_REQUIRE_PAGE");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let web = root.join("../../web");
    let page = out.join("page");
    if let Err(problem) = build(&web, &page, &out.join("page.stamp")) {
        let is_required = env::var("TAUT_REQUIRE_PAGE").is_ok_and(|value| value == "1");
        assert!(!is_required, "the viewer's page could not be built: {problem}");
        println!("cargo:warning=the viewer's page is left out: {problem}");
        let _ = fs::remove_dir_all(&page);
        // A file that never is there: the next build tries again, Node.js may have come by then.
        println!("cargo:rerun-if-changed={}", out.join("never").display());
    }
    let mut files = Vec::new();
    list(&page, &page, &mut files).expect("the built page can be read");
    fs::write(out.join("page.rs"), table(&files)).expect("OUT_DIR can be written to");
}

/// Builds the page into a folder, unless it is there already.
fn build(web: &Path, page: &Path, stamp: &Path) -> Result<(), String> {
    if !web.join("package.json").is_file() {
        println!("cargo:rerun-if-changed={}", web.display());
        return Err("there is no folder web".to_owned());
    }
    // Watched one by one: the folder itself also has packages and results of tests in it.
    for source in SOURCES.map(|source| web.join(source)).iter().filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    let wanted = fingerprint(web).map_err(|error| format!("web cannot be read: {error}"))?;
    let is_built = fs::read_to_string(stamp).is_ok_and(|built| built == wanted);
    if is_built && page.join("index.html").is_file() {
        return Ok(());
    }
    if !has_packages(web) {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
    }
    let folder = page.to_str().ok_or("the path of OUT_DIR is not UTF-8")?;
    npm(web, &["run", "build", "--", "--outDir", folder, "--emptyOutDir"])?;
    fs::write(stamp, wanted).map_err(|error| error.to_string())
}

/// Whether the packages of the lock file are installed.
fn has_packages(web: &Path) -> bool {
    let when = |path: &str| fs::metadata(web.join(path)).and_then(|file| file.modified());
    match (when("node_modules/.package-lock.json"), when("package-lock.json")) {
        (Ok(installed), Ok(locked)) => installed >= locked,
        _ => false,
    }
}

fn npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(program).args(arguments).current_dir(web).output();
    let output = output.map_err(|error| format!("npm cannot be run ({error}); install Node.js"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // What went wrong comes first, advice about the command after it.
    let errors = said.lines().filter(|line| line.contains("error"));
    let errors = errors.map(|line| line.trim_start_matches("npm error").trim());
    let errors: Vec<&str> = errors.filter(|line| !line.is_empty()).take(4).collect();
    let errors = errors.join(" | ");
    Err(format!("npm {} failed: {errors}", arguments[0]))
}

/// A number that changes with any of the sources.
fn fingerprint(web: &Path) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        let path = web.join(source);
        let mut files = Vec::new();
        if path.is_dir() {
            list(&path, &path, &mut files)?;
        } else if path.is_file() {
            files.push((source.to_owned(), path));
        }
        for (name, path) in files {
            name.hash(&mut hasher);
            fs::read(path)?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// The files below a folder, by their paths in it, sorted.
fn list(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push((name.to_string_lossy().replace('\\', "/"), path.clone()));
        }
    }
    Ok(())
}

/// A table of names and contents, as Rust.
fn table(files: &[(String, PathBuf)]) -> String {
    let mut table =
        "/// Names and contents of the page's files.\nstatic FILES: &[(&str, &[u8])] = &[\n"
            .to_owned();
    for (name, path) in files {
        let _ =
            writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    table.push_str("];\n");
    table
}
