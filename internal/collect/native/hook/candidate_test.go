package hook

import (
	"debug/elf"
	"testing"
)

const ownBarrier = `
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int count, sense;
static int many = 100;
__attribute__((noinline)) int meet(int *mine, int x) {
	*mine = !*mine;
	if (atomic_fetch_add(&count, 1) == 3) {
		atomic_store(&count, 0);
		atomic_store(&sense, *mine);
		return x + many;
	}
	while (atomic_load(&sense) != *mine)
		sched_yield();
	return x - many;
}
static void *work(void *arg) {
	int mine = 0, x = 0;
	for (int i = 0; i < 50; i++) x = meet(&mine, x);
	*(int *)arg = x;
	return 0;
}
int main(void) {
	pthread_t t[4];
	int x[4], sum = 0;
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, &x[i]);
	for (int i = 0; i < 4; i++) { pthread_join(t[i], 0); sum += x[i]; }
	return sum == 50 * (100 - 300) ? 7 : 1;
}
`

// function finds a function of the program, and its code.
func function(t *testing.T, path, name string) (addr uint64, code []byte) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name {
			text := f.Section(".text")
			data, err := text.Data()
			if err != nil {
				t.Fatal(err)
			}
			return s.Value, data[s.Value-text.Addr:][:s.Size]
		}
	}
	t.Fatalf("no function %s", name)
	return 0, nil
}

// A function that was moved does what it did, records who comes and goes, and its addresses lead
// back to where it stood.
func TestWatch(t *testing.T) {
	for _, flags := range [][]string{nil, {"-no-pie"}, {"-static"}, {"-O0"}} {
		path := compile(t, ownBarrier, flags...)
		addr, code := function(t, path, "meet")
		cmd, tr, ring := prepared(t, path)
		in, err := Install(tr, ring, funcs)
		if err != nil {
			t.Fatal(err)
		}
		ims, err := tr.images(funcs)
		if err != nil {
			t.Fatal(err)
		}
		entry := addr + ims[0].bias
		broken := Candidate{Name: "broken", Entry: entry + 1, Runs: []Code{{At: entry, Bytes: []byte{0xe3, 0, 0x90, 0x90, 0x90, 0x90, 0x90}}}}
		if err := in.Watch(tr, ring, []Candidate{broken,
			{Name: "meet", Entry: entry, Runs: []Code{{At: entry, Bytes: code}}}}, len(funcs)); err != nil {
			t.Fatal(err)
		}
		if in.Whole(1) != entry || in.Whole(2) != 0 || in.Origin(entry) != entry {
			t.Errorf("%v: whole %#x and %#x, want %#x and 0", flags, in.Whole(1), in.Whole(2), entry)
		}
		for _, o := range in.candidates.origins {
			if o.was < entry || o.was >= entry+uint64(len(code)) || in.Origin(o.now) != o.was {
				t.Errorf("%v: %#x stood at %#x, which is not in the function", flags, o.now, o.was)
			}
		}
		if err := tr.Detach(); err != nil {
			t.Fatal(err)
		}
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
			t.Fatalf("%v: the program ended with %v, want status 7", flags, cmd.ProcessState)
		}
		n := map[Phase]int{}
		ring.Drain(func(r Record) {
			if r.Func == len(funcs)+1 {
				n[r.Phase]++
			}
		})
		if n[Enter] != 200 || n[Return] != 200 || ring.Allowed(1) != candidateBudget-400 {
			t.Errorf("%v: %v records, %d more allowed; want 200 each of coming and going", flags, n, ring.Allowed(1))
		}
	}
}

// A candidate that may record nothing any more runs on as it did.
func TestCandidateBudget(t *testing.T) {
	path := compile(t, ownBarrier)
	addr, code := function(t, path, "meet")
	cmd, tr, ring := prepared(t, path)
	in, err := Install(tr, ring, funcs)
	if err != nil {
		t.Fatal(err)
	}
	ims, err := tr.images(funcs)
	if err != nil {
		t.Fatal(err)
	}
	entry := addr + ims[0].bias
	if err := in.Watch(tr, ring, []Candidate{{Name: "meet", Entry: entry, Runs: []Code{{At: entry, Bytes: code}}}}, len(funcs)); err != nil {
		t.Fatal(err)
	}
	ring.Allow(0, 10)
	if err := tr.Detach(); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Fatalf("the program ended with %v, want status 7", cmd.ProcessState)
	}
	n := 0
	ring.Drain(func(r Record) {
		if r.Func == len(funcs) {
			n++
		}
	})
	if most := 10 + 4; n < 10 || n > most { // threads look before they take
		t.Errorf("%d records, want 10 to %d", n, most)
	}
}
