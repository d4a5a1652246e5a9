// The threads of a process.

package native

import "lime/internal/collect/native/hook"

// roster is the threads that there are and were, in the order in which they became known; those
// of child processes that are only sampled stand among them.
type roster struct {
	threads []*thread
	byTID   map[int32]*thread
}

// own counts the program's own threads.
func (ro *roster) own() (n int) {
	for _, t := range ro.threads {
		if !t.foreign {
			n++
		}
	}
	return n
}

func (ro *roster) main() *thread {
	if len(ro.threads) == 0 {
		return nil
	}
	return ro.threads[0]
}

// body is the function of the region in which a thread called a hooked function, 0 if there is
// none.
func (ro *roster) body(h *hook.Record) uint64 {
	t := ro.byTID[h.TID]
	if t == nil {
		return 0
	}
	for i := len(t.calls) - 1; i >= 0; i-- {
		if c := &t.calls[i]; c.body {
			return c.function
		}
	}
	return 0
}

// running counts the threads that there are, of all processes.
func (s *shared) running() (n int) {
	for _, ro := range s.rosters {
		n += ro.running()
	}
	return n
}

func (ro *roster) running() (n int) {
	for _, t := range ro.threads {
		if !t.ended {
			n++
		}
	}
	return n
}
