package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/analysis"
)

// viewProfile is a profile of two threads in text form.
const viewProfile = `lime-profile 1
meta cores=2 clock-unit=instructions node-time=visits command=./app
file 0 path=lu.c
node 0 kind=cond instrs=4 at=0:12:7:lu
node 1 instrs=9 at=0:13::lu
edge 0 from=0 to=1 kind=taken
edge 1 from=1 kind=end
section 0 kind=barrier at=0:40
thread 0 name=main
thread 1 name=worker parent=0
instance section=0
part thread=0 arrive=130
part thread=1 arrive=52
edges 0 10 4
edges 1 10 4
`

func TestViewExportsACopy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.lime"), []byte(viewProfile), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "copy")
	if code, _, stderr := lime(t, "view", "--export", out, dir); code != ExitOK {
		t.Fatalf("status %d: %s", code, stderr)
	}
	for _, name := range []string{"index.html", "app.js", "app.css", "report.css", "data.js", "licences.txt"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestViewSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"view", filepath.Join(dir, "none.lime")}, "no profile"},
		{[]string{"view", dir}, "holds no profile"},
	} {
		if code, _, stderr := lime(t, c.args...); code != ExitFailed || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q", c.args, code, stderr)
		}
	}
}

// It prints an address that works, and ends when it is told to.
func TestViewServes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lime")
	if err := os.WriteFile(path, []byte(viewProfile), 0o666); err != nil {
		t.Fatal(err)
	}
	in, out := io.Pipe()
	a := &app{stdout: out, stderr: io.Discard}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- a.view(ctx, []string{path}, &viewFlags{noBrowser: true, analysis: analysis.DefaultOptions()})
	}()
	line := make([]byte, 200)
	n, err := in.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// The ranks of a run, in a directory, are one run; other profiles in one are as many.
func TestViewOfADirectory(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  int
	}{{[]string{"rank-00000.lime", "rank-00001.lime"}, 1}, {[]string{"a.lime", "b.lime", "notes.txt"}, 2}} {
		dir := t.TempDir()
		for _, name := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(viewProfile), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		paths, err := profilesIn([]string{dir})
		if err != nil || len(paths) != c.want {
			t.Errorf("%v: %v, %v", c.files, paths, err)
		}
	}
}
