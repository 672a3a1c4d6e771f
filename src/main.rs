//! The `ckpt` program.

fn main() -> std::process::ExitCode {
    ckpt::cli::main()
}
