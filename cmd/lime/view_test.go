package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lime/internal/testenv"
)

// served is a lime that serves a page.
type served struct {
	t       *testing.T
	address string // up to the token
	token   string
}

// serveView starts lime in dir and waits for the address that it prints, on standard output or
// else.
func serveView(t *testing.T, cmd *exec.Cmd, words *bufio.Scanner) *served {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for words.Scan() {
		if at := strings.Index(words.Text(), "http://"); at >= 0 {
			address, token, _ := strings.Cut(words.Text()[at:], "?token=")
			go func() {
				for words.Scan() { // whatever else is said
				}
			}()
			return &served{t, address, token}
		}
	}
	t.Fatal("lime printed no address")
	return nil
}

// ask asks the server, and decodes the answer.
func (s *served) ask(method, question string, out any) int {
	s.t.Helper()
	r, err := http.NewRequest(method, s.address+"api/"+question, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		s.t.Fatalf("%s: %v", question, err)
	}
	return resp.StatusCode
}

// What the page's buttons ask for is run and confirms the planted cause; the instructions beside a
// line are those of the binary.
func TestTheViewRunsAgain(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	gcc := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", filepath.Join(dir, "lu"), "../../workloads/lu/main.c")
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	if code, _, stderr := run(t, dir, "", "simulate", "--cores", "8", "--", "./lu", "8"); code != 0 {
		t.Fatalf("simulate: status %d, %s", code, stderr)
	}
	cmd := exec.Command(lime, "view", "--no-browser", "--no-cache", "--allow-run", "--binaries")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := serveView(t, cmd, bufio.NewScanner(out))
	var head struct {
		Sections []struct {
			ID     int
			Causes []struct {
				File string
				Line int
			}
		}
	}
	s.ask("GET", "head", &head)
	if len(head.Sections) == 0 || len(head.Sections[0].Causes) == 0 {
		t.Fatalf("the head is %+v", head)
	}
	section, cause := head.Sections[0].ID, head.Sections[0].Causes[0]
	for id, what := range []string{"c=1", "r=0"} {
		s.runAgain(id, fmt.Sprintf("again?s=%d&%s", section, what))
	}
	var files struct {
		Files []struct {
			File int
			Path string
		}
	}
	s.ask("GET", "files", &files)
	for _, f := range files.Files {
		if f.Path == cause.File {
			s.instructions(fmt.Sprintf("asm?%s", url.Values{"f": {fmt.Sprint(f.File)}, "l": {fmt.Sprint(cause.Line)}}.Encode()), cause.Line)
		}
	}
}

// runAgain has a change of the program run, which does what was said.
func (s *served) runAgain(id int, question string) {
	s.t.Helper()
	var job struct {
		Done    bool
		Error   string
		Outcome struct {
			Run         bool
			Said, After struct{ Gone float64 }
		}
	}
	if code := s.ask("POST", question, &job); code != http.StatusOK {
		s.t.Fatalf("%s: status %d, %s", question, code, job.Error)
	}
	for !job.Done {
		time.Sleep(20 * time.Millisecond)
		s.ask("GET", fmt.Sprintf("job?id=%d", id), &job)
	}
	if o := job.Outcome; job.Error != "" || !o.Run || o.Said.Gone < 0.9 || o.After.Gone < 0.9 {
		s.t.Errorf("%s: %+v", question, job)
	}
}

// instructions holds that a line has some, in blocks that ran.
func (s *served) instructions(question string, line int) {
	s.t.Helper()
	var asm struct {
		Blocks []struct {
			Max    float64
			Failed string
			Code   []struct {
				Text string
				Line int
			}
		}
	}
	if code := s.ask("GET", question, &asm); code != http.StatusOK {
		s.t.Fatalf("%s: status %d", question, code)
	}
	here := 0
	for _, b := range asm.Blocks {
		if b.Failed != "" {
			s.t.Errorf("a block has no instructions: %s", b.Failed)
		}
		for _, i := range b.Code {
			if i.Line == line && i.Text != "" && b.Max > 0 {
				here++
			}
		}
	}
	if here == 0 {
		s.t.Errorf("line %d has no instruction that ran among %d blocks", line, len(asm.Blocks))
	}
}

// What has finished of a run is shown while it goes on, by both collectors that run on time's own
// clock, and the page ends the program; the profile holds what it had done.
func TestALiveView(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	source := filepath.Join(dir, "rounds.c")
	if err := os.WriteFile(source, []byte(rounds), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-g", "-pthread", "-o", filepath.Join(dir, "rounds"), source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"count", "record"} {
		cmd := exec.Command(lime, verb, "--view", "-o", verb+".lime", "--", "./rounds")
		cmd.Dir = dir
		words, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		s := serveView(t, cmd, bufio.NewScanner(words))
		live := s.until(func(running bool, instances int) bool { return running && instances > 0 })
		if code := s.ask("POST", "stop", &struct{}{}); code != http.StatusOK {
			t.Fatalf("%s: stop: status %d", verb, code)
		}
		whole := s.until(func(running bool, _ int) bool { return !running })
		if whole < live {
			t.Errorf("%s: %d instances while it ran, %d at the end", verb, live, whole)
		}
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != 128+15 {
			t.Errorf("%s: status %d, want the program's", verb, got)
		}
		if code, stdout, stderr := run(t, dir, "", "report", verb+".lime"); code != 0 || !strings.Contains(stdout, "rounds.c:") {
			t.Errorf("%s: report: status %d, %s%s", verb, code, stdout, stderr)
		}
	}
}

// rounds is a program that passes a barrier until somebody ends it.
const rounds = `#include <pthread.h>
static pthread_barrier_t bar;
static volatile double sink;
static void *worker(void *arg) {
	for (;;) {
		double s = 0;
		for (long i = 0; i < 1000000 * (1 + (long)arg); i++)
			s += i * 0.5;
		sink = s;
		pthread_barrier_wait(&bar);
	}
}
int main(void) {
	pthread_t t;
	pthread_barrier_init(&bar, 0, 2);
	pthread_create(&t, 0, worker, (void *)1);
	worker(0);
}
`

// until asks until the run stands as wanted, and returns how many instances there are.
func (s *served) until(want func(running bool, instances int) bool) int {
	s.t.Helper()
	for range 1200 {
		var live struct{ Running bool }
		var list []struct{ Sections []struct{ Instances int } }
		s.ask("GET", "live", &live)
		s.ask("GET", "runs", &list)
		n := 0
		for _, r := range list {
			for _, sec := range r.Sections {
				n += sec.Instances
			}
		}
		if want(live.Running, n) {
			return n
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Fatal("the run does not come to that in two minutes")
	return 0
}
