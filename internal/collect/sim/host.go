package sim

import (
	"lime/internal/cpu"
	"lime/internal/guest"
	"lime/internal/unit"
)

// host is the run as the guest process sees it.
type host run

var _ guest.Host = (*host)(nil)

// Now is the time on t's core.
func (h *host) Now(g *guest.Thread) unit.Nanos {
	r := (*run)(h)
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
	r := (*run)(h)
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
	if r := (*run)(h); r.beside != nil {
		return r.beside.core(r.byGuest[g])
	}
	if t := (*run)(h).byGuest[g]; t != nil && t.lastCore >= 0 {
		return t.lastCore
	}
	return 0
}

// Ready lets a blocked thread run again.
func (h *host) Ready(g *guest.Thread, at unit.Nanos) {
	r := (*run)(h)
	t := r.byGuest[g]
	if t == nil || t.gone || t.spin != nil {
		return
	}
	if !t.blocked { // the call that blocks it is still being handled
		t.early, t.earlyAt = true, at
		return
	}
	t.blocked = false
	t.readyAt = max(t.at, r.wakeClock(t, at))
	t.at = t.readyAt
	t.heard = t.at
	r.cores.place(t)
	r.wakes = append(r.wakes, t)
}

func (h *host) NewContext() (*cpu.Context, error) { return h.eng.NewContext() }

// FreeContext drops the registers of a thread that is gone.
func (h *host) FreeContext(ctx *cpu.Context) {
	r := (*run)(h)
	if t := r.byCtx[ctx]; t != nil {
		r.endThread(t)
		t.ctx = nil
		delete(r.byCtx, ctx)
	}
	_ = h.eng.FreeContext(ctx)
}

func (h *host) Invalidate(lo, hi uint64) { h.eng.Invalidate(lo, hi) }

// ImageMapped sets probes on the functions of the table that the image defines.
func (h *host) ImageMapped(g guest.Image) { (*run)(h).imageMapped(g) }

func (r *run) imageMapped(g guest.Image) {
	im := r.images.add(g)
	r.walker.Forget()
	r.out.image(im)
	entries(im, func(name string, at uint64) {
		if f := r.meaning(name); f != nil && r.entries[at] == nil {
			r.entries[at] = f
			r.setProbe(at)
		}
	})
	if r.heap != nil {
		r.heap.mapped(r, im)
	}
}

func (h *host) Note(code, text string) { h.notes.Add(code, text) }
