//! `taut view`: simulate live and show it in the browser.

use std::env;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::Args;
use taut_viewer::{DEFAULT_PORT, NO_PAGE, Options, Server, Source, ViewerError, has_page};

use crate::console;
use crate::failure::Failure;
use crate::how::How;

/// Simulate live and show it in the browser
#[derive(Args)]
pub(crate) struct Arguments {
    /// A scene file, or the name of a built-in scene
    #[arg(default_value = "cloth-on-tube")]
    scene: String,
    /// The address to listen at; beyond loopback, the printed address has a token that viewers need
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    #[arg(long, help = format!("The port to listen at (default: {DEFAULT_PORT}, or the next free one)"))]
    port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Wait for somebody to press play
    #[arg(long)]
    paused: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (interrupt, interrupted) = sync_channel(1);
    let raise = move || {
        // A second one while the first is still waiting says nothing new.
        let _ = interrupt.try_send(());
    };
    ctrlc::set_handler(raise)
        .map_err(|error| Failure::Work(format!("could not watch for Ctrl-C: {error}")))?;
    let server = start(arguments)?;
    let url = server.url();
    console::print(&format!("{url}\n"))?;
    if has_page() {
        console::complain("Ctrl-C ends it.");
    } else {
        console::complain(NO_PAGE);
    }
    if !arguments.no_open && has_page() {
        open_browser(&url);
    }
    // The handler has the other end for as long as the program lives.
    let _ = interrupted.recv();
    drop(server);
    Err(Failure::Interrupted)
}

fn start(arguments: &Arguments) -> Result<Server, Failure> {
    let overrides = arguments.how.overrides()?;
    let (source, scene) =
        Source::find(&arguments.scene, &overrides).map_err(|errors| Failure::from(*errors))?;
    for note in &scene.notes {
        console::complain(&format!("note: {note}"));
    }
    let options = Options {
        bind: arguments.bind,
        port: arguments.port,
        source,
        scene,
        overrides,
        backend: arguments.how.backend()?,
        is_paused: arguments.paused,
    };
    Server::start(options).map_err(|error| match error {
        ViewerError::Simulation(error) => error.into(),
        error @ (ViewerError::Bind { .. } | ViewerError::Threads(_) | ViewerError::Token(_)) => {
            Failure::Work(error.to_string())
        }
    })
}

/// Asks the system to open an address in a browser, and says so if it cannot.
fn open_browser(url: &str) {
    let complain =
        || console::complain("No browser could be opened: open the address above in one.");
    let Some(mut command) = opener() else { return complain() };
    let quiet = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = quiet.spawn() else { return complain() };
    // Some openers end at once, others with the browser.
    thread::spawn(move || {
        if !child.wait().is_ok_and(|status| status.success()) {
            complain();
        }
    });
}

/// What opens addresses on this system, if there is a screen.
fn opener() -> Option<Command> {
    if cfg!(target_os = "macos") {
        return Some(Command::new("open"));
    }
    if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        return Some(command);
    }
    // Without a screen, xdg-open would look for a browser in the terminal.
    let has_screen = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_seen = has_screen("DISPLAY") || has_screen("WAYLAND_DISPLAY");
    is_seen.then(|| Command::new("xdg-open"))
}
