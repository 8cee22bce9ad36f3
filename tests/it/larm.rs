//! The real binary as a child process, to be killed, starved and started again.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use crate::world::World;

/// A crawl of a world by the binary.
pub struct Larm<'w> {
    world: &'w World,
    delay: &'static str,
}

/// One run of it.
pub struct Process {
    child: Child,
    /// Gets word when the child has closed its output, which it does by ending.
    ended: Receiver<String>,
}

impl<'w> Larm<'w> {
    pub fn new(world: &'w World, delay: &'static str) -> Self {
        Self { world, delay }
    }

    /// Its arguments, for a crawl into `dir`.
    pub fn arguments(&self, dir: &Path) -> Vec<String> {
        let fixed = ["--scope", "any", "--allow-private", "127.0.0.0/8", "--no-progress"];
        let unasked = ["--no-probe", "--no-sitemap"];
        let patience = ["host_chances_ms_max=4000", "host_back_off_ms_max=1000"];
        let mut arguments = vec!["crawl".to_owned()];
        arguments.extend(self.world.site.seeds());
        arguments.extend(["-o".to_owned(), dir.display().to_string()]);
        arguments.extend(["--delay".to_owned(), self.delay.to_owned()]);
        arguments.extend(fixed.map(str::to_owned));
        arguments.extend(unasked.map(str::to_owned));
        arguments.extend(patience.map(|limit| format!("--limit={limit}")));
        arguments.extend(self.world.resolve_flags().iter().map(|rule| format!("--resolve={rule}")));
        arguments
    }

    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(self.arguments(dir));
        command
    }

    /// Starts it.
    pub fn start(&self, dir: &Path) -> Process {
        self.start_with(&[], dir)
    }

    /// Starts it with more arguments.
    pub fn start_with(&self, more: &[&str], dir: &Path) -> Process {
        let mut command = self.command(dir);
        command.args(more);
        Process::of(command)
    }

    /// Runs it to its end.
    pub fn run(&self, dir: &Path) -> Output {
        self.run_with(&[], dir)
    }

    /// Runs it to its end, with more arguments.
    pub fn run_with(&self, more: &[&str], dir: &Path) -> Output {
        self.command(dir).args(more).stdin(Stdio::null()).output().expect("the binary starts")
    }

    /// Runs another of its commands.
    pub fn ask(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_larm"));
        command.args(arguments).stdin(Stdio::null()).output().expect("the binary starts")
    }

    /// Runs it in a shell that lets it have at most so many files open.
    pub fn run_with_open_files(&self, count: u64, dir: &Path) -> Output {
        let script = format!("ulimit -n {count} && exec \"$0\" \"$@\"");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_larm")]).args(self.arguments(dir));
        shell.stdin(Stdio::null()).output().expect("a shell")
    }

    /// Runs it in a shell that lets no file grow beyond `kib` KiB. The signal that would end it at
    /// once is ignored, so that the write fails, as on a full disk.
    pub fn run_with_files_up_to(&self, kib: u64, dir: &Path) -> Output {
        let script = format!("ulimit -f {kib} && trap '' XFSZ && exec \"$0\" \"$@\"");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_larm")]).args(self.arguments(dir));
        shell.stdin(Stdio::null()).output().expect("a shell")
    }
}

/// What a process takes of its machine, at the most over all looks at it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Most {
    /// Open files, sockets included.
    pub files: usize,
    /// Bytes in memory.
    pub bytes: usize,
    /// Looks.
    pub looks: usize,
}

/// Listens to what a process says on standard error; all of it is told when it has ended.
pub fn listen_to(child: &mut Child) -> Receiver<String> {
    let mut stderr = child.stderr.take().expect("a pipe");
    let (tell, ended) = sync_channel(1);
    let listen = move || {
        let mut said = String::new();
        let _ = stderr.read_to_string(&mut said);
        // Whoever waited may have gone.
        let _ = tell.send(said);
    };
    Builder::new().spawn(listen).expect("a thread");
    ended
}

impl Process {
    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let ended = listen_to(&mut child);
        Process { child, ended }
    }

    /// Waits for its end, looking at what it takes all the while; with what it said.
    pub fn watch(mut self) -> (Output, Most) {
        let mut most = Most::default();
        let stderr = loop {
            let ended = self.ended.recv_timeout(Duration::from_millis(20));
            most.look(self.child.id());
            if let Ok(said) = ended {
                break said.into_bytes();
            }
        };
        let status = self.child.wait().expect("a child can be waited for");
        (Output { status, stdout: Vec::new(), stderr }, most)
    }

    /// Kills it as `kill -9` does, `after` from now; `false` if it had ended by then, with what it said.
    pub fn kill(mut self, after: Duration) -> Result<(), String> {
        let ended = self.ended.recv_timeout(after);
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
        ended.map_or(Ok(()), Err)
    }

    /// Kills it as soon as something has come true, however fast it is; what it said, if it had ended by then.
    pub fn kill_when(mut self, is_time: impl Fn() -> bool) -> Result<(), String> {
        let ended = loop {
            match self.ended.recv_timeout(Duration::from_millis(5)) {
                Ok(said) => break Err(said),
                Err(_) if is_time() => break Ok(()),
                Err(_) => {}
            }
        };
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
        ended
    }
}

impl Most {
    /// Where there is no `/proc`, nothing is seen.
    fn look(&mut self, process: u32) {
        let files = fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
        self.files = self.files.max(files);
        self.bytes = self.bytes.max(kib.unwrap_or(0) * 1_024);
        self.looks += usize::from(files > 0);
    }
}

/// What it said, for messages of failing tests.
pub fn said(output: &Output) -> String {
    format!("{:?}: {}", output.status.code(), String::from_utf8_lossy(&output.stderr))
}
