//! Describes the machine.

use std::fs;
use std::path::Path;

/// One line: processor, cores, kernel, and the file system that holds `data`.
pub(crate) fn describe(data: &Path) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| Some(line.strip_prefix("model name")?.trim_start_matches(['\t', ' ', ':'])));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let (cpu, kernel) = (cpu.unwrap_or("unknown processor"), kernel.trim());
    format!("{cpu}, {cores} cores, Linux {kernel}, {}", file_system(data))
}

/// The type of the file system, by the longest mount point that leads to `path`.
fn file_system(path: &Path) -> String {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let leads = fields.filter(|fields| fields.get(1).is_some_and(|mount| path.starts_with(mount)));
    let nearest = leads.max_by_key(|fields| fields[1].len());
    nearest.and_then(|fields| fields.get(2).copied()).unwrap_or("unknown file system").to_owned()
}
