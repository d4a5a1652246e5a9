package workloads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// scaling is what is read of the JSON form of lime scale.
type scaling struct {
	Mode   string
	Knee   int
	Points []struct {
		Cores      int
		Time       float64
		Efficiency float64
		Losses     []struct {
			Term   string
			Share  float64
			Places []struct {
				Line  int
				Share float64
			}
		}
	}
	Forecast []struct {
		Cores   int
		Time    float64
		Trusted bool
	}
}

func scaled(t *testing.T, args ...string) (s scaling) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(lime(t), append([]string{"scale", "--json"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("lime scale %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// point is the run on so many cores, with the shares of its losses.
func (s *scaling) point(t *testing.T, cores int) (time float64, losses map[string]float64) {
	t.Helper()
	for _, p := range s.Points {
		if p.Cores != cores {
			continue
		}
		losses = map[string]float64{}
		sum := 0.0
		for _, l := range p.Losses {
			losses[l.Term], sum = l.Share, sum+l.Share
		}
		if math.Abs(sum-(1-p.Efficiency)) > 1e-9 {
			t.Errorf("on %d cores the losses add up to %v, the efficiency is %v", cores, sum, p.Efficiency)
		}
		return p.Time, losses
	}
	t.Fatalf("no run on %d cores", cores)
	return 0, nil
}

// law is a program of which it is known what its efficiency is lost to.
type law struct {
	name  string
	cores int
	term  string
	share func(first, time float64) float64 // by the law, from the run times on one core and on so many
}

func laws() []law {
	return []law{
		{"amdahl", 32, "serial", func(first, time float64) float64 { // 1.2 of 39.6 million rounds are one thread's
			return 31.0 / 32 * (1.2 / 39.6 * first) / time
		}},
		{"lock", 64, "lock", func(first, time float64) float64 { return 1 - first/(64*time) }}, // the lock never rests: who does not work waits for it
		{"collective", 64, "imbalance", func(first, time float64) float64 { // 20 x 64 x 40 rounds are one thread's, of 12.8 million
			return 63.0 / 64 * (20 * 64 * 40 / 12.8e6 * first) / time
		}},
	}
}

func (l *law) build(t *testing.T) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	bin := filepath.Join(t.TempDir(), l.name)
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-o", bin, filepath.Join("scaling", l.name+".c")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return bin
}

// held holds runs, of which one is on a core, to the law: within 2 points.
func (l *law) held(t *testing.T, s *scaling) {
	t.Helper()
	if s.Mode != "strong" {
		t.Errorf("the same work on more cores is taken for %s scaling", s.Mode)
	}
	first, _ := s.point(t, 1)
	time, losses := s.point(t, l.cores)
	if want := l.share(first, time); math.Abs(losses[l.term]-want) > 0.02 {
		t.Errorf("%s on %d cores: %.1f %%, by the law %.1f %%", l.term, l.cores, 100*losses[l.term], 100*want)
	}
}

// Programs that follow a known law: what their efficiency is lost to is within 2 points of it.
func TestScaleKnowsTheLaws(t *testing.T) {
	testenv.SkipShort(t)
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			s := scaled(t, "--cores", fmt.Sprintf("1,%d", l.cores), "--", l.build(t), "{}")
			l.held(t, &s)
		})
	}
}

// The time of the same programs on 256 cores, of which the forecast saw nothing, is within 10 % of the run's.
func TestScaleForecasts(t *testing.T) {
	testenv.SkipUnlessLong(t)
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			bin := l.build(t)
			s := scaled(t, "--cores", "1,2,4,8,16,32,64,128", "--forecast", "256", "--", bin, "{}")
			l.held(t, &s)
			seen := scaled(t, "--cores", "1,256", "--", bin, "{}")
			real, _ := seen.point(t, 256)
			f := s.Forecast[0]
			t.Logf("%s: on 256 cores %.4g, forecast %.4g (%+.1f %%)", l.name, real, f.Time, 100*(f.Time/real-1))
			if math.Abs(f.Time/real-1) > 0.10 || !f.Trusted {
				t.Errorf("on 256 cores %.4g, forecast %.4g (trusted: %v)", real, f.Time, f.Trusted)
			}
		})
	}
}
