//! Contract: `taut render` draws what is there, where it is, the same every time; its files are complete
//! or absent; and what it cannot do it says. `taut run --plot` draws charts. These tests need a graphics
//! driver; the software one of mesa-vulkan-drivers will do.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn taut(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taut")).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A picture on disk.
struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    fn load(path: &Path) -> Self {
        let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        Self { width: info.width as usize, height: info.height as usize, rgb }
    }

    fn pixel(&self, x: usize, y: usize) -> [i32; 3] {
        let first = 3 * (y * self.width + x);
        [0, 1, 2].map(|channel| self.rgb[first + channel].into())
    }

    /// The share of pixels for which something holds.
    fn share(&self, holds: impl Fn([i32; 3]) -> bool) -> f64 {
        let pixels = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        let count = pixels.filter(|&(x, y)| holds(self.pixel(x, y))).count();
        count as f64 / (self.width * self.height) as f64
    }
}

fn is_blue([r, _, b]: [i32; 3]) -> bool {
    b > r + 40
}

fn is_red([r, _, b]: [i32; 3]) -> bool {
    r > b + 40
}

/// Two squares that stand upright side by side, with a floor below.
fn squares(folder: &Path) -> String {
    let path = folder.join("squares.toml");
    let square = |name: &str, x: f32| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmesh.grid = {{ particles = [5, 5], size = [1, 1] }}\n\
             transform = {{ position = [{x}, 1, 0], rotation = [90, 0, 0] }}\n\
             elements.stretch = {{ stiffness = 1 }}\n"
        )
    };
    let floor = "[[shapes]]\nname = \"floor\"\ngeometry.plane = {}\n";
    let text =
        format!("gravity = [0, 0, 0]\nsteps = 4\n{}{}{floor}", square("a", -0.6), square("b", 0.6));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Renders and loads the picture.
fn render(scene: &str, out: &Path, arguments: &[&str]) -> Picture {
    let base = ["render", scene, "--size", "240x160", "--out", out.to_str().unwrap()];
    let output = taut(&[&base, arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    Picture::load(out)
}

#[test]
fn bodies_have_their_colors_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let picture = render(&scene, &folder.path().join("a.png"), &["--camera", "0,0"]);
    assert_eq!((picture.width, picture.height), (240, 160));
    let [left, right] = [picture.pixel(75, 80), picture.pixel(165, 80)];
    assert!(is_red(left), "{left:?}");
    assert!(is_blue(right), "{right:?}");
    // Two squares of 1 m beside each other, 2.2 m wide in all, fill 82 % of the height or width.
    let [blue, red] = [picture.share(is_blue), picture.share(is_red)];
    assert!((0.1..0.35).contains(&blue) && (blue / red - 1.0).abs() < 0.1, "{blue} {red}");
    // Between them is what is behind them: neither.
    let middle = picture.pixel(120, 40);
    assert!(!is_blue(middle) && !is_red(middle), "{middle:?}");
}

#[test]
fn the_same_scene_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let [a, b, c] = ["a.png", "b.png", "c.png"].map(|name| folder.path().join(name));
    render(&scene, &a, &[]);
    render(&scene, &b, &[]);
    render(&scene, &c, &["--camera", "10,20"]);
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    assert_ne!(fs::read(&a).unwrap(), fs::read(&c).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing half written is left");
}

#[test]
fn what_a_solver_wrote_on_the_device_is_drawn_from_there() {
    let folder = tempfile::tempdir().unwrap();
    // An embedded surface: points that are no particles.
    let path = folder.path().join("soft.toml");
    let text = "steps = 6\n[[bodies]]\nname = \"ball\"\nkind = \"soft\"\n\
        mesh.solid = { parts = [{ sphere = { center = [0, 0, 0], radius = 0.5 } }], cell = 0.25 }\nsurface.sphere = { radius = 0.5, subdivisions = 8 }\n\
        transform.position = [0, 0.6, 0]\nelements.volume = { stiffness = 1 }\nelements.stretch = { stiffness = 0.5 }\n\
        [[shapes]]\nname = \"floor\"\ngeometry.plane = {}\n";
    fs::write(&path, text).unwrap();
    for scene in [squares(folder.path()), path.to_str().unwrap().to_owned()] {
        let at_home = render(&scene, &folder.path().join("home.png"), &[]);
        let on_device = render(&scene, &folder.path().join("gpu.png"), &["--backend", "gpu"]);
        let differences = at_home.rgb.iter().zip(&on_device.rgb).map(|(a, b)| a.abs_diff(*b));
        let visible = differences.filter(|&difference| difference > 8).count();
        assert!(visible * 200 < at_home.rgb.len(), "{visible} of {}", at_home.rgb.len());
        assert!(on_device.share(is_red) > 0.05);
    }
}

#[test]
fn shadows_on_the_floor_are_darker_than_the_floor_in_the_light() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ball.toml");
    let text = "gravity = [0, 0, 0]\n[[bodies]]\nname = \"lid\"\n\
        mesh.grid = { particles = [5, 5], size = [1, 1] }\ntransform.position = [0, 0.6, 0]\n\
        elements.stretch = { stiffness = 1 }\n[[shapes]]\nname = \"floor\"\ngeometry.plane = {}\n\
        [camera]\neye = [0, 1.2, 5]\ntarget = [0, 0.3, 0]\n";
    fs::write(&path, text).unwrap();
    let out = folder.path().join("a.png");
    let picture = render(path.to_str().unwrap(), &out, &["--steps", "0"]);
    let brightness = |x: usize, y: usize| picture.pixel(x, y).iter().sum::<i32>();
    // The key light comes from the left, the front and above: the shadow falls to the right.
    let (shadow, light) = (brightness(128, 92), brightness(20, 110));
    assert!(shadow + 60 < light, "{shadow} in the shadow, {light} in the light");
}

#[test]
fn at_night_the_backdrop_is_dark_and_bodies_keep_their_colors() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let out = folder.path().join("a.png");
    let arguments = ["--camera", "0,0", "--theme"];
    let [day, night] =
        ["light", "dark"].map(|theme| render(&scene, &out, &[&arguments[..], &[theme]].concat()));
    let brightness = |picture: &Picture| picture.pixel(120, 40).iter().sum::<i32>();
    assert!(brightness(&day) > 500 && brightness(&night) < 250);
    assert_eq!(day.pixel(75, 80), night.pixel(75, 80));
}

#[test]
fn values_and_partitions_have_colors_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let out = folder.path().join("a.png");
    // Nothing moves: the dark end of the scale.
    let still = render(&scene, &out, &["--camera", "0,0", "--color", "speed"]);
    assert_eq!(still.share(is_red), 0.0);
    assert!(still.share(|[r, g, b]| b > r + 20 && r + g + b < 420) > 0.2);
    let plain = render(&scene, &out, &["--camera", "0,0"]);
    let lines =
        render(&scene, &out, &["--camera", "0,0", "--color", "partition", "--kind", "stretch"]);
    let wires = render(&scene, &out, &["--camera", "0,0", "--wireframe"]);
    let smooth = render(&scene, &out, &["--camera", "0,0", "--supersample", "2"]);
    assert!((smooth.share(is_blue) - plain.share(is_blue)).abs() < 0.02, "the same, only finer");
    let colorful = |[r, g, b]: [i32; 3]| r.max(g).max(b) - r.min(g).min(b) > 60;
    let share = lines.share(colorful);
    assert!(share > 0.02 && share < 0.3, "lines, not areas: {share}");
    assert!(wires.rgb != plain.rgb);
}

#[test]
fn a_folder_gets_numbered_pictures_and_a_turntable_turns() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let out = folder.path().join("film");
    let arguments = ["--every", "2", "--turntable", "90", "--size", "64x48", "--json"];
    let base = ["render", &scene, "--out", out.to_str().unwrap()];
    let output = taut(&[&base[..], &arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["frames"], 3);
    assert_eq!(report["steps"], 4);
    assert_eq!(report["size"], serde_json::json!([64, 48]));
    let names = ["frame-0000.png", "frame-0001.png", "frame-0002.png"];
    let pictures = names.map(|name| Picture::load(&out.join(name)));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
    // From the side, one square hides behind the other and both are thin.
    let colored = |picture: &Picture| picture.share(|pixel| is_blue(pixel) || is_red(pixel));
    assert!(colored(&pictures[1]) < 0.5 * colored(&pictures[0]));
}

#[test]
fn without_ffmpeg_films_become_pictures_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let film = folder.path().join("film.mp4");
    let arguments =
        ["render", &scene, "--size", "64x48", "--every", "4", "--out", film.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_taut"))
        .args(arguments)
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("ffmpeg"), "{}", stderr(&output));
    assert!(!film.exists());
    assert_eq!(fs::read_dir(folder.path().join("film")).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn an_encoder_gets_every_pixel_and_the_film_is_renamed_at_the_end() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    // Stands in for ffmpeg: its last argument is the file, and what it reads is what it writes.
    let fake = folder.path().join("ffmpeg");
    fs::write(&fake, "#!/bin/sh\nfor last; do :; done\nexec /bin/cat > \"$last\"\n").unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let film = folder.path().join("film.mp4");
    let arguments =
        ["render", &scene, "--size", "64x48", "--every", "2", "--out", film.to_str().unwrap()];
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
        command.args(arguments).env("PATH", folder.path()).output().unwrap()
    };
    let output = run();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::metadata(&film).unwrap().len(), 3 * 64 * 48 * 3);
    assert!(!folder.path().join("film.mp4.partial").exists());

    fs::remove_file(&film).unwrap();
    fs::write(&fake, "#!/bin/sh\necho no such codec >&2\nexit 1\n").unwrap();
    let output = run();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no such codec"), "{}", stderr(&output));
    assert!(!film.exists() && !folder.path().join("film.mp4.partial").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_sequence_after_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let out = folder.path().join("film");
    let child = Command::new(env!("CARGO_BIN_EXE_taut"))
        .args(["render", &scene, "--steps", "100000000", "--every", "1", "--size", "32x32"])
        .args(["--out", out.to_str().unwrap()])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !out.join("frame-0001.png").exists() {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    for entry in fs::read_dir(&out).unwrap() {
        Picture::load(&entry.unwrap().path());
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let out = folder.path().join("a.png");
    let cases: [(&[&str], &str); 9] = [
        (&["--hide", "wall"], "it has: floor"),
        (&["--size", "big"], "1280x720"),
        (&["--size", "100000x10"], "100000x10"),
        (&["--device", "no such device"], "there are: 0 "),
        (&["--camera", "1"], "AZIMUTH"),
        (&["--color", "heat"], "strain"),
        (&["--color", "partition", "--kind", "volume"], "it has stretch"),
        (&["--kind", "stretch"], "--color partition"),
        (&["--scale", "-1"], "above 0"),
    ];
    for (arguments, expected) in cases {
        let base = ["render", &scene, "--out", out.to_str().unwrap()];
        let output = taut(&[&base[..], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
        assert!(!out.exists());
    }
    let output = taut(&["render", &scene, "--out", "a.gif"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(".mp4"), "{}", stderr(&output));
}

#[test]
fn plots_are_drawn_as_their_ending_says() {
    let folder = tempfile::tempdir().unwrap();
    let scene = squares(folder.path());
    let run = |name: &str| {
        let path = folder.path().join(name);
        let output = taut(&["run", &scene, "--steps", "20", "--plot", path.to_str().unwrap()]);
        (path, output)
    };
    let (path, output) = run("plot.svg");
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = fs::read_to_string(&path).unwrap();
    for expected in ["stretch", "Residual by kind", "Time of a step", "predict", "</svg>"] {
        assert!(svg.contains(expected), "{expected}");
    }
    let (path, output) = run("plot.png");
    assert!(output.status.success(), "{}", stderr(&output));
    let picture = Picture::load(&path);
    let ink = picture.share(|[r, g, b]| r + g + b < 300);
    assert!(ink > 0.002 && ink < 0.3, "text and axes: {ink}");
    let (path, output) = run("plot.pdf");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(".svg") && !path.exists());
}
