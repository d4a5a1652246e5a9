package section

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"lime/internal/unit"
)

// The notation: one operation a line,
//
//	TIME THREAD WORD [key=value ...]
//
// with the keys of=THREAD, obj=N, n=N, woken=1,2, at=F:C/F:C (the stack, innermost first; F the
// function, C the call), kept=N, again, untyped, handed, peer
// (which is handed, too); go-idle ends a wait for work. An instance prints as
//
//	KIND @PLACE t0[start-arrive>release] ...
//
// followed by lock= and off= where they are not nil.
var words = map[string]OpKind{
	"start": OpStart, "exit": OpExit, "create": OpCreate, "created": OpCreated, "join": OpJoinBegin, "joined": OpJoinEnd,
	"arrive": OpArrive, "leave": OpLeave, "fork": OpFork, "member": OpMember, "memberend": OpMemberEnd,
	"regionend": OpRegionEnd, "task": OpTask, "taskend": OpTaskEnd, "lull": OpLull, "lullend": OpLullEnd,
	"wait": OpWaitBegin, "go": OpWaitEnd, "release": OpRelease,
	"count": OpCount, "countup": OpCountUp, "await": OpAwait, "awaited": OpAwaitEnd,
	"pass": OpPass, "passed": OpPassEnd, "known": OpPassKnown,
	"lock": OpLockBegin, "locked": OpLockEnd, "off": OpOff, "cut": OpCut, "idle": OpIdle,
}

// endsPiece are the operations that carry a handle.
var endsPiece = map[OpKind]bool{
	OpPass: true, OpPassEnd: true, OpExit: true, OpCreate: true, OpCreated: true, OpJoinBegin: true, OpArrive: true, OpFork: true,
	OpCount: true, OpCountUp: true, OpAwait: true, OpMemberEnd: true, OpTaskEnd: true, OpWaitBegin: true, OpRelease: true, OpCut: true,
}

func parseOp(t *testing.T, line string) Op {
	t.Helper()
	f := strings.Fields(line)
	if len(f) < 3 {
		t.Fatalf("%q: too short", line)
	}
	kind, ok := words[strings.TrimSuffix(f[2], "-idle")]
	if !ok {
		t.Fatalf("%q: unknown word", line)
	}
	op := Op{Idle: f[2] == "go-idle", Kind: kind, At: unit.Cycles(number(t, f[0])), Thread: ThreadID(number(t, f[1])), Other: NoThread}
	for _, kv := range f[3:] {
		setField(t, &op, kv)
	}
	if endsPiece[kind] {
		op.Span = fmt.Sprintf("%s@%s", f[1], f[0])
	}
	return op
}

func setField(t *testing.T, op *Op, kv string) {
	t.Helper()
	k, v, _ := strings.Cut(kv, "=")
	switch k {
	case "of":
		op.Other = ThreadID(number(t, v))
	case "obj":
		op.Object = uint64(number(t, v))
	case "n":
		op.N = unit.Cycles(number(t, v))
	case "kept":
		op.Site.Kept = number(t, v)
	case "again":
		op.Again = true
	case "untyped":
		op.Untyped = true
	case "handed":
		op.Handed = true
	case "peer":
		op.Handed, op.Peer = true, true
	case "woken":
		for _, s := range strings.Split(v, ",") {
			op.Woken = append(op.Woken, ThreadID(number(t, s)))
		}
	case "through":
		for _, s := range strings.Split(v, ",") {
			op.Through = append(op.Through, ThreadID(number(t, s)))
		}
	case "at":
		op.Site.Stack = parseStack(t, v)
	default:
		t.Fatalf("unknown field %q", kv)
	}
}

func parseStack(t *testing.T, s string) []Frame {
	t.Helper()
	var out []Frame
	for _, fr := range strings.Split(s, "/") {
		fn, call, _ := strings.Cut(fr, ":")
		out = append(out, Frame{Func: unit.Addr(number(t, fn)), Call: unit.Addr(number(t, call))})
	}
	return out
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func printInstance(in Instance) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s @%d", in.Kind, uint64(in.Place))
	for _, p := range in.Parts {
		fmt.Fprintf(&b, " %d[%d-%d>%d", p.Thread, p.Start, p.Arrive, p.Release)
		if p.LockWait > 0 {
			fmt.Fprintf(&b, " lock=%d", p.LockWait)
		}
		if p.OffCPU > 0 {
			fmt.Fprintf(&b, " off=%d", p.OffCPU)
		}
		b.WriteString("]")
	}
	return b.String()
}

func lines(s string) []string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		l, _, _ = strings.Cut(l, "#")
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// recognise runs the operations and closes at the time of the last one.
func recognise(t *testing.T, ops string) []Instance {
	t.Helper()
	var out []Instance
	r := New(func(in Instance) { out = append(out, in) })
	var last unit.Cycles
	for _, l := range lines(ops) {
		op := parseOp(t, l)
		last = op.At
		if err := r.Feed(op); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
	}
	r.Close(last)
	return out
}

func unitCycles(n int) unit.Cycles { return unit.Cycles(n) }
