package x86

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// corpus collects the instructions to try: a few of each row and form.
type corpus struct {
	per     int
	count   map[string]int
	list    []*trial
	left    map[string]int
	trials  int
	passing []string // problems that a second run did not have
}

func (c *corpus) add(code []byte, in *Inst, r *row, d *decoder) {
	if reason := leftOut(in, r); reason != "" {
		c.left[reason]++
		return
	}
	key := fmt.Sprint(r.source, r.name, in.HasMem, d.rex&rexW, d.opsize16, d.vl, d.evexB, d.lock, in.Rep,
		in.Mem.VSIB && d.merging && d.vvvv == 0)
	if c.count[key]++; c.count[key] <= c.per {
		c.list = append(c.list, newTrial(code, in, r, d))
	}
}

// TestAttributes runs instructions natively and asks that they read and write
// nothing but what the tables say.
func TestAttributes(t *testing.T) {
	c := &corpus{per: 1, count: map[string]int{}, left: map[string]int{}}
	if *long {
		c.per = 4
	}
	forms(c.add)
	c.fromFiles(t)
	r := startRunner(t)
	defer r.done()
	faults, ran, shown := map[*row]uint32{}, map[*row]bool{}, map[*row]int{}
	for len(c.list) > 0 {
		batch := c.list[:min(len(c.list), 64)]
		c.list = c.list[len(batch):]
		c.runBatch(t, r, batch, func(tr *trial, problems []string, signal uint32) {
			if tr.fault && !ran[tr.row] {
				faults[tr.row] = signal
			} else if !tr.fault {
				ran[tr.row] = true
				delete(faults, tr.row)
			}
			if len(problems) > 0 && shown[tr.row] < 1 {
				shown[tr.row]++
				t.Errorf("% x %s, row %q: %s", tr.code, tr.in.Name, tr.row.source, summary(problems))
			}
		})
	}
	t.Logf("%d runs; left out: %v", c.trials, c.left)
	t.Logf("%d rows ran; not so when run once more: %q", len(ran), c.passing)
	logFaults(t, faults)
}

// fromFiles adds instructions of installed libraries.
func (c *corpus) fromFiles(t *testing.T) {
	var in Inst
	list := quickFiles()
	if !*long {
		list = list[1:] // libm has more vector forms than libc
	}
	for _, p := range list {
		if m, _ := filepath.Glob(p); len(m) > 0 {
			objdump(t, m[0], "att", func(l line) {
				if habit(l) != "" {
					return
				}
				if r, d, ok := decodeRow(l.code, &in); ok {
					c.add(l.code, &in, r, d)
				}
			})
		}
		if !*long {
			return
		}
	}
}

func (c *corpus) runBatch(t *testing.T, r *runner, batch []*trial, done func(*trial, []string, uint32)) {
	var reqs []request
	for _, tr := range batch {
		reqs = append(reqs, tr.reqs...)
	}
	c.trials += len(reqs)
	res, neutral := r.run(t, reqs), r.neutral(t, batch)
	for _, tr := range batch {
		n := len(tr.reqs)
		problems := tr.check(res[:n], neutral)
		if len(problems) > 0 {
			problems = c.repeated(tr, problems, tr.check(r.run(t, tr.reqs), r.neutral(t, []*trial{tr})))
		}
		done(tr, problems, res[0].Signal)
		res = res[n:]
	}
}

// repeated are the problems that a second run has as well. What an instruction does by itself it
// does each time; that it faulted once is its surroundings' doing: there are hypervisors under
// which one run in a hundred thousand does.
func (c *corpus) repeated(tr *trial, once, again []string) (both []string) {
	for _, p := range once {
		if slices.Contains(again, p) {
			both = append(both, p)
		} else {
			c.passing = append(c.passing, fmt.Sprintf("%s: %s", tr.in.Name, p))
		}
	}
	return both
}

// neutral runs a nop on every vector state of a batch.
func (r *runner) neutral(t *testing.T, batch []*trial) map[[3]uint64]result {
	states := map[[3]uint64]result{}
	var reqs []request
	for _, tr := range batch {
		for _, q := range tr.reqs {
			if _, ok := states[vectorKey(&q)]; !ok {
				states[vectorKey(&q)] = result{}
				reqs = append(reqs, request{Code: [16]byte{0x90}, Len: 1, Flags: 0x202, Vectors: q.Vectors, Others: q.Others, Mask: q.Mask})
			}
		}
	}
	for i, res := range r.run(t, reqs) {
		states[vectorKey(&reqs[i])] = res
	}
	return states
}

// summary lists distinct problems.
func summary(p []string) string {
	seen := map[string]bool{}
	var out []string
	for _, s := range p {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	if len(out) > 6 {
		out = append(out[:6], "...")
	}
	return strings.Join(out, "; ")
}

// logFaults names the rows that this processor does not have, or that need more
// than a buffer.
func logFaults(t *testing.T, m map[*row]uint32) {
	var names []string
	for r, signal := range m {
		names = append(names, fmt.Sprintf("%s (signal %d)", r.name, signal))
	}
	sort.Strings(names)
	t.Logf("%d rows always fault: %s", len(names), strings.Join(names, ", "))
}

// TestAttributesSeesErrors falsifies what the decoder says and asks that the
// native run tells.
func TestAttributesSeesErrors(t *testing.T) {
	r := startRunner(t)
	defer r.done()
	for _, c := range []struct {
		text, code string
		falsify    func(*Inst)
		want       string
	}{
		{"add %rbx,%rax", "48 01 d8", func(in *Inst) { in.Reads = set(RAX) }, "depends on a register"},
		{"add %rbx,%rax", "48 01 d8", func(in *Inst) { in.Writes = 0 }, "writes rax"},
		{"mov %bl,%al", "88 d8", func(in *Inst) { in.Reads = set(RBX) }, "rax depends on a register"},
		{"mul %rbx", "48 f7 e3", func(in *Inst) { in.Writes = set(RAX) }, "writes rdx"},
		{"adc %rbx,%rax", "48 11 d8", func(in *Inst) { in.FlagsRead = 0 }, "depends on a flag"},
		{"inc %eax", "ff c0", func(in *Inst) { in.FlagsWrite |= CF }, "CF depends on a flag"},
		{"test %eax,%eax", "85 c0", func(in *Inst) { in.FlagsWrite &^= ZF }, "writes ZF"},
		{"mov (%rbx),%rax", "48 8b 03", func(in *Inst) { in.Mem.Bytes = 4 }, "memory outside"},
		{"mov %rax,(%rbx)", "48 89 03", func(in *Inst) { in.Mem.Bytes = 4 }, "writes memory"},
		{"mov %rax,(%rbx)", "48 89 03", func(in *Inst) { in.Mem.Write = false }, "writes memory"},
		{"add %rax,(%rbx)", "48 01 03", func(in *Inst) { in.Mem.Read = false }, "memory operand"},
		{"movd %ecx,%xmm0", "66 0f 6e c1", func(in *Inst) { in.SSE = false }, "changes SSE state"},
		{"addps %xmm1,%xmm0", "0f 58 c1", func(in *Inst) { in.VecReads = 1 }, "depends on a vector register"},
		{"addps %xmm1,%xmm0", "0f 58 c1", func(in *Inst) { in.VecWrites = 0 }, "writes vector register 0"},
	} {
		var in Inst
		code := unhex(c.code)
		row, d, ok := decodeRow(code, &in)
		if !ok {
			t.Fatal(c.text)
		}
		c.falsify(&in)
		tr := newTrial(code, &in, row, d)
		res, neutral := r.run(t, tr.reqs), r.neutral(t, []*trial{tr})
		if got := summary(tr.check(res, neutral)); !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.text, got, c.want)
		}
	}
}
