//! Contract: pages of other sites reach nothing, a bad message ends its own connection only, and
//! beyond loopback nothing is served without the token.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use common::{Page, Setup, paused};
use serde_json::json;
use taut_viewer::Server;
use tokio_tungstenite::tungstenite::{Error, Message};

/// The status of an answer to a WebSocket that was refused.
async fn refused(server: &Server, path: &str, origin: &str, host: Option<&str>) -> u16 {
    match Page::try_open(server.address(), path, origin, host).await.map_err(|error| *error) {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{origin} {host:?} was let in"),
    }
}

/// A request over HTTP, as it is; gives the whole answer.
fn get(address: SocketAddr, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_pages_are_refused() {
    let server = paused();
    let port = server.address().port();
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(refused(&server, "/live", "http://evil.example", None).await, 403);
    assert_eq!(refused(&server, "/live", "http://localhost:1", None).await, 403);
    assert_eq!(refused(&server, "/live", "null", None).await, 403);
    let rebound = format!("evil.example:{port}");
    let origin = format!("http://{rebound}");
    assert_eq!(refused(&server, "/live", &origin, Some(&rebound)).await, 421);
    // Under any name of this machine the own page is welcome.
    let local = format!("localhost:{port}");
    let origin = format!("http://{local}");
    Page::try_open(server.address(), "/live", &origin, Some(&local)).await.unwrap();
    Page::try_open(server.address(), "/live", &own, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_served_with_its_locks() {
    let server = paused();
    let host = format!("Host: {}\r\n", server.address());
    let page = get(server.address(), "/", &host);
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let lower = page.to_ascii_lowercase();
    for header in [
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; script-src 'self'",
        "frame-ancestors 'none'",
        "referrer-policy: no-referrer",
        "content-type: text/html; charset=utf-8",
    ] {
        assert!(lower.contains(header), "{header} is missing in {page}");
    }
    assert!(page.contains("<title>taut</title>"));
    assert!(get(server.address(), "/", "Host: evil.example\r\n").starts_with("HTTP/1.1 421"));
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/etc/passwd", "/live/x"] {
        assert!(get(server.address(), path, &host).starts_with("HTTP/1.1 404"), "{path}");
    }
    let plain = format!("{host}Origin: http://{}\r\n", server.address());
    assert!(get(server.address(), "/live", &plain).starts_with("HTTP/1.1 4"));
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_loopback_the_token_is_needed() {
    let server =
        Setup { bind: Ipv4Addr::UNSPECIFIED.into(), is_paused: true, ..Setup::default() }.start();
    let port = server.address().port();
    let token = server.url().split_once("/?token=").unwrap().1.to_owned();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let without = get(address, "/", &host);
    assert!(without.starts_with("HTTP/1.1 401") && !without.contains("<title>"), "{without}");
    assert!(get(address, "/assets/x.js", &host).starts_with("HTTP/1.1 401"));
    let wrong = "0".repeat(32);
    assert!(get(address, &format!("/?token={wrong}"), &host).starts_with("HTTP/1.1 401"));
    let page = get(address, &format!("/?token={token}"), &host);
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let lower = page.to_ascii_lowercase();
    let cookie = lower.split_once("set-cookie: ").unwrap().1.split_once(';').unwrap().0.to_owned();
    assert!(get(address, "/", &format!("{host}Cookie: {cookie}\r\n")).starts_with("HTTP/1.1 200"));

    let origin = format!("http://127.0.0.1:{port}");
    let open = |path: String| {
        let origin = origin.clone();
        async move { Page::try_open(address, &path, &origin, None).await }
    };
    assert!(open("/live".to_owned()).await.is_err());
    assert!(open(format!("/live?token={wrong}")).await.is_err());
    let mut page = open(format!("/live?token={token}")).await.unwrap();
    page.text("hello").await;
    let foreign = format!("/live?token={token}");
    assert!(Page::try_open(address, &foreign, "http://evil.example", None).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_message_ends_its_own_connection_only() {
    let server = paused();
    let mut witness = Page::open(&server).await;
    let long = "x".repeat(70_000);
    for bad in [
        Message::text("not json"),
        Message::text(r#"{"type":"fly"}"#),
        Message::text(r#"{"type":"grab","particle":144,"target":[0,0,0]}"#),
        Message::text(r#"{"type":"grab","particle":0,"target":[0,0,1e39]}"#),
        Message::text(r#"{"type":"elements","generation":1,"kind":99}"#),
        Message::text(r#"{"type":"speed","speed":-1}"#),
        Message::text(format!(r#"{{"type":"scene","name":"{long}"}}"#)),
        Message::binary(vec![1, 2, 3]),
    ] {
        let mut page = Page::open(&server).await;
        page.text("hello").await;
        page.say_raw(bad.clone()).await;
        let frame = page.closed().await;
        assert_eq!(u16::from(frame.code), 1008, "{bad:?}");
        assert!(!frame.reason.is_empty(), "{bad:?}");
    }
    witness.say(json!({"type": "step"})).await;
    witness.frame_where(|frame| frame.step == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_beyond_all_bounds_is_not_read() {
    let server = paused();
    let mut page = Page::open(&server).await;
    page.text("hello").await;
    page.say_raw(Message::text("x".repeat(40 << 20))).await;
    // Whether there is a reason depends on how far it came.
    while !matches!(page.hear().await, common::Heard::Closed(_)) {}
    Page::open(&server).await.text("hello").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_ends_its_own_connection_only() {
    let server = paused();
    let mut witness = Page::open(&server).await;
    let mut page = Page::open(&server).await;
    page.text("hello").await;
    for _ in 0..2000 {
        page.say(json!({"type": "ack", "frame": 0})).await;
    }
    let frame = page.closed().await;
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1008, "too many messages at once"));
    witness.say(json!({"type": "step"})).await;
    witness.frame_where(|frame| frame.step == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_viewers_are_enough() {
    let server = paused();
    let mut pages = Vec::new();
    for _ in 0..16 {
        let mut page = Page::open(&server).await;
        page.text("hello").await;
        pages.push(page);
    }
    let origin = format!("http://{}", server.address());
    assert_eq!(refused(&server, "/live", &origin, None).await, 503);
    pages.pop();
    // A seat is free again as soon as the server knows.
    while Page::try_open(server.address(), "/live", &origin, None).await.is_err() {}
}
