package section

import "testing"

// TestTurnsAreNoBarrier has a thread wake all who wait for a condition, of whom one goes on.
func TestTurnsAreNoBarrier(t *testing.T) {
	const begins = `
		0 0 start
		10 0 create of=1 at=1:100
		10 1 start of=0
		10 0 create of=2 at=1:100
		10 2 start of=0
		10 0 create of=3 at=1:100
		10 3 start of=0
		11 0 join of=1 at=1:200
		20 2 wait obj=8 at=2:20
		30 3 wait obj=8 at=2:20
		40 1 release obj=8 woken=2,3 at=2:21
`
	const ends = `
		70 1 exit at=2:22
		75 2 exit at=2:22
		80 3 exit at=2:22
		81 0 joined of=1
		81 0 join of=2 at=1:200
		81 0 joined of=2
		81 0 join of=3 at=1:200
		81 0 joined of=3
		90 0 exit at=1:300`
	for _, c := range []struct{ name, ops, want string }{
		{"who waits again was not let through: the passage is none", `
			43 3 go-idle
			44 3 wait obj=8 again=1 at=2:20
			46 2 go-idle
			60 2 release obj=8 woken=3 peer=1 at=2:21
			62 3 go-idle`, `
			serial @100 0[0-10>10]
			join @200 1[10-70>81] 2[10-49>81] 3[10-49>81]
			exit @300 0[81-90>90]`},
		{"nor was it if one who came out of it lets others go before all have come out", `
			46 2 go-idle
			60 2 release obj=8 woken=3 at=2:21
			62 3 go-idle`, `
			serial @100 0[0-10>10]
			join @200 1[10-70>81] 2[10-49>81] 3[10-48>81]
			exit @300 0[81-90>90]`},
		{"a barrier is one, though those who come out wait for the next one at once", `
			43 3 go-idle
			44 3 wait obj=8 at=2:20
			46 2 go-idle
			48 2 wait obj=8 at=2:20
			60 1 release obj=8 woken=2,3 at=2:21
			62 3 go-idle
			63 2 go-idle`, `
			serial @100 0[0-10>10]
			built-barrier @20 1[10-40>40] 2[10-20>40] 3[10-30>40]
			built-barrier @20 1[40-60>60] 2[46-48>60] 3[43-44>60]
			join @200 1[60-70>81] 2[63-75>81] 3[62-80>81]
			exit @300 0[81-90>90]`},
	} {
		t.Run(c.name, func(t *testing.T) { recognises(t, begins+c.ops+ends, c.want) })
	}
}
