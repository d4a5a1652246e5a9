package workloads

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// totals sums the events of each kind over a profile.
func totals(t *testing.T, bin, data string) map[string]float64 {
	t.Helper()
	text, err := exec.Command(bin, "export", "--text", data).Output()
	if err != nil {
		t.Fatal(err)
	}
	name, number := regexp.MustCompile(` name="([^"]*)"`), regexp.MustCompile(` kind=(\d+)`)
	var kinds, events []string
	sums := map[string]float64{}
	for _, line := range strings.Split(string(text), "\n") {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "kind":
			kinds = append(kinds, name.FindStringSubmatch(line)[1])
		case "event":
			k := 0
			if m := number.FindStringSubmatch(line); m != nil {
				k, _ = strconv.Atoi(m[1])
			}
			events = append(events, kinds[k])
		case "events":
			var e int
			var n float64
			if _, err := fmt.Sscan(rest, &e, &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			sums[events[e]] += n
		}
	}
	return sums
}

// cachegrind returns its counts by their names: "D1", "I1", "LLd", "LLi".
func cachegrind(t *testing.T, prog string, args []string) map[string]float64 {
	t.Helper()
	words := append([]string{"--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null",
		"--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64", prog}, args...)
	text, err := exec.Command("valgrind", words...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := map[string]float64{}
	for _, m := range regexp.MustCompile(`(I1|D1|LLi|LLd) +misses: +([0-9,]+)`).FindAllStringSubmatch(string(text), -1) {
		out[m[1]], _ = strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	}
	return out
}

// TestCachegrind holds the caches to an independent model: whole programs on one core, least recently used, the same geometry.
// Cachegrind counts an access over two lines that misses in both as one miss, and its last level does not
// hold the first one's lines alive or take them away; programs of ordinary alignment differ by less than a percent.
func TestCachegrind(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	testenv.Tool(t, "valgrind", "gcc-static")
	bin, dir := lime(t), t.TempDir()
	for _, c := range []struct {
		source string
		args   []string
	}{{"testdata/matrix.c", nil}, {"../bench/lu.c", []string{"1", "12"}}, {"../bench/radix.c", []string{"1", "100", "1"}}, {"../bench/fft.c", []string{"1", "7", "1"}}} {
		prog := filepath.Join(dir, strings.TrimSuffix(filepath.Base(c.source), ".c"))
		if text, err := exec.Command("gcc", "-O1", "-g", "-static", "-pthread", "-o", prog, c.source, "-lm").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		data := prog + ".lime"
		words := append([]string{"simulate", "--no-resolve", "--cores", "1", "--machine", "testdata/cachegrind.toml", "-o", data, "--", prog}, c.args...)
		if text, err := exec.Command(bin, words...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, want := totals(t, bin, data), cachegrind(t, prog, c.args)
		for _, row := range []struct {
			what      string
			got, want float64
		}{{"first-level data misses", got["l1d-miss"], want["D1"]}, {"last-level data misses", got["l2-miss"], want["LLd"]}} {
			t.Logf("%s: %s %.0f, cachegrind %.0f", filepath.Base(c.source), row.what, row.got, row.want)
			if row.want == 0 || math.Abs(row.got-row.want) > 0.01*row.want {
				t.Errorf("%s: %s %.0f, cachegrind has %.0f", filepath.Base(c.source), row.what, row.got, row.want)
			}
		}
	}
}
