//! How far constraints are from being satisfied, measured on the device: only sums come home.

use wgpu::{BindGroup, Buffer};

use super::arrays::{Arrays, Parameters, read};
use super::device::{Gpu, GpuError};
use super::group::elements;
use super::kernels::{Bind, Dispatch, Groups, Kernels, Recorded, WIDTH};
use super::shaders::Module;
use crate::constraint::{Group, Packing, Residual};

/// The groups of a model, ready to be measured.
pub(super) struct Residuals {
    conditions: BindGroup,
    groups: Vec<Measured>,
}

/// A group and where its parts are left.
struct Measured {
    dispatch: Dispatch,
    parts: Buffer,
    /// Rows of all its constraints, and workgroups.
    count: usize,
    workgroups: usize,
}

impl Residuals {
    /// Takes what is needed to the device, which has the positions already.
    pub(super) fn new(gpu: &Gpu, groups: &[Group], positions: &Buffer) -> Result<Self, GpuError> {
        let mut arrays = Arrays::new(gpu);
        let mut parameters = Parameters::default();
        let recorded: Vec<(Recorded, Buffer)> = groups
            .iter()
            .map(|group| record(group, positions, &mut arrays, &mut parameters))
            .collect();
        let parameters = arrays.uniform("parameters of residuals", parameters.bytes());
        arrays.finish()?;
        let mut kernels = Kernels::new(gpu);
        let conditions = kernels.bind_conditions(&parameters, 16);
        let measured = |(group, (recorded, parts)): (&Group, (Recorded, Buffer))| Measured {
            dispatch: kernels.bind(&recorded, &parameters),
            parts,
            count: group.count * group.kind.rows(),
            workgroups: group.schedule.len().div_ceil(WIDTH),
        };
        let groups = groups.iter().zip(recorded).map(measured).collect();
        gpu.check()?;
        Ok(Self { conditions, groups })
    }

    /// The residual of each group.
    pub(super) fn measure(&self, gpu: &Gpu) -> Result<Vec<Residual>, GpuError> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for group in &self.groups {
                group.dispatch.encode(&self.conditions, 0, &mut pass);
            }
        }
        gpu.queue.submit([encoder.finish()]);
        self.groups.iter().map(|group| group.sum_up(gpu)).collect()
    }
}

impl Measured {
    fn sum_up(&self, gpu: &Gpu) -> Result<Residual, GpuError> {
        let parts: Vec<[f32; 2]> = read(gpu, &self.parts, self.workgroups)?;
        let squares: f64 = parts.iter().map(|&[squares, _]| f64::from(squares)).sum();
        let max = parts.iter().map(|&[_, largest]| f64::from(largest)).fold(0.0, f64::max);
        let rms = (squares / f64::max(self.count as f64, 1.0)).sqrt();
        Ok(Residual { rms, max, count: self.count })
    }
}

fn record(
    group: &Group,
    positions: &Buffer,
    arrays: &mut Arrays<'_>,
    parameters: &mut Parameters,
) -> (Recorded, Buffer) {
    let list = arrays.words("constraints", &elements(group, &group.original_ids(), Packing::BARE));
    let count = group.schedule.len();
    let parts = arrays.results("parts of residuals", &vec![0; 2 * count.div_ceil(WIDTH)]);
    let (is_relative, scale) = group.kind.error_scale();
    let words = [count as u32, u32::from(is_relative), scale.to_bits()];
    let binds = vec![
        (0, Bind::Read(positions.clone())),
        (2, Bind::Read(list)),
        (3, Bind::Parameters(parameters.add(&words), words.len())),
        (4, Bind::Write(parts.clone())),
    ];
    let module = Module::Residual { form: group.form(), constants: group.constants.len() };
    let groups = Groups::for_each(count);
    (Recorded { module, entry: "measure_errors", binds, groups }, parts)
}
