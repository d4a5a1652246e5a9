// Programs that measure what they do, drawn at random, against what record says of them: each term
// of the account, the first place, and that nothing is claimed of those that are even.
package workloads

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// A knob is an argument of testdata/measured/measured.c.
type knobs struct {
	kind, meeting, locking                                      string
	threads, rounds, us, who, factor, hold, serial, nap, spread int
}

func (k *knobs) args() []string {
	list := []string{"kind=" + k.kind, "meeting=" + k.meeting, "locking=" + k.locking}
	for _, x := range []struct {
		name  string
		value int
	}{{"threads", k.threads}, {"rounds", k.rounds}, {"us", k.us}, {"who", k.who}, {"factor", k.factor}, {"hold", k.hold},
		{"serial", k.serial}, {"nap", k.nap}, {"spread", k.spread}} {
		list = append(list, fmt.Sprintf("%s=%d", x.name, x.value))
	}
	return list
}

func (k *knobs) String() string { return strings.Join(k.args(), " ") }

// drawn draws a program: its threads work for 5 ms to 1 s each in pieces of 0.2 to 50 ms.
func drawn(kind string, seed uint64) *knobs {
	r := rand.New(rand.NewPCG(seed, 1))
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	k := &knobs{kind: kind, threads: one(2, 3, 4, 6, 8), us: one(200, 500, 2000, 10000, 50000), factor: 100, spread: 100,
		meeting: []string{"pthread", "futex", "cond", "spin"}[r.IntN(4)], locking: []string{"mutex", "ticket"}[r.IntN(2)]}
	total := one(5000, 30000, 100000, 300000, 1000000)
	k.rounds = max(1, total/k.us)
	k.who = r.IntN(k.threads)
	odd := r.IntN(3) > 0
	switch kind {
	case "phases":
		switch {
		case !odd:
		case r.IntN(3) == 0:
			k.nap = k.us
		default:
			k.factor = one(150, 200, 400)
		}
		if r.IntN(4) == 0 {
			k.serial = k.us * one(1, 3)
		}
	case "locked":
		k.hold = one(5, 30, 60)
		k.us = one(20, 100, 500, 2000)
		k.rounds = max(10, total/k.us)
	case "shared":
		k.spread = one(100, 300)
	case "stages":
		k.factor = one(100, 300, 500)
		k.us = one(200, 500, 2000)
		k.rounds = max(20, total/k.us)
	case "region":
		k.meeting = []string{"static", "dynamic"}[r.IntN(2)]
		k.factor = one(100, 100, 200)
		k.serial = k.us * one(0, 0, 1, 3)
	}
	k.rounds = min(k.rounds, 20000)
	return k
}

// measuredKinds are the kinds of programs, and which of the two builds has them.
var measuredKinds = []struct{ name, flag string }{
	{"phases", "-O2"}, {"locked", "-O2"}, {"shared", "-O2"}, {"stages", "-O2"}, {"region", "-fopenmp"}}

// measuredBin builds the program.
func measuredBin(t *testing.T, dir, flag string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	prog := filepath.Join(dir, "measured"+flag)
	build := exec.Command("gcc", "-O2", "-g", "-pthread", flag, "-o", prog, "testdata/measured/measured.c")
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, msg)
	}
	return prog
}

// marked are the lines of measured.c that bear a mark.
func marked(t *testing.T) map[string][]int {
	t.Helper()
	text, err := os.ReadFile("testdata/measured/measured.c")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]int{}
	for i, line := range strings.Split(string(text), "\n") {
		if _, mark, ok := strings.Cut(line, "/* "); ok {
			if mark, _, ok = strings.Cut(mark, " */"); ok {
				out[mark] = append(out[mark], i+1)
			}
		}
	}
	return out
}

// What a run says, next to what is true.
type compared struct {
	knobs       *knobs
	want, said  terms  // shares of the core time
	first       string // what the report says first, "" if it claims nothing of the program
	want1       string // what is lost most, "" if the program is even
	clear       bool   // by far
	right       bool   // what is said first is, and where
	cause, head string
	samples     float64 // that fall into its work
	other       float64 // share of the core time that the program did beside its pieces
}

// Limits of what counts as a loss: below, nothing need be said; and how much above the second the
// first one must be for the order to be the program's.
const (
	worthSaying = 0.05
	byFar       = 1.5

	period       = 5e6 // ns between two samples of a thread
	leastSamples = 48  // for a cause: twice what the analysis needs, since they fall by chance
)

func compare(k *knobs, m *measuredRun, a *answer, marks map[string][]int) *compared {
	c := &compared{knobs: k, want: m.ideal(k), said: terms{}, head: a.Loss.Headline}
	all := c.want.sum()
	c.samples = c.want["useful"] / period
	c.other = (float64(m.all) - c.want["useful"]) * float64(k.threads) / all
	for n := range c.want {
		c.want[n] /= all
	}
	for _, x := range a.Loss.Terms {
		c.said[x.Name] = x.Share
	}
	if len(a.Sections) > 0 && len(a.Sections[0].Causes) > 0 {
		c.cause = fmt.Sprintf("%s:%d", a.Sections[0].Causes[0].Event, a.Sections[0].Causes[0].Line)
	}
	c.expect()
	said, _ := c.said.most()
	if c.said[said] >= worthSaying {
		c.first = said
	}
	c.right = c.answers(a.Loss.line(said), marks)
	return c
}

// line is the first place's of a term.
func (l *loss) line(term string) int {
	for _, x := range l.Terms {
		if x.Name == term && len(x.Places) > 0 {
			return x.Places[0].Line
		}
	}
	return 0
}

// expect says what is to be said first.
func (c *compared) expect() {
	k := c.knobs
	first, second := c.want.most()
	if c.want[first] >= worthSaying {
		c.want1, c.clear = first, c.want[first] >= byFar*c.want[second]
	}
	switch {
	case k.even() && (k.kind != "shared" || c.want[first] < worthSaying):
		c.want1, c.clear = "", true // what its pieces differ by is the machine's
	case k.kind == "stages" && k.factor == 100, k.kind == "shared":
		c.clear = false // the first and the last pieces are nobody's
	case k.kind == "phases" && k.rounds < 3:
		c.clear = false // one passage proves nothing
	}
}

// answers reports whether what is said first is what is lost most, and where; line is its place's.
func (c *compared) answers(line int, marks map[string][]int) bool {
	at := func(mark string) bool { return slices.Contains(marks[mark], line) }
	cause := func(mark string) bool {
		names := func(l int) bool { return strings.Contains(c.head, fmt.Sprintf("measured.c:%d", l)) }
		return c.samples < leastSamples || slices.ContainsFunc(marks[mark], names)
	}
	k := c.knobs
	switch c.want1 {
	case "":
		begins := c.first == "serial" && c.said["serial"] < worthSaying+c.other+c.want["serial"]
		return (c.first == "" || begins) && c.cause == ""
	case "imbalance":
		return c.first == "imbalance" && cause("UNEVEN")
	case "serial":
		return c.first == "serial" || c.first == "imbalance" && (at("MEET FIRST") || cause("ALONE"))
	case "lock":
		return (c.first == "lock" || c.first == "wait" && k.locking == "ticket") && at("LOCK")
	case "wait":
		return (c.first == "wait" || c.first == "imbalance" && k.factor > 100) && cause("UNEVEN") ||
			c.first == "wait" && k.factor == 100 && (at("EMPTY") || at("FULL"))
	}
	return c.first == c.want1 && at("SLEEP")
}

// even reports whether the program gives nobody more to do, and nothing to wait for.
func (k *knobs) even() bool {
	return k.factor == 100 && k.nap == 0 && k.serial == 0 && k.kind != "locked" && k.kind != "stages"
}

// recordMeasured runs a program under record, unless its profile is there, and compares.
func recordMeasured(t *testing.T, bin, prog, data string, k *knobs, marks map[string][]int) *compared {
	t.Helper()
	out, err := os.ReadFile(data + ".out")
	if err != nil {
		cmd := exec.Command(bin, append([]string{"record", "-o", data, "--", prog}, k.args()...)...)
		if out, err = cmd.Output(); err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		if err := os.WriteFile(data+".out", out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readMeasured(out, k)
	if err != nil {
		t.Fatalf("%v: %v", k, err)
	}
	var a answer
	if err := readAnswer(bin, data, &a); err != nil {
		t.Fatal(err)
	}
	return compare(k, &m, &a, marks)
}

// fixed are programs for every run of the tests, whose answer leaves no doubt.
func fixed() []*knobs {
	return []*knobs{
		{kind: "phases", meeting: "pthread", threads: 4, rounds: 50, us: 2000, factor: 100},
		{kind: "phases", meeting: "pthread", threads: 4, rounds: 50, us: 2000, factor: 300, who: 1},
		{kind: "shared", meeting: "pthread", threads: 4, rounds: 100, us: 1000, factor: 100, spread: 100},
		{kind: "stages", meeting: "pthread", threads: 4, rounds: 200, us: 500, factor: 100},
		{kind: "stages", meeting: "pthread", threads: 4, rounds: 300, us: 500, factor: 500, who: 1},
	}
}

// beyond are the claims that are larger than what is true by more than is worth saying. Where
// threads hand something on, it is one thing whether those who wait have less to do (imbalance) or
// wait in between; and where one works while the others have come to a barrier, whether they have
// nothing to do or less.
func (c *compared) beyond() (out []string) {
	said, want := maps.Clone(c.said), maps.Clone(c.want)
	join := func(a, b string) {
		said[a], want[a] = said[a]+said[b], want[a]+want[b]
		delete(said, b)
	}
	switch {
	case c.knobs.kind == "stages":
		join("wait", "imbalance")
	case c.knobs.serial > 0:
		join("imbalance", "serial")
	}
	for _, n := range []string{"imbalance", "lock", "wait", "off_core", "overhead"} {
		if said[n] > want[n]+worthSaying {
			out = append(out, fmt.Sprintf("%s is %.1f %%, the program measures %.1f", n, 100*said[n], 100*want[n]))
		}
	}
	return out
}

// TestMeasuredPrograms records programs that measure themselves, and holds what is said to it.
func TestMeasuredPrograms(t *testing.T) {
	bin, dir, marks := lime(t), t.TempDir(), marked(t)
	for i, k := range fixed() {
		c := recordMeasured(t, bin, measuredBin(t, dir, "-O2"), filepath.Join(dir, fmt.Sprint(i)), k, marks)
		if !c.right && (c.clear || c.want1 == "") {
			t.Errorf("%v: %s", k, c)
		}
		for _, x := range c.beyond() {
			t.Errorf("%v: %s", k, x)
		}
	}
}

// tallied counts answers about programs of one kind, and the programs of which more is claimed than is
// true.
type tallied struct{ right, clear, quiet, even, all, beyond int }

func (n *tallied) add(c *compared) {
	n.all, n.beyond = n.all+1, n.beyond+min(1, len(c.beyond()))
	switch one := map[bool]int{true: 1}[c.right]; {
	case c.want1 == "":
		n.even, n.quiet = n.even+1, n.quiet+one
	case c.clear:
		n.clear, n.right = n.clear+1, n.right+one
	}
}

// TestMeasuredProgramsAtRandom draws LIME_DRAWS programs of each kind, from LIME_SEED on; LIME_KEEP is
// a folder in which the profiles stay, and those that are there are reported on anew.
func TestMeasuredProgramsAtRandom(t *testing.T) {
	testenv.SkipUnlessLong(t)
	const leastRight = 0.85
	draws, _ := strconv.Atoi(cmp.Or(os.Getenv("LIME_DRAWS"), "20"))
	first, _ := strconv.ParseUint(cmp.Or(os.Getenv("LIME_SEED"), "1"), 10, 64)
	bin, dir, marks := lime(t), cmp.Or(os.Getenv("LIME_KEEP"), t.TempDir()), marked(t)
	var all tallied
	for _, kind := range measuredKinds {
		if want := os.Getenv("LIME_KIND"); want != "" && want != kind.name {
			continue
		}
		prog, n := measuredBin(t, dir, kind.flag), tallied{}
		for seed := first; seed < first+uint64(draws); seed++ {
			k := drawn(kind.name, seed)
			c := recordMeasured(t, bin, prog, filepath.Join(dir, fmt.Sprintf("%s.%d.lime", kind.name, seed)), k, marks)
			n.add(c)
			all.add(c)
			t.Logf("%-9s %d %v %v\n%s", c.verdict(), seed, k, c.beyond(), c)
		}
		t.Logf("%s: first right in %d of %d, silent in %d of %d, a term beyond what is true in %d of %d",
			kind.name, n.right, n.clear, n.quiet, n.even, n.beyond, n.all)
	}
	if float64(all.right) < leastRight*float64(all.clear) || all.quiet < all.even {
		t.Errorf("first right in %d of %d, silent in %d of %d", all.right, all.clear, all.quiet, all.even)
	}
}

func (c *compared) verdict() string {
	switch {
	case c.right:
		return "right"
	case !c.clear && c.want1 != "":
		return "(unclear)"
	}
	return "wrong"
}

func (c *compared) String() string {
	var b strings.Builder
	for _, n := range []string{"useful", "imbalance", "unproved", "serial", "lock", "wait", "off_core", "overhead"} {
		if c.want[n] > 0.005 || c.said[n] > 0.005 {
			fmt.Fprintf(&b, " %s %.0f/%.0f", n, 100*c.said[n], 100*c.want[n])
		}
	}
	return fmt.Sprintf("    said/true:%s (beside %.0f)  cause %s\n    %s", &b, 100*c.other, c.cause, c.head)
}
