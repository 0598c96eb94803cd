//! Contract: `taut view` prints an address, opens it in a browser where there is a screen, and says so
//! where it cannot; Ctrl-C ends it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts a server that finds only this folder's programs, and no screen but the one that is said.
fn view(folder: &Path, screen: &str) -> Child {
    let scene = folder.join("cloth.toml");
    let text = "[[bodies]]\nname = \"cloth\"\nmesh.grid = { particles = [4, 4], size = [1, 1] }\n\
        elements.stretch = { stiffness = 1 }\n";
    fs::write(&scene, text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_taut"))
        .arg("view")
        .arg(scene)
        .arg("--paused")
        .env("PATH", folder)
        .env("DISPLAY", screen)
        .env_remove("WAYLAND_DISPLAY")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A program of this folder, in place of the system's.
fn install(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Lines of the standard error up to one that has this in it.
fn wait_for(child: &mut Child, wanted: &str) -> Vec<String> {
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut seen = Vec::new();
    for line in lines {
        seen.push(line.unwrap());
        if seen.last().unwrap().contains(wanted) {
            return seen;
        }
    }
    panic!("{wanted:?} was not said: {seen:?}");
}

fn interrupt(mut child: Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

const NO_BROWSER: &str = "No browser could be opened";

#[test]
fn without_a_screen_the_address_is_printed_and_that_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), "xdg-open", "exit 9");
    let mut child = view(folder.path(), "");
    let url = first_line(&mut child);
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    if taut_viewer::has_page() {
        wait_for(&mut child, NO_BROWSER);
    } else {
        // Nothing to open, and the way to get it.
        wait_for(&mut child, "Install Node.js");
    }
    interrupt(child);
}

#[test]
fn on_a_screen_the_very_address_is_opened() {
    if !taut_viewer::has_page() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("opened");
    // Renamed: what is there is complete.
    let text = format!("echo \"$1\" > {0}.partial && /bin/mv {0}.partial {0}", note.display());
    install(folder.path(), "xdg-open", &text);
    let mut child = view(folder.path(), ":99");
    let url = first_line(&mut child);
    while !note.exists() {
        std::thread::yield_now();
    }
    assert_eq!(fs::read_to_string(&note).unwrap().trim(), url);
    interrupt(child);
}

#[test]
fn an_opener_that_fails_or_is_missing_is_mentioned() {
    if !taut_viewer::has_page() {
        return;
    }
    for text in [Some("exit 3"), None] {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            install(folder.path(), "xdg-open", text);
        }
        let mut child = view(folder.path(), ":99");
        assert!(first_line(&mut child).starts_with("http://"));
        wait_for(&mut child, NO_BROWSER);
        interrupt(child);
    }
}
