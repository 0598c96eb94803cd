//! `taut devices`: the graphics processors that taut can run on.

use std::fmt::Write as _;

use clap::Args;
use taut::backend::gpu::{AdapterInfo, GpuError, adapters};

use crate::console;
use crate::failure::Failure;

/// List the graphics processors of this machine with their limits
#[derive(Args)]
pub(crate) struct Arguments {
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let adapters = adapters();
    if arguments.json {
        console::print_json(&adapters)?;
    } else {
        console::print(&adapters.iter().map(describe).collect::<String>())?;
    }
    if adapters.is_empty() { Err(GpuError::NoAdapter.into()) } else { Ok(()) }
}

/// A few lines on one adapter.
fn describe(adapter: &AdapterInfo) -> String {
    let AdapterInfo { index, name, kind, backend, driver, .. } = adapter;
    let mut text = format!("{index}  {name}\n");
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "   {name:12} {value}");
    };
    let yes = |has| if has { "yes" } else { "no" };
    line("kind", format!("{kind}, {backend}"));
    line("driver", driver.clone());
    line("buffers", format!("up to {} in size", bytes(adapter.max_buffer)));
    let binding = bytes(adapter.max_storage_binding);
    line("bindings", format!("{} a kernel, up to {binding} each", adapter.storage_bindings));
    let memory = bytes(adapter.workgroup_memory.into());
    line("workgroups", format!("{} invocations, {memory}", adapter.workgroup_invocations));
    let (stamps, cache) = (yes(adapter.timestamps), yes(adapter.pipeline_cache));
    line("features", format!("time stamps: {stamps}, pipeline cache: {cache}"));
    text
}

/// A number of bytes in the largest unit that leaves at least one of it.
fn bytes(count: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (count.max(1).ilog2() / 10) as usize;
    let value = count as f64 / (1_u64 << (10 * power)) as f64;
    format!("{} {}", (value * 10.0).round() / 10.0, units[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_units() {
        let told: Vec<String> = [0, 1023, 1024, 1536, 128 << 20, u64::MAX].map(bytes).into();
        assert_eq!(told, ["0 bytes", "1023 bytes", "1 KiB", "1.5 KiB", "128 MiB", "16 EiB"]);
    }
}
