package native

import (
	"testing"

	"lime/internal/profile"
)

// Of two threads one always waits alone. What one puts into a queue and the other takes out is no
// barrier all the same: it is told, too, when nobody waits.
func TestQueueOfTwoIsNoBarrier(t *testing.T) {
	needs(t, needSamples, needTracing)
	const queue = measuring + `
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static long held;
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 400; r++) {
		if (me == 1) spin(me, 300000);
		pthread_mutex_lock(&m);
		if (me == 0) {
			while (held == 4) pthread_cond_wait(&room, &m);
			held++;
			pthread_cond_signal(&more);
		} else {
			while (held == 0) pthread_cond_wait(&more, &m);
			held--;
			pthread_cond_signal(&room);
		}
		pthread_mutex_unlock(&m);
		if (me == 0) spin(me, 300000);
	}
	return 0;
}
`
	p, _ := record(t, Options{Command: []string{build(t, queue+team(2, "", ""))}})
	for id, s := range p.Tables().Sections {
		n := 0
		for range p.Instances(profile.SectionID(id)) {
			n++
		}
		if s.Kind == profile.SectionBuilt && n > 10 { // until it has been told once when nobody waited
			t.Errorf("%d passages of a barrier", n)
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
