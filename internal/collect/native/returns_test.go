package native

import (
	"testing"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/profile"
)

const returning = `
volatile int value;
__attribute__((noipa)) void works(void) { value++; }
__attribute__((noipa)) void waits(void) { value += 2; }
__attribute__((noipa)) void jumps(void) { value += 3; waits(); }
__attribute__((noipa)) void once(void) { works(); waits(); works(); }
__attribute__((noipa)) void twice(void) { waits(); works(); waits(); value++; }
__attribute__((noipa)) void by_jump(void) { works(); jumps(); value++; }
__attribute__((noipa)) void by_pointer(void (*f)(void)) { f(); works(); value++; }
__attribute__((noipa)) void never(void) { works(); works(); value++; }
int main(void) { once(); twice(); by_jump(); by_pointer(waits); never(); return 0; }
`

// A thread waits in waits. What stands on its stack where that returns to was written there later, by
// another call of the same function or of another one.
func TestReturnsFrom(t *testing.T) {
	bin, err := binfile.Open(buildWith(t, "gcc", returning, "-O2"))
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	m := newImages(0)
	m.add(image.New(bin.Path, bin), 0, 1<<40)
	c := newCode(m, profile.New(profile.Meta{}))
	entry := func(name string) uint64 {
		s, ok := bin.Find(name)
		if !ok {
			t.Fatalf("no function %s", name)
		}
		return s.Addr
	}
	calls := func(name string) (rets []uint64) {
		for _, b := range c.look(entry(name)).fn.blocks {
			if b.kind == profile.EndCall || b.kind == profile.EndCallInd {
				rets = append(rets, b.end)
			}
		}
		return rets
	}
	for _, row := range []struct {
		in          string
		found, want int // which of its calls; -1: none
	}{
		{"once", 1, 1}, {"once", 0, 1}, // the third is a jump
		{"twice", 0, 0}, {"twice", 2, 2}, {"twice", 1, -1},
		{"by_jump", 1, 1}, {"by_jump", 0, 1},
		{"by_pointer", 0, 0}, {"by_pointer", 1, 0},
		{"never", 0, -1},
	} {
		rets, want := calls(row.in), uint64(0)
		if row.want >= 0 {
			want = rets[row.want]
		}
		if got := c.returnsFrom(rets[row.found], entry("waits")+1); got != want {
			t.Errorf("%s, call %d of %x: it returns to %#x, want %#x", row.in, row.found, rets, got, want)
		}
	}
}
