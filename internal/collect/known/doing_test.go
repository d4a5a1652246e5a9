package known

import "testing"

func TestGoWaitsOutside(t *testing.T) {
	for _, c := range []struct {
		name string
		want bool
	}{
		{"time.Sleep", true}, {"runtime.timeSleep", true}, {"runtime.netpollblock", true}, {"internal/poll.(*FD).Read", true},
		{"runtime.gcAssistAlloc", true}, {"runtime.GC", true}, {"runtime.gcStart", true},
		{"runtime.gopark", false}, {"runtime.chanrecv1", false}, {"sync.(*WaitGroup).Wait", false}, {"main.worker", false},
	} {
		if got := GoWaitsOutside(c.name); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
