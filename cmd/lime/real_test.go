package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// A real program, unmodified: {dir} is the test's directory, which holds
// numbers.txt and program.c.
type realProgram struct {
	name  string
	tool  string   // its row of scripts/tools, "" for what every machine has
	build []string // makes {dir}/app, if there is anything to make
	args  []string
	env   []string
}

func realPrograms() []realProgram {
	return []realProgram{
		{name: "sort", args: []string{"sort", "--parallel=8", "-S", "1M", "-n", "{dir}/numbers.txt"}},
		{name: "xz", tool: "xz", args: []string{"xz", "-0", "-T4", "--block-size=65536", "-c", "{dir}/numbers.txt"}},
		{name: "pigz", tool: "pigz", args: []string{"pigz", "-n", "-p4", "-b", "64", "-c", "{dir}/numbers.txt"}},
		{name: "zstd", tool: "zstd", args: []string{"zstd", "-q", "-T4", "-c", "{dir}/numbers.txt"}},
		{name: "pbzip2", tool: "pbzip2", args: []string{"pbzip2", "-p4", "-b1", "-c", "{dir}/numbers.txt"}},
		{name: "lbzip2", tool: "lbzip2", args: []string{"lbzip2", "-n4", "-c", "{dir}/numbers.txt"}},
		{name: "plzip", tool: "plzip", args: []string{"plzip", "-0", "-n4", "-B", "64KiB", "-c", "{dir}/numbers.txt"}},
		{name: "git", tool: "git", args: []string{"git", "grep", "--no-index", "--threads=4", "-c", "77", "--", "numbers.txt", "program.c"}},
		// its compiler asks for memory near itself
		{name: "luajit", tool: "luajit",
			args: []string{"luajit", "-e", "local s = 0; for i = 1, 3e5 do s = s + i % 7 end; print(s); os.exit(7)"}},
		{name: "sqlite3", tool: "sqlite3",
			args: []string{"sqlite3", ":memory:",
				"with recursive t(x) as (select 1 union all select x+1 from t limit 2000) select sum(x), group_concat(x % 7) from t"}},
		{name: "python3", tool: "python3",
			args: []string{"/usr/bin/python3", "-S", "-c",
				"import threading\nr = []\nts = [threading.Thread(target=lambda i=i: r.append(sum(range(2000 * i)))) " +
					"for i in range(6)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nprint(sorted(r))\nraise SystemExit(9)"}},
		{name: "perl", tool: "perl", args: []string{"perl", "-e",
			"my %h; $h{$_ % 97} .= $_ for 1 .. 5000; print join(',', map { length $h{$_} } sort keys %h), qq(\n); exit 4"}},
		{name: "openssl", tool: "openssl", args: []string{"openssl", "dgst", "-sha256", "-r", "{dir}/numbers.txt"}},
		{name: "gcc", tool: "gcc", args: []string{"gcc", "-O1", "-S", "-o", "-", "{dir}/program.c"}},
		{name: "go", build: []string{"go", "build", "-o", "{dir}/app", "testdata/goroutines.go"}, args: []string{"{dir}/app"}},
		{name: "rust", tool: "rustc", build: []string{"rustc", "-O", "-o", "{dir}/app", "testdata/threads.rs"}, args: []string{"{dir}/app"}},
		{name: "c++", tool: "g++", build: []string{"g++", "-O2", "-pthread", "-o", "{dir}/app",
			"testdata/exceptions.cpp"}, args: []string{"{dir}/app"}},
		{name: "libgomp", tool: "gcc", build: []string{"gcc", "-O2", "-fopenmp", "-o", "{dir}/app",
			"testdata/regions.c"}, args: []string{"{dir}/app"}, env: []string{"OMP_NUM_THREADS=8"}},
		{name: "libomp", tool: "libomp",
			build: []string{"clang", "-O2", "-fopenmp", "-o", "{dir}/app", "testdata/regions.c"},
			args:  []string{"{dir}/app"}, env: []string{"OMP_NUM_THREADS=8"}},
		{name: "script", args: []string{"{dir}/script", "one", "two"}},
	}
}

// Programs that nobody here wrote give the same output and status as natively.
func TestRealPrograms(t *testing.T) {
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range realPrograms() {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			p.prepare(t, dir)
			args := p.in(dir, p.args)
			want := p.outcome(t, dir, args...)
			got := p.outcome(t, dir, append([]string{lime, "simulate", "--cores", "8", "--"}, args...)...)
			if got != want {
				t.Errorf("simulated:\n%.2000s\nnatively:\n%.2000s", got, want)
			}
		})
	}
}

// prepare writes the files, and builds the program; without its tool the test skips.
func (p *realProgram) prepare(t *testing.T, dir string) {
	t.Helper()
	if p.tool != "" {
		testenv.Tool(t, p.tool)
	}
	var numbers strings.Builder
	for i, x := 0, uint32(1); i < 30000; i++ {
		x = x*1664525 + 1013904223
		fmt.Fprintln(&numbers, x>>9)
	}
	for name, text := range map[string]string{
		"numbers.txt": numbers.String(),
		"program.c":   "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i ^ n; return s; }\nint main(void) { return f(10); }\n",
		"script":      "#!/bin/sh\necho \"$0 has $# arguments, $2 last\" | tr a-z A-Z\nexit 5\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if p.build == nil {
		return
	}
	build := p.in(dir, p.build)
	if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
}

func (p *realProgram) in(dir string, args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.ReplaceAll(a, "{dir}", dir)
	}
	return out
}

// outcome is the status and everything that was printed, lime's own words left out.
func (p *realProgram) outcome(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), p.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var words []string
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "lime: ") {
			words = append(words, line)
		} else {
			t.Log(strings.TrimSpace(line))
		}
	}
	return fmt.Sprintf("status %d\n%s%s", cmd.ProcessState.ExitCode(), stdout.String(), strings.Join(words, ""))
}
