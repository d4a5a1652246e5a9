package machine

import (
	"embed"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Description is a machine as its TOML file gives it. Sizes are in bytes, latencies in core cycles.
type Description struct {
	Name         string        `toml:"name"`
	Cores        int           `toml:"cores"`         // number of cores, 1 to 1024
	FrequencyMHz float64       `toml:"frequency_mhz"` // core clock
	LineBytes    int           `toml:"line_bytes"`    // cache line, a power of two from 16 to 64
	PageBytes    int           `toml:"page_bytes"`    // virtual page, a power of two
	Core         CoreDesc      `toml:"core"`
	L1I          CacheDesc     `toml:"l1i"`
	L1D          CacheDesc     `toml:"l1d"`
	L2           CacheDesc     `toml:"l2"`
	L3           CacheDesc     `toml:"l3"`
	Bus          BusDesc       `toml:"bus"`
	DTLB         TLBDesc       `toml:"dtlb"`
	ITLB         TLBDesc       `toml:"itlb"`
	Coherence    CoherenceDesc `toml:"coherence"`
	Memory       MemoryDesc    `toml:"memory"`
	Prefetch     PrefetchDesc  `toml:"prefetch"`
}

// CoreDesc describes one core's pipeline.
type CoreDesc struct {
	Width       int    `toml:"width"`              // instructions dispatched a cycle
	Window      int    `toml:"window"`             // instructions in flight (reorder buffer)
	Mispredict  int    `toml:"mispredict_cycles"`  // lost at a mispredicted branch
	StoreBuffer int    `toml:"store_buffer"`       // stores waiting to reach the cache
	Misses      int    `toml:"outstanding_misses"` // misses in flight (miss status registers)
	Predictor   string `toml:"predictor"`          // "tage", "gshare", "bimodal", "perfect"
	PredBits    int    `toml:"predictor_bits"`     // log2 of the entries of a predictor table
}

// CacheDesc describes a cache; Size "" or "0" means that there is none.
type CacheDesc struct {
	Size    Size   `toml:"size"`
	Ways    int    `toml:"ways"`
	Latency int    `toml:"latency"` // load-to-use in cycles when it hits
	Policy  string `toml:"policy"`  // "lru" (default), "plru", "random"
	Shared  bool   `toml:"shared"`  // by all cores
}

// BusDesc describes the shared bus between the private caches and the shared level.
type BusDesc struct {
	Width  int `toml:"width_bytes"`     // bytes a beat; 0 = no shared bus (every core has its own way)
	Cycles int `toml:"cycles_per_beat"` // core cycles a beat
}

// TLBDesc describes a translation buffer; Entries 0 means that translation costs nothing.
type TLBDesc struct {
	Entries int `toml:"entries"`
	Ways    int `toml:"ways"`
	Miss    int `toml:"miss_cycles"` // page walk
}

// CoherenceDesc gives the costs of taking lines from other cores.
type CoherenceDesc struct {
	Transfer int `toml:"transfer_cycles"` // a modified line comes from another core's cache
	Upgrade  int `toml:"upgrade_cycles"`  // other copies are invalidated before a write
}

// MemoryDesc describes memory.
type MemoryDesc struct {
	Latency  int `toml:"latency"`         // cycles after the last level has missed
	Channels int `toml:"channels"`        // lines are spread over them by address
	Cycles   int `toml:"cycles_per_line"` // a channel is busy so long with a line
	Nodes    int `toml:"nodes"`           // memory nodes; cores are split evenly; pages belong to the node that touches them first
	Remote   int `toml:"remote_cycles"`   // added when the page is on another node
	Seed     int `toml:"seed"`            // of the dice that place pages in memory
}

// PrefetchDesc describes the hardware prefetcher into the second level; Streams 0 = none.
type PrefetchDesc struct {
	Streams int `toml:"streams"` // ascending streams followed per core
	Degree  int `toml:"degree"`  // lines ahead
}

// Size is a number of bytes, written as a number or with KB, MB, GB (powers of 1024).
type Size int64

// UnmarshalText reads "16KB", "4MB" or plain bytes.
func (s *Size) UnmarshalText(text []byte) error {
	t := strings.ToUpper(strings.TrimSpace(string(text)))
	shift := 0
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"KB", 10}, {"MB", 20}, {"GB", 30}, {"B", 0}} {
		if rest, ok := strings.CutSuffix(t, u.suffix); ok {
			t, shift = strings.TrimSpace(rest), u.shift
			break
		}
	}
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil || n < 0 || n > 1<<40>>shift {
		return fmt.Errorf("size %q: write bytes or a number with KB, MB or GB", text)
	}
	*s = Size(n << shift)
	return nil
}

// MarshalText writes the size in the largest unit that fits.
func (s Size) MarshalText() ([]byte, error) {
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"GB", 30}, {"MB", 20}, {"KB", 10}} {
		if s != 0 && s%(1<<u.shift) == 0 {
			return fmt.Appendf(nil, "%d%s", s>>u.shift, u.suffix), nil
		}
	}
	return fmt.Appendf(nil, "%d", int64(s)), nil
}

//go:embed presets/*.toml
var presets embed.FS

// Presets returns the names of the built-in machines.
func Presets() []string {
	entries, _ := presets.ReadDir("presets") // embedded: cannot fail
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// Load finds a machine by the name of a preset or by the path of a file, applies
// settings ("l2.size=8MB") over it, and checks it.
func Load(nameOrPath string, settings ...string) (*Description, error) {
	text, err := presets.ReadFile("presets/" + nameOrPath + ".toml")
	if err != nil {
		if text, err = os.ReadFile(nameOrPath); err != nil {
			return nil, fmt.Errorf("machine %q: no preset of that name (there are: count, %s) and no such file: %w",
				nameOrPath, strings.Join(Presets(), ", "), err)
		}
	}
	return Parse(nameOrPath, string(text), settings...)
}

// Parse reads a description; name stands in messages.
func Parse(name, text string, settings ...string) (*Description, error) {
	d := &Description{LineBytes: 64, PageBytes: 4096, Memory: MemoryDesc{Seed: 1}}
	md, err := toml.Decode(text, d)
	if err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf("machine %s: line %d, key %q: %s", name, pe.Position.Line, pe.LastKey, pe.Message)
		}
		return nil, fmt.Errorf("machine %s: %w", name, err)
	}
	if u := md.Undecoded(); len(u) > 0 {
		return nil, fmt.Errorf("machine %s: line %d: unknown key %q", name, lineOf(text, u[0].String()), u[0])
	}
	for _, s := range settings {
		if err := d.set(s); err != nil {
			return nil, err
		}
	}
	if key, msg := d.check(); msg != "" {
		for _, s := range slices.Backward(settings) { // the last one holds
			if settingKey(s) == key {
				return nil, fmt.Errorf("setting %q: %s", s, msg)
			}
		}
		return nil, fmt.Errorf("machine %s: line %d, key %q: %s", name, lineOf(text, key), key, msg)
	}
	return d, nil
}

// set applies one "table.key=value" over the description.
func (d *Description) set(setting string) error {
	_, value, ok := strings.Cut(setting, "=")
	key := settingKey(setting)
	if !ok {
		return fmt.Errorf("setting %q: write key=value, for example l2.size=8MB", setting)
	}
	try := func(v string) (toml.MetaData, error) { return toml.Decode(key+" = "+v+"\n", d) }
	md, err := try(value)
	if err != nil {
		md, err = try(strconv.Quote(value))
	}
	if err != nil {
		return fmt.Errorf("setting %q: %w", setting, err)
	}
	if u := md.Undecoded(); len(u) > 0 {
		return fmt.Errorf("setting %q: a machine has no key %q", setting, u[0])
	}
	return nil
}

// settingKey is what a setting changes.
func settingKey(setting string) string {
	key, _, _ := strings.Cut(setting, "=")
	return strings.TrimPrefix(strings.TrimSpace(key), "machine.")
}

// Text returns the description as TOML, complete.
func (d *Description) Text() string {
	var b strings.Builder
	_ = toml.NewEncoder(&b).Encode(d) // a strings.Builder does not fail
	return b.String()
}

// lineOf finds the line on which a key such as "l2.size" stands; 0 if it does not.
func lineOf(text, key string) int {
	table, last, dotted := strings.Cut(key, ".")
	if !dotted {
		table, last = "", key
	}
	current, tableLine := "", 0
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			current = strings.Trim(line, "[] ")
			if current == table {
				tableLine = i + 1
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if ok && (current == table && name == last || current == "" && name == key) {
			return i + 1
		}
	}
	return tableLine
}

// check returns the first key with an impossible value and what is wrong with it.
func (d *Description) check() (key, problem string) {
	last := d.lastLevel()
	rules := []struct {
		key, problem string
		bad          bool
	}{
		{"cores", "must be from 1 to 1024", d.Cores < 1 || d.Cores > 1024},
		{"frequency_mhz", "must be positive", !(d.FrequencyMHz > 0 && d.FrequencyMHz < 1e6)},
		{"line_bytes", "must be a power of two from 16 to 64", !pow2(d.LineBytes) || d.LineBytes < 16 || d.LineBytes > 64},
		{"page_bytes", "must be a power of two from 4096", !pow2(d.PageBytes) || d.PageBytes < 4096},
		{"core.width", "must be from 1 to 16", d.Core.Width < 1 || d.Core.Width > 16},
		{"core.window", "must be from the width to 4096", d.Core.Window < d.Core.Width || d.Core.Window > 4096},
		{"core.mispredict_cycles", "must be from 0 to 1000", d.Core.Mispredict < 0 || d.Core.Mispredict > 1000},
		{"core.store_buffer", "must be from 1 to 1024", d.Core.StoreBuffer < 1 || d.Core.StoreBuffer > 1024},
		{"core.outstanding_misses", "must be from 1 to 1024", d.Core.Misses < 1 || d.Core.Misses > 1024},
		{"core.predictor", "must be one of " + strings.Join(predictorNames(), ", "), !slices.Contains(predictorNames(), d.Core.Predictor)},
		{"core.predictor_bits", "must be from 4 to 20", d.Core.PredBits < 4 || d.Core.PredBits > 20},
		{"l1i.size", "there must be a first-level instruction cache", d.L1I.Size == 0},
		{"l1d.size", "there must be a first-level data cache", d.L1D.Size == 0},
		{"l1i.shared", "the first level must be private", d.L1I.Shared},
		{"l1d.shared", "the first level must be private", d.L1D.Shared},
		{"l2.size", "there must be a second level", d.L2.Size == 0},
		{"l2.shared", "with a third level, the second must be private", d.L3.Size != 0 && d.L2.Shared},
		{"l2.shared", "the last level must be shared: it keeps the directory", !last.Shared},
		{"bus.width_bytes", "must not be negative", d.Bus.Width < 0},
		{"bus.cycles_per_beat", "must be from 1 to 10000", d.Bus.Width > 0 && (d.Bus.Cycles < 1 || d.Bus.Cycles > 10000)},
		{"coherence.transfer_cycles", "must be from 0 to 100000", !latencyOK(d.Coherence.Transfer)},
		{"coherence.upgrade_cycles", "must be from 0 to 100000", !latencyOK(d.Coherence.Upgrade)},
		{"memory.latency", "must be from 0 to 100000", !latencyOK(d.Memory.Latency)},
		{"memory.channels", "must be from 1 to 1024", d.Memory.Channels < 1 || d.Memory.Channels > 1024},
		{"memory.cycles_per_line", "must be from 0 to 100000", !latencyOK(d.Memory.Cycles)},
		{"memory.nodes", "must be from 0 to the number of cores", d.Memory.Nodes < 0 || d.Memory.Nodes > d.Cores},
		{"memory.remote_cycles", "must be from 0 to 100000", !latencyOK(d.Memory.Remote)},
		{"memory.seed", "must not be negative", d.Memory.Seed < 0},
		{"prefetch.streams", "must be from 0 to 64", d.Prefetch.Streams < 0 || d.Prefetch.Streams > 64},
		{"prefetch.degree", "must be from 1 to 16", d.Prefetch.Streams > 0 && (d.Prefetch.Degree < 1 || d.Prefetch.Degree > 16)},
	}
	for _, r := range rules {
		if r.bad {
			return r.key, r.problem
		}
	}
	for _, c := range []struct {
		key string
		d   CacheDesc
	}{{"l1i", d.L1I}, {"l1d", d.L1D}, {"l2", d.L2}, {"l3", d.L3}} {
		if k, msg := c.d.check(d.LineBytes); msg != "" {
			return c.key + "." + k, msg
		}
	}
	for _, t := range []struct {
		key string
		d   TLBDesc
	}{{"dtlb", d.DTLB}, {"itlb", d.ITLB}} {
		if k, msg := t.d.check(); msg != "" {
			return t.key + "." + k, msg
		}
	}
	return "", ""
}

func (c CacheDesc) check(line int) (key, problem string) {
	if c.Size == 0 {
		return "", ""
	}
	switch {
	case c.Ways < 1 || c.Ways > 128:
		return "ways", "must be from 1 to 128"
	case c.Size < 0 || c.Size%Size(c.Ways*line) != 0:
		return "size", fmt.Sprintf("%d bytes are not a whole number of sets of %d ways of %d bytes", c.Size, c.Ways, line)
	case c.Size > 1<<31:
		return "size", "must be at most 2GB"
	case !latencyOK(c.Latency):
		return "latency", "must be from 0 to 100000"
	case c.Policy != "" && !slices.Contains([]string{"lru", "plru", "random"}, c.Policy):
		return "policy", "must be lru, plru or random"
	case c.Policy == "plru" && c.Ways > 32:
		return "ways", "plru goes up to 32 ways"
	}
	return "", ""
}

func (t TLBDesc) check() (key, problem string) {
	switch {
	case t.Entries < 0 || t.Entries > 1<<20:
		return "entries", "must be from 0 to 1048576"
	case t.Entries > 0 && (t.Ways < 1 || t.Entries%t.Ways != 0):
		return "ways", "must divide the entries"
	case !latencyOK(t.Miss):
		return "miss_cycles", "must be from 0 to 100000"
	}
	return "", ""
}

func (c CacheDesc) policy() Policy {
	switch c.Policy {
	case "plru":
		return PLRU
	case "random":
		return Random
	}
	return LRU
}

func (d *Description) lastLevel() CacheDesc {
	if d.L3.Size != 0 {
		return d.L3
	}
	return d.L2
}

func latencyOK(n int) bool { return n >= 0 && n <= 100000 }

func pow2(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }
