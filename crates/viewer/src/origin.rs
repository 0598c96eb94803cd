//! Who may talk to the server.
//!
//! Pages of other sites can make a browser send requests to this machine, but not forge what the
//! browser says about them. On loopback, `Host` must name this machine, so that a foreign name that
//! resolves to it (DNS rebinding) is refused. Its port may differ: behind a tunnel it does. `Origin`,
//! which browsers send with every WebSocket, must be the very host that was asked. Beyond loopback
//! any name may lead here, so a secret in the address is asked for instead, and without it nothing is
//! served.

use std::net::IpAddr;

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use subtle::ConstantTimeEq;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was meant for another host, or does not say for which.
    Host,
    /// It comes from a page of another site.
    Origin,
    /// It does not have the secret.
    Token,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Host => "This is not the host that was asked for.\n",
            Self::Origin => "Only the viewer's own page may connect.\n",
            Self::Token => "The address lacks its token: use the one that taut view printed.\n",
        }
    }
}

/// Checks requests.
#[derive(Debug)]
pub(crate) struct Guard {
    bound: IpAddr,
    cookie: String,
    token: Option<String>,
}

impl Guard {
    /// A guard for a server that listens here. `token` is the secret, if there has to be one.
    pub(crate) fn new(bound: IpAddr, port: u16, token: Option<String>) -> Self {
        // Cookies do not know ports: two servers on one machine need two names.
        Self { bound, cookie: format!("taut-{port}"), token }
    }

    /// Checks a request for a page. Gives the host that it was sent to.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, Refusal> {
        let host = one(headers, &HOST).filter(|host| is_plain(host)).ok_or(Refusal::Host)?;
        match &self.token {
            None if !self.is_own(host) => return Err(Refusal::Host),
            Some(token) if !self.has(token, uri, headers) => return Err(Refusal::Token),
            _ => {}
        }
        Ok(host.to_owned())
    }

    /// Checks a request for a WebSocket.
    pub(crate) fn check_socket(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = self.check(uri, headers)?;
        let origin = one(headers, &ORIGIN).ok_or(Refusal::Origin)?;
        let origin = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if origin.is_some_and(|origin| origin.eq_ignore_ascii_case(&host)) {
            Ok(())
        } else {
            Err(Refusal::Origin)
        }
    }

    /// What makes a browser send the secret along with everything that a page loads.
    pub(crate) fn cookie(&self) -> Option<String> {
        let token = self.token.as_ref()?;
        Some(format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie))
    }

    /// Whether a host, with or without a port, is this machine on loopback, or what is bound.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, rest)) if is_port(rest) => name,
            Some(_) => return false,
            None => match host.split_once(':') {
                Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
                Some(_) => return false,
                None => host,
            },
        };
        let address = name.parse::<IpAddr>();
        name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| address.is_loopback() || address == self.bound)
    }

    fn has(&self, token: &str, uri: &Uri, headers: &HeaderMap) -> bool {
        let in_query = uri.query().into_iter().flat_map(|query| query.split('&'));
        let in_query = in_query.filter_map(|pair| pair.strip_prefix("token="));
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let in_cookies = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| {
            cookie.trim().strip_prefix(self.cookie.as_str())?.strip_prefix('=')
        });
        let mut given = in_query.chain(in_cookies);
        given.any(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
    }
}

/// The value of a header that is there exactly once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

/// Whether a host is made of what names, addresses and ports are made of: it goes into headers.
fn is_plain(host: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_[]".contains(&byte);
    !host.is_empty() && host.len() < 256 && host.bytes().all(plain)
}

fn is_port(text: &str) -> bool {
    let digits = text.strip_prefix(':').unwrap_or(text);
    (text.is_empty() || text.starts_with(':')) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// 128 random bits as text.
///
/// # Errors
/// If the system has none.
pub(crate) fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    //! Contract: only what the browser calls this machine is served, only to its own page, and beyond
    //! loopback only with the secret.

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn page(guard: &Guard, uri: &str, pairs: &[(HeaderName, &str)]) -> Result<String, Refusal> {
        guard.check(&uri.parse().unwrap(), &headers(pairs))
    }

    #[test]
    fn on_loopback_only_this_machine_is_a_host() {
        let guard = Guard::new(LOOPBACK, 8288, None);
        for host in
            ["localhost:8288", "127.0.0.1:8288", "[::1]:8288", "LOCALHOST:9000", "localhost"]
        {
            assert_eq!(page(&guard, "/", &[(HOST, host)]), Ok(host.to_owned()));
        }
        for host in [
            "evil.example:8288",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8288",
            "192.168.0.1:8288",
            "localhost:8288@evil.example",
            "[::1]evil.example",
            "",
        ] {
            assert_eq!(page(&guard, "/", &[(HOST, host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(page(&guard, "/", &[]), Err(Refusal::Host));
        let twice = [(HOST, "localhost"), (HOST, "evil.example")];
        let mut headers = HeaderMap::new();
        for (name, value) in twice {
            headers.append(name, value.parse().unwrap());
        }
        assert_eq!(guard.check(&"/".parse().unwrap(), &headers), Err(Refusal::Host));
    }

    #[test]
    fn sockets_are_for_the_own_page() {
        let guard = Guard::new(LOOPBACK, 8288, None);
        let socket = |origin: Option<&str>| {
            let mut pairs = vec![(HOST, "localhost:8288")];
            pairs.extend(origin.map(|origin| (ORIGIN, origin)));
            guard.check_socket(&"/live".parse().unwrap(), &headers(&pairs))
        };
        assert_eq!(socket(Some("http://localhost:8288")), Ok(()));
        for origin in [
            "http://localhost:3000",
            "http://evil.example",
            "http://localhost:8288.evil.example",
            "ftp://localhost:8288",
            "localhost:8288",
            "null",
        ] {
            assert_eq!(socket(Some(origin)), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(socket(None), Err(Refusal::Origin));
    }

    #[test]
    fn beyond_loopback_the_secret_decides() {
        let token = new_token().unwrap();
        assert_eq!(token.len(), 32);
        assert_ne!(token, new_token().unwrap());
        let guard = Guard::new("0.0.0.0".parse().unwrap(), 8288, Some(token.clone()));
        let host = (HOST, "cluster.example:8288");
        let ask = |uri: &str, cookie: &str| page(&guard, uri, &[host.clone(), (COOKIE, cookie)]);
        assert!(ask(&format!("/?token={token}"), "").is_ok());
        assert!(ask(&format!("/a.js?x=1&token={token}"), "").is_ok());
        assert!(ask("/a.js", &format!("other=1; taut-8288={token}")).is_ok());
        for (uri, cookie) in [
            ("/", String::new()),
            ("/?token=", String::new()),
            ("/?token=0123456789abcdef0123456789abcdef", String::new()),
            ("/", format!("taut-9000={token}")),
            ("/", format!("taut-8288={}", &token[1..])),
        ] {
            assert_eq!(ask(uri, &cookie), Err(Refusal::Token), "{uri} {cookie}");
        }
        assert!(guard.cookie().unwrap().contains("HttpOnly; SameSite=Strict"));
    }
}
