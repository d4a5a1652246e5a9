package guest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

// server is a program that runs, simulated, beside the test.
type server struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func serve(t *testing.T, user *syscall.Credential, args ...string) *server {
	t.Helper()
	exe, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(exe), 0o755); err != nil { // for another user
		t.Fatal(err)
	}
	s := &server{cmd: exec.Command(exe, args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// ends waits for the server's end.
func (s *server) ends(t *testing.T) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%v: %s", err, s.out.String())
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("does not end: %s", s.out.String())
	}
}

// eventually asks until it is told that all is well.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	var err error
	for range 600 {
		if err = f(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: %v", what, err)
}

func signalByPIDFile(t *testing.T, path string, sig syscall.Signal) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(b), "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("process %d of %s: %v", pid, path, err)
	}
}

// TestMasterAndWorkers serves pages with a master and its workers, tells it by its pid file to make
// new ones, and to end.
func TestMasterAndWorkers(t *testing.T) {
	long(t, "nginx")
	dir := t.TempDir()
	conf := fmt.Sprintf(`worker_processes 2; pid %[1]s/pid; error_log %[1]s/log info; daemon off;
events { worker_connections 64; }
http { access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server { listen 127.0.0.1:18097; location / { return 200 "hello"; } } }`, dir)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil, "nginx", "-c", filepath.Join(dir, "conf"))
	page := func() error {
		r, err := http.Get("http://127.0.0.1:18097/")
		if err != nil {
			return err
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if string(b) != "hello" {
			return fmt.Errorf("page %q, %v", b, err)
		}
		return nil
	}
	eventually(t, "first page", page)
	signalByPIDFile(t, filepath.Join(dir, "pid"), syscall.SIGHUP)
	eventually(t, "page of a new worker", page)
	signalByPIDFile(t, filepath.Join(dir, "pid"), syscall.SIGQUIT)
	s.ends(t)
	if log, _ := os.ReadFile(filepath.Join(dir, "log")); bytes.Contains(log, []byte("on signal")) ||
		!bytes.Contains(log, []byte("exited with code 0")) {
		t.Errorf("log: %s", log)
	}
}

// TestDatabase fills a database, whose processes signal one another all the time, and works in it.
func TestDatabase(t *testing.T) {
	long(t, "pgbench")
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	who, err := exec.Command("id", "-u", "postgres").Output()
	if len(found) == 0 || err != nil {
		t.Fatal("no PostgreSQL, or no user of its own:", found, err)
	}
	if os.Getuid() != 0 {
		testenv.Skip(t, testenv.NotRoot)
	}
	uid, _ := strconv.Atoi(strings.TrimSpace(string(who)))
	user, bin := &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}, found[0]
	dir, err := os.MkdirTemp("", "lime-db")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PGHOST="+dir, "PGPORT=18098", "PGUSER=postgres")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	data := filepath.Join(dir, "data")
	do("initdb", "-D", data, "-A", "trust", "-U", "postgres")
	s := serve(t, user, filepath.Join(bin, "postgres"), "-D", data, "-p", "18098", "-k", dir, "-F")
	eventually(t, "ready", func() error {
		return exec.Command(filepath.Join(bin, "pg_isready"), "-h", dir, "-p", "18098").Run()
	})
	do("pgbench", "-i", "-q", "postgres")
	do("pgbench", "-c", "4", "-t", "50", "postgres")
	signalByPIDFile(t, filepath.Join(data, "postmaster.pid"), syscall.SIGINT)
	s.ends(t)
}

// long skips a test that takes long, or whose program is not installed.
func long(t *testing.T, program string) {
	t.Helper()
	testenv.SkipUnlessLong(t)
	if program != "sh" {
		testenv.Tool(t, program)
	}
}

// TestBuild builds with several jobs at once.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	rules := "all: a b c d e f\n%: ; @sleep 0.0$(words $^)1; echo $@ > $@\nall: ; @cat a b c d e f\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	got := simulate(t, "", nil, "make", "-s", "-j4", "-C", dir)
	if got.status != 0 || got.out != "a\nb\nc\nd\ne\nf\n" {
		t.Errorf("status %d: %s%s", got.status, got.out, got.err)
	}
}

// TestTracingOfAChild traces a child with strace, which is itself simulated.
func TestTracingOfAChild(t *testing.T) {
	testenv.Tool(t, "strace")
	got := simulate(t, "", nil, "strace", "-f", "-e", "trace=exit_group", "sh", "-c", "(exit 3); exit 4")
	if got.status != 4 || !strings.Contains(got.err, "exit_group(3)") || !strings.Contains(got.err, "exit_group(4)") {
		t.Errorf("status %d: %s", got.status, got.err)
	}
}
