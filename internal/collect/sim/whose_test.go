package sim_test

import (
	"strings"
	"testing"
)

// A slot of a thread's stack is its stack's, however near its control block it lies; what lies
// between is thread-local data.
func TestWhoseData(t *testing.T) {
	path, status, said := simulate(t, 2, "--machine", "server", "--", compile(t, "whose.c", plain))
	if status != 0 {
		t.Fatal(said)
	}
	_, p := summary(t, path, "whose.c")
	found := map[string]string{}
	tab := p.Tables()
	for _, e := range tab.Events {
		if name := tab.Kinds[e.Kind].Name; !strings.HasPrefix(name, "coherence") || e.Detail == "" {
			continue
		}
		for _, f := range e.Frames {
			found[f.Function] += e.Detail + "\n"
		}
	}
	for function, want := range map[string]string{"fight": "stack", "fightLocal": "thread-local data"} {
		if got := found[function]; !strings.Contains(got, want) || want == "stack" && strings.Contains(got, "thread-local") {
			t.Errorf("in %s they fight over %q, want the %s", function, got, want)
		}
	}
}
