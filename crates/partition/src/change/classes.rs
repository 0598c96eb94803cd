//! The elements of each color as a list, so that a schedule can be read off.

/// One list of elements per color.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    lists: Vec<Vec<u32>>,
    /// The place of each element in its list.
    places: Vec<u32>,
    in_use: usize,
    len: usize,
}

impl Classes {
    pub(super) fn new(colors: &[u32], color_count: usize) -> Self {
        let lists = vec![Vec::new(); color_count];
        let mut classes = Self { lists, ..Self::default() };
        for (element, &color) in colors.iter().enumerate() {
            classes.insert(element as u32, color);
        }
        classes
    }

    /// The number of lists, some of which may be empty; the last one never is.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The number of lists that are not empty.
    pub(super) fn in_use(&self) -> usize {
        self.in_use
    }

    pub(super) fn lists(&self) -> impl Iterator<Item = &[u32]> {
        self.lists.iter().map(Vec::as_slice)
    }

    /// The size of the largest color in terms of the mean.
    pub(super) fn imbalance(&self) -> f64 {
        let largest = self.lists.iter().map(Vec::len).max().unwrap_or(0);
        if largest == 0 { 1.0 } else { (largest * self.in_use) as f64 / self.len as f64 }
    }

    pub(super) fn insert(&mut self, element: u32, color: u32) {
        if color as usize >= self.lists.len() {
            self.lists.resize_with(color as usize + 1, Vec::new);
        }
        let list = &mut self.lists[color as usize];
        self.in_use += usize::from(list.is_empty());
        self.len += 1;
        if element as usize >= self.places.len() {
            self.places.resize(element as usize + 1, 0);
        }
        self.places[element as usize] = list.len() as u32;
        list.push(element);
    }

    pub(super) fn remove(&mut self, element: u32, color: u32) {
        let place = self.places[element as usize] as usize;
        let list = &mut self.lists[color as usize];
        list.swap_remove(place);
        if let Some(&moved) = list.get(place) {
            self.places[moved as usize] = place as u32;
        }
        self.in_use -= usize::from(list.is_empty());
        self.len -= 1;
        while self.lists.last().is_some_and(Vec::is_empty) {
            self.lists.pop();
        }
    }

    /// Gives an element of this color another number.
    pub(super) fn rename(&mut self, element: u32, color: u32, name: u32) {
        let place = self.places[element as usize];
        self.lists[color as usize][place as usize] = name;
        self.places[name as usize] = place;
    }
}
