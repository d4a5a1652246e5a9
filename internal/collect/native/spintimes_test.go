package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// Loops that look at memory and at the clock, in what compilers make of them: who is in one waits, or
// lets time pass, or does something meanwhile.

const timesHead = `#include <time.h>
#include <sys/time.h>
#include <sched.h>
#include <stdlib.h>
extern int turn; int turn; extern double progress; double progress;
extern long sum[32], data[1024]; long sum[32], data[1024];
extern struct timespec last; struct timespec last; double kept;
#define LOOK (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < mine)
#define SECOND 1000000000L
#define PAUSE __builtin_ia32_pause()
#define APART __attribute__((noinline))
static inline struct timespec at(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t; }
static inline long ns(void) { struct timespec t = at(); return t.tv_sec * SECOND + t.tv_nsec; }
static inline double wtime(void) { struct timeval t; gettimeofday(&t, 0); return t.tv_sec + t.tv_usec * 1e-6; }
static APART double apart(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static APART long noted(void) { clock_gettime(CLOCK_MONOTONIC, &last); return last.tv_nsec; }
static APART void to(struct timespec *t) { clock_gettime(CLOCK_MONOTONIC, t); }
`

// timeForms are bodies of functions of int mine. Those of C++ and of code that is not optimised, in which
// less is proved, have marks.
var timeForms = []struct{ is, only, body string }{
	{waits, "", "long end = ns() + 5 * SECOND; while (LOOK) if (ns() > end) return;"},
	{waits, "", "long end = ns() + 5 * SECOND; while (LOOK) if (ns() > end) abort();"},
	{waits, "", "long from = ns(); while (LOOK) { if ((ns() - from) / 1000000 > 5000) return; PAUSE; }"},
	{waits, "", "double from = wtime(); while (LOOK) { if (wtime() - from > 5) return; PAUSE; }"},
	{waits, "", "double from = apart(); while (LOOK) { if (apart() - from > 5) return; sched_yield(); }"},
	{waits, "", "time_t from = time(0); while (LOOK) if (time(0) - from > 5) return;"},
	{waits, "", "time_t from = time(0), t; while (LOOK) { time(&t); if (t - from > 5) return; }"},
	{waits, "", "unsigned long from = __builtin_ia32_rdtsc(); while (LOOK) { if (__builtin_ia32_rdtsc() - " +
		"from > 1ul << 40) return; sched_yield(); }"},
	{waits, "", "long end = ns() + 5 * SECOND; for (unsigned n = 1; LOOK; n++) { if (n % 64 == 0 && ns() > " +
		"end) return; PAUSE; }"},
	{waits, "", "struct timespec a = at(); while (LOOK) { struct timespec b = at(); long s = b.tv_sec - " +
		"a.tv_sec, n = b.tv_nsec - a.tv_nsec; " +
		"if (n < 0) { s--; n += SECOND; } if (s > 5 || (s == 5 && n > 0)) return; }"},
	{waits, "", "long end = ns() + 5 * SECOND; do { if (!LOOK) return; } while (ns() < end);"},
	{waits, "", "struct timespec a, b; clock_gettime(1, &a); while (LOOK) { clock_gettime(1, &b); if " +
		"(b.tv_sec > a.tv_sec + 5) return; }"},
	{waits, "", "double end = apart() + 5; while (*(volatile double *)&progress < mine) if (apart() > end) " +
		"return;"},
	{waits, "c++", "auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5); while (LOOK) if " +
		"(std::chrono::steady_clock::now() > end) return;"},
	{waits, "c++", "auto from = std::chrono::system_clock::now(); while (LOOK) { " +
		"std::chrono::duration<double> d = std::chrono::system_clock::now() - from; " +
		"if (d.count() > 5) return; sched_yield(); }"},
	{works, "", "long end = ns() + SECOND / 2000; while (ns() < end) ;"},
	{works, "", "struct timespec a, b; clock_gettime(1, &a); do clock_gettime(1, &b); while (b.tv_sec < " +
		"a.tv_sec + 5);"},
	{works, "", "struct timespec b; do to(&b); while (b.tv_sec < mine);"},
	{works, "", "while (noted() < mine) ;"},
	{works, "", "do clock_gettime(1, &last); while (*(volatile long *)&last.tv_sec < mine);"},
	{works, "", "double end = apart() + mine; while (apart() < end) PAUSE;"},
	{works, "", "long x = mine, end = ns() + 5 * SECOND; while (LOOK) { for (int i = 0; i < 50; i++) x = x " +
		"* 31 + i; sum[mine & 31] = x; " +
		"if (ns() > end) return; }"},
	{works, "", "double s = mine; long end = ns() + 5 * SECOND; while (LOOK) { s = s * 1.0001 + " +
		"(double)data[3] + 1; if (ns() > end) break; } kept = s;"},
	{works, "", "unsigned long x = mine, h = 0, end = ns(); while (LOOK) { x = x * 6364136223846793005ul + " +
		"1442695040888963407ul; h += x >> 60; " +
		"if (ns() > (long)end) break; } sum[4] = h;"},
	{works, "", "unsigned i = 0; long s = 0, end = ns() + 5 * SECOND; while (LOOK) { s += ((volatile long " +
		"*)data)[i++ & 1023]; if (ns() > end) break; } sum[3] = s;"},
	{works, "", "long s = 0, end = ns() + 5 * SECOND; while (LOOK) { long t = ns(); s ^= t; s = s << 7 | s " +
		">> 57; if (t > end) break; } sum[5] = s;"},
	{works, "c++", "auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5); while " +
		"(std::chrono::steady_clock::now() < end) ;"},
}

// timesProgram has them all, in C or C++; functions form0 and so on.
func timesProgram(cpp bool) string {
	source, list, before := timesHead, "", ""
	if cpp {
		source, before = "#include <chrono>\n"+source, `extern "C" `
	}
	for i, f := range timeForms {
		if f.only == "" || cpp {
			source += fmt.Sprintf("%sAPART void form%d(int mine) { %s }\n", before, i, f.body)
			list += fmt.Sprintf("(void *)form%d, ", i)
		}
	}
	return source + "void *volatile all[] = {" + list + "};\nint main(void) { return !all[0]; }\n"
}

func TestLoopsWithTimeOuts(t *testing.T) {
	compilers := []string{"gcc -O2", "clang -O2", "gcc -O0", "g++ -O2",
		"clang++ -O2 -fno-plt", "gcc -Os -fstack-protector-all"}
	for _, cc := range compilers {
		words := strings.Fields(cc)
		cpp := strings.HasSuffix(words[0], "++")
		t.Run(cc, func(t *testing.T) {
			testenv.Tool(t, words[0])
			src, out := filepath.Join(t.TempDir(), "p.c"), filepath.Join(t.TempDir(), "p")
			if cpp {
				src += "pp"
			}
			if err := os.WriteFile(src, []byte(timesProgram(cpp)), 0o644); err != nil {
				t.Fatal(err)
			}
			if msg, err := exec.Command(words[0], append(words[1:], "-w", "-o", out, src)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", cc, err, msg)
			}
			c, bin := codeOf(t, out)
			for i, f := range timeForms {
				if f.only != "" && !cpp {
					continue
				}
				s, ok := bin.Find(fmt.Sprintf("form%d", i))
				if !ok {
					t.Fatalf("no function for %s", f.body)
				}
				if got := loopIs(c, s.Addr); got != f.is {
					t.Errorf("it %s, and it %s: %s", got, f.is, f.body)
				}
			}
		})
	}
}
