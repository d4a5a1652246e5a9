package native

import (
	"fmt"
	"strings"
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
__attribute__((noinline)) void takes_swapping(void) { while (__atomic_exchange_n(&flag, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause(); }
__attribute__((noinline)) void takes_bit(void) { while (__atomic_fetch_or(&flag, 8, __ATOMIC_ACQUIRE) & 8) ; }
__attribute__((noinline)) void takes_comparing(int me) { int no = 0; while (!__atomic_compare_exchange_n(&flag, &no, me, 0, 2, 0)) no = 0; }
__attribute__((noinline)) void takes_looking(void) { while (__atomic_exchange_n(&flag, 1, __ATOMIC_ACQUIRE)) while (flag) __builtin_ia32_pause(); }
__attribute__((noinline)) void works_trying(int v) { int old = flag; while (!__atomic_compare_exchange_n(&flag, &old, old + v, 0, 5, 5)) ; }
__attribute__((noinline)) void works_swapping(int n) { do n = __atomic_exchange_n(&flag, n, 5) ; while (n > 5); }
__attribute__((noinline)) void works_posting(void) { while (!value) __atomic_fetch_add(&flag, 1, 5); }
int waits_saving(void), waits_saving_two(void), works_saving(void);
#define SAVING(name, before) __asm__(".type " name ", @function\n" name ":\n\tsub $24, %rsp\n\txor %edx, %edx\n" \
	"1:\tmov flag(%rip), %eax\n\ttest %eax, %eax\n\tjne 2f\n\tadd $1, %edx\n\ttest $0x3f, %dl\n\tjne 1b\n" \
	before "\tmov %edx, 12(%rsp)\n\tcall sched_yield@plt\n\tmov 12(%rsp), %edx\n\tjmp 1b\n" \
	"2:\tadd $24, %rsp\n\tret\n\t.size " name ", .-" name "\n")
SAVING("waits_saving", "");
SAVING("waits_saving_two", "\tmov %ecx, 12(%rsp)\n");
SAVING("works_saving", "\timul $3, %esi\n\tmov %esi, 16(%rsp)\n");
int main(int argc, char **argv) {
	flag = 1;
	waits_saving(); waits_saving_two(); works_saving();
	flag = 0; takes_swapping(); flag = 0; takes_bit(); flag = 0; takes_comparing(argc); flag = 0; takes_looking();
	works_trying(1); works_swapping(1); value = 1; works_posting(); flag = 1;
	waits_pausing((int *)&flag); waits_yielding();
	return waits_counting() + works_searching(0) + works_counting(argc) + (argc > 5 ? (works_storing(), works_adding()) : 0);
}
`

const works, waits, takes = "works", "waits", "waits for a lock"

// A loop that only looks waits; one that tries to take a word, with the same values each time round,
// waits for a lock; one that gets anywhere works.
func TestSpinLoops(t *testing.T) {
	loopsAre(t, build(t, spinning), map[string]string{"waits_pausing": waits, "waits_yielding": waits, "waits_counting": waits,
		"waits_saving":     waits,                        // the counter is on the stack for the time of the call
		"waits_saving_two": waits, "works_saving": works, // so is what stays as it is; what does not
		"works_searching": works, "works_adding": works, "works_storing": works, "works_counting": works,
		"takes_swapping": takes, "takes_bit": takes, "takes_comparing": takes, "takes_looking": takes,
		"works_trying": works, "works_swapping": works, "works_posting": works})
}

// codeOf is a program's code.
func codeOf(t *testing.T, program string) (*code, *binfile.File) {
	t.Helper()
	bin, err := binfile.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	m := newImages(0)
	m.add(image.New(bin.Path, bin), 0, 1<<40)
	return newCode(m, profile.New(profile.Meta{})), bin
}

// loopIs is what the loops of a function are.
func loopIs(c *code, at uint64) (is string) {
	is = works
	for _, b := range c.at(at).fn.blocks {
		switch {
		case b.spins && b.takes:
			return takes
		case b.spins:
			is = waits
		}
	}
	return is
}

// loopsAre compares the loops of functions with what they should be.
func loopsAre(t *testing.T, program string, all map[string]string) {
	c, bin := codeOf(t, program)
	for name, want := range all {
		s, ok := bin.Find(name)
		if !ok {
			t.Fatalf("no function %s", name)
		}
		if got := loopIs(c, s.Addr); got != want {
			t.Errorf("%s: it %s, want: it %s", name, got, want)
		}
	}
}

// Whatever a function needs after a loop that yields, and keeps on the stack for the time of the call,
// the loop waits; if it reckons with it meanwhile, it works.
func TestSpinLoopsThatKeep(t *testing.T) {
	source, all, list := "#include <sched.h>\nextern int flag; int flag;\n", map[string]string{}, ""
	for _, kind := range []string{"int", "long", "float", "double"} {
		for n := 1; n <= 6; n++ {
			var params, sum []string
			for i := range n {
				params = append(params, fmt.Sprintf("%s a%d", kind, i))
				sum = append(sum, fmt.Sprintf("a%d * (%d + a%d)", i, i+2, (i+1)%n))
			}
			for name, in := range map[string]string{"waits": "", "works": "a0 = a0 * 3 + 1;"} {
				f := fmt.Sprintf("%s_%s_%d", name, kind, n)
				all[f] = name
				list += fmt.Sprintf(", (void *)%s", f)
				source += fmt.Sprintf("__attribute__((noinline)) %s %s(%s) { int spins = 0; "+
					"while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != 7) { %s if (++spins %% 64 == 0) sched_yield(); } return %s; }\n",
					kind, f, strings.Join(params, ", "), in, strings.Join(sum, " + "))
			}
		}
	}
	source += "void *volatile all[] = {" + list[2:] + "};\nint main(void) { return !all[0]; }\n"
	for _, flags := range [][]string{{"-O1"}, {"-O2"}, {"-O3"}, {"-Os"}, {"-O2", "-mavx2"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) { loopsAre(t, build(t, source, flags...), all) })
	}
}
