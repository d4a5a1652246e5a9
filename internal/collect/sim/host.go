package sim

import (
	"lime/internal/cpu"
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
		return r.proc.HostNow()
	}
	if t := r.byGuest[g]; g != nil && t != nil {
		return r.nanos(t.now())
	}
	return r.nanos(r.latest)
}

// CPUTime is the time for which t, or all threads, have worked.
func (h *host) CPUTime(g *guest.Thread) unit.Nanos {
	r := h.r
	if r.beside != nil {
		return r.beside.cpuTime(r.byGuest[g])
	}
	if t := r.byGuest[g]; g != nil && t != nil {
		return r.nanos(t.busy)
	}
	return r.nanos(r.work())
}

// Core is the number of t's core.
func (h *host) Core(g *guest.Thread) int {
	if r := h.r; r.beside != nil {
		return r.beside.core(r.byGuest[g])
	}
	if t := h.r.byGuest[g]; t != nil && t.lastCore >= 0 {
		return t.lastCore
	}
	return 0
}

// Ready lets a blocked thread run again.
func (h *host) Ready(g *guest.Thread, at unit.Nanos) {
	if t := h.r.byGuest[g]; t != nil {
		h.r.ready(t, at)
	}
}

func (h *host) NewContext() (*cpu.Context, error) { return h.r.eng.NewContext() }

// FreeContext drops the registers of a thread that is gone.
func (h *host) FreeContext(ctx *cpu.Context) {
	r := h.r
	if t := r.byCtx[ctx]; t != nil {
		r.endThread(t)
		t.ctx = nil
		delete(r.byCtx, ctx)
	}
	_ = h.r.eng.FreeContext(ctx)
}

func (h *host) Invalidate(lo, hi uint64) { h.r.eng.Invalidate(lo, hi) }

// ImageMapped sets probes on the functions of the table that the image defines.
func (h *host) ImageMapped(g guest.Image) { h.r.imageMapped(g) }

func (h *host) Note(code, text string) { h.r.notes.Add(code, text) }
