package engine

import (
	"errors"
	"fmt"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// Engine translates and runs the code of one guest process. One goroutine at a
// time may use it; with Config.Lock, whoever holds that (parallel.go).
type Engine struct {
	cfg      Config
	cache    *cache
	contexts map[*cpu.Context]bool
	running  *cpu.Context            // in Run
	called   bool                    // it has been called out of the code (Halt)
	faulted  map[*cpu.Context]*block // threads in parallel: where those have faulted who have not told yet, when the cache was emptied

	blocks  map[uint64]*block          // by guest PC
	recent  [recentBlocks]*block       // of blocks, by guest PC modulo the number
	pages   map[uint64][]*block        // by guest page
	order   []*block                   // by host address
	heads   map[uint64]map[uint64]bool // by guest page: where blocks have started; kept when the cache is emptied
	exits   []*exit
	retMiss *exit

	table    []Block
	blockIDs map[blockKey]BlockID
	edges    []Edge
	edgeIDs  map[edgeKey]EdgeID
	out, in  [][]EdgeID // by block
	regions  regions
	parted   map[uint64][]*block // blocks that were split, by the PC of their second part
	open     map[uint64][]EdgeID // edges whose target has not run, by its PC
	calls    map[uint64]BlockID  // return address -> call block

	probes  map[uint64]bool
	guards  map[uint64]*guard    // guest pages that are write-protected because code is translated that could be written there
	flagsAt map[uint64]x86.Flags // live flags by PC, as far as known
	scanned map[uint64]bool      // guest pages with code that flagsAt rests on

	trace    []uint64      // mode Trace
	shapes   []*LogShape   // mode Log, by block
	logs     logs          // mode Log
	traced   int           // mode Trace: words of it that the last run wrote
	filter   uintptr       // of the core that runs
	noFilter []uint64      // one that holds nothing
	accesses [8]x86.Access // scratch

	noRegions bool  // for tests: run blocks only
	x87       bool  // some block holds x87 instructions
	chunk     int64 // instructions between samples
	cold      int   // samples since the last new region
	buf       [maxBytes]byte
}

// New returns an engine with an empty code cache. Close frees it.
func New(cfg Config) (*Engine, error) {
	if err := cpu.Install(); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	cfg.CacheBytes = (orDefault(cfg.CacheBytes, defaultCache) + pageSize - 1) &^ (pageSize - 1)
	cfg.MaxEdges = orDefault(cfg.MaxEdges, defaultEdges)
	if cfg.Lock != nil && cfg.Mode == Trace {
		return nil, errors.New("engine: threads in parallel leave no trace")
	}
	if cfg.CacheBytes < minCache {
		return nil, fmt.Errorf("engine: code cache of %d bytes is too small, needs %d", cfg.CacheBytes, minCache)
	}
	c, err := mapCache(cfg.CacheBytes)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	e := &Engine{
		cfg: cfg, cache: c,
		contexts: map[*cpu.Context]bool{},
		blockIDs: map[blockKey]BlockID{}, edgeIDs: map[edgeKey]EdgeID{},
		pages:  map[uint64][]*block{},
		heads:  map[uint64]map[uint64]bool{},
		parted: map[uint64][]*block{}, regions: regions{summed: map[BlockID]bool{}},
		open: map[uint64][]EdgeID{}, calls: map[uint64]BlockID{},
		probes: map[uint64]bool{}, guards: map[uint64]*guard{},
		faulted: map[*cpu.Context]*block{},
	}
	if cfg.Mode == Trace {
		e.noFilter = make([]uint64, (filterHead+filterLine)/8)
		if e.trace, err = newTrace(traceWords); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	if cfg.Mode == Log {
		if e.logs, err = newLogs(e.parallel()); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	e.flush()
	return e, nil
}

func orDefault(v, def int) int {
	if v == 0 {
		return def
	}
	return v
}

// Close frees the code cache and every context.
func (e *Engine) Close() error {
	if e.cache == nil {
		return ErrClosed
	}
	for p := range e.guards {
		e.lift(p)
	}
	for ctx := range e.contexts {
		if err := e.FreeContext(ctx); err != nil {
			return err
		}
	}
	c := e.cache
	e.cache = nil
	return errors.Join(freeTrace(e.trace), freeTrace(e.logs.one), c.close())
}

// NewContext returns the context of a new guest thread: registers zero, vector state initial.
func (e *Engine) NewContext() (*cpu.Context, error) {
	if e.cache == nil {
		return nil, ErrClosed
	}
	ctx, err := cpu.Alloc(e.cfg.MaxEdges+maxHidden, cpu.XMask(e.cfg.AllHostFeatures))
	if err != nil {
		return nil, err
	}
	e.contexts[ctx] = true
	e.setFast(ctx)
	return ctx, e.logs.add(ctx)
}

// setFast lets the entry code leave x87 state alone as long as no x87 instruction
// was translated: XSAVE and XRSTOR cost more than all else of an entry.
func (e *Engine) setFast(ctx *cpu.Context) {
	const sseAVX = 7
	ctx.Scratch[cpu.SlotFast] = 0
	if !e.x87 && ctx.Scratch[cpu.SlotXMask] == sseAVX && cpu.HasXInUse() {
		ctx.Scratch[cpu.SlotFast] = 1
	}
}

// sawX87 is told of the first x87 or MMX instruction.
func (e *Engine) sawX87() {
	e.x87 = true
	for ctx := range e.contexts {
		e.setFast(ctx)
	}
}

// FreeContext frees a context; its counters are lost.
func (e *Engine) FreeContext(ctx *cpu.Context) error {
	if !e.contexts[ctx] {
		return fmt.Errorf("engine: context %p is not of this engine, or freed already", ctx)
	}
	delete(e.contexts, ctx)
	return errors.Join(e.logs.drop(ctx), cpu.Free(ctx, e.cfg.MaxEdges+maxHidden))
}

// Retired returns the instructions that ctx has executed so far.
func (e *Engine) Retired(ctx *cpu.Context) uint64 { return ctx.Retired }

// flush forgets all translations; blocks and edges keep their ids.
func (e *Engine) flush() {
	e.beforeFlush()
	for _, b := range e.order {
		b.past = b.past || !b.stale && e.blocks[b.pc] == b
		b.stale = true
		if b.region != nil {
			b.region.dead = true
		}
	}
	e.blocks, e.recent = map[uint64]*block{}, [recentBlocks]*block{}
	e.order = nil
	if !e.parallel() { // else some threads may have left by an exit, and not told yet by which
		e.exits = nil
	}
	e.cache.reset()
	e.addMiss()
}

// addMiss emits the code that leaves for a return to an unknown address, and
// fills the return table with it.
func (e *Engine) addMiss() {
	t := &translation{e: e}
	t.a.PC = e.cache.next
	e.retMiss = &exit{kind: exitRet, edge: EdgeReturn}
	t.leave(e.retMiss)
	e.cache.put(t.a.Code)
	e.cache.fill(e.cache.retTable, retSlots, e.retMiss.stub)
}

// SetProbe makes Run come back with ExitProbe before pc executes.
func (e *Engine) SetProbe(pc uint64) { e.setProbe(pc, true) }

// ClearProbe undoes SetProbe.
func (e *Engine) ClearProbe(pc uint64) { e.setProbe(pc, false) }

func (e *Engine) setProbe(pc uint64, on bool) {
	if e.probes[pc] == on {
		return
	}
	if on {
		e.probes[pc] = true
		e.splitAt(pc)
	} else {
		delete(e.probes, pc)
	}
	if b := e.blocks[pc]; b != nil {
		e.drop(b)
	}
}
