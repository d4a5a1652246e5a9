package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/collect"
	"lime/internal/collect/busywait"
	"lime/internal/collect/native/watch"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/unwind"
	"lime/internal/waste"
)

// Wasted memory work, sampled beside the recording: what the watch package finds, in the words of
// the profile.

// How often, and how much of the program's time, --waste samples.
const (
	wastePeriod = 5 * time.Millisecond // of a thread's running time
	wasteBudget = 0.02                 // of the program's running time: the cost that is stated
)

// wasting is a search for waste that goes on.
type wasting struct {
	process *process
	notes   collect.Notes
	sink    profile.Sink

	tracer *watch.Tracer
	host   *wasteHost
	done   chan struct{}
	sums   watch.Sums
	err    error
}

// startWaste begins to look for waste in a program that was started.
func (r *run) startWaste() {
	if r.o.Waste == 0 {
		return
	}
	err := watch.Supported()
	if err == nil && !r.main.program.prog.traps {
		err = errors.New("the program cannot be traced")
	}
	if err != nil {
		r.notes.Add("no-waste", fmt.Sprintf("no wasted memory work was looked for: %v", err))
		return
	}
	h := newWasteHost(int(r.main.program.pid), r.main.program.sampler)
	w := &wasting{process: r.main, notes: r.notes, sink: r.o.Out, host: h, done: make(chan struct{})}
	w.tracer = watch.New(int(r.main.program.pid), h, watch.Options{Kinds: r.o.Waste, Period: wastePeriod, Budget: wasteBudget,
		Tolerance: r.o.Tolerance, Seed: 1})
	r.waste = w
	go func() {
		defer close(w.done)
		h.warm()
		w.sums, w.err = w.tracer.Run()
	}()
}

// endWaste ends the search and writes what was found.
func (r *run) endWaste() {
	w := r.waste
	if w == nil {
		return
	}
	r.waste = nil
	w.tracer.Stop()
	<-w.done
	w.host.take(r.main.stream.add)
	defer w.host.sampler.images.close()
	if w.err != nil {
		r.notes.Add("waste-ended", fmt.Sprintf("wasted memory work: %v", w.err))
	}
	w.write()
}

// write writes what was found.
func (w *wasting) write() {
	w.totals(profile.None, &w.sums.Kinds)
	rows := w.rows()
	for _, life := range slices.Sorted(maps.Keys(w.sums.Threads)) {
		if id := rows[life]; id != profile.None {
			w.totals(id, w.sums.Threads[life])
		}
	}
	least := w.sums.Least(func(at watch.Place) uint64 { return w.host.list[at][0] })
	for _, p := range w.sums.Pairs {
		w.sink.AddWastePair(w.pair(&p, rows[p.Thread], least))
	}
	w.say(&w.sums)
}

// totals writes the shares of a thread, or of the run as a whole.
func (w *wasting) totals(thread profile.ThreadID, kinds *[waste.Kinds]watch.Share) {
	for k := range waste.Kinds {
		if s := &kinds[k]; s.Looked {
			w.total(thread, k, s)
		}
	}
}

// total writes a share. Its bytes are those for which samples stand.
func (w *wasting) total(thread profile.ThreadID, k waste.Kind, s *watch.Share) {
	w.sink.AddWasteTotal(profile.WasteTotal{Thread: thread, Kind: k.String(),
		Bytes: min(uint64(s.Wasted+0.5), uint64(s.Of+0.5)), Of: uint64(s.Of + 0.5),
		Low: s.Low, High: s.High, Label: profile.Sampled})
}

// rows are the rows of the threads that were watched: of those that had an id, the last that had begun
// by then.
func (w *wasting) rows() []profile.ThreadID {
	had := map[int][]*thread{}
	for _, t := range w.process.roster.threads {
		if !t.foreign {
			had[int(t.tid)] = append(had[int(t.tid)], t)
		}
	}
	rows := make([]profile.ThreadID, len(w.sums.Lives))
	for i, life := range w.sums.Lives {
		rows[i] = profile.None
		for _, t := range had[life.TID] {
			if rows[i] == profile.None || t.start <= life.At {
				rows[i] = profile.ThreadID(t.id)
			}
		}
	}
	return rows
}

// say says what the samples leave open.
func (w *wasting) say(s *watch.Sums) {
	var decided, open float64
	samples := 0
	for k := range s.Kinds {
		decided, open, samples = decided+s.Kinds[k].Of, open+s.Kinds[k].Open, samples+s.Kinds[k].Samples
	}
	if decided+open > 0 && open >= 0.01*(decided+open) {
		w.notes.Add("waste-open", fmt.Sprintf("wasted memory work: for %.0f %% of the sampled bytes it is not known "+
			"whether they were wasted; the shares are of the others", 100*open/(decided+open)))
	}
	if s.Cost.Left > 0 {
		w.notes.Add("waste-budget", fmt.Sprintf("wasted memory work: %d of %d samples were left out, so that the "+
			"program is held up for %.0f %% of its time at most", s.Cost.Left, s.Cost.Ticks, 100*wasteBudget))
	}
	if n := s.Kinds[waste.FalseSharing].Decisions; n > 0 {
		w.notes.Add("waste-sharing", fmt.Sprintf("false sharing: of %d accesses, %d were to bytes that other threads used "+
			"at the time, too (true sharing, no waste); of each access's line one word of eight was looked at, so that "+
			"the share is a lower bound", n, s.Same))
	}
	w.notes.Add("waste-samples", fmt.Sprintf("wasted memory work: %d accesses were sampled, %d ticks of the clock led "+
		"to none, threads were stopped for %.3f s", samples, s.Cost.Strayed, s.Cost.Stopped))
}

// bound is the lower bound of a kind's share at an instruction.
type bound = func(waste.Kind, uint64) float64

func (w *wasting) pair(p *watch.Pair, thread profile.ThreadID, least bound) profile.WastePair {
	row := profile.WastePair{Kind: p.Kind.String(), First: w.side(p.First), Second: w.side(p.Second),
		Thread: thread, Bytes: uint64(p.Bytes + 0.5), Count: uint64(p.Count), Data: w.host.data(p.Addr)}
	row.Why = w.process.program.code.why(p, row.First.Addr, row.Second.Addr, row.Data != "", least)
	return row
}

func (w *wasting) side(at watch.Place) profile.WasteSide {
	pcs := w.host.list[at]
	path := int32(profile.None)
	for _, pc := range slices.Backward(pcs[1:]) {
		if w.process.program.sampler.stubs == nil || !w.process.program.sampler.stubs(pc) {
			path = w.process.program.sampler.tree.child(path, w.process.program.code.spot(pc-1).b.id)
		}
	}
	return profile.WasteSide{Path: profile.PathID(path), Node: w.process.program.code.spot(pcs[0]).b.id, Addr: pcs[0]}
}

// wasteHost tells the watch package of code and stacks. It has images of its own: the recording
// goes on meanwhile.
type wasteHost struct {
	sampler *sampler
	stack   []byte
	byKey   map[string]watch.Place
	list    [][]uint64                 // by place: the instruction, then the return addresses
	sweeps  map[uint64][]busywait.Insn // by function

	mu    sync.Mutex
	found []item // events for the recording, in the order of time
}

// stackCopied is as much of a stack as is read at once; what lies beyond is read when a walk gets
// there.
const stackCopied = 8 << 10

func newWasteHost(pid int, of *sampler) *wasteHost {
	m := newImages(pid)
	s := newSampler(m, newCode(m, nil), nil)
	s.walker.Stubs, s.walker.Moved, s.stubs = of.walker.Stubs, of.walker.Moved, of.stubs
	return &wasteHost{sampler: s, stack: make([]byte, stackCopied), byKey: map[string]watch.Place{}, sweeps: map[uint64][]busywait.Insn{}}
}

// warm reads the program's files before anybody waits for that.
func (h *wasteHost) warm() {
	m := h.sampler.images
	_ = m.load() // what is missing is looked for again when it is needed
	for _, im := range m.List {
		im.Load()
	}
}

// Place numbers an instruction with the calls that are open there.
func (h *wasteHost) Place(pc uint64, regs *unix.PtraceRegs) watch.Place {
	s := h.sampler
	s.pcs, s.sps = s.pcs[:0], s.sps[:0]
	gpr := [16]uint64{regs.Rax, regs.Rcx, regs.Rdx, regs.Rbx, regs.Rsp, regs.Rbp, regs.Rsi, regs.Rdi, regs.R8,
		regs.R9, regs.R10, regs.R11, regs.R12, regs.R13, regs.R14, regs.R15}
	n := peek(s.images.pid, regs.Rsp, h.stack)
	_, _, _ = s.walk(unwind.FromMachine(&gpr, regs.Rip), regs.Rsp, h.stack[:n]) // as far as it goes
	if len(s.pcs) == 0 {
		s.pcs = append(s.pcs, pc)
	}
	s.pcs[0] = pc
	key := make([]byte, 0, 8*len(s.pcs))
	for _, pc := range s.pcs {
		key = binary.LittleEndian.AppendUint64(key, pc)
	}
	id, ok := h.byKey[string(key)]
	if !ok {
		id = watch.Place(len(h.list))
		h.byKey[string(key)] = id
		h.list = append(h.list, slices.Clone(s.pcs))
	}
	return id
}

// Wasted keeps waste as an event of the recording. Time is told under the lock: who takes what was
// found until a moment misses nothing of before.
func (h *wasteHost) Wasted(tid int, kind waste.Kind, at watch.Place, samples uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = append(h.found, item{at: monotonic(), typ: perf.TypeSample, tid: int32(tid),
		event: &eventCount{eventKey{kind.String(), h.list[at][0]}, samples}})
}

// take hands out what was found since the last time.
func (h *wasteHost) take(visit func(item)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.found {
		visit(x)
	}
	h.found = h.found[:0]
}

// Before finds the instruction that ends at pc, in code of files.
func (h *wasteHost) Before(pc uint64) (at uint64, ok bool) {
	c := h.sampler.code
	im, lo, hi, _ := c.bounds(pc - 1)
	if im == nil || im.Bin == nil || hi <= lo {
		return 0, false
	}
	list, ok := h.sweeps[lo]
	if !ok {
		list = busywait.Sweep(im.Bin.ReadAddr(lo-im.Bias, int(hi-lo)), lo)
		h.sweeps[lo] = list
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].End >= pc })
	if i == len(list) || list[i].End != pc {
		return 0, false
	}
	return list[i].Addr, true
}

// data names what stands at an address: a variable of a file, or nothing that is known here.
func (h *wasteHost) data(addr uint64) string {
	for _, im := range h.sampler.images.List {
		if im.Bin == nil || addr < im.Lo || addr-im.Bias > 1<<40 {
			continue
		}
		if s, ok := im.Variable(addr - im.Bias); ok {
			return s.Name
		}
	}
	return ""
}

// debugRegisters looks whether wasted memory work can be sampled. Counters that give addresses would
// choose the accesses better than the clock does; who has them is told that they are not used.
func debugRegisters() []Check {
	c := Check{Name: "debug registers", OK: true, Gives: "wasted memory work (record --waste)",
		Found: "accesses to memory trap; which are looked at is chosen by the clock, not by the processor (no PEBS, no IBS)"}
	if err := watch.Supported(); err != nil {
		c.OK, c.Found, c.Fix = false, err.Error(), fixOf(err)
	}
	return []Check{c}
}
