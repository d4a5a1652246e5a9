package native

import (
	"testing"

	"lime/internal/collect/native/hook"
	"lime/internal/profile"
)

// A thread that makes others and joins them is one of the workers if it works beside them, and is
// none if it does nothing but that, however long that takes it, for want of a core or in the calls.
func TestWhoMakesThreadsIsNoWorker(t *testing.T) {
	const us, own, threads = 1000, 10_000 * 1000, 4
	for _, c := range []struct {
		name       string
		works, off uint64 // of the thread that makes the others, at each of them
		makes      uint64 // in each call
		parts      int
	}{
		{"makes threads", 50 * us, 0, 0, threads},
		{"makes threads, short of a core", 50 * us, 40_000 * us, 0, threads},
		{"makes threads, which takes it long", 50 * us, 0, 1000 * us, threads},
		{"works between", 1000 * us, 0, 0, threads + 1},
		{"works between, short of a core", 1000 * us, 40_000 * us, 0, threads + 1},
		{"works between, and the calls take it long", 1000 * us, 0, 1000 * us, threads + 1},
	} {
		r, p := recording(t, Options{})
		lv, main := r.main.lives, r.main.roster.main()
		at := uint64(2000)
		main.cpu.in(at, rest{})
		h := func(arg0, arg1 uint64) *hook.Record { return &hook.Record{Arg0: arg0, Arg1: arg1} }
		var made []*thread
		for i := range uint64(threads) {
			at += c.works
			if c.off > 0 {
				main.cpu.out(at, true)
				at += c.off
				main.cpu.in(at, rest{})
			}
			lv.enterCreate(main, h(0, 0), at)
			at += c.makes / 2
			q := lv.startThread(main.tid+int32(i)+1, main, at)
			at += c.makes - c.makes/2
			lv.leaveCreate(main, h(0, i+1), at)
			q.cpu.in(at, rest{})
			made = append(made, q)
		}
		for _, q := range made { // each had a core for as long
			q.cpu.out(q.start+own, true)
		}
		for i := range made {
			lv.enterJoin(main, h(uint64(i)+1, 0), at)
			if i == 0 {
				main.cpu.out(at, false)
				at += own + threads*c.off
			}
			lv.leaveJoin(main, h(0, uint64(i)+1), at)
		}
		parts := 0
		for id, s := range p.Tables().Sections {
			for in := range p.Instances(profile.SectionID(id)) {
				if s.Kind == profile.SectionJoin {
					parts = max(parts, len(in.Parts))
				}
			}
		}
		if parts != c.parts {
			t.Errorf("%s: %d parts, want %d", c.name, parts, c.parts)
		}
	}
}
