//! A server and pages without a browser: real sockets, and messages as the protocol has them.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use taut::BackendChoice;
use taut::scene::Override;
use taut_viewer::{Options, Server, Source};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Long enough for any machine: nothing that works takes so long, and nothing else is measured.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to start.
pub struct Setup<'a> {
    pub scene: &'a str,
    pub sets: &'a [&'a str],
    pub bind: IpAddr,
    pub port: Option<u16>,
    pub is_paused: bool,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            scene: "hanging-cloth",
            sets: &["bodies.0.mesh.grid.particles=[12, 12]"],
            bind: Ipv4Addr::LOCALHOST.into(),
            port: Some(0),
            is_paused: false,
        }
    }
}

impl Setup<'_> {
    pub fn start(&self) -> Server {
        let overrides: Vec<Override> = self.sets.iter().map(|set| set.parse().unwrap()).collect();
        let (source, scene) = Source::find(self.scene, &overrides).unwrap();
        Server::start(Options {
            bind: self.bind,
            port: self.port,
            source,
            scene,
            overrides,
            backend: BackendChoice::Serial,
            is_paused: self.is_paused,
        })
        .unwrap()
    }
}

pub fn paused() -> Server {
    Setup { is_paused: true, ..Setup::default() }.start()
}

/// A page without a screen.
pub struct Page {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// A message from the server.
#[derive(Debug)]
pub enum Heard {
    Text(Value),
    Binary(Vec<u8>),
    Closed(Option<CloseFrame>),
}

impl Page {
    /// Connects as a browser would.
    pub async fn open(server: &Server) -> Self {
        let address = server.address();
        Self::try_open(address, "/live", &format!("http://{address}"), None).await.unwrap()
    }

    pub async fn try_open(
        address: SocketAddr,
        path: &str,
        origin: &str,
        host: Option<&str>,
    ) -> Result<Self, Box<Error>> {
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("origin", origin.parse().unwrap());
        if let Some(host) = host {
            headers.insert("host", host.parse().unwrap());
        }
        let connected = timeout(PATIENCE, connect_async(request)).await.unwrap();
        connected.map(|(socket, _)| Self { socket }).map_err(Box::new)
    }

    pub async fn say(&mut self, message: Value) {
        self.say_raw(Message::text(message.to_string())).await;
    }

    pub async fn say_raw(&mut self, message: Message) {
        // The server may have closed already: the test will hear that.
        let _ = self.socket.send(message).await;
    }

    pub async fn hear(&mut self) -> Heard {
        loop {
            match timeout(PATIENCE, self.socket.next()).await.expect("the server says something") {
                Some(Ok(Message::Text(text))) => {
                    return Heard::Text(serde_json::from_str(&text).unwrap());
                }
                Some(Ok(Message::Binary(bytes))) => return Heard::Binary(bytes.to_vec()),
                Some(Ok(Message::Close(frame))) => return Heard::Closed(frame),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }

    /// The next text of a type; frames on the way are acknowledged.
    pub async fn text(&mut self, kind: &str) -> Value {
        loop {
            match self.hear().await {
                Heard::Text(text) if text["type"] == kind => return text,
                Heard::Binary(bytes) if bytes[0] == 3 => self.ack(&Frame::read(&bytes)).await,
                Heard::Closed(frame) => panic!("closed while waiting for {kind}: {frame:?}"),
                _ => {}
            }
        }
    }

    /// The next stats for which something holds.
    pub async fn stats(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let stats = self.text("stats").await;
            if holds(&stats) {
                return stats;
            }
        }
    }

    /// The next binary message of a kind.
    pub async fn binary(&mut self, kind: u8) -> Vec<u8> {
        loop {
            match self.hear().await {
                Heard::Binary(bytes) if bytes[0] == kind => return bytes,
                Heard::Closed(frame) => panic!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// The next frame, acknowledged.
    pub async fn frame(&mut self) -> Frame {
        let frame = Frame::read(&self.binary(3).await);
        self.ack(&frame).await;
        frame
    }

    /// The first frame for which something holds.
    pub async fn frame_where(&mut self, holds: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.frame().await;
            if holds(&frame) {
                return frame;
            }
        }
    }

    pub async fn ack(&mut self, frame: &Frame) {
        self.say(json!({"type": "ack", "frame": frame.number})).await;
    }

    /// Why the server closes the connection.
    pub async fn closed(&mut self) -> CloseFrame {
        loop {
            match self.hear().await {
                Heard::Closed(Some(frame)) => return frame,
                Heard::Closed(None) => panic!("closed without a reason"),
                _ => {}
            }
        }
    }
}

/// A frame, decoded as the protocol describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub generation: u32,
    pub number: u32,
    pub step: u32,
    pub time: f64,
    pub precision: u8,
    pub field: u8,
    pub full: f32,
    pub places: Vec<[f32; 3]>,
    pub values: Vec<u8>,
    pub poses: Vec<[f32; 7]>,
}

/// Reads numbers one after another.
pub struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Numbers<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn take<const N: usize>(&mut self) -> [u8; N] {
        self.at += N;
        self.bytes[self.at - N..self.at].try_into().unwrap()
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    pub fn align(&mut self) {
        self.at = self.at.next_multiple_of(4);
    }

    pub fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }
}

impl Frame {
    pub fn read(bytes: &[u8]) -> Self {
        let mut numbers = Numbers::new(bytes);
        assert_eq!(numbers.take(), [3, 1, 0, 0]);
        let [generation, number, step] = [(); 3].map(|()| numbers.u32());
        let time = f64::from_le_bytes(numbers.take());
        let [precision, field] = numbers.take();
        let shapes = u16::from_le_bytes(numbers.take());
        let full = numbers.f32();
        let low = [(); 3].map(|()| numbers.f32());
        let high = [(); 3].map(|()| numbers.f32());
        let poses = usize::from(shapes);
        // The header does not say how many points there are: the length of the message does.
        let rest = bytes.len() - 56 - 28 * poses;
        let size = |points: usize| {
            let places =
                if precision == 1 { (6 * points).next_multiple_of(4) } else { 12 * points };
            places + if field == 0 { 0 } else { points.next_multiple_of(4) }
        };
        let points = (0..=rest).find(|&points| size(points) >= rest).unwrap();
        let mut place = || {
            std::array::from_fn(|axis| {
                if precision == 1 {
                    let share = f32::from(u16::from_le_bytes(numbers.take())) / 65535.0;
                    low[axis] + share * (high[axis] - low[axis])
                } else {
                    numbers.f32()
                }
            })
        };
        let places = (0..points).map(|_| place()).collect();
        numbers.align();
        let values = if field == 0 { 0 } else { points };
        let values = (0..values).map(|_| numbers.take::<1>()[0]).collect();
        numbers.align();
        let poses = (0..poses).map(|_| [(); 7].map(|()| numbers.f32())).collect();
        assert!(numbers.is_over());
        Self { generation, number, step, time, precision, field, full, places, values, poses }
    }
}

pub fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
}
