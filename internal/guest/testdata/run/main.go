// As in lime itself: the Go runtime keeps no files open.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command run is the smallest collector: it runs a program on simulated cores,
// one slice after the other, and passes its exit status on. Tests use it.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/unit"
)

var stderr *os.File

type host struct {
	eng   *engine.Engine
	runq  []*guest.Thread
	idle  unit.Nanos
	total uint64
	times map[*guest.Thread]uint64
	cores int
}

func (h *host) Now(t *guest.Thread) unit.Nanos { return unit.Nanos(h.total) + h.idle }
func (h *host) CPUTime(t *guest.Thread) unit.Nanos {
	if t == nil {
		return unit.Nanos(h.total)
	}
	return unit.Nanos(h.times[t])
}
func (h *host) Core(t *guest.Thread) int {
	if t == nil {
		return 0
	}
	return t.Nr % h.cores
}
func (h *host) Ready(t *guest.Thread, at unit.Nanos) { h.runq = append(h.runq, t) }
func (h *host) NewContext() (*cpu.Context, error)    { return h.eng.NewContext() }
func (h *host) FreeContext(c *cpu.Context)           { h.eng.FreeContext(c) }
func (h *host) Odd(t *guest.Thread)                  { engine.Odd(h.eng, t.Ctx) }
func (h *host) Invalidate(lo, hi uint64)             { h.eng.Invalidate(lo, hi) }
func (h *host) ImageMapped(i guest.Image) {
	if os.Getenv("RUN_IMAGES") != "" {
		fmt.Fprintf(os.Stderr, "run: image %#x-%#x %s\n", i.Lo, i.Hi, i.Path)
	}
}
func (h *host) Note(code, text string) {
	if os.Getenv("RUN_NOTES") != "" {
		fmt.Fprintf(os.Stderr, "run: %s: %s\n", code, text)
	}
}

func main() {
	runtime.LockOSThread()
	debug.SetPanicOnFault(true)
	if err := guest.ReserveFDs(); err != nil {
		fail(err, 125)
	}
	// The program may close its standard error.
	if fd, err := syscall.Dup(2); err == nil {
		syscall.CloseOnExec(fd)
		stderr = os.Stderr // kept: the garbage collector would close descriptor 2
		os.Stderr = os.NewFile(uintptr(fd), "stderr")
	}
	cores := 4
	if s := os.Getenv("RUN_CORES"); s != "" {
		cores, _ = strconv.Atoi(s)
		os.Unsetenv("RUN_CORES")
	}
	h := &host{times: map[*guest.Thread]uint64{}, cores: cores}
	var p *guest.Process
	all := os.Getenv("RUN_HOSTCPU") != ""
	eng, err := engine.New(engine.Config{AllHostFeatures: all, Lookup: func(pc uint64) (engine.Range, bool) {
		if p == nil {
			return engine.Range{}, false
		}
		m, ok := p.Mapping(pc)
		out := engine.Range{Lo: m.Lo, Hi: m.Hi, Exec: m.Exec, Write: m.Write}
		for _, w := range m.Twins {
			out.Twins = append(out.Twins, engine.Twin(w))
		}
		return out, ok
	}})
	if err != nil {
		fail(err, 125)
	}
	h.eng = eng
	args, path := os.Args[1:], os.Args[1]
	if path == "-exec" {
		args, path = os.Args[3:], os.Args[2]
	}
	p, err = guest.New(guest.Config{Path: path, Args: args, Env: os.Environ(), Cores: cores, HostCPU: all}, h)
	if errors.Is(err, guest.ErrAddressTaken) {
		syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	var le *guest.LoadError
	if errors.As(err, &le) {
		fail(err, le.Status)
	}
	if err != nil {
		fail(err, 125)
	}
	sigs := make(chan os.Signal, 100)
	signal.Notify(sigs, guest.RelayedSignals()...)
	go func() {
		for s := range sigs {
			p.PostSignal(int(s.(syscall.Signal)))
		}
	}()
	h.runq = []*guest.Thread{p.Main()}
	code := loop(h, p)
	if os.Getenv("RUN_HASH") != "" {
		fmt.Fprintf(os.Stderr, "run: %d instructions, %d ns idle\n", h.total, int64(h.idle))
	}
	os.Exit(code)
}

func fail(err error, code int) {
	fmt.Fprintln(os.Stderr, "run:", err)
	os.Exit(code)
}

func loop(h *host, p *guest.Process) int {
	for {
		for len(h.runq) == 0 {
			now := h.Now(nil)
			then, ok := p.Idle(now)
			if !ok {
				for _, w := range p.Waits() {
					fmt.Fprintf(os.Stderr, "run: deadlock: thread %d (%s) at %#x: %s\n", w.Thread.TID, w.Thread.Name, w.Thread.Ctx.RIP, w.Text)
				}
				return 124
			}
			h.idle += then - now
		}
		t := h.runq[0]
		h.runq = h.runq[1:]
		if code, over := turn(h, p, t); over {
			return code
		}
		if at, ok := p.NextDeadline(); ok && at <= h.Now(nil) {
			p.Advance(h.Now(nil))
		}
		if p.HostWaiters() > 0 && len(h.runq) > 0 {
			p.PollHost(0)
		}
	}
}

func turn(h *host, p *guest.Process, t *guest.Thread) (int, bool) {
	left := int64(50000)
	for {
		out := p.Enter(t)
		if out.Kind == guest.Continue {
			if left <= 0 {
				h.runq = append(h.runq, t)
				return 0, false
			}
			before := t.Ctx.Retired
			e := h.eng.Run(t.Ctx, left)
			d := t.Ctx.Retired - before
			left -= int64(d)
			h.total += d
			h.times[t] += d
			switch e.Reason {
			case cpu.ExitSyscall:
				if os.Getenv("RUN_TRACE") != "" {
					g := t.Ctx.GPR
					fmt.Fprintf(os.Stderr, "run: [%d] %s(%#x, %#x, %#x, %#x, %#x, %#x) pc %#x\n", t.TID, guest.CallName(g[0]), g[7], g[6], g[2], g[10], g[8], g[9], t.Ctx.RIP)
				}
				out = p.HandleSyscall(t)
				if os.Getenv("RUN_TRACE") != "" && t.Ctx != nil {
					fmt.Fprintf(os.Stderr, "run: [%d] = %#x %v\n", t.TID, t.Ctx.GPR[0], out.Kind)
				}
			case cpu.ExitFault:
				out = p.HandleFault(t, e)
			case cpu.ExitEmulate:
				out = p.HandleEmulate(t, e)
			case cpu.ExitUnsupported:
				fmt.Fprintf(os.Stderr, "run: at %#x: %v\n", t.Ctx.RIP, e.Err)
				return 123, true
			}
		}
		h.idle += out.Takes
		if out.New != nil {
			h.runq = append(h.runq, out.New)
		}
		switch out.Kind {
		case guest.Yield:
			left = 0
		case guest.Blocked, guest.ThreadExit:
			return 0, false
		case guest.ProcessExit:
			s := p.Status()
			if s.Signal != 0 {
				fmt.Fprintln(os.Stderr, "run:", s.Text)
				return 128 + s.Signal, true
			}
			return s.Code, true
		case guest.Replace:
			r := p.Exec()
			if os.Getenv("RUN_NATIVE_EXEC") != "" {
				fail(p.DoExec(r), 126)
			}
			args := append([]string{"run", "-exec", r.Path}, r.Args...)
			fail(syscall.Exec("/proc/self/exe", args, r.Env), 126)
		}
	}
}
