package guest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lime/internal/guest"
	"lime/internal/testenv"
)

// TestMain starts the tests again, as lime does, where Go's heap has taken their addresses by
// chance (one time in thirty), and removes what the tests built.
func TestMain(m *testing.M) {
	const tries, most = "LIME_TEST_TRIES", 20
	if n := len(os.Getenv(tries)); n < most && !guest.AddressesFree() {
		_ = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), tries+"="+strings.Repeat("x", n+1))) // else the tests say what is wrong
	}
	code := m.Run()
	if dir := buildDir(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// buildDir is where the tests build programs, once.
var buildDir = sync.OnceValue(func() string {
	dir, _ := os.MkdirTemp("", "lime-guest")
	return dir
})

// runner builds the small collector of testdata/run, linked where lime is.
var runner = sync.OnceValues(func() (string, error) {
	exe := filepath.Join(buildDir(), "run")
	cmd := exec.Command("go", "build", "-ldflags=-T 0x70000000", "-o", exe, "./testdata/run")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return exe, nil
})

// compile builds a program of testdata.
func compile(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, compiler)
	if compiler == "clang" && slices.Contains(flags, "-fopenmp") {
		testenv.Tool(t, "libomp")
	}
	if slices.Contains(flags, "-static") {
		testenv.Tool(t, "gcc-static")
	}
	exe := filepath.Join(t.TempDir(), strings.TrimSuffix(source, filepath.Ext(source)))
	args := append([]string{"-o", exe, filepath.Join("testdata", source)}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
	return exe
}

// result is what a program did.
type result struct {
	out, err string
	status   int // exit status, or 128 + signal
}

func run(t *testing.T, stdin string, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // what hangs, not what is slow
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.Env = append(os.Environ(), env...)
	err := cmd.Run()
	r := result{out: out.String(), err: errs.String()}
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		ws := ee.Sys().(syscall.WaitStatus)
		if r.status = ws.ExitStatus(); ws.Signaled() {
			r.status = 128 + int(ws.Signal())
		}
	} else if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v did not end in time; stderr: %s", args, r.err)
	}
	return r
}

// simulate runs a program in the small collector.
func simulate(t *testing.T, stdin string, env []string, args ...string) result {
	t.Helper()
	exe, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	return run(t, stdin, env, append([]string{exe}, args...)...)
}

// same holds a simulated run to a native one.
func same(t *testing.T, stdin string, args ...string) {
	t.Helper()
	want := run(t, stdin, nil, args...)
	got := simulate(t, stdin, nil, args...)
	if got.status != want.status {
		t.Errorf("status %d, natively %d; stderr: %s", got.status, want.status, got.err)
	}
	if got.out != want.out {
		t.Errorf("output differs, simulated:\n%.2000s\nnatively:\n%.2000s\nstderr: %s", got.out, want.out, got.err)
	}
}

func TestProgramsOfOurOwn(t *testing.T) {
	rows := []struct {
		name, compiler, source string
		flags                  []string
	}{
		{"sync", "gcc", "sync.c", []string{"-O1", "-pthread"}},
		{"sync static", "gcc", "sync.c", []string{"-O1", "-pthread", "-static"}},
		{"sync static-pie", "gcc", "sync.c", []string{"-O1", "-pthread", "-static-pie"}},
		{"sync no-pie", "gcc", "sync.c", []string{"-O1", "-pthread", "-no-pie"}},
		{"signal", "gcc", "signal.c", []string{"-O1", "-pthread", "-mavx2"}},
		{"process", "gcc", "process.c", []string{"-O1", "-pthread"}},
		{"heap of a child", "gcc", "heap.c", []string{"-O1"}},
		{"family", "gcc", "family.c", []string{"-O1", "-pthread"}},
		{"process static", "gcc", "process.c", []string{"-O1", "-pthread", "-static"}},
		{"files", "gcc", "files.c", []string{"-O1", "-pthread", "-ldl"}},
		{"signalfd", "gcc", "signalfd.c", []string{"-O1", "-pthread"}},
		{"except", "g++", "except.cc", []string{"-O0", "-pthread"}},
		{"except static", "g++", "except.cc", []string{"-O0", "-pthread", "-static"}},
		{"libgomp", "gcc", "omp.c", []string{"-O2", "-fopenmp"}},
		{"libomp", "clang", "omp.c", []string{"-O2", "-fopenmp"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			same(t, "", compile(t, row.compiler, row.source, row.flags...))
		})
	}
}

func TestProgramsOfOthers(t *testing.T) {
	text := strings.Repeat("pack my box with five dozen liquor jugs\nthe quick brown fox\n", 3000)
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name, stdin string
		args        []string
	}{
		{"sort", text, []string{"sort", "--parallel=8", "-S", "1M"}},
		{"xz", "", []string{"xz", "-T4", "--block-size=40000", "-c", file}},
		{"pigz", text, []string{"pigz", "-n", "-p4", "-c"}}, // without the time: that is the host's
		{"zstd", "", []string{"zstd", "-T4", "-q", "-c", file}},
		{"pbzip2", "", []string{"pbzip2", "-p4", "-c", "-b1", file}},
		{"sqlite3", "create table t(a,b); insert into t values(1,2),(3,4);\nselect sum(a*b) from t;\n", []string{"sqlite3"}},
		{"openssl", text, []string{"openssl", "dgst", "-sha256"}},
		{"perl", "", []string{"perl", "-e",
			`print "child: ", scalar(qx(echo hi)); $SIG{ALRM} = sub { print "alarm\n"; exit 2 }; alarm 1; select(undef, undef, undef, 9)`}},
		{"bash", "a\nb\n", []string{"bash", "-c",
			`while read x; do echo "<$x>"; done | tr a-z A-Z; (exit 4); echo $?; echo $(expr 3 + 4); exec sh -c "echo replaced; exit 6"`}},
		{"gcc", "int main(void) { return 0; }\n", []string{"gcc", "-x", "c", "-O2", "-S", "-o", "-", "-"}},
		{"python3", "", []string{"/usr/bin/python3", "-c",
			"import threading,subprocess\nr=[]\nt=[threading.Thread(target=lambda i=i:r.append(sum(range(i*1000)))) " +
				"for i in range(4)]\n[x.start() for x in t];[x.join() for x in " +
				"t]\nprint(sorted(r),subprocess.run(['echo','hi'],capture_output=True).stdout)"}},
		{"limits", "", []string{"bash", "-c", "ulimit -n 500; ulimit -n; (ulimit -n; bash -c 'ulimit -n'); ulimit -s"}},
		{"shebang", "", []string{"/usr/bin/env", "sh", "-c", "echo $0 $#", "zero", "one"}},
		{"go", "", []string{"go", "version"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if !slices.Contains([]string{"sort", "limits", "shebang", "go"}, row.name) { // which every machine has
				testenv.Tool(t, row.name)
			}
			same(t, row.stdin, row.args...)
		})
	}
}

// A program by which the present one cannot be replaced leaves that one running.
func TestExecOfWhatCannotBeRun(t *testing.T) {
	exe := compile(t, "gcc", "exec.c")
	noLoader := compile(t, "gcc", "exec.c", "-Wl,--dynamic-linker=/no/such/loader")
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("echo no ELF file, no script\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	same(t, "", exe, noLoader, text, "testdata/exec.c", dir, "no-such-program")
}

// TestWrittenCode holds programs that write code, in every way in which one can, to their native
// runs.
func TestWrittenCode(t *testing.T) {
	exe := compile(t, "gcc", "alias.c", "-O1")
	for _, seed := range []string{"1", "2", "3"} {
		same(t, "", exe, "100", seed)
	}
}

func TestEqualRunsAreEqual(t *testing.T) {
	for _, row := range [][]string{{"sync.c", "-pthread"}, {"files.c", "-pthread"}, {"omp.c", "-fopenmp"}} {
		exe := compile(t, "gcc", row[0], "-O1", row[1], "-ldl")
		var first string
		for i := range 3 {
			got := simulate(t, "", []string{"RUN_HASH=1"}, exe)
			if i == 0 {
				first = got.err
			}
			if got.err != first || !strings.Contains(got.err, "instructions") {
				t.Errorf("%s, run %d: %q, first %q", row[0], i, got.err, first)
			}
		}
	}
}

func TestAllFeaturesOfTheHost(t *testing.T) {
	exe := compile(t, "gcc", "signal.c", "-O1", "-pthread", "-mavx2")
	want, got := run(t, "", nil, exe), simulate(t, "", []string{"RUN_HOSTCPU=1"}, exe)
	if got.out != want.out || got.status != want.status {
		t.Errorf("status %d, natively %d; output %s, natively %s", got.status, want.status, got.out, want.out)
	}
}

func TestDeadlockNamesTheThreads(t *testing.T) {
	got := simulate(t, "", nil, compile(t, "gcc", "hang.c", "-pthread"))
	if got.status != 124 || strings.Count(got.err, "deadlock: thread ") != 2 ||
		strings.Count(got.err, "held by") != 0 && !strings.Contains(got.err, "futex") {
		t.Errorf("status %d, stderr %s", got.status, got.err)
	}
}

func TestSignalFromOutsideEndsTheRun(t *testing.T) {
	exe, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "sh", "-c", "echo up; while :; do :; done")
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	err = cmd.Wait()
	var ee *exec.ExitError
	if !errors.As(err, &ee) || ee.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("ended with %v", err)
	}
}
