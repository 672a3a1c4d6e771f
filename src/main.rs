//! The `ckpt` program.

/// musl's own allocator asks the kernel for nearly every piece.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    ckpt::cli::main()
}
