package workloads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// lockPrediction is a program, run as it is and repaired, and what is asked about its lock.
type lockPrediction struct {
	name, build   string
	is, repaired  string // arguments
	asked         []string
	least         float64 // part of the run time that the repair wins at least, so that the answer says something
	argumentsOnly bool    // the answer is the run with other arguments: it is the repair, to the instruction
	cores         int     // 0: 8
}

const server = "../internal/collect/sim/testdata/"

// lockPredictions: half of what is done under the lock done outside of it, half of it not done at
// all, tables of the threads' own instead of one with a lock, fewer threads. Where the stacks of Go's
// scheduler lie, above the goroutines' or below, depends on how many of both there are.
var lockPredictions = []lockPrediction{
	{name: "moved out", build: "gcc -O1 -g -pthread -o OUT " + server + "server.c",
		is: "8 200 4000 2000 1", repaired: "8 200 2000 4000 1", asked: []string{"--hold", "half@hot"}, least: 0.4},
	{name: "done faster", build: "gcc -O1 -g -pthread -DRW -o OUT " + server + "server.c",
		is: "8 200 4000 2000 1", repaired: "8 200 1000 2000 1", asked: []string{"--shorten", "25%@top"}, least: 0.6},
	{name: "critical region", build: "gcc -O1 -g -fopenmp -pthread -DCRITICAL -o OUT " + server + "server.c",
		is: "8 200 6000 9000 1", repaired: "8 200 2000 13000 1", asked: []string{"--hold", "0.3333@top"}, least: 0.4},
	{name: "mutex of Go", build: "go build -o OUT " + server + "goserver.go",
		is: "8 60 50000 10000", repaired: "8 60 25000 35000", asked: []string{"--hold", "half@main.hot"}, least: 0.3},
	{name: "mutex of Go on two cores", build: "go build -o OUT " + server + "goserver.go", cores: 2,
		is: "8 60 50000 10000", repaired: "8 60 25000 35000", asked: []string{"--hold", "half@main.hot"}, least: 0.3},
	{name: "mutex of Go, three goroutines", build: "go build -o OUT " + server + "goserver.go",
		is: "3 400 5000 8000", repaired: "3 400 2500 10500", asked: []string{"--hold", "half@main.hot"}, least: 0.2},
	{name: "own tables", build: "gcc -O2 -g -pthread -o OUT testdata/repairs/lock.c",
		repaired: "repaired", asked: []string{"--erase", "top"}, least: 0.2},
	{name: "own maps", build: "g++ -std=c++20 -O2 -g -pthread -o OUT testdata/repairs/lock.cpp",
		repaired: "repaired", asked: []string{"--no-lock", "top"}, least: 0.2},
	{name: "own tables of Go", build: "go build -o OUT testdata/repairs/lock.go",
		repaired: "repaired", asked: []string{"--erase", "lock-wait@lock.go:30"}, least: 0.2},
	{name: "fewer threads", build: "gcc -O1 -g -pthread -o OUT " + server + "server.c",
		is: "8 200 4000 2000 1", repaired: "4 400 4000 2000 1", asked: []string{"--cores", "8", "ARGS"}, argumentsOnly: true},
}

// nearRepair is how far the run time of a changed run may be from that of the repaired program.
const nearRepair = 0.1

// TestLockPredictions holds what whatif says of locks to programs that were repaired so.
func TestLockPredictions(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, dir := lime(t), t.TempDir()
	for i, p := range lockPredictions {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			prog := filepath.Join(dir, fmt.Sprint("program", i))
			words := strings.Fields(strings.ReplaceAll(p.build, "OUT", prog))
			if words[0] != "go" {
				testenv.Tool(t, words[0])
			}
			if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			before, after := p.run(t, bin, prog, p.is, ".0"), p.run(t, bin, prog, p.repaired, ".1")
			asked := append([]string{"whatif", "--yes", "--json", prog + ".0"}, p.asked...)
			if p.argumentsOnly {
				asked = append(append(asked[:len(asked)-1], "--"), strings.Fields(p.repaired)...)
			}
			var said struct {
				Before float64 `json:"run_time_before"`
				After  float64 `json:"run_time_after"`
			}
			text, err := exec.Command(bin, asked...).Output()
			if err == nil {
				err = json.Unmarshal(text, &said)
			}
			if err != nil {
				t.Fatalf("%v: %v", asked, err)
			}
			t.Logf("| %s | %.0f | said %.0f | repaired %.0f | %+.1f %% |", p.name, before, said.After, after, 100*(said.After/after-1))
			switch {
			case said.Before != before:
				t.Errorf("the run took %v, and not %v", before, said.Before)
			case p.argumentsOnly && said.After != after:
				t.Errorf("said %v, the same program takes %v", said.After, after)
			case 1-after/before < p.least:
				t.Errorf("the repair wins %.2f of the run time, which is too little to tell", 1-after/before)
			case math.Abs(said.After/after-1) > nearRepair:
				t.Errorf("said %v, repaired it takes %v", said.After, after)
			}
		})
	}
}

// run simulates the program and returns its run time.
func (p *lockPrediction) run(t *testing.T, bin, prog, args, to string) float64 {
	t.Helper()
	words := append([]string{"simulate", "--cores", fmt.Sprint(cmp.Or(p.cores, 8)), "-o", prog + to, "--", prog}, strings.Fields(args)...)
	if text, err := exec.Command(bin, words...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, text)
	}
	var r repairRun
	r.read(t, bin, "report", "--json", prog+to)
	return r.Program.RunTime
}
