package native

import (
	"testing"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/profile"
)

const spinning = `
#include <sched.h>
volatile int flag, value;
int list[100];
__attribute__((noinline)) void waits_pausing(int *mine) { while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != *mine) __builtin_ia32_pause(); }
__attribute__((noinline)) void waits_yielding(void) { while (!flag) sched_yield(); }
__attribute__((noinline)) int waits_counting(void) { for (int i = 0; i < 1000; i++) if (flag) return i; return -1; }
__attribute__((noinline)) int works_searching(int x) { int i = 0; while (((volatile int *)list)[i] != x) i++; return i; }
__attribute__((noinline)) int works_adding(void) { int s = 0; while (s < 100000) s += value; return s; }
__attribute__((noinline)) void works_storing(void) { while (!flag) value = 1; }
__attribute__((noinline)) int works_counting(int n) { int i, odd = 0; for (i = 0; i < n; i++) { odd ^= i; __asm__ volatile("" : "+r"(odd)); } return odd; }
int waits_saving(void), works_saving(void);
#define SAVING(name, before) __asm__(".type " name ", @function\n" name ":\n\tsub $24, %rsp\n\txor %edx, %edx\n" \
	"1:\tmov flag(%rip), %eax\n\ttest %eax, %eax\n\tjne 2f\n\tadd $1, %edx\n\ttest $0x3f, %dl\n\tjne 1b\n" \
	before "\tmov %edx, 12(%rsp)\n\tcall sched_yield@plt\n\tmov 12(%rsp), %edx\n\tjmp 1b\n" \
	"2:\tadd $24, %rsp\n\tret\n\t.size " name ", .-" name "\n")
SAVING("waits_saving", "");
SAVING("works_saving", "\tmov %ecx, 12(%rsp)\n");
int main(int argc, char **argv) {
	flag = 1;
	waits_saving(); works_saving();
	waits_pausing((int *)&flag); waits_yielding();
	return waits_counting() + works_searching(0) + works_counting(argc) + (argc > 5 ? (works_storing(), works_adding()) : 0);
}
`

// A loop that only looks waits; one that gets anywhere works.
func TestSpinLoops(t *testing.T) {
	bin, err := binfile.Open(build(t, spinning))
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	m := newImages(0)
	m.add(image.New(bin.Path, bin), 0, 1<<40)
	c := newCode(m, profile.New(profile.Meta{}))
	for name, want := range map[string]bool{"waits_pausing": true, "waits_yielding": true, "waits_counting": true,
		"waits_saving": true, "works_saving": false, // the counter is on the stack for the time of the call; so is something else
		"works_searching": false, "works_adding": false, "works_storing": false, "works_counting": false} {
		s, ok := bin.Find(name)
		if !ok {
			t.Fatalf("no function %s", name)
		}
		got := false
		for _, b := range c.at(s.Addr).fn.blocks {
			got = got || b.spins
		}
		if got != want {
			t.Errorf("%s: waits is %v, want %v", name, got, want)
		}
	}
}
