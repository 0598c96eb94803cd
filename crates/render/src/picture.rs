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

    /// A picture `factor` times as small in each direction: every pixel is the mean of a square. What
    /// does not fill a square is cut off; a factor of 1 or less changes nothing.
    #[must_use]
    pub fn reduced(self, factor: u32) -> Self {
        let [width, height] = [self.width, self.height].map(|pixels| pixels / factor.max(1));
        if factor <= 1 || width == 0 || height == 0 {
            return self;
        }
        let mut rgb = Vec::with_capacity(3 * width as usize * height as usize);
        for row in 0..height {
            for column in 0..width {
                let mut sum = [factor * factor / 2; 3];
                for (x, y) in (0..factor).flat_map(|x| (0..factor).map(move |y| (x, y))) {
                    let pixel = self.pixel(column * factor + x, row * factor + y);
                    sum.iter_mut().zip(pixel).for_each(|(sum, byte)| *sum += u32::from(byte));
                }
                rgb.extend(sum.map(|sum| (sum / (factor * factor)) as u8));
            }
        }
        Self { width, height, rgb }
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

#[cfg(test)]
mod tests {
    //! Contract: rows have no padding left, and a smaller picture has the means of squares.

    use super::*;

    #[test]
    fn rows_lose_their_padding_and_the_fourth_byte() {
        let bytes = [1, 2, 3, 9, 4, 5, 6, 9, 0, 0, 7, 8, 9, 9, 10, 11, 12, 9, 0, 0];
        let picture = Picture::from_rows(2, 2, &bytes, 10);
        assert_eq!(picture.rgb, (1..=12).collect::<Vec<u8>>());
        assert_eq!(picture.pixel(1, 0), [4, 5, 6]);
        assert_eq!(picture.pixel(9, 9), [10, 11, 12]);
    }

    #[test]
    fn a_smaller_picture_has_the_means() {
        let picture = Picture { width: 3, height: 2, rgb: (0..18).map(|i| 10 * i).collect() };
        let small = picture.clone().reduced(2);
        // Means of 0, 30, 90 and 120, and so on.
        assert_eq!((small.width, small.height, small.rgb), (1, 1, vec![60, 70, 80]));
        assert_eq!(picture.clone().reduced(1), picture);
        assert_eq!(picture.clone().reduced(4), picture);
    }
}
