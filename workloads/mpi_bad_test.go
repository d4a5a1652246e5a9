package workloads

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// Ranks that do not come to a good end: what they and the others did until then is read, and the report says who ended how.

// badSource works unevenly, as mpi/uneven does; in the tenth step rank 1 does what is asked for, and says so before.
const badSource = `#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile double sink;

static __attribute__((noinline)) void spend(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sink += i;
}

static void misbehave(const char *how)
{
	printf("now\n");
	fflush(stdout);
	if (!strcmp(how, "crash"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "hang"))
		for (;;)
			pause();
	if (!strcmp(how, "spin"))
		for (;;)
			;
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int step = 0; step < 20; step++) {
		for (int row = 0; row < 20 * (4 + rank); row++) /* CAUSE */
			spend(4000);
		if (step == 10 && rank == 1)
			misbehave(argv[1]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
`

// badProgram is the source as a program of the tests.
func badProgram(t *testing.T) *mpiProgram {
	t.Helper()
	p := &mpiProgram{name: "bad", About: "ranks that do not come to a good end", source: filepath.Join(t.TempDir(), "main.c")}
	if err := os.WriteFile(p.source, []byte(badSource), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(badSource, "\n") {
		if strings.Contains(line, "CAUSE") {
			p.causes = append(p.causes, i+1)
		}
	}
	return p
}

// notesOf reads the notes of a directory's report, and the report.
func notesOf(t *testing.T, dir string) (r mpiReport, notes string) {
	t.Helper()
	out, err := exec.Command(lime(t), "report", "--json", dir).Output()
	if err != nil {
		t.Fatalf("report: %v", err)
	}
	var n struct {
		Program struct{ Notes []struct{ Code, Text string } }
		Notes   []struct{ Code, Text string }
	}
	for _, to := range []any{&r, &n} {
		if err := json.Unmarshal(out, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range slices.Concat(n.Notes, n.Program.Notes) {
		notes += x.Code + ": " + x.Text + "\n"
	}
	return r, notes
}

// A rank that crashes, is killed, hangs, or goes round a loop for ever: the launcher ends the others, by itself or when it is interrupted.
func TestRanksThatDoNotEnd(t *testing.T) {
	p := badProgram(t)
	for _, mpi := range implementations() {
		if mpi.name == "openmpi" && !testenv.Long() {
			continue
		}
		testenv.Tool(t, "mpicc."+mpi.name)
		bin := p.build(t, mpi.name, 1)
		for _, how := range []string{"crash", "kill", "hang", "spin"} {
			if how != "crash" && how != "hang" && !testenv.Long() {
				continue
			}
			t.Run(mpi.name+"/"+how, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				cmd := exec.Command(mpi.launch[0], append(slices.Clone(mpi.launch[1:]), lime(t), "simulate", "-o", dir, "--", bin, how)...)
				cmd.WaitDelay = time.Second
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(out)
				said := lines.Scan()
				if said && (how == "hang" || how == "spin") {
					_ = cmd.Process.Signal(syscall.SIGINT)
				}
				_, _ = io.Copy(io.Discard, out)
				if err := cmd.Wait(); err == nil || !said {
					t.Errorf("the launcher's end: %v; rank 1 came to the step: %v", err, said)
				}
				r, notes := notesOf(t, dir)
				p.held(t, &r)
				want := "rank-cut: rank 1 on "
				if how == "hang" || how == "spin" {
					want = "rank-cut: ranks 0 to 3: interrupted"
				}
				if !strings.Contains(notes, want) {
					t.Errorf("rank 1's end is not told:\n%s", notes)
				}
			})
		}
	}
}

// A rank whose disk is full loses what has no room, and the program goes on; the others lose nothing.
func TestRankOnAFullDisk(t *testing.T) {
	testenv.SkipUnlessLong(t)
	if os.Geteuid() != 0 {
		testenv.Skip(t, testenv.NotRoot)
	}
	testenv.Tool(t, "mpicc.mpich")
	p := badProgram(t)
	bin, dir := p.build(t, "mpich", 1), t.TempDir()
	for rank := range 4 { // each rank's file is a link to a disk of its own, of which rank 1's is small
		disk := filepath.Join(dir, fmt.Sprint("disk", rank))
		if err := os.MkdirAll(disk, 0o777); err != nil {
			t.Fatal(err)
		}
		size := "size=16m"
		if rank == 1 {
			size = "size=400k" // its beginning has room
		}
		if err := unix.Mount("none", disk, "tmpfs", 0, size); err != nil {
			testenv.Skip(t, testenv.NoMount, err)
		}
		defer unix.Unmount(disk, unix.MNT_DETACH)
		if err := os.MkdirAll(filepath.Join(dir, "run"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(disk, "p.lime"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(disk, "p.lime"), filepath.Join(dir, "run", fmt.Sprintf("rank-%05d.lime", rank))); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // where the rank ends, the others wait for it
	defer cancel()
	out, _ := exec.CommandContext(ctx, "mpirun.mpich", "-n", "4", lime(t), "simulate", "-o", filepath.Join(dir, "run"), "--", bin, "nothing").CombinedOutput()
	if !strings.Contains(string(out), "disk") && !strings.Contains(string(out), "space") {
		t.Errorf("nothing is said of the full disk:\n%s", out)
	}
	r, notes := notesOf(t, filepath.Join(dir, "run"))
	t.Logf("%d ranks are read; lime said:\n%s", r.Program.Ranks, out)
	if !strings.Contains(notes, "rank 1") && !strings.Contains(notes, "rank-00001") {
		t.Errorf("the notes do not name rank 1:\n%s", notes)
	}
}
