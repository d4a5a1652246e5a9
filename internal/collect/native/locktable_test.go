package native

import (
	"testing"

	"lime/internal/profile"
)

// Who gave a lock back while others waited answers for all that they waited, and only locks that
// were waited for are told.
func TestLockTable(t *testing.T) {
	p := profile.New(profile.Meta{})
	p.AddThread(profile.Thread{})
	p.AddThread(profile.Thread{})
	p.AddFunction(profile.Function{Image: profile.None, File: profile.None}) // that of code which is not known
	x, c := lockTable{}, newCode(&images{}, p)
	x.waited(0x50, "pthread_mutex_lock", 0, 0x401000, profile.None, 30)
	x.waited(0x50, "mtx_lock", 0, 0x401000, profile.None, 10)
	x.waited(0x50, "pthread_mutex_lock", 1, 0x402000, profile.None, 5)
	x.charge(0x50, &unlock{row: 1, call: 0x403000, path: profile.None}, 40)
	x.charge(0x50, &unlock{row: 0, call: 0x403000, path: profile.None}, 5)
	x.charge(0x60, &unlock{row: 0, call: 0x403000, path: profile.None}, 7)
	kind := p.AddKind(profile.NewKind(profile.Measured, profile.KindLockWait))
	event := p.AddEvent(profile.Event{Kind: kind, Node: profile.None, Addr: 0x401000})
	x.write(p, c, nil, map[uint64]profile.EventID{0x401000: event})
	tab := p.Tables()
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	if len(tab.Locks) != 1 || tab.Locks[0].Name != "the one waited for at 0x401000" || tab.Locks[0].Objects != 1 || tab.Locks[0].Kind != "pthread_mutex_lock" ||
		tab.Locks[0].Taken != profile.Unavailable {
		t.Fatalf("%+v", tab.Locks)
	}
	if got := tab.Events[event].Detail; got != "on the one waited for at 0x401000" {
		t.Errorf("the event is %q", got)
	}
	waited, charged := uint64(0), uint64(0)
	for _, w := range tab.LockWaits {
		waited += w.Time
	}
	for _, h := range tab.LockHolds {
		charged += h.Waited
	}
	if w := tab.LockWaits; len(w) != 2 || w[0].Count != 2 || w[0].Longest != 30 || w[1].Thread != 1 || waited != 45 || charged != 45 {
		t.Errorf("%+v, %+v", w, tab.LockHolds)
	}
}

// Locks without a name of their own go by the place where threads waited for them most, all of those
// that share it together.
func TestLocksGoByTheirPlaces(t *testing.T) {
	x := lockTable{}
	for i, addr := range []uint64{0x50, 0x90, 0xd0} {
		x.waited(addr, "syscall", 0, 0x401000, profile.None, 30)
		x.waited(addr, "syscall", 0, 0x402000, profile.None, uint64(20*i)) // the third one's is here
	}
	got := x.named(nil)
	if len(got) != 2 || got[0].name != "the one waited for at 0x401000" || got[0].objects != 2 || got[0].addr != 0x50 ||
		got[1].name != "the one waited for at 0x402000" || got[1].objects != 1 {
		t.Errorf("%+v", got)
	}
}
