//! One viewer: what it is sent, and what it asks for.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::TrySendError;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

use crate::flow::{Budget, Flow};
use crate::protocol::{Request, WantedField, WantedPrecision};
use crate::shared::{Command, Demand, Hub, MOST_REPLIES, SceneState, Snapshot};

/// Time between two questions whether a viewer is still there.
const PING: Duration = Duration::from_secs(15);
/// A viewer that has said nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(60);
/// A viewer that takes nothing for so long is gone.
const STUCK: Duration = Duration::from_secs(30);

/// How long a viewer has to take leave.
const LINGER: Duration = Duration::from_secs(2);

/// Why a connection ends.
enum End {
    /// The other side is gone, or the server is.
    Gone,
    /// A message that does not follow the protocol.
    Violation(String),
}

/// Serves a viewer until it goes.
pub(crate) async fn serve(socket: WebSocket, hub: Arc<Hub>, seat: OwnedSemaphorePermit) {
    let viewer = hub.next_viewer.fetch_add(1, Ordering::Relaxed);
    let (sender, replies) = mpsc::channel(MOST_REPLIES);
    let mut pulse = interval(PING);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connection = Connection {
        viewer,
        scene: hub.scene.clone(),
        frame: hub.frame.clone(),
        stats: hub.stats.clone(),
        wish: Wish::new(Arc::clone(&hub.demand)),
        generation: None,
        most_particles: [0; 2],
        flow: Flow::default(),
        budget: Budget::new(Instant::now()),
        has_drawn: false,
        heard: Instant::now(),
        pulse,
        replies,
        socket,
        hub,
    };
    let joined = connection.command(Command::Join { viewer, replies: sender }).await;
    let end = match joined {
        Ok(()) => connection.talk().await,
        Err(end) => Err(end),
    };
    if let Err(End::Violation(reason)) = end {
        connection.close(reason).await;
    }
    let _ = connection.command(Command::Leave { viewer }).await;
    drop(seat);
}

struct Connection {
    socket: WebSocket,
    hub: Arc<Hub>,
    viewer: u64,
    scene: watch::Receiver<Arc<SceneState>>,
    frame: watch::Receiver<Arc<Snapshot>>,
    stats: watch::Receiver<Utf8Bytes>,
    replies: mpsc::Receiver<Utf8Bytes>,
    wish: Wish,
    /// The scene that the viewer was told of.
    generation: Option<u32>,
    /// Particles of that scene and of the one before it: messages about it may still be on their way.
    most_particles: [usize; 2],
    flow: Flow,
    budget: Budget,
    /// Whether it has acknowledged a frame.
    has_drawn: bool,
    heard: Instant,
    pulse: Interval,
}

impl Connection {
    async fn talk(&mut self) -> Result<(), End> {
        let hello = self.hub.hello.clone();
        self.send(Message::Text(hello)).await?;
        self.send_scene().await?;
        self.frame.mark_changed();
        loop {
            if self.flow.is_open() {
                self.hub.demand.is_hungry.store(true, Ordering::Relaxed);
            }
            tokio::select! {
                // In this order: an error comes before the scene that it left as it was.
                biased;
                Some(reply) = self.replies.recv() => self.send(Message::Text(reply)).await?,
                message = self.socket.recv() => match message {
                    Some(Ok(message)) => self.receive(message).await?,
                    _ => return Err(End::Gone),
                },
                Ok(()) = self.scene.changed() => self.send_scene().await?,
                Ok(()) = self.frame.changed(), if self.flow.is_open() => self.send_frame().await?,
                Ok(()) = self.stats.changed() => {
                    let stats = self.stats.borrow_and_update().clone();
                    self.send(Message::Text(stats)).await?;
                }
                _ = self.pulse.tick() => self.ping().await?,
            }
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(STUCK, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(End::Gone),
        }
    }

    async fn send_scene(&mut self) -> Result<(), End> {
        let scene = Arc::clone(&self.scene.borrow_and_update());
        self.send(Message::Text(scene.text.clone())).await?;
        if self.generation.replace(scene.generation) != Some(scene.generation) {
            self.most_particles = [scene.particles, self.most_particles[0]];
            // Frames of the scene before are dropped, and nobody promised to acknowledge those.
            self.flow = Flow::default();
            self.send(Message::Binary(scene.look.topology.clone())).await?;
        }
        Ok(())
    }

    async fn send_frame(&mut self) -> Result<(), End> {
        if self.scene.has_changed().unwrap_or(false) {
            self.send_scene().await?;
        }
        let snapshot = Arc::clone(&self.frame.borrow_and_update());
        if snapshot.number == 0 || self.generation != Some(snapshot.generation) {
            return Ok(());
        }
        let precision = self.flow.precision(self.wish.precision);
        let bytes = snapshot.frame(self.wish.field, precision, &self.hub.demand.costs);
        self.flow.sent(snapshot.number, Instant::now());
        self.send(Message::Binary(bytes)).await
    }

    async fn ping(&mut self) -> Result<(), End> {
        if self.heard.elapsed() > SILENCE {
            return Err(End::Gone);
        }
        self.send(Message::Ping(Bytes::new())).await
    }

    async fn receive(&mut self, message: Message) -> Result<(), End> {
        let now = Instant::now();
        self.heard = now;
        if !self.budget.spend(now) {
            return Err(End::Violation("too many messages at once".to_owned()));
        }
        match message {
            Message::Text(text) => {
                self.answer(Request::parse(&text).map_err(End::Violation)?, now).await
            }
            Message::Binary(_) => Err(End::Violation("messages to the server are text".to_owned())),
            Message::Close(_) => Err(End::Gone),
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        }
    }

    async fn answer(&mut self, request: Request, now: Instant) -> Result<(), End> {
        let most = self.most_particles[0].max(self.most_particles[1]);
        if request.particle().is_some_and(|particle| particle >= most) {
            return Err(End::Violation(format!("there are {most} particles")));
        }
        match request {
            Request::Ack { frame } => {
                self.flow.acknowledged(frame, now);
                if !std::mem::replace(&mut self.has_drawn, true) {
                    self.command(Command::Seen).await?;
                }
                Ok(())
            }
            Request::Want { field, precision } => {
                self.wish.change(field, precision);
                self.command(Command::Refresh).await
            }
            Request::Elements { generation, kind } => self.send_elements(generation, kind).await,
            request => self.command(Command::Ask { viewer: self.viewer, request }).await,
        }
    }

    async fn send_elements(&mut self, generation: u32, kind: usize) -> Result<(), End> {
        let scene = Arc::clone(&self.scene.borrow());
        if generation != scene.generation {
            // Asked about a scene that is no more.
            return Ok(());
        }
        match scene.look.elements(generation, kind) {
            Some(elements) => self.send(Message::Binary(elements)).await,
            None => Err(End::Violation(format!("there are {} kinds", scene.look.kinds.len()))),
        }
    }

    /// Tells the simulation. Where there is no room, this connection waits and no other.
    async fn command(&mut self, mut command: Command) -> Result<(), End> {
        loop {
            command = match self.hub.commands.try_send(command) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(command)) => command,
                Err(TrySendError::Disconnected(_)) => return Err(End::Gone),
            };
            sleep(Duration::from_millis(5)).await;
        }
    }

    async fn close(&mut self, mut reason: String) {
        // A close frame has room for 123 bytes.
        let mut end = reason.len().min(120);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        reason.truncate(end);
        let frame = CloseFrame { code: close_code::POLICY, reason: reason.into() };
        if self.send(Message::Close(Some(frame))).await.is_ok() {
            // Hanging up on what is still arriving would take the reason away with it.
            let rest = async { while let Some(Ok(_)) = self.socket.recv().await {} };
            let _ = timeout(LINGER, rest).await;
        }
    }
}

/// What a viewer wants to see; counted for as long as it is there.
struct Wish {
    field: WantedField,
    precision: WantedPrecision,
    demand: Arc<Demand>,
}

impl Wish {
    fn new(demand: Arc<Demand>) -> Self {
        demand.viewers.fetch_add(1, Ordering::Relaxed);
        Self { field: WantedField::None, precision: WantedPrecision::Auto, demand }
    }

    fn change(&mut self, field: WantedField, precision: WantedPrecision) {
        self.demand.change_field(self.field, field);
        (self.field, self.precision) = (field, precision);
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        self.demand.change_field(self.field, WantedField::None);
        self.demand.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}
