// The run as the guest process sees it.

package sim

import (
	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/unit"
)

// host is the run as the guest process sees it.
type host struct{ r *run }

var _ guest.Host = (*host)(nil)

// Now is the time on t's core.
func (h *host) Now(g *guest.Thread) unit.Nanos {
	r := h.r
	if r.beside != nil {
		return r.memory.proc.HostNow()
	}
	if t := r.roster.byGuest[g]; g != nil && t != nil {
		return r.clocks.nanos(t.now())
	}
	return r.clocks.nanos(r.clocks.latest)
}

// CPUTime is the time for which t, or all threads, have worked.
func (h *host) CPUTime(g *guest.Thread) unit.Nanos {
	r := h.r
	if r.beside != nil {
		return r.beside.cpuTime(r.roster.byGuest[g])
	}
	if t := r.roster.byGuest[g]; g != nil && t != nil {
		return r.clocks.nanos(t.busy)
	}
	return r.clocks.nanos(r.roster.work())
}

// Core is the number of t's core.
func (h *host) Core(g *guest.Thread) int {
	if r := h.r; r.beside != nil {
		return r.beside.core(r.roster.byGuest[g])
	}
	if t := h.r.roster.byGuest[g]; t != nil && t.lastCore >= 0 {
		return t.lastCore
	}
	return 0
}

// Ready lets a blocked thread run again.
func (h *host) Ready(g *guest.Thread, at unit.Nanos) {
	if t := h.r.roster.byGuest[g]; t != nil {
		h.r.exits.ready(t, at)
	}
}

// Odd counts where a thread goes on to which nothing has led it.
func (h *host) Odd(g *guest.Thread) { engine.Odd(h.r.eng, g.Ctx) }

func (h *host) NewContext() (*cpu.Context, error) { return h.r.eng.NewContext() }

// FreeContext drops the registers of a thread that is gone.
func (h *host) FreeContext(ctx *cpu.Context) {
	r := h.r
	if t := r.roster.byCtx[ctx]; t != nil {
		r.lives.endThread(t)
		t.ctx = nil
		delete(r.roster.byCtx, ctx)
	}
	_ = h.r.eng.FreeContext(ctx)
}

func (h *host) Invalidate(lo, hi uint64) { h.r.eng.Invalidate(lo, hi) }

// ImageMapped sets probes on the functions of the table that the image defines.
func (h *host) ImageMapped(g guest.Image) { h.r.loader.imageMapped(g) }

func (h *host) Note(code, text string) { h.r.notes.Add(code, text) }
