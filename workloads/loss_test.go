package workloads

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// loss is the account of the whole loss in a report.
type loss struct {
	Useful, Imbalance, Unproved, Serial, Lock, Wait, Overhead, Memory float64
	OffCore                                                           float64 `json:"off_core"`
	Headline                                                          string
	Cores                                                             int
	Terms                                                             []lossTerm
}

// lossTerm is one of the things that core time goes into.
type lossTerm struct {
	Name   string
	Share  float64
	Places []struct {
		place
		Section int
		Share   float64
		Why     string
		Awaits  []struct {
			place
			Share float64
		}
		AtATime float64 `json:"at_a_time"`
	}
	RestShare float64 `json:"rest_share"`
}

// check holds what every report promises: the terms add up to 1, and the places of each to the term.
func (l *loss) check() error {
	sum := l.Useful + l.Imbalance + l.Unproved + l.Serial + l.Lock + l.Wait + l.OffCore + l.Overhead + l.Memory
	if math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("the terms of the loss add up to %.12f", sum)
	}
	for _, t := range l.Terms {
		places := t.RestShare
		for _, p := range t.Places {
			places += p.Share
		}
		if math.Abs(places-t.Share) > 1e-9 {
			return fmt.Errorf("the places of %s add up to %.12f of %.12f", t.Name, places, t.Share)
		}
	}
	return nil
}

// addUp holds the shares alone against their sum.
func addUp(shares map[string]float64) error {
	sum := 0.0
	for _, x := range shares {
		sum += x
	}
	if math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("%v add up to %.12f", shares, sum)
	}
	return nil
}

// A pool of threads with one hot lock: that lock is what all forms of the report say first, and the comparison with the repaired
// program says what was won.
func TestHotLock(t *testing.T) {
	bin, dir := lime(t), t.TempDir()
	testenv.Tool(t, "gcc")
	build := func(name string, flags ...string) string {
		prog := filepath.Join(dir, name)
		args := append([]string{"-O2", "-g", "-pthread", "-o", prog, "testdata/loss/hotlock.c"}, flags...)
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		data := prog + ".data"
		if out, err := exec.Command(bin, "simulate", "--cores", "8", "-o", data, "--", prog).CombinedOutput(); err != nil {
			t.Fatalf("simulate: %v\n%s", err, out)
		}
		return data
	}
	run := func(args ...string) string {
		out, err := exec.Command(bin, args...).Output()
		if err != nil {
			t.Fatalf("lime %v: %v", args, err)
		}
		return string(out)
	}
	before, after := build("hot"), build("repaired", "-DREPAIRED")
	source, err := os.ReadFile("testdata/loss/hotlock.c")
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(strings.Split(string(source), "/* HOT */")[0], "\n")
	at := fmt.Sprintf("hotlock.c:%d", line)

	var r struct {
		Whole struct {
			Efficiency float64 `json:"parallel_efficiency"`
		}
		Loss  loss `json:"loss_account"`
		Locks []struct {
			Name      string
			Contended int
			Waits     []struct {
				place
				Held string
			}
		}
	}
	if err := json.Unmarshal([]byte(run("report", "--json", before)), &r); err != nil {
		t.Fatal(err)
	}
	if err := r.Loss.check(); err != nil {
		t.Error(err)
	}
	if l := &r.Loss; l.Lock < 0.8 || l.Lock > 7./8 || !strings.Contains(l.Headline, "waiting for locks") || !strings.Contains(l.Headline, at) {
		t.Errorf("locks %.3f, said first: %s", l.Lock, l.Headline)
	}
	if l := r.Locks; len(l) == 0 || l[0].Name != "hot" || l[0].Contended < 90 || l[0].Waits[0].Line != line || l[0].Waits[0].Held != at {
		t.Errorf("locks: %+v", l)
	}
	if most := 1 - r.Loss.Lock; r.Whole.Efficiency > most {
		t.Errorf("an efficiency of %.3f", r.Whole.Efficiency)
	}
	for _, form := range [][]string{{"report", before}, {"report", "--html", before}} {
		if text := strings.Join(strings.Fields(run(form...)), " "); !strings.Contains(text, strings.TrimSuffix(r.Loss.Headline, ".")) {
			t.Errorf("lime %v does not say: %s", form, r.Loss.Headline)
		}
	}

	var d struct {
		Loss struct {
			Before, After float64
			Terms         []struct {
				Name, Change  string
				Before, After float64
				WonShare      float64 `json:"won_share"`
			}
		}
	}
	if err := json.Unmarshal([]byte(run("diff", "--json", before, after)), &d); err != nil {
		t.Fatal(err)
	}
	for _, x := range d.Loss.Terms {
		want := map[string]string{"lock": "better", "useful": "same", "serial": "same", "off_core": "same"}[x.Name]
		if want != "" && x.Change != want {
			t.Errorf("%s: %s, %.0f before, %.0f after; want %s", x.Name, x.Change, x.Before, x.After, want)
		}
		if x.Name == "lock" && x.WonShare < 0.9 {
			t.Errorf("locks are %.3f of what was saved", x.WonShare)
		}
	}
	if saved := d.Loss.Before - d.Loss.After; saved < 0.8*d.Loss.Before {
		t.Errorf("%.0f of %.0f saved", saved, d.Loss.Before)
	}
	run("diff", "--fail-on", "lock>+5%", before, after)
	if err := exec.Command(bin, "diff", "--fail-on", "lock>+5%", after, before).Run(); err == nil {
		t.Error("the other way round no limit is passed")
	}
}
