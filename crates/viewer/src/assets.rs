//! The page, embedded in the program by build.rs.

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// What to do when the program was built without the page.
pub const NO_PAGE: &str = "This program was built without the viewer's page, because Node.js was missing or its packages\n\
     could not be had. Install Node.js 20.19 or later (with npm), then build again:\n\n    \
     cargo build --release\n";

/// Whether the page is embedded.
#[must_use]
pub fn has_page() -> bool {
    !FILES.is_empty()
}

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asset {
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
    /// Whether its name changes with its content.
    pub(crate) is_lasting: bool,
}

/// The file at a path of the server.
pub(crate) fn find(path: &str) -> Option<Asset> {
    find_in(FILES, path)
}

fn find_in(files: &[(&str, &'static [u8])], path: &str) -> Option<Asset> {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    if name == "index.html" && files.is_empty() {
        let (kind, bytes) = ("text/html; charset=utf-8", FALLBACK.as_bytes());
        return Some(Asset { kind, bytes, is_lasting: false });
    }
    let (_, bytes) = files.iter().find(|(known, _)| *known == name)?;
    Some(Asset { kind: kind(name), bytes, is_lasting: name.starts_with("assets/") })
}

const FALLBACK: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>taut</title></head>\
     <body><h1>taut is running, but its page was not built</h1>\
     <p>The program was built without the viewer's page, because Node.js was missing or its \
     packages could not be had. Install Node.js 20.19 or later (with npm), then build again: \
     <code>cargo build --release</code></p></body></html>";

/// The type of a file, by its ending.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    //! Contract: there is always a page, and nothing but the page.

    use super::*;

    #[test]
    fn there_is_a_page_and_nothing_else() {
        let page = find("/").unwrap();
        assert!(page.kind.starts_with("text/html") && !page.is_lasting);
        assert!(String::from_utf8_lossy(page.bytes).contains("<title>taut</title>"));
        for path in ["/../Cargo.toml", "/etc/passwd", "/assets/", "/src/main.ts", "//"] {
            assert!(find(path).is_none() || path == "//", "{path}");
        }
    }

    #[test]
    fn without_the_page_there_is_one_that_says_how_to_get_it() {
        let page = find_in(&[], "/").unwrap();
        assert!(page.kind.starts_with("text/html") && !page.is_lasting);
        let text = String::from_utf8_lossy(page.bytes);
        for part in ["Node.js 20.19", "cargo build --release"] {
            assert!(text.contains(part) && NO_PAGE.contains(part), "{part}");
        }
        assert!(find_in(&[], "/assets/index.js").is_none());
    }

    #[test]
    fn what_must_be_embedded_is() {
        // The test script builds with this set: a page that silently went missing fails here.
        if option_env!("TAUT_REQUIRE_PAGE") == Some("1") {
            assert!(has_page());
            assert!(FILES.iter().any(|(name, _)| name.ends_with(".js")));
        }
    }
}
