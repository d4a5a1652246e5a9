package hook

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write the golden file again")

// The hooks' machine code, byte by byte: what is put into strangers' programs changes only where
// somebody means it to.
func TestCodeOfTheHooks(t *testing.T) {
	const ring, target, thunkRoom = 0x7f12_3456_7000, 0x7f89_abcd_ef00, 0x7f11_2233_4400
	base := stubParams{function: 7, target: target, ring: ring, tidOffset: 0x2d0, thunks: thunkRoom}
	with := func(change func(*stubParams)) stubParams {
		p := base
		change(&p)
		return p
	}
	var out strings.Builder
	put := func(name string, s stub) {
		fmt.Fprintf(&out, "%s: inside %d, frame %d, working %d, frame %d, popped %d, trying %d\n", name, s.inside,
			s.frame, s.working, s.workFrame, s.popped, s.trying)
		for b := s.code; len(b) > 0; b = b[min(len(b), 32):] {
			fmt.Fprintf(&out, "\t%s\n", hex.EncodeToString(b[:min(len(b), 32)]))
		}
	}
	for _, row := range []struct {
		name string
		p    stubParams
	}{
		{"call", base},
		{"call and return", with(func(p *stubParams) { p.returns = true })},
		{"arguments on the stack", with(func(p *stubParams) { p.returns, p.stackArgs = true, 24 })},
		{"one call of many", with(func(p *stubParams) { p.returns, p.stackArgs, p.only = true, 8, 202 })},
		{"what was created", with(func(p *stubParams) { p.returns, p.fetch = true, true })},
		{"what was created, third argument", with(func(p *stubParams) { p.returns, p.fetch, p.pointer = true, true, 2 })},
		{"what was created, fifth argument", with(func(p *stubParams) { p.returns, p.fetch, p.pointer = true, true, 4 })},
		{"two of its arguments", with(func(p *stubParams) { p.returns, p.pick = true, [3]Pick{3, 4} })},
		{"other two of its arguments", with(func(p *stubParams) { p.returns, p.pick = true, [3]Pick{5, 6} })},
		{"one of its arguments, the second", with(func(p *stubParams) { p.pick = [3]Pick{2, 0} })},
		{"slow", with(func(p *stubParams) { p.slow = 3000 })},
		{"slow, tried before", with(func(p *stubParams) { p.slow, p.try, p.refused = 3000, 0x7f00_1111_2222, 16 })},
		{"contended", with(func(p *stubParams) { p.contended = true })},
		{"region", with(func(p *stubParams) { p.work, p.stackArgs = true, 16 })},
		{"region, variadic", with(func(p *stubParams) { p.work, p.stackArgs, p.body, p.variadic = true, 512, 2, true })},
		{"task", with(func(p *stubParams) { p.task, p.slow = true, 50000 })},
		{"task, its function in the last register", with(func(p *stubParams) { p.task, p.slow, p.body = true, 50000, 5 })},
		{"inside, with a budget", with(func(p *stubParams) { p.inside, p.place, p.budget = true, 0x5555_4444_3333, 1024 })},
		{"Go", with(func(p *stubParams) { p.goCall = &GoCall{} })},
		{"Go, callers", with(func(p *stubParams) { p.goCall = &GoCall{Frames: true} })},
		{"Go, second argument", with(func(p *stubParams) { p.goCall = &GoCall{Frames: true, Extra: GoSecond} })},
		{"Go, what it points to", with(func(p *stubParams) { p.goCall = &GoCall{Extra: GoPointed} })},
		{"Go, where it goes on", with(func(p *stubParams) { p.goCall = &GoCall{Extra: GoResumes} })},
	} {
		put(row.name, newStub(row.p))
	}
	put("inner, wakes", innerStub(base))
	put("inner, waits", innerStub(with(func(p *stubParams) { p.slow = 3000 })))
	put("thunks", stub{code: thunks(ring)[:4*thunkBytes]})
	j := newJob(unix.SYS_MMAP, 0, 4096).mapFile(1 << 20)
	j.finish(0x7fff_0000_1000, &unix.PtraceRegs{Rax: 1, Rcx: 2, Rdx: 3, Rsi: 4, Rdi: 5, R8: 1 << 40, R9: 7, R10: 8,
		R11: 9, Rip: 0x40_1000, Orig_rax: ^uint64(0)})
	put("job", stub{code: j.Code})
	entry := uint64(0x40_1000)
	// a loop on a word of memory
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0x8b, 0x05, 0, 1, 0, 0, 0x85, 0xc0, 0x74, 0x02, 0xeb, 0xf4, 0x5d, 0xc3}
	m, err := moved(&Candidate{Name: "candidate", Entry: entry, Runs: []Code{{At: entry, Bytes: code}}}, base, 0x3f_0000)
	if err != nil {
		t.Fatal(err)
	}
	put("candidate", stub{code: m.Code})
	golden := filepath.Join("testdata", "code.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	wants := strings.Split(string(want), "\n")
	for i, line := range strings.Split(out.String(), "\n") {
		if !strings.HasPrefix(line, "\t") {
			name = line
		}
		if i >= len(wants) || line != wants[i] {
			t.Fatalf("%s, line %d:\n%s\nwant (testdata/code.golden, rewritten with -update)\n%s", name, i+1, line,
				strings.Join(wants[min(i, len(wants)):min(i+1, len(wants))], ""))
		}
	}
}
