package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

// subject is a program that runs already, to which lime attaches.
type subject interface {
	pids() []int // of processes to choose from
	end() error  // ends it; what is wrong with what it did
}

// worker is one of the programs of the hooks' own tests: it checks its work itself, says done when
// its input ends, and ends with status 7.
type worker struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Reader
	stderr bytes.Buffer
}

func startWorker(command ...string) (subject, error) {
	w := &worker{cmd: exec.Command(command[0], command[1:]...)}
	w.cmd.Stderr = &w.stderr
	stdin, err1 := w.cmd.StdinPipe()
	stdout, err2 := w.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, w.cmd.Start()); err != nil {
		return nil, err
	}
	w.stdin, w.stdout = stdin, stdout
	_, err := io.ReadFull(stdout, make([]byte, 1))
	return w, err
}

func (w *worker) pids() []int { return []int{w.cmd.Process.Pid} }

func (w *worker) end() error {
	w.stdin.Close()
	said, err := io.ReadAll(w.stdout)
	_ = w.cmd.Wait() // the status says it all
	if string(said) != "done" || w.cmd.ProcessState.ExitCode() != 7 || w.stderr.Len() > 0 {
		return fmt.Errorf("it said %q, and ended with %v, want status 7\n%s", said, w.cmd.ProcessState, w.stderr.Bytes())
	}
	return err
}

const workers = "../../internal/collect/native/hook/testdata/victims/"

// subjects are what lime attaches to, how often it is killed, and how often in one process.
func subjects() []subjectRow {
	return []subjectRow{
		{"C", compiled("work.c", "gcc", "-O2", "-pthread"), 400, 400},
		{"asleep", compiled("asleep.c", "gcc", "-O2", "-pthread"), 300, 300},
		{"static C", compiled("work.c", "gcc", "-O2", "-pthread", "-static"), 400, 300},
		{"C++", compiled("work.cc", "g++", "-O2", "-pthread"), 300, 300},
		{"Go", compiled("work.go", "go", "build"), 400, 400},
		{"Rust", compiled("work.rs", "rustc", "-O"), 300, 300},
		{"Java", builtJava, 40, 400},
		{"PostgreSQL", postgres, 0, 400},
		{"redis", redis, 0, 400},
	}
}

type subjectRow struct {
	name          string
	prepare       func(t *testing.T) func() (subject, error)
	single, again int
}

// atOnce is how often lime is killed in one process.
const atOnce = 20

func compiled(file string, build ...string) func(t *testing.T) func() (subject, error) {
	return func(t *testing.T) func() (subject, error) {
		t.Helper()
		if build[0] != "go" {
			testenv.Tool(t, build[0])
		}
		if slices.Contains(build, "-static") {
			testenv.Tool(t, "gcc-static")
		}
		out := filepath.Join(t.TempDir(), "w")
		if msg, err := exec.Command(build[0], append(build[1:], "-o", out, workers+file)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		return func() (subject, error) { return startWorker(out) }
	}
}

func builtJava(t *testing.T) func() (subject, error) {
	t.Helper()
	testenv.Tool(t, "javac")
	dir := t.TempDir()
	if msg, err := exec.Command("javac", "-d", dir, workers+"Work.java").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	return func() (subject, error) { return startWorker("java", "-cp", dir, "Work") }
}

// Killed at any moment while it attaches to a program, once or again and again, lime leaves that as
// it was. In the long form 5,000 times.
func TestKilledWhileItAttaches(t *testing.T) {
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, row := range subjects() {
		t.Run(row.name, func(t *testing.T) {
			if !testenv.Long() {
				if row.name != "C" && row.name != "Go" {
					testenv.Skip(t, testenv.NotLong)
				}
				row.single, row.again = 5, 10
			}
			start := row.prepare(t)
			for range row.single {
				total += killIn(t, lime, start, 1)
			}
			for n := 0; n < row.again; n += atOnce {
				total += killIn(t, lime, start, min(atOnce, row.again))
			}
		})
	}
	t.Logf("lime was killed %d times", total)
}

// killIn starts a program, attaches to it and is killed some times, and looks how it ends.
func killIn(t *testing.T, lime string, start func() (subject, error), times int) int {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	var moments []string
	for i := range times {
		pids := s.pids()
		if len(pids) == 0 {
			t.Fatal("no process is left")
		}
		moments = append(moments, attachAndKill(t, lime, pids[rand.IntN(len(pids))], i%2 == 0))
	}
	if err := s.end(); err != nil {
		t.Errorf("lime was killed %s: %v", strings.Join(moments, ", "), err)
	}
	return times
}

// attachAndKill kills lime at some time after its start, or after it has begun to stop the process.
func attachAndKill(t *testing.T, lime string, pid int, whenStopped bool) string {
	t.Helper()
	const start, stopped = 100 * time.Millisecond, 5 * time.Millisecond // lime attaches 20 to 40 ms after its start, and that takes 1 to 5 ms
	file := filepath.Join(t.TempDir(), "p")
	cmd := exec.Command(lime, "record", "--no-resolve", "-o", file, "-p", strconv.Itoa(pid))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	after, of := rand.N(start), "its start"
	if whenStopped {
		for !traced(pid) && time.Since(begun) < time.Second {
		}
		after, of = rand.N(stopped), "it stopped the process"
	}
	time.Sleep(after)
	_ = cmd.Process.Kill() // it may have ended with the process
	_ = cmd.Wait()
	os.Remove(file)
	return fmt.Sprintf("%v after %s", after, of)
}

// traced reports whether somebody traces a process.
func traced(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := bytes.Cut(b, []byte("TracerPid:\t"))
	return len(rest) > 0 && rest[0] != '0'
}

// server is a server with a program that works against it.
type server struct {
	cmd  *exec.Cmd
	load *exec.Cmd
	said bytes.Buffer // by the load
	list func() []int
	stop func(*server) error
}

func (s *server) pids() []int { return s.list() }
func (s *server) end() error  { return s.stop(s) }

// redis is a server whose clients count: no count may be lost.
func redis(t *testing.T) func() (subject, error) {
	t.Helper()
	testenv.Tool(t, "redis-benchmark")
	return func() (subject, error) {
		dir, err := os.MkdirTemp("", "redis")
		if err != nil {
			return nil, err
		}
		sock := filepath.Join(dir, "s")
		ask := func(words ...string) (string, error) {
			out, err := exec.Command("redis-cli", append([]string{"-s", sock}, words...)...).CombinedOutput()
			return strings.TrimSpace(string(out)), err
		}
		s := &server{cmd: exec.Command("redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", dir)}
		if err := s.cmd.Start(); err != nil {
			return nil, err
		}
		for tries := 0; ; tries++ {
			if got, _ := ask("ping"); got == "PONG" {
				break
			} else if tries > 1000 {
				return nil, fmt.Errorf("the server does not answer: %s", got)
			}
			time.Sleep(10 * time.Millisecond)
		}
		const loop = `n=0; while [ -e "$0/s" ] && [ ! -e "$0/stop" ]; do redis-benchmark -q -s "$0/s" -n 5000 -c 20 incr counter > /dev/null || exit 1; n=$((n + 5000)); done; echo $n`
		s.load = exec.Command("sh", "-c", loop, dir)
		s.load.Stdout, s.load.Stderr = &s.said, &s.said
		s.list = func() []int { return []int{s.cmd.Process.Pid} }
		s.stop = func(s *server) error {
			defer os.RemoveAll(dir)
			err1 := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o644)
			err2 := s.load.Wait()
			got, err3 := ask("get", "counter")
			_, _ = ask("shutdown", "nosave") // it closes the connection
			err4 := s.cmd.Wait()
			if want := strings.TrimSpace(s.said.String()); got != want {
				return fmt.Errorf("the server counted %s, its clients %s", got, want)
			}
			return errors.Join(err1, err2, err3, err4)
		}
		return s, s.load.Start()
	}
}

// postgres is a server whose clients move money: the sums agree, and no transaction fails.
func postgres(t *testing.T) func() (subject, error) {
	t.Helper()
	testenv.Tool(t, "pgbench")
	return func() (subject, error) {
		dir, err := os.MkdirTemp("", "postgres")
		if err != nil {
			return nil, err
		}
		as := func(script string) *exec.Cmd { // it does not run as root
			script = `PATH="$PATH:$(echo /usr/lib/postgresql/*/bin)"; ` + script
			cmd := exec.Command("sh", "-c", script, dir)
			if os.Geteuid() == 0 {
				cmd = exec.Command("runuser", "-u", "postgres", "--", "sh", "-c", script, dir)
			}
			cmd.Dir = dir
			return cmd
		}
		if os.Geteuid() == 0 {
			if msg, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%w: %s", err, msg)
			}
		}
		const prepare = `initdb -D "$0/d" -A trust > "$0/log" 2>&1 && pg_ctl -D "$0/d" -o "-k '$0' -c listen_addresses=''" -l "$0/log" -w start > "$0/out" && pgbench -h "$0" -i -q postgres 2> "$0/out"`
		if msg, err := as(prepare).CombinedOutput(); err != nil {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, fmt.Errorf("%w: %s %s", err, msg, log)
		}
		first, err := os.ReadFile(filepath.Join(dir, "d/postmaster.pid"))
		if err != nil {
			return nil, err
		}
		main, _ := strconv.Atoi(strings.SplitN(string(first), "\n", 2)[0])
		s := &server{load: as(`while [ ! -e "$0/stop" ]; do pgbench -n -h "$0" -c 4 -T 2 postgres 2>&1 || exit 1; done`)}
		s.load.Stdout = &s.said
		s.list = func() []int { return append(children(main), main) }
		s.stop = func(s *server) error {
			defer os.RemoveAll(dir)
			err1 := as(`touch "$0/stop"`).Run()
			err2 := s.load.Wait()
			const sums = `psql -h "$0" -At postgres -c "select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history) and (select sum(bbalance) from pgbench_branches) = (select sum(tbalance) from pgbench_tellers)"`
			agree, err3 := as(sums).CombinedOutput()
			msg, err4 := as(`pg_ctl -D "$0/d" -w -m fast stop 2>&1`).CombinedOutput()
			log, err5 := os.ReadFile(filepath.Join(dir, "log"))
			said := s.said.String()
			if strings.TrimSpace(string(agree)) != "t" ||
				strings.Count(said, "failed transactions: 0 ") != strings.Count(said, "failed transactions:") ||
				bytes.Contains(log, []byte("terminated by signal")) {
				return fmt.Errorf("the sums agree: %s; %s\n%s\n%s", agree, said, msg, log)
			}
			return errors.Join(err1, err2, err3, err4, err5)
		}
		return s, s.load.Start()
	}
}

// children are the processes that a process has started.
func children(pid int) (out []int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, word := range strings.Fields(string(b)) {
		if n, err := strconv.Atoi(word); err == nil && syscall.Kill(n, 0) == nil {
			out = append(out, n)
		}
	}
	return out
}
