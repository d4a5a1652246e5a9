package section

import "testing"

// Scopes, whose creator counts its threads down instead of joining them.
func TestRecogniseScopes(t *testing.T) {
	for _, c := range []struct{ name, ops, want string }{
		{"a scope: who is through has done its work, and its creator waits for the last", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			10 0 create of=2 at=1:100
			10 2 start of=0
			10 0 create of=3 at=1:100
			10 3 start of=0
			11 0 created
			12 0 wait obj=8 at=7:70/1:110
			40 1 exit
			50 3 release obj=8 woken=0 through=2,3
			51 0 go
			52 3 exit
			53 2 exit
			60 0 create of=4 at=1:100
			60 4 start of=0
			60 0 create of=5 at=1:100
			60 5 start of=0
			61 0 created
			62 0 wait obj=8 at=7:70/1:110
			80 5 release obj=8 woken=0 through=4,5
			81 0 go
			90 0 exit at=1:300
			90 4 exit
			91 5 exit`, `
			serial @100 0[0-10>10]
			serial @0 0[10-11>11]
			join @70 1[10-40>53] 2[10-53>53] 3[10-50>53]
			serial @100 0[51-60>60]
			serial @0 0[60-61>61]
			join @70 4[60-90>90] 5[60-80>90]
			exit @300 0[81-90>90]`},
		{"a scope one of whose threads waits for the C library's lock in its end when the last lets their creator go", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			10 0 create of=2 at=1:100
			10 2 start of=0
			11 0 created
			12 0 wait obj=8 at=7:70/1:110
			40 1 wait obj=9 at=8:80
			50 2 release obj=8 woken=0 through=1,2
			51 0 go
			52 1 go
			53 1 exit
			54 2 exit
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			serial @0 0[10-11>11]
			join @70 1[10-53>53 off=12] 2[10-50>53]
			exit @300 0[51-60>60]`},
		{"a scope whose last thread had next to nothing to do: it has done that, and has dealt nothing", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			10 0 create of=2 at=1:100
			11 0 created
			12 0 wait obj=8 at=7:70/1:110
			4995 2 start of=0
			4996 1 exit
			5000 2 release obj=8 woken=0 through=2 at=9:90
			5001 0 go
			5002 2 exit
			5010 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			serial @0 0[10-11>11]
			join @70 1[10-4996>5000] 2[4995-5000>5000]
			exit @300 0[5001-5010>5010]`},
		{"a scope whose threads are all through before their creator comes to wait", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			10 0 create of=2 at=1:100
			10 2 start of=0
			11 0 created
			12 0 wait obj=8 at=7:70/1:110
			30 1 exit
			50 2 release obj=8 woken=0 through=2
			51 0 go
			52 2 exit
			60 0 create of=3 at=1:100
			60 3 start of=0
			60 0 create of=4 at=1:100
			60 4 start of=0
			61 0 created
			70 3 exit
			75 4 exit
			80 0 create of=5 at=1:100
			80 5 start of=0
			80 0 create of=6 at=1:100
			80 6 start of=0
			81 0 created
			82 0 wait obj=8 at=7:70/1:110
			90 5 exit
			95 6 release obj=8 woken=0 through=6
			96 0 go
			97 6 exit
			99 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			serial @0 0[10-11>11]
			join @70 1[10-30>50] 2[10-50>50]
			serial @100 0[51-60>60]
			serial @0 0[60-61>61]
			join @70 3[60-70>75] 4[60-75>75]
			serial @0 0[80-81>81]
			join @70 5[80-90>95] 6[80-95>95]
			exit @300 0[96-99>99]`},
	} {
		t.Run(c.name, func(t *testing.T) { recognises(t, c.ops, c.want) })
	}
}
