//! Kempe chains: where no element of a batch that is too large can move to one that is too small,
//! a chain of elements of both, each conflicting with the next, can change places as a whole.
//!
//! Elements of two colors that are connected by conflicts form a component; exchanging the two
//! colors in all of it makes no new conflict. A component with one element more of the larger
//! color takes one element to the smaller.

const NONE: u32 = u32::MAX;

/// Elements of a cluster with their bodies as local numbers, and their colors.
pub(super) struct Colored<'a> {
    pub(super) starts: &'a [usize],
    pub(super) incidences: &'a [u32],
    pub(super) bodies: usize,
    pub(super) colors: &'a mut [usize],
    /// Elements of each color.
    pub(super) sizes: &'a mut [usize],
}

/// Memory for chains.
#[derive(Default)]
pub(super) struct Chains {
    /// Which element has a color at a body.
    holders: Vec<u32>,
    /// The last sweep that has seen an element.
    seen: Vec<u32>,
    sweeps: u32,
    component: Vec<u32>,
}

impl Chains {
    /// Exchanges chains until sizes are as wanted or no chain helps.
    pub(super) fn even_out(&mut self, cluster: &mut Colored<'_>, wanted: &[usize]) {
        let is_over = |sizes: &[usize], color: usize| sizes[color] > wanted[color];
        if !(0..wanted.len()).any(|color| is_over(cluster.sizes, color)) {
            return;
        }
        self.prepare(cluster);
        for from in 0..wanted.len() {
            for to in 0..wanted.len() {
                if is_over(cluster.sizes, from) && cluster.sizes[to] < wanted[to] {
                    self.sweep(cluster, wanted, [from, to]);
                }
            }
        }
    }

    fn prepare(&mut self, cluster: &Colored<'_>) {
        self.seen.clear();
        self.seen.resize(cluster.colors.len(), 0);
        self.sweeps = 0;
        self.holders.clear();
        self.holders.resize(cluster.bodies * cluster.sizes.len(), NONE);
        for element in 0..cluster.colors.len() {
            self.hold(cluster, element, element as u32);
        }
    }

    /// Enters an element, or nothing, for the color of an element at its bodies.
    fn hold(&mut self, cluster: &Colored<'_>, element: usize, holder: u32) {
        for &body in cluster.bodies_of(element) {
            let row = body as usize * cluster.sizes.len();
            self.holders[row + cluster.colors[element]] = holder;
        }
    }

    /// Looks at the components of two colors one after another.
    fn sweep(&mut self, cluster: &mut Colored<'_>, wanted: &[usize], [from, to]: [usize; 2]) {
        self.sweeps += 1;
        for element in 0..cluster.colors.len() {
            let (over, under) = (cluster.sizes[from], cluster.sizes[to]);
            if over <= wanted[from] || under >= wanted[to] {
                break;
            }
            if cluster.colors[element] == from && self.seen[element] != self.sweeps {
                let gain = self.find_component(cluster, element, [from, to]);
                let most = (over - wanted[from]).min(wanted[to] - under);
                if (1..=most as isize).contains(&gain) {
                    self.exchange(cluster, [from, to]);
                }
            }
        }
    }

    /// Finds the component of an element; returns how many more elements of the first color than
    /// of the second it has.
    fn find_component(
        &mut self,
        cluster: &Colored<'_>,
        element: usize,
        [from, to]: [usize; 2],
    ) -> isize {
        self.component.clear();
        self.component.push(element as u32);
        self.seen[element] = self.sweeps;
        let (mut next, mut gain) = (0, 0);
        while let Some(&element) = self.component.get(next) {
            next += 1;
            let is_from = cluster.colors[element as usize] == from;
            gain += if is_from { 1 } else { -1 };
            let other_color = if is_from { to } else { from };
            for &body in cluster.bodies_of(element as usize) {
                let other = self.holders[body as usize * cluster.sizes.len() + other_color];
                if other != NONE && self.seen[other as usize] != self.sweeps {
                    self.seen[other as usize] = self.sweeps;
                    self.component.push(other);
                }
            }
        }
        gain
    }

    fn exchange(&mut self, cluster: &mut Colored<'_>, [from, to]: [usize; 2]) {
        let component = std::mem::take(&mut self.component);
        for &element in &component {
            self.hold(cluster, element as usize, NONE);
        }
        for &element in &component {
            let color = &mut cluster.colors[element as usize];
            cluster.sizes[*color] -= 1;
            *color = from + to - *color;
            cluster.sizes[*color] += 1;
            self.hold(cluster, element as usize, element);
        }
        self.component = component;
    }
}

impl Colored<'_> {
    fn bodies_of(&self, element: usize) -> &[u32] {
        &self.incidences[self.starts[element]..self.starts[element + 1]]
    }
}
