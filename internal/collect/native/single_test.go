package native

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/resolve"
)

// A loop, and what one thread does alone then, again and again, on one line.
const alone = `
static volatile double out[64 * 64];
static inline double some(long n, double x) { for (long i = 0; i < n; i++) x = x * 0.999 + i; return x; }
static __attribute__((noinline)) void one(int r) { out[0] = some(r %% 2 ? 200000 : 210000, 1); }
int main(void) {
	#pragma omp parallel num_threads(%[1]d)
	for (int r = 0; r < 20; r++) {
		_Pragma("omp for schedule(static)") for (int i = 0; i < 64; i++) out[64 * i] = some(2000, 2); _Pragma("omp single %[2]s") one(r); %[3]s
	}
	return 0;
}
`

// What one thread does in a single is no work that goes to whoever comes first, however few cores there
// are, and its end is no copy of the end of the loop before, though they have one line.
func TestSingleIsDoneByOne(t *testing.T) {
	needs(t, needSamples, needTracing)
	n := 4 * cores()
	for single, end := range map[string]string{"": "", "nowait": `_Pragma("omp barrier")`} {
		prog := build(t, fmt.Sprintf(alone, n, single, end), "-fopenmp", "-g")
		p, _ := record(t, Options{Command: []string{prog}})
		if err := resolve.Memory(p, resolve.Options{}); err != nil {
			t.Fatal(err)
		}
		told := 0
		for id, s := range p.Tables().Sections {
			most, work, times := uint64(0), uint64(0), 0
			for in := range p.Instances(profile.SectionID(id)) {
				times++
				for i := range in.Parts {
					work += in.Parts[i].Time()
				}
				most += longestPart(in)
			}
			if s.Kind == profile.SectionBarrier && most*2 > work && strings.Contains(fmt.Sprint(s.Frames), "main") {
				if told++; times != 20 {
					t.Errorf("single %s: %d passages, want 20", single, times)
				}
			}
		}
		if told != 1 {
			t.Errorf("single %s: in %d sections one thread has more than half of the work, want one", single, told)
		}
	}
}

func longestPart(in *profile.Instance) (most uint64) {
	for i := range in.Parts {
		most = max(most, in.Parts[i].Time())
	}
	return most
}
