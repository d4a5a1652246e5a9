package sim_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// The oracle that owes nothing to lime: the programs of TestNoWaitIsInvented, smaller, stepped
// natively, instruction by instruction. Each thread must take exactly as long in the model without a
// machine, each of its instructions must stand in its section as often, and nothing may be taken out
// as waiting. Valgrind's callgrind counts the same programs, and the large ones, as a second witness.

const oracleThreads = 6

func TestThreadsCountAsStepped(t *testing.T) {
	seeds := 6
	if testenv.Long() {
		seeds = 200
	}
	for seed := range seeds {
		for k, cc := range oracleCompilers {
			if seeds == 6 && (3*seed+k)%8 != 0 { // one compiler a program
				continue
			}
			t.Run(fmt.Sprintf("%d/%s", seed, strings.ReplaceAll(cc, " ", "")), func(t *testing.T) {
				t.Parallel()
				asStepped(t, int64(seed), cc)
			})
		}
	}
}

// asStepped holds what lime counts to what was stepped, with a barrier or with joins alone.
func asStepped(t *testing.T, seed int64, cc string) {
	bin := oracleProgram(t, seed, 6, cc)
	args := []string{fmt.Sprint(oracleThreads)}
	if seed%2 == 1 {
		args = append(args, "joins")
	}
	natively, wrote := stepped(t, oracleEnv(), bin, args...)
	path, said := measured(t, append([]string{bin}, args...)...)
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	addsUp(t, p)
	for id := range p.Tables().Sections {
		noLockWaits(t, p, profile.SectionID(id))
	}
	took, wants := rowsOf(t, said), rowsOf(t, wrote)
	for id, s := range natively {
		if got := took[id][0] - measuring; got != s.all || took[id][1] != wants[id][1] {
			t.Errorf("thread %d: %d instructions, result %d; natively %d, %d", id, got, took[id][1], s.all, wants[id][1])
		}
		s.standIn(t, p, bin, id)
	}
	if len(args) == 1 {
		for id, n := range callgrind(t, bin) {
			if s := natively[id]; n != s.all-1+s.rounds-s.found {
				t.Errorf("thread %d: callgrind counts %d instructions in work; steps: %d, %d rounds, %d found",
					id, n, s.all-1, s.rounds, s.found)
			}
		}
	}
	if t.Failed() {
		t.Log(oracleSource(seed, 6))
	}
}

// callgrind returns how many instructions valgrind counts in work, by thread, where these meet at a
// barrier: it gives numbers of threads that have ended to others. It counts a repeated string
// instruction once for each round, and once for its end if that is the end of the repetitions.
func callgrind(t *testing.T, bin string) map[int]int64 {
	t.Helper()
	testenv.Tool(t, "valgrind")
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("valgrind", "--tool=callgrind", "--separate-threads=yes", "--toggle-collect=work",
		"--callgrind-out-file="+out, bin, fmt.Sprint(oracleThreads))
	cmd.Env = oracleEnv()
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("callgrind: %v\n%s", err, text)
	}
	counts := map[int]int64{}
	for id := range oracleThreads {
		text, err := os.ReadFile(fmt.Sprintf("%s-%02d", out, id+2)) // 1 is the main thread
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		_, total, _ := strings.Cut(string(text), "\ntotals: ")
		if _, err := fmt.Sscan(total, &n); err != nil {
			t.Fatal(err)
		}
		counts[id] = n
	}
	return counts
}

// TestThreadsCountAsCallgrind holds large programs, in which threads stay in their loops for long, to
// valgrind. Those with repeated string instructions are left out: how many rounds they have is not
// told.
func TestThreadsCountAsCallgrind(t *testing.T) {
	seeds := 6
	if testenv.Long() {
		seeds = 400
	}
	for seed := range seeds {
		cc := oracleCompilers[seed%len(oracleCompilers)]
		if strings.Contains(oracleSource(int64(seed), 2000), `"rep`) {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			bin := oracleProgram(t, int64(seed), 2000, cc)
			_, said := measured(t, bin, fmt.Sprint(oracleThreads))
			took := rowsOf(t, said)
			for id, n := range callgrind(t, bin) {
				if got := took[id][0] - measuring; got != n+1 {
					t.Errorf("%s: thread %d: %d instructions, callgrind %d", cc, id, got, n+1)
				}
			}
		})
	}
}

// beforeMark is how many instructions of measure stand between its first rdtsc and the first mark, that
// included: they are in one block with the call behind it. measuring is what is in the time that
// it takes besides the call: these, two behind, and rdtsc itself, which takes ten more than others
// (guest/table.go).
const (
	beforeMark = 4
	measuring  = beforeMark + 2 + 11
)

// standIn holds the counts of the program's own instructions in the sections of a profile to those
// of the steps.
func (s *steps) standIn(t *testing.T, p *profile.Reader, bin string, id int) {
	t.Helper()
	thread := profile.ThreadID(id + 1)
	ends, counted := s.blocks(t, p, bin, thread)
	for _, at := range slices.Sorted(maps.Keys(ends)) {
		if ends[at] != s.at[at] {
			t.Errorf("thread %d: at %#x %d times, natively %d", id, at, ends[at], s.at[at])
		}
	}
	want := uint64(beforeMark)
	for at, n := range s.at {
		if at != 0 {
			want += n
		}
	}
	if counted != want {
		t.Errorf("thread %d: %d instructions of its own are in sections, natively %d", id, counted, want)
	}
	for _, a := range p.Tables().Accounts {
		if a.Thread == thread && a.What == profile.OutLoop {
			t.Errorf("thread %d: %d instructions are taken out as waiting", id, a.Instrs)
		}
	}
}

// blocks finds the blocks of the program's file that were stepped: how often each was executed, by
// its last instruction, and how many instructions that makes.
func (s *steps) blocks(t *testing.T, p *profile.Reader, bin string, thread profile.ThreadID) (
	ends map[uint64]uint64, counted uint64,
) {
	t.Helper()
	tables := p.Tables()
	ends = map[uint64]uint64{}
	for sec := range tables.Sections {
		for in, err := range p.Instances(profile.SectionID(sec)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range in.Edges {
				e := tables.Edges[c.Row]
				if in.Parts[c.Part].Thread != thread || e.From < 0 || e.Kind == profile.EdgeReturn {
					continue
				}
				n := &tables.Nodes[e.From]
				image := &tables.Images[n.Image]
				if at := n.LastAddr - image.Base; image.Path == bin && s.at[at] > 0 {
					ends[at] += c.N
					counted += c.N * uint64(n.Instrs)
				}
			}
		}
	}
	return ends, counted
}

// rowsOf reads the numbers that a program prints, a row a thread.
func rowsOf(t *testing.T, text string) (rows [][]int64) {
	t.Helper()
	for line := range strings.Lines(text) {
		var row []int64
		for _, w := range strings.Fields(line) {
			n, err := strconv.ParseInt(w, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, n)
		}
		rows = append(rows, row)
	}
	return rows
}
