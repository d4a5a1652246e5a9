package machine

import (
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		d, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Name != name {
			t.Errorf("%s: calls itself %q", name, d.Name)
		}
		again, err := Parse(name, d.Text())
		if err != nil {
			t.Errorf("%s written and read again: %v", name, err)
		} else if *again != *d {
			t.Errorf("%s written and read again differs:\n%+v\n%+v", name, *again, *d)
		}
		for _, cores := range []int{1, 64, 1024} {
			if cores == 1024 && testing.Short() {
				continue
			}
			if _, err := New(d, cores); err != nil {
				t.Errorf("%s with %d cores: %v", name, cores, err)
			}
		}
	}
}

// Every impossible value gets an error with the line and the key.
func TestDescriptionErrors(t *testing.T) {
	base, err := presets.ReadFile("presets/desktop.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"cores = 8", "cores = 0", `"cores": must be from 1 to 1024`},
		{"cores = 8", "cores = 1025", `"cores"`},
		{"cores = 8", "cores = -3", `"cores"`},
		{"frequency_mhz = 4000", "frequency_mhz = 0", `"frequency_mhz"`},
		{"frequency_mhz = 4000", "frequency_mhz = nan", `"frequency_mhz"`},
		{"line_bytes = 64", "line_bytes = 48", `"line_bytes"`},
		{"page_bytes = 4096", "page_bytes = 100", `"page_bytes"`},
		{"width = 4", "width = 0", `"core.width"`},
		{"window = 224", "window = 2", `"core.window"`},
		{"mispredict_cycles = 16", "mispredict_cycles = -1", `"core.mispredict_cycles"`},
		{"store_buffer = 56", "store_buffer = 0", `"core.store_buffer"`},
		{"outstanding_misses = 12", "outstanding_misses = 0", `"core.outstanding_misses"`},
		{`predictor = "tage"`, `predictor = "oracle"`, `"core.predictor"`},
		{"predictor_bits = 12", "predictor_bits = 40", `"core.predictor_bits"`},
		{"[l1i]\nsize = \"32KB\"", "[l1i]\nsize = 0", `"l1i.size"`},
		{"[l1d]\nsize = \"32KB\"", "[l1d]\nsize = \"0\"", `"l1d.size"`},
		{"[l1d]\nsize = \"32KB\"", "[l1d]\nshared = true\nsize = \"32KB\"", `"l1d.shared"`},
		{"[l1d]\nsize = \"32KB\"", "[l1d]\nsize = \"33000\"", `"l1d.size"`},
		{"[l1d]\nsize = \"32KB\"", "[l1d]\nsize = \"many\"", `size "many"`},
		{"size = \"512KB\"", "size = 0", `"l2.size"`},
		{"size = \"512KB\"", "shared = true\nsize = \"512KB\"", `"l2.shared"`},
		{"shared = true", "shared = false", `"l2.shared"`},
		{"size = \"16MB\"", "size = \"16GB\"", `"l3.size"`},
		{"ways = 16", "ways = 0", `"l3.ways"`},
		{"latency = 42", "latency = -1", `"l3.latency"`},
		{"latency = 42", "policy = \"fifo\"", `"l3.policy"`},
		{"entries = 64\nways = 4", "entries = 64\nways = 5", `"dtlb.ways"`},
		{"transfer_cycles = 70", "transfer_cycles = -1", `"coherence.transfer_cycles"`},
		{"upgrade_cycles = 45", "upgrade_cycles = 1000000", `"coherence.upgrade_cycles"`},
		{"latency = 280", "latency = -280", `"memory.latency"`},
		{"channels = 2", "channels = 0", `"memory.channels"`},
		{"cycles_per_line = 10", "cycles_per_line = -1", `"memory.cycles_per_line"`},
		{"cycles_per_line = 10", "cycles_per_line = 10\nnodes = 9", `"memory.nodes"`},
		{"cycles_per_line = 10", "cycles_per_line = 10\nnodes = 2\nremote_cycles = -1", `"memory.remote_cycles"`},
		{"streams = 16", "streams = 65", `"prefetch.streams"`},
		{"degree = 2", "degree = 0", `"prefetch.degree"`},
		{"degree = 2", "degre = 2", `unknown key "prefetch.degre"`},
		{"degree = 2", "degree = ", "line "},
	} {
		text := strings.Replace(string(base), c.old, c.new, 1)
		if text == string(base) {
			t.Errorf("%q is not in the preset", c.old)
			continue
		}
		_, err := Parse("test", text)
		if err == nil {
			t.Errorf("%s: no error", c.new)
		} else if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), "line 0") {
			t.Errorf("%s: %v; want a line and %s", c.new, err, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	d, err := Load("desktop", "machine.l2.size=8MB", "core.predictor=gshare", "cores=3", "memory.latency = 99")
	if err != nil {
		t.Fatal(err)
	}
	if d.L2.Size != 8<<20 || d.Core.Predictor != "gshare" || d.Cores != 3 || d.Memory.Latency != 99 {
		t.Errorf("settings not applied: %+v", d)
	}
	for _, bad := range []string{"l2.size", "l9.size=1", "l2.size=huge", "cores=many"} {
		if _, err := Load("desktop", bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if _, err := Load("desktop", "l2.size=8MB", " machine.cores = 5000"); err == nil ||
		strings.Contains(err.Error(), "line") || !strings.Contains(err.Error(), `setting " machine.cores = 5000": must be from 1`) {
		t.Errorf("a setting that cannot be: %v, want it to be named", err)
	}
	if _, err := Load("no-such-machine"); err == nil || !strings.Contains(err.Error(), "lime2011") {
		t.Errorf("unknown machine: %v, want the list of presets", err)
	}
}
