//! A real pseudo-terminal, with a program in it.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use ckpt::project::{Invocation, World};

/// A program at a terminal, and somebody who reads and types.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    pub(crate) seen: String,
}

impl Terminal {
    pub(crate) fn open(world: &World, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut invocation = world.ckpt(args);
        for (name, value) in env {
            invocation = invocation.env(name, value);
        }
        Self::of(&invocation)
    }

    pub(crate) fn of(invocation: &Invocation<'_>) -> Self {
        Self::spawn(&invocation.command())
    }

    /// Runs at a terminal of this many columns and rows.
    pub(crate) fn of_size(invocation: &Invocation<'_>, columns: u16, rows: u16) -> Self {
        Self::spawn_sized(&invocation.command(), columns, rows)
    }

    /// Starts a program in a session of its own, with the terminal as its controlling terminal.
    pub(crate) fn spawn(program: &Command) -> Self {
        Self::spawn_sized(program, 0, 0)
    }

    fn spawn_sized(program: &Command, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        set_size(&master, columns, rows);
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = || File::options().read(true).write(true).open(&name).unwrap();
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program.get_program()).args(program.get_args()).env_clear();
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(program.get_current_dir().unwrap());
        let child = command.stdin(slave()).stdout(slave()).stderr(slave()).spawn().unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The end of a terminal is an error, not an end of file.
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, screen, seen: String::new() }
    }

    /// Reads until `text` is on the screen for the `times`th time.
    pub(crate) fn expect(&mut self, text: &str, times: usize) {
        while self.seen.matches(text).count() < times {
            match self.screen.recv_timeout(Duration::from_secs(20)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("never saw {text:?} {times} times:\n{}", self.seen),
            }
        }
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        set_size(&self.keyboard, columns, rows);
    }

    /// True if the terminal is in the mode in which it began: it echoes and reads lines.
    pub(crate) fn is_cooked(&self) -> bool {
        is_cooked(&self.keyboard)
    }

    /// The keyboard, to look at the terminal after the program has ended.
    pub(crate) fn keyboard(&self) -> File {
        self.keyboard.try_clone().unwrap()
    }

    /// Presses keys as soon as the program awaits one, which is in raw mode.
    pub(crate) fn press(&mut self, keys: &str) {
        let start = Instant::now();
        while self.is_cooked() {
            assert!(start.elapsed() < Duration::from_secs(20), "never awaited a key:\n{}", self.seen);
            std::thread::sleep(Duration::from_millis(1));
        }
        self.answer(keys);
    }

    /// Waits until the process at the terminal has stopped. A signal to continue that comes before is lost.
    pub(crate) fn wait_until_stopped(&self) {
        let start = Instant::now();
        while !is_stopped(self.child.id()) {
            assert!(start.elapsed() < Duration::from_secs(20), "never stopped:\n{}", self.seen);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The process at the terminal.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn answer(&mut self, line: &str) {
        self.keyboard.write_all(line.as_bytes()).unwrap();
    }

    /// The signal that ends the program.
    pub(crate) fn signal(mut self) -> Option<i32> {
        self.child.wait().unwrap().signal()
    }

    pub(crate) fn exit(mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap();
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(300)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (code, self.seen)
    }
}

/// True if a terminal echoes and reads lines.
pub(crate) fn is_cooked(terminal: &File) -> bool {
    let modes = tcgetattr(terminal).unwrap().local_modes;
    modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
}

fn set_size(terminal: impl AsFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

/// True if a process exists and has stopped.
pub(crate) fn is_stopped(pid: impl Display) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
}
