//! Coloring on the device, so that what is recolored while it runs need not leave it.

use taut_partition::Elements;
use taut_partition::coloring::Coloring;

use super::arrays::{Arrays, Parameters, read};
use super::device::{Gpu, GpuError};
use super::kernels::{Bind, Dispatch, Groups, Kernels, Recorded, WIDTH, sides};
use super::shaders::Module;

/// Rounds of one submission: more than meshes take. The last ones find nothing to do.
const ROUNDS: usize = 96;

/// Colors elements on the device: those that share a movable body get different colors. The result
/// depends on the elements alone.
///
/// Nothing if elements have different numbers of bodies, or a body would need more than 128 colors.
///
/// # Errors
/// If the device fails, or has no room.
pub fn color(gpu: &Gpu, elements: &Elements<'_>) -> Result<Option<Coloring>, GpuError> {
    let Some(arity) = elements.arity() else { return Ok(None) };
    if elements.is_empty() {
        return Ok(Some(Coloring { colors: Vec::new(), color_count: 0, lower_bound: 0 }));
    }
    let rounds = Rounds::new(gpu, elements, arity)?;
    loop {
        let is_done = rounds.run(gpu)?;
        let progress: Vec<u32> = read(gpu, &rounds.progress, 2)?;
        if progress[1] > 0 {
            return Ok(None);
        }
        if is_done {
            break;
        }
    }
    let colors: Vec<u32> = read(gpu, &rounds.colors, elements.len())?;
    let color_count = colors.iter().max().map_or(0, |&last| last as usize + 1);
    let lower_bound = largest_valence(elements).min(color_count);
    Ok(Some(Coloring { colors, color_count, lower_bound }))
}

/// The most elements around one movable body: all of them need different colors.
fn largest_valence(elements: &Elements<'_>) -> usize {
    let mut valences = vec![0; elements.body_count()];
    for element in 0..elements.len() {
        for body in elements.movable_of(element) {
            valences[body as usize] += 1;
        }
    }
    valences.into_iter().max().unwrap_or(0)
}

/// A problem on the device.
struct Rounds {
    conditions: wgpu::BindGroup,
    round: Vec<Dispatch>,
    progress: wgpu::Buffer,
    round_size: wgpu::Buffer,
    colors: wgpu::Buffer,
}

impl Rounds {
    fn new(gpu: &Gpu, elements: &Elements<'_>, arity: usize) -> Result<Self, GpuError> {
        let count = elements.len();
        let mut arrays = Arrays::new(gpu);
        let shared = |&body: &u32| if elements.is_fixed(body) { u32::MAX } else { body };
        let bodies: Vec<u32> = elements.bodies().iter().map(shared).collect();
        let bodies = arrays.words("bodies of elements", &bodies);
        let bids = arrays.zeros("bids", elements.body_count());
        let used = arrays.zeros("colors of bodies", 4 * elements.body_count());
        let colors = arrays.results("colors", &vec![u32::MAX; count]);
        let progress = arrays.results("progress", &[0; 2]);
        let [x, y] = sides(count.div_ceil(WIDTH));
        let round_size = arrays.indirect("size of a round", &[x, y, 1, 0]);
        let mut parameters = Parameters::default();
        let problem = Bind::Parameters(parameters.add(&[count as u32, arity as u32]), 2);
        let parameters = arrays.uniform("problem", parameters.bytes());
        arrays.finish()?;

        let mut kernels = Kernels::new(gpu);
        let conditions = kernels.bind_conditions(&parameters, 16);
        let read = |buffer: &wgpu::Buffer| Bind::Read(buffer.clone());
        let write = |buffer: &wgpu::Buffer| Bind::Write(buffer.clone());
        let (problem, bodies) = ((0, problem), (1, read(&bodies)));
        let (bids, used) = ((2, write(&bids)), (3, write(&used)));
        let (taken, state) = ((4, write(&colors)), (5, write(&progress)));
        let all = Groups::Indirect(round_size.clone(), 0);
        let calls = [
            (
                "bid",
                vec![problem.clone(), bodies.clone(), bids.clone(), taken.clone()],
                all.clone(),
            ),
            ("take", vec![problem, bodies, bids, used, taken, state.clone()], all),
            ("end_round", vec![state, (6, write(&round_size))], Groups::of(1)),
        ];
        let round = calls.map(|(entry, binds, groups)| {
            kernels.bind(&Recorded { module: Module::Coloring, entry, binds, groups }, &parameters)
        });
        Ok(Self { conditions, round: round.into(), progress, round_size, colors })
    }

    /// Makes some rounds; returns whether all elements have a color.
    fn run(&self, gpu: &Gpu) -> Result<bool, GpuError> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for _ in 0..ROUNDS {
                for dispatch in &self.round {
                    dispatch.encode(&self.conditions, 0, &mut pass);
                }
            }
        }
        gpu.queue.submit([encoder.finish()]);
        let size: Vec<u32> = read(gpu, &self.round_size, 4)?;
        Ok(size[0] == 0)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: as that of the coloring on the processor: no two elements of a color share a movable
    //! body, the same elements get the same colors, and there are not many more colors than it finds.

    use proptest::prelude::*;
    use taut_partition::coloring;

    use super::super::DeviceChoice;
    use super::*;

    fn open() -> Gpu {
        Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"))
    }

    fn check(gpu: &Gpu, elements: &Elements<'_>) -> Coloring {
        let coloring = color(gpu, elements).unwrap().unwrap();
        // A schedule exists only without conflicts.
        coloring.schedule(elements, 64).unwrap();
        assert_eq!(color(gpu, elements).unwrap().unwrap(), coloring);
        assert!(coloring.color_count >= coloring.lower_bound);
        coloring
    }

    #[test]
    fn random_elements_are_colored_without_conflicts() {
        let gpu = open();
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(12));
        let corners = prop::collection::vec([0_u32..300, 300..600, 600..900], 1..600);
        let fixed = prop::collection::vec(prop::bool::weighted(0.1), 900);
        runner
            .run(&(corners, fixed), |(corners, fixed)| {
                let elements = Elements::flat(3, corners.as_flattened(), 900).unwrap();
                check(&gpu, &elements.with_fixed(&fixed).unwrap());
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn a_cloth_gets_few_colors() {
        let gpu = open();
        let side = 60_u32;
        let mut edges = Vec::new();
        for y in 0..side {
            for x in 0..side {
                let own = y * side + x;
                for (dx, dy) in [(1, 0), (0, 1), (1, 1)] {
                    if x + dx < side && y + dy < side {
                        edges.push([own, (y + dy) * side + x + dx]);
                    }
                }
            }
        }
        let elements = Elements::uniform(&edges, (side * side) as usize).unwrap();
        let coloring = check(&gpu, &elements);
        let at_home = coloring::color(&elements, &Default::default());
        assert_eq!(coloring.lower_bound, at_home.lower_bound);
        assert!(coloring.color_count <= at_home.color_count + 3, "{}", coloring.color_count);
    }

    #[test]
    fn too_many_colors_are_refused_and_no_elements_are_none() {
        let gpu = open();
        let star: Vec<[u32; 2]> = (1..=129).map(|other| [0, other]).collect();
        let elements = Elements::uniform(&star, 130).unwrap();
        assert_eq!(color(&gpu, &elements).unwrap(), None);
        let elements = Elements::uniform(&star[..128], 130).unwrap();
        assert_eq!(check(&gpu, &elements).color_count, 128);
        let none = Elements::uniform::<2>(&[], 10).unwrap();
        assert_eq!(color(&gpu, &none).unwrap().unwrap().color_count, 0);
    }
}
