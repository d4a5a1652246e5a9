package known

import (
	"slices"
	"strings"
	"testing"
)

func TestEachRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Functions() {
		for _, name := range f.Names() {
			if name == "" || seen[name] {
				t.Errorf("%q: a row without a name, or one that is there twice", name)
			}
			seen[name] = true
		}
		if f.Role.Made() || f.Role >= Roles {
			t.Errorf("%s: role %d is none of a function's", f.Name, f.Role)
		}
		onStack := f.Role >= Meet && f.Role <= Message
		if f.Object < None || f.Second < None || !onStack && (f.Object > 5 || f.Second > 5) ||
			onStack && bySize*(max(f.Object, f.Second)-5) > f.Pass.Stack {
			t.Errorf("%s: arguments %d, %d do not come in registers", f.Name, f.Object, f.Second)
		}
		if f.Constant != 0 && f.Object != None && !onStack {
			t.Errorf("%s: has an object and a constant", f.Name)
		}
		if f.Source == "" {
			t.Errorf("%s: nothing says where its meaning is laid down", f.Name)
		}
	}
}

// Whoever does not watch a function says why, and somebody watches it.
func TestEachRowIsDecided(t *testing.T) {
	for _, f := range Functions() {
		if f.Probe == Undecided || f.Hook == Undecided || f.Probe > Unseen || f.Hook > Unseen {
			t.Errorf("%s: probe %d, hook %d: not decided", f.Name, f.Probe, f.Hook)
		}
		if !f.Probe.Watched() && !f.Hook.Watched() {
			t.Errorf("%s: nobody watches it", f.Name)
		}
		if all := f.Probe.Watched() && f.Hook.Watched(); all != (f.Why == "") {
			t.Errorf("%s: probe %d, hook %d, but the reason is %q", f.Name, f.Probe, f.Hook, f.Why)
		}
		if f.Probe == IfSlow || f.Probe == IfContended {
			t.Errorf("%s: a probe sees every call", f.Name)
		}
	}
}

// What a hook is to do must fit what it watches: an attempt only where a wait is timed, an inner
// call only of a lock, and so on.
func TestEachRowFitsItsHook(t *testing.T) {
	rows := map[string]Func{}
	for _, f := range Functions() {
		rows[f.Name] = f
	}
	for _, f := range Functions() {
		p := f.Pass
		if p.Try != "" && f.Hook != IfSlow {
			t.Errorf("%s: an attempt is of use only where the wait is timed", f.Name)
		}
		if r, ok := rows[p.Try]; ok && r.Role != TryLock {
			t.Errorf("%s: %s is no attempt at a lock", f.Name, p.Try)
		}
		if locks := f.Hook == IfSlow || f.Hook == IfContended; (p.Inner || p.Same != "") && !locks {
			t.Errorf("%s: only what locks do is hooked inside", f.Name)
		}
		if p.Same != "" && !rows[p.Same].Pass.Inner {
			t.Errorf("%s: %s is not hooked inside", f.Name, p.Same)
		}
		if p.Variadic && f.Role != Fork || p.Only != 0 && f.Hook != AtBoth || p.Stack%8 != 0 {
			t.Errorf("%s: %+v does not fit", f.Name, p)
		}
		if f.Role == Fork && f.Object != 0 && f.Object != 2 {
			t.Errorf("%s: a hook finds a body in the first or the third argument", f.Name)
		}
	}
}

// Other names are known of POSIX functions and of Go's in assembly only.
func TestNames(t *testing.T) {
	for _, row := range []struct {
		f    Func
		want []string
	}{
		{Func{Name: "sem_wait", Also: Internal}, []string{"sem_wait", "__sem_wait"}},
		{Func{Name: "runtime.gogo", Also: ABI0}, []string{"runtime.gogo", "runtime.gogo.abi0"}},
		{Func{Name: "thrd_join"}, []string{"thrd_join"}},
	} {
		if got := row.f.Names(); !slices.Equal(got, row.want) {
			t.Errorf("%+v: %v, want %v", row.f, got, row.want)
		}
	}
	for _, f := range Functions() {
		if strings.HasPrefix(f.Name, "runtime.") != (f.Source == goRuntime) {
			t.Errorf("%s: from %s", f.Name, f.Source)
		}
		if f.Also == Internal && f.Source != posix || f.Also == ABI0 && f.Source != goRuntime {
			t.Errorf("%s: no such name is known of it", f.Name)
		}
	}
}

func TestWatchedRowsOnly(t *testing.T) {
	for _, f := range Probed() {
		if !f.Probe.Watched() {
			t.Errorf("%s is not probed", f.Name)
		}
	}
	for _, f := range Hooked() {
		if !f.Hook.Watched() {
			t.Errorf("%s is not hooked", f.Name)
		}
	}
	if p, h := len(Probed()), len(Hooked()); p < 100 || h < 70 {
		t.Errorf("%d probed, %d hooked", p, h)
	}
}

// A lock that has no address has a name, and no other one has.
func TestLocksWithoutAddress(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range Functions() {
		if row.Constant == 0 || row.Role != Lock && row.Role != Turn {
			continue
		}
		if name := LockName(row.Constant); !strings.HasPrefix(name, "the one of ") {
			t.Errorf("%s: %q", row.Name, name)
		} else {
			seen[name] = true
		}
	}
	if len(seen) != 3 || LockName(0) != "" || LockName(0x404040) != "" {
		t.Errorf("%v, %q, %q", seen, LockName(0), LockName(0x404040))
	}
}
