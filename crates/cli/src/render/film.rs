//! Films, through an installed ffmpeg: pictures go to its standard input as they are drawn.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use taut_render::Picture;

use super::output::failure;
use crate::failure::Failure;

/// A film that grows beside its place and is renamed when it is complete.
pub(super) struct Film {
    path: PathBuf,
    beside: PathBuf,
    encoder: Child,
}

impl Film {
    /// Starts ffmpeg; nothing if it is not installed.
    pub(super) fn start(
        path: &Path,
        [width, height]: [u32; 2],
        fps: u32,
    ) -> Result<Option<Self>, Failure> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| failure(folder, &error))?;
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        let beside = path.with_file_name(name);
        let mut command = Command::new("ffmpeg");
        command.args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
        command.args(["-s", &format!("{width}x{height}"), "-r", &fps.to_string(), "-i", "-"]);
        // Players expect half as many color samples in each direction, so sizes have to be even.
        command.args(["-an", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
        command.args(["-movflags", "+faststart", "-f", "mp4"]).arg(&beside);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Ctrl-C is for us: ffmpeg ends when its input does.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(encoder) => Ok(Some(Self { path: path.to_owned(), beside, encoder })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::Work(format!("could not start ffmpeg: {error}"))),
        }
    }

    /// Adds a picture.
    pub(super) fn add(&mut self, picture: &Picture) -> Result<(), Failure> {
        let written = self.encoder.stdin.as_mut().map(|input| input.write_all(&picture.rgb));
        match written {
            Some(Err(_)) | None => Err(self.give_up()),
            Some(Ok(())) => Ok(()),
        }
    }

    /// Ends the film and puts it into its place; without pictures there is none.
    pub(super) fn finish(mut self, pictures: u64) -> Result<(), Failure> {
        drop(self.encoder.stdin.take());
        let status = self.encoder.wait();
        if pictures == 0 {
            let _ = fs::remove_file(&self.beside);
            return Ok(());
        }
        if !status.is_ok_and(|status| status.success()) {
            return Err(self.give_up());
        }
        fs::rename(&self.beside, &self.path).map_err(|error| failure(&self.path, &error))
    }

    /// What ffmpeg says that went wrong; half a film is none.
    fn give_up(&mut self) -> Failure {
        drop(self.encoder.stdin.take());
        let mut said = String::new();
        if let Some(mut errors) = self.encoder.stderr.take() {
            let _ = errors.read_to_string(&mut said);
        }
        let _ = self.encoder.wait();
        let _ = fs::remove_file(&self.beside);
        let reason = said.lines().next().unwrap_or("it ended too early").to_owned();
        Failure::Work(format!("{}: ffmpeg failed: {reason}", self.path.display()))
    }
}
