//! A drawn picture.

use std::io::{self, Write};

/// Pixels, row after row from the top, three bytes each: red, green, blue (sRGB).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Three bytes a pixel.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// From rows of four bytes a pixel, `stride` bytes apart.
    pub(crate) fn from_rows(width: u32, height: u32, bytes: &[u8], stride: usize) -> Self {
        let rows = bytes.chunks(stride).take(height as usize);
        let pixels = rows.flat_map(|row| row[..4 * width as usize].chunks_exact(4));
        let rgb = pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Self { width, height, rgb }
    }

    /// The pixel in a column, from the left, and a row, from the top; the nearest one if they lie
    /// outside.
    #[must_use]
    pub fn pixel(&self, column: u32, row: u32) -> [u8; 3] {
        let (column, row) = (column.min(self.width - 1), row.min(self.height - 1));
        let first = 3 * (row as usize * self.width as usize + column as usize);
        [self.rgb[first], self.rgb[first + 1], self.rgb[first + 2]]
    }

    /// Writes it as PNG.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        Ok(writer.finish()?)
    }
}
