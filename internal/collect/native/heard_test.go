package native

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
)

// Of two threads one always waits alone. What one puts into a queue and the other takes out is no
// barrier all the same: it is told, too, when nobody waits. How often somebody hears before that is
// the host's load, so the program counts it.
func TestQueueOfTwoIsNoBarrier(t *testing.T) {
	needs(t, needSamples, needTracing)
	const queue = measuring + `
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static long held, heard;
static int waits[2], unheard[2];
static void tell(pthread_cond_t *c, int k) {
	heard += waits[k] && !unheard[k];
	unheard[k] |= !waits[k];
	waits[k] = 0;
	pthread_cond_signal(c);
}
static void await(pthread_cond_t *c, int k) {
	waits[k] = 1;
	pthread_cond_wait(c, &m);
}
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 400; r++) {
		if (me == 1) spin(me, 300000);
		pthread_mutex_lock(&m);
		if (me == 0) {
			while (held == 4) await(&room, 0);
			held++;
			tell(&more, 1);
		} else {
			while (held == 0) await(&more, 1);
			held--;
			tell(&room, 0);
		}
		pthread_mutex_unlock(&m);
		if (me == 0) spin(me, 300000);
	}
	return 0;
}
`
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{build(t, queue+team(2, "", `printf("%ld\n", heard);`))}, Stdout: &out})
	heard := 0
	if _, err := fmt.Sscan(out.String(), &heard); err != nil {
		t.Fatalf("the program printed %q: %v", out.String(), err)
	}
	for id, s := range p.Tables().Sections {
		n := 0
		for range p.Instances(profile.SectionID(id)) {
			n++
		}
		if s.Kind == profile.SectionBuilt && n > heard { // until it has been told once when nobody waited
			t.Errorf("%d passages of a barrier, of %d waits before nobody heard", n, heard)
		}
	}
}

// What is known of a condition.
func TestHearings(t *testing.T) {
	const a = 64
	for _, row := range []struct {
		name string
		do   func(hearings)
		want bool
	}{
		{"all hear", func(m hearings) { m.tells(a, true, false); m.tells(a, true, false) }, false},
		{"nobody hears", func(m hearings) { m.tells(a, true, false); m.tells(a, false, false) }, true},
		{"nobody once", func(m hearings) { m.tells(a, false, false); m.tells(a, true, false) }, true},
		{"somebody may hear", func(m hearings) { m.unsure(a); m.tells(a, false, false) }, false},
		{"nobody knows who was there before", func(m hearings) { m.tells(a, false, true) }, false},
		{"and later nobody hears", func(m hearings) { m.tells(a, false, true); m.tells(a, false, true) }, true},
	} {
		m := hearings{}
		if row.do(m); m[a].unheard != row.want {
			t.Errorf("%s: %t", row.name, m[a].unheard)
		}
	}
}
