//! HTTP: the page at `/`, one WebSocket at `/live`, and nothing else.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{State, WebSocketUpgrade};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::serve::ListenerExt;
use taut::scene::{Override, Scene, library};
use taut::{BackendChoice, SimulationError};
use thiserror::Error;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::assets;
use crate::connection;
use crate::live::{Live, Start};
use crate::origin::{Guard, Refusal, new_token};
use crate::protocol::{MOST_LOAD_BYTES, Message, SceneEntry, VERSION};
use crate::shared::{Command, Demand, Hub, MOST_COMMANDS, MOST_VIEWERS, Outlets, Snapshot};
use crate::source::Source;

/// Where the server listens unless told otherwise.
pub const DEFAULT_PORT: u16 = 8288;
/// Ports that are tried after the default one.
const MORE_PORTS: u16 = 20;
/// Room above the largest message: one that is a little larger is answered, not cut off.
const MOST_MESSAGE_BYTES: usize = MOST_LOAD_BYTES + (1 << 20);

/// What to serve, and where.
#[derive(Debug)]
pub struct Options {
    /// The address to listen at. Beyond loopback, viewers need the token of [`Server::url`].
    pub bind: IpAddr,
    /// The port; without, [`DEFAULT_PORT`] or the next one that is free.
    pub port: Option<u16>,
    /// The scene, see [`Source::find`].
    pub source: Source,
    /// The scene, as it was found with the overrides.
    pub scene: Scene,
    /// Values that replace the scene's.
    pub overrides: Vec<Override>,
    /// Where to simulate.
    pub backend: BackendChoice,
    /// Whether to wait for somebody to start it.
    pub is_paused: bool,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ViewerError {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {error}; choose another --port or --bind")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The scene cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The system gives no threads.
    #[error("could not start the server's threads: {0}")]
    Threads(io::Error),
    /// The system gives no random numbers.
    #[error("could not make a token: {0}")]
    Token(getrandom::Error),
}

/// A running server. It ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    token: Option<String>,
    demand: Arc<Demand>,
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts to simulate and to serve.
    ///
    /// # Errors
    /// If the scene cannot be simulated, or the address is not to be had.
    pub fn start(options: Options) -> Result<Self, ViewerError> {
        let listener = listen(options.bind, options.port)?;
        let address = listener.local_addr().map_err(ViewerError::Threads)?;
        let is_open = !options.bind.to_canonical().is_loopback();
        let token = is_open.then(new_token).transpose().map_err(ViewerError::Token)?;
        let demand = Arc::new(Demand::default());
        let start = Start {
            source: options.source,
            scene: options.scene,
            overrides: options.overrides,
            backend: options.backend,
            is_running: !options.is_paused,
        };
        let live = Live::new(start, Arc::clone(&demand))?;
        let guard = Guard::new(options.bind, address.port(), token.clone());
        let mut server = Self { address, token, demand, stop: None, threads: Vec::new() };
        server.spawn(listener, live, guard).map_err(ViewerError::Threads)?;
        Ok(server)
    }

    fn spawn(&mut self, listener: TcpListener, live: Live, guard: Guard) -> io::Result<()> {
        let (commands, orders) = sync_channel(MOST_COMMANDS);
        let (scene, scenes) = watch::channel(Arc::new(live.scene_state()));
        let (frame, frames) = watch::channel(Arc::new(Snapshot::default()));
        let (stats, figures) = watch::channel(Default::default());
        let outlets = Outlets { scene, frame, stats };
        let hub = Arc::new(Hub {
            guard,
            hello: hello().into(),
            commands,
            scene: scenes,
            frame: frames,
            stats: figures,
            demand: Arc::clone(&self.demand),
            seats: Arc::new(Semaphore::new(MOST_VIEWERS)),
            next_viewer: AtomicU64::new(1),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("taut-viewer")
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        self.stop = Some(stop);
        let name = |name: &str| thread::Builder::new().name(name.to_owned());
        self.threads.push(name("taut-live").spawn(move || live.run(&orders, &outlets))?);
        self.threads.push(name("taut-http").spawn(move || {
            serve(runtime, listener, hub, stopped);
        })?);
        Ok(())
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to open in a browser, with the token where one is needed.
    #[must_use]
    pub fn url(&self) -> String {
        let ip = self.address.ip();
        let ip = if ip.is_unspecified() { outward().unwrap_or(ip) } else { ip };
        let host = SocketAddr::new(ip, self.address.port());
        match &self.token {
            Some(token) => format!("http://{host}/?token={token}"),
            None => format!("http://{host}/"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.demand.is_over.store(true, Ordering::Relaxed);
        if let Some(stop) = self.stop.take() {
            // Nobody hears it if the server has ended by itself.
            let _ = stop.send(());
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Listens at a port, or at the first free one of several.
fn listen(bind: IpAddr, port: Option<u16>) -> Result<TcpListener, ViewerError> {
    let try_port = |port: u16| {
        let address = SocketAddr::new(bind, port);
        TcpListener::bind(address).map_err(|error| ViewerError::Bind { address, error })
    };
    let Some(port) = port else {
        let mut ports = DEFAULT_PORT..=DEFAULT_PORT + MORE_PORTS;
        let is_free = ports.find_map(|port| try_port(port).ok());
        return is_free.map_or_else(|| try_port(0), Ok);
    };
    try_port(port)
}

/// The address of this machine that others see, as far as its own tables tell. Nothing is sent.
fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Serves until it is told to stop.
fn serve(runtime: Runtime, listener: TcpListener, hub: Arc<Hub>, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async move {
        let listener = listener
            .set_nonblocking(true)
            .and_then(|()| tokio::net::TcpListener::from_std(listener));
        // A listener that was bound a moment ago can be listened at.
        let Ok(listener) = listener else { return };
        let listener = listener.tap_io(|stream| {
            // Frames are sent whole; waiting for more to send only delays them.
            let _ = stream.set_nodelay(true);
        });
        let router = Router::new().route("/live", any(live)).fallback(page).with_state(hub);
        tokio::select! {
            _ = axum::serve(listener, router).into_future() => {}
            _ = stopped => {}
        }
    });
    // Open connections would keep it alive.
    runtime.shutdown_background();
}

fn hello() -> String {
    let title = |text: &str| {
        let table = text.parse::<toml::Table>().unwrap_or_default();
        table.get("title").and_then(toml::Value::as_str).unwrap_or_default().to_owned()
    };
    let scenes = library::SCENES.iter().map(|(name, text)| SceneEntry { name, title: title(text) });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let taut = env!("CARGO_PKG_VERSION");
    Message::Hello { version: VERSION, taut, scenes: scenes.collect(), cores }.text()
}

/// The WebSocket.
async fn live(
    State(hub): State<Arc<Hub>>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if let Err(refusal) = hub.guard.check_socket(&uri, &headers) {
        return refuse(refusal);
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let Ok(seat) = Arc::clone(&hub.seats).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "There are viewers enough.\n").into_response();
    };
    upgrade
        .max_message_size(MOST_MESSAGE_BYTES)
        .max_frame_size(MOST_MESSAGE_BYTES)
        .on_upgrade(|socket| connection::serve(socket, hub, seat))
}

/// The page and its parts.
async fn page(
    State(hub): State<Arc<Hub>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let host = match hub.guard.check(&uri, &headers) {
        Ok(host) => host,
        Err(refusal) => return refuse(refusal),
    };
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let Some(asset) = assets::find(uri.path()) else {
        return secured((StatusCode::NOT_FOUND, "There is no such page.\n").into_response(), &host);
    };
    if !asset.is_lasting && method == Method::GET {
        // Where there is no room for it the page only starts a little later.
        let _ = hub.commands.try_send(Command::Expect);
    }
    let mut response = asset.bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    let keep = if asset.is_lasting { "public, max-age=31536000, immutable" } else { "no-store" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Some(cookie) = hub.guard.cookie().and_then(|text| HeaderValue::from_str(&text).ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    secured(response, &host)
}

fn refuse(refusal: Refusal) -> Response {
    let mut response = (refusal.status(), refusal.reason()).into_response();
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Adds what keeps browsers from doing anything else with the page.
fn secured(mut response: Response, host: &str) -> Response {
    // Some browsers do not count a WebSocket to the same host as 'self'.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; font-src 'self'; worker-src 'self' blob:; \
         connect-src 'self' ws://{host} wss://{host}; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
