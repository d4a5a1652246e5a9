// Programs that the program starts are run under lime, too.

package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/guest"
)

// The programs that child processes start are simulated as the first one is: lime takes the place
// of each (cpu.FollowExec), in the process that would have held it, with a profile of its own in
// one directory. No other process of lime's stands beside it.

// FollowVerb is the hidden word by which lime is started in the place of a program: what to do, the
// program's file, and its arguments from its name on follow.
const FollowVerb = "__follow"

// follow prepares the programs that this one's children start.
func (c *Config) follow() error {
	if c.Children == "" {
		return nil
	}
	next := *c
	next.Cmd, next.Args, next.Env, next.Out, next.Found = "", nil, nil, "", nil
	next.Followed, next.Filtered, next.Progress, next.Tries, next.Settled = true, true, false, 0, false
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := cpu.FollowExec(FollowVerb, string(text), c.Filtered); err != nil {
		return fmt.Errorf("--children: %w", err)
	}
	c.Filtered = true
	return nil
}

// FollowMain is a program that a child process has started. It is called before anything else
// happens in the process, with what follows FollowVerb.
func FollowMain(args []string, stderr io.Writer) int {
	if err := guest.ReserveFDs(); err != nil {
		fmt.Fprintln(stderr, "lime:", err)
		return statusFailed
	}
	var cfg Config
	if len(args) < 2 || json.Unmarshal([]byte(args[0]), &cfg) != nil || !cfg.Followed {
		fmt.Fprintf(stderr, "lime: %s is started by lime itself only\n", FollowVerb)
		return statusFailed
	}
	cfg.Cmd, cfg.Args, cfg.Env = args[1], args[2:], os.Environ()
	if len(cfg.Args) == 0 {
		cfg.Args = []string{""}
	}
	if isScript(cfg.Cmd) { // execve knows it not; those who start programs then have a shell run it
		cfg.Cmd, cfg.Args = "/bin/sh", append([]string{"/bin/sh", cfg.Cmd}, cfg.Args[1:]...)
	}
	cfg.Out = ChildProfile(cfg.Children, args[1], os.Getpid())
	null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fmt.Fprintln(stderr, "lime:", err)
		return statusFailed
	}
	cfg.answer = highFD(null)
	return cfg.hold(stderr)
}

// ChildProfile names the profile of a program in a directory. No two have one name: where a number
// of a process comes again, the file gets another one behind it.
func ChildProfile(dir, program string, pid int) string {
	base := fmt.Sprintf("%s.%d", strings.TrimLeft(filepath.Base(program), "."), pid)
	path := filepath.Join(dir, base+".lime")
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = filepath.Join(dir, fmt.Sprintf("%s.%d.lime", base, n))
	}
}

// isScript tells whether a file is text that names no interpreter.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return !strings.HasPrefix(line, "#!") && !strings.ContainsRune(line, 0) && !strings.HasPrefix(line, "\x7fELF")
}

// endAs ends this process as the program ended: a parent tells a signal from a status.
func endAs(res Result) int {
	sig := unix.Signal(res.Status - 128)
	if res.Signal == 0 || res.Signal != int(sig) {
		return res.Status
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // it would be lime's
	signal.Reset(sig)
	cpu.DieOf(sig)
	return res.Status
}
