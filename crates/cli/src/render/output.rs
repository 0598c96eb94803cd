//! Where pictures go: one file, numbered files, or a film.

use std::fs;
use std::path::{Path, PathBuf};

use taut::output::{numbered, write_beside};
use taut_render::Picture;

use super::film::Film;
use crate::console;
use crate::failure::Failure;

/// What becomes of pictures.
pub(super) struct Output {
    path: PathBuf,
    form: Form,
    /// A picture every so many steps; without, the last one only.
    every: Option<u64>,
    written: u64,
}

enum Form {
    /// One file, or with `every` numbered ones.
    File,
    Folder,
    Film(Option<Film>),
}

impl Output {
    /// The path's ending decides. Steps are `dt` seconds long.
    pub(super) fn plan(
        path: &Path,
        every: Option<u64>,
        fps: u32,
        dt: f64,
    ) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let by_time = Some(((1.0 / (f64::from(fps) * dt)).round() as u64).max(1));
        let has_marks = path.file_name().is_some_and(|name| name.to_string_lossy().contains('#'));
        let (form, every) = match ending.as_deref() {
            _ if path.is_dir() => (Form::Folder, every.or(by_time)),
            Some("png") => (Form::File, every.or(has_marks.then_some(1))),
            Some("mp4") => (Form::Film(None), every.or(by_time)),
            None => (Form::Folder, every.or(by_time)),
            Some(_) => {
                let path = path.display();
                let message = format!(
                    "{path}: cannot tell the format from the ending; use .png, .mp4 or a folder"
                );
                return Err(Failure::Input(message));
            }
        };
        Ok(Self { path: path.to_owned(), form, every, written: 0 })
    }

    /// Whether there will be more than one picture.
    pub(super) fn is_sequence(&self) -> bool {
        self.every.is_some()
    }

    /// Starts a film, or a folder beside it where there is no ffmpeg.
    pub(super) fn open(&mut self, size: [u32; 2], fps: u32) -> Result<(), Failure> {
        if matches!(self.form, Form::Film(_)) {
            match Film::start(&self.path, size, fps)? {
                Some(film) => self.form = Form::Film(Some(film)),
                None => {
                    self.path = self.path.with_extension("");
                    self.form = Form::Folder;
                    console::complain(&format!(
                        "note: films need ffmpeg, which is not installed (apt-get install ffmpeg); the pictures go to {}/",
                        self.path.display()
                    ));
                }
            }
        }
        if matches!(self.form, Form::Folder) {
            fs::create_dir_all(&self.path).map_err(|error| failure(&self.path, &error))?;
        }
        Ok(())
    }

    /// Whether a picture is due after this many steps.
    pub(super) fn is_due(&self, step: u64, is_last: bool) -> bool {
        self.every.map_or(is_last, |every| step.is_multiple_of(every))
    }

    /// Adds a picture.
    pub(super) fn add(&mut self, picture: &Picture) -> Result<(), Failure> {
        let path = match &mut self.form {
            Form::Film(Some(film)) => {
                self.written += 1;
                return film.add(picture);
            }
            Form::Film(None) => return Ok(()),
            Form::Folder => self.path.join(format!("frame-{:04}.png", self.written)),
            Form::File if self.every.is_some() => numbered(&self.path, self.written),
            Form::File => self.path.clone(),
        };
        write_beside(&path, |file| picture.write_png(file))
            .map_err(|error| failure(&path, &error))?;
        self.written += 1;
        Ok(())
    }

    /// Completes what was begun; gives its path.
    pub(super) fn close(self) -> Result<PathBuf, Failure> {
        if let Form::Film(Some(film)) = self.form {
            film.finish(self.written)?;
        }
        Ok(self.path)
    }
}

pub(super) fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Work(format!("{}: {error}", path.display()))
}
