// Programs at random in which all threads do the same to data of their own, and to data that all of
// them only read. Where pages lie, and who comes first to a queue, is all that makes them differ
// on a described machine: no cause in the program, but what every placement of pages shows.
package workloads

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// evenProgram is one of them.
type evenProgram struct {
	name, source, build, text string
	threads                   int
}

// own are the ways to get a thread's data, as C: what main does before the threads start, and what
// a thread does.
var own = []struct{ name, before, within string }{
	{"malloc", "", "u *a = malloc(KB * 1024ul);"},
	{"main-malloc", "for (u i = 0; i < P; i++) part[i] = malloc(KB * 1024ul);", "u *a = part[me];"},
	{"array", "u *all = malloc(P * KB * 1024ul); for (u i = 0; i < P; i++) part[i] = all + i * KB * 128ul;", "u *a = part[me];"},
	{"padded", "u *all = malloc(P * (KB * 1024ul + 4096)); for (u i = 0; i < P; i++) part[i] = all + i * (KB * 128ul + 512);", "u *a = part[me];"},
	{"stack", "", "u a[KB * 128ul]; use(a);"},
	{"static", "static u all[P][KB * 128ul]; for (u i = 0; i < P; i++) part[i] = all[i];", "u *a = part[me];"},
}

// passes are what threads do to n words of their own at a, and to N words that are shared; x is a
// number that is the same in all threads.
var passes = []struct{ name, loop string }{
	{"read", "for (u i = 0; i < n; i++) x += a[i];"},
	{"write", "for (u i = 0; i < n; i++) a[i] = x + i;"},
	{"lines", "for (u i = 0; i < n; i += 8) x += a[i];"},
	{"update", "for (u i = 0; i < n; i += 8) a[i] = a[i] * 3 + x;"},
	{"pages", "for (u k = 0; k < 512; k += 8) for (u i = k; i < n; i += 512) x += a[i];"},
	{"random", "for (u i = 0; i < n / 8; i++) { s = s * 6364136223846793005ul + 1442695040888963407ul; x += a[(s >> 33) % n]; }"},
	{"scatter", "for (u i = 0; i < n / 8; i++) { s = s * 6364136223846793005ul + 1442695040888963407ul; a[(s >> 33) % n] += i; }"},
	{"chase", "for (u i = 0, k = 0; i < n / 8; i++) { k = (k * 5 + 8 * 77 + 1) % n; x += a[k / 8 * 8]; }"},
	{"stencil", "for (u i = 1; i + 1 < n; i++) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;"},
	{"shared", "for (u i = 0; i < N; i += 8) x += shared[i];"},
	{"shared-random", "for (u i = 0; i < N / 16; i++) { s = s * 6364136223846793005ul + 1442695040888963407ul; x += shared[(s >> 33) % N]; }"},
	{"compute", "for (u i = 0; i < n; i++) x = x * 7 + (x >> 3);"},
}

// newEvenProgram draws one: from where data come, how much of them, who touches them first, what is
// done to them, in which language.
func newEvenProgram(seed uint64) *evenProgram {
	r := rand.New(rand.NewPCG(seed, 10))
	threads := []int{4, 8, 8, 8, 16}[r.IntN(5)]
	// Around the first level (16 KB), and around a thread's part of the shared one (4 MB).
	kb := []int{8, 12, 16, 24, 64, 128, 2048 / threads, 3072 / threads, 4096 / threads, 5120 / threads, 8192 / threads}[r.IntN(11)]
	from, first := own[r.IntN(len(own))], []string{"owner", "main"}[r.IntN(2)]
	table := []int{4, 64, 1024, 4096}[r.IntN(4)]
	var work []string
	name := []string{from.name, first, fmt.Sprintf("%dx%dK", threads, kb), fmt.Sprintf("%dK", table)}
	for range 1 + r.IntN(3) {
		p := passes[r.IntN(len(passes))]
		name, work = append(name, p.name), append(work, "\t\t"+p.loop)
	}
	rounds, barrier := max(3, min(60, 3000/kb)), r.IntN(2) == 0
	language := []string{"pthread", "pthread", "openmp", "c++", "go"}[r.IntN(5)]
	level := []string{"-O1", "-O2", "-O2", "-O0"}[r.IntN(4)]
	name = append(name, language, level)
	p := &evenProgram{source: "main.c", threads: threads}
	if language == "go" {
		p.source, p.build, p.text = "main.go", "go build -o OUT SRC", evenGo(threads, kb, table, rounds, first == "owner", work)
		p.name = strings.Join(name, ",")
		return p
	}
	meet := ""
	if barrier {
		meet = map[string]string{"openmp": "\n\t\t_Pragma(\"omp barrier\")", "pthread": "\n\t\tpthread_barrier_wait(&bar);"}[language]
		name = append(name, "barrier")
	}
	touch := map[string]string{"owner": "fill(a);", "main": ""}[first]
	fill := "for (u i = 0; i < P; i++) if (part[i]) fill(part[i]);"
	if first == "owner" {
		fill = ""
	} else if from.before == "" {
		touch = "fill(a);" // nobody else can
	}
	body := fmt.Sprintf(`static void work(u me) {
	u x = 1, s = 1, n = KB * 128ul, N = TABLE * 128ul;
	%s
	%s
	for (int round = 0; round < %d; round++) {
%s%s
	}
	result[me * 64] = x + s + a[3] + n + N;
}
`, from.within, touch, rounds, strings.Join(work, "\n"), meet)
	start := map[string]string{
		"pthread": "pthread_t t[P]; for (u i = 0; i < P; i++) pthread_create(&t[i], 0, run, (void *)i); for (u i = 0; i < P; i++) pthread_join(t[i], 0);",
		"openmp":  "_Pragma(\"omp parallel num_threads(P)\") work((u)omp_get_thread_num());",
		"c++":     "std::vector<std::thread> t; for (u i = 0; i < P; i++) t.emplace_back(work, i); for (auto &x : t) x.join();",
	}[language]
	p.text = fmt.Sprintf(`%s#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long u;
#define P %dul
#define KB %dul
#define TABLE %dul
static u *part[P], *shared, result[P * 64];
static pthread_barrier_t bar;
static inline void use(u *a) { __asm__ volatile("" : : "r"(a) : "memory"); }
static void fill(u *a) { for (u i = 0; i < KB * 128ul; i++) a[i] = i; }
%sstatic void *run(void *arg) { work((u)arg); return 0; }
int main(void) {
	shared = (u *)malloc(TABLE * 1024ul);
	for (u i = 0; i < TABLE * 128ul; i++) shared[i] = i;
	pthread_barrier_init(&bar, 0, P);
	(void)run; (void)use; (void)fill; (void)part;
	%s
	%s
	%s
	u sum = 0;
	for (u i = 0; i < P; i++) sum += result[i * 64];
	printf("%%lu\n", sum);
}
`, map[string]string{"openmp": "#include <omp.h>\n", "c++": "#include <thread>\n#include <vector>\n"}[language], threads, kb, table, body, from.before, fill, start)
	p.build = map[string]string{"pthread": "gcc -pthread", "openmp": "gcc -fopenmp", "c++": "g++ -pthread"}[language] + " -w -g " + level + " -o OUT SRC"
	if language == "c++" {
		p.source, p.text = "main.cc", strings.ReplaceAll(p.text, "malloc(", "(u *)malloc(")
	}
	p.name = strings.Join(name, ",")
	return p
}

// evenGo is such a program of goroutines.
func evenGo(threads, kb, table, rounds int, owner bool, work []string) string {
	// The loops of C are few; each is written anew.
	goLoops := map[string]string{
		"read": "for i := range n { x += a[i] }", "write": "for i := range n { a[i] = x + i }",
		"lines": "for i := uint64(0); i < n; i += 8 { x += a[i] }", "update": "for i := uint64(0); i < n; i += 8 { a[i] = a[i]*3 + x }",
		"pages":         "for k := uint64(0); k < 512; k += 8 { for i := k; i < n; i += 512 { x += a[i] } }",
		"random":        "for i := uint64(0); i < n/8; i++ { s = s*6364136223846793005 + 1442695040888963407; x += a[(s>>33)%n] }",
		"scatter":       "for i := uint64(0); i < n/8; i++ { s = s*6364136223846793005 + 1442695040888963407; a[(s>>33)%n] += i }",
		"chase":         "for i, k := uint64(0), uint64(0); i < n/8; i++ { k = (k*5 + 8*77 + 1) % n; x += a[k/8*8] }",
		"stencil":       "for i := uint64(1); i+1 < n; i++ { a[i] = (a[i-1] + a[i] + a[i+1]) / 3 }",
		"shared":        "for i := uint64(0); i < N; i += 8 { x += shared[i] }",
		"shared-random": "for i := uint64(0); i < N/16; i++ { s = s*6364136223846793005 + 1442695040888963407; x += shared[(s>>33)%N] }",
		"compute":       "for range n { x = x*7 + x>>3 }",
	}
	var loops []string
	for _, w := range work {
		for _, p := range passes {
			if strings.TrimSpace(w) == p.loop {
				loops = append(loops, "\t\t"+goLoops[p.name])
			}
		}
	}
	before, within := fmt.Sprintf("for i := range part { part[i] = make([]uint64, %d); fill(part[i]) }", kb*128), "a := part[me]"
	if owner {
		before, within = "", fmt.Sprintf("a := make([]uint64, %d); fill(a)", kb*128)
	}
	return fmt.Sprintf(`package main

import (
	"fmt"
	"sync"
)

var part [%d][]uint64
var shared = make([]uint64, %d)
var result [%d]uint64

func fill(a []uint64) { for i := range a { a[i] = uint64(i) } }

func work(me int) {
	%s
	x, s, n, N := uint64(1), uint64(1), uint64(len(a)), uint64(len(shared))
	for range %d {
%s
	}
	result[me*64] = x + s + n + N
}

func main() {
	fill(shared)
	%s
	var all sync.WaitGroup
	for i := range part {
		all.Add(1)
		go func() { defer all.Done(); work(i) }()
	}
	all.Wait()
	sum := uint64(0)
	for i := range part { sum += result[i*64] }
	fmt.Println(sum)
}
`, threads, table*128, threads*64, within, rounds, strings.Join(loops, "\n"), before)
}

// compile builds the program.
func (p *evenProgram) compile(t *testing.T, dir string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	src, out := filepath.Join(dir, p.source), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(p.text), 0o644); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.NewReplacer("OUT", out, "SRC", src).Replace(p.build))
	if msg, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", p.name, err, msg)
	}
	return out
}

// claims are the first causes of sections that lose what is worth to report, unless they are
// labelled as luck.
func claims(a answer) (out []string) {
	for _, s := range a.Sections {
		if s.LostShare > worth && len(s.Causes) > 0 && s.Causes[0].Score > important && !s.Causes[0].Luck {
			c := s.Causes[0]
			out = append(out, fmt.Sprintf("%s at %s:%d of section %s:%d, %.0f %% of %.1f %%", c.Event, filepath.Base(c.File), c.Line,
				filepath.Base(s.EndsAt.File), s.EndsAt.Line, 100*c.Share, 100*s.LostShare))
		}
	}
	return out
}

// TestEvenPrograms tells what is claimed of programs in which only the placement of pages, and who
// comes first to the bus, makes threads differ (LIME_LONG=1), under EVEN_SEEDS seeds (1 if it is not
// set). Not all of it is false: under all seeds, those that begin or end alone have more of a shared
// cache. It fails where a program does not run, or its account does not add up.
func TestEvenPrograms(t *testing.T) {
	testenv.SkipUnlessLong(t)
	bin, seeds, from, to := lime(t), 1, 0, 60
	if _, err := fmt.Sscanf(os.Getenv("EVEN_RANGE"), "%d-%d", &from, &to); err != nil {
		t.Log("EVEN_RANGE=FROM-TO chooses others than 0-60")
	}
	if n, err := strconv.Atoi(os.Getenv("EVEN_SEEDS")); err == nil {
		seeds = n
	}
	for n := from; n < to; n++ {
		p := newEvenProgram(uint64(n))
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			prog := p.compile(t, t.TempDir())
			for seed := 1; seed <= seeds; seed++ {
				said, lost := p.claims(t, bin, prog, n, seed)
				t.Logf("%s, seed %d: up to %.1f %% lost; claims: %s", p.name, seed, 100*lost, strings.Join(said, "; "))
			}
		})
	}
}

// claims simulates the program under a seed, and returns what is claimed and the largest loss of a
// section.
func (p *evenProgram) claims(t *testing.T, bin, prog string, n, seed int) (said []string, lost float64) {
	t.Helper()
	w := &workload{name: fmt.Sprintf("even%d-%d", n, seed), Balanced: true, Machine: "lime2011", Set: []string{fmt.Sprintf("memory.seed=%d", seed)}}
	a, err := w.simulate(t, bin, prog, p.threads)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	for _, s := range a.Sections {
		lost = max(lost, s.LostShare)
	}
	return claims(a), lost
}
