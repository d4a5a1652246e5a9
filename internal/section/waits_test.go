package section

import "testing"

// Sections whose ends no library call names: barriers built of waits, tasks, pipelines and pools.
func TestRecogniseWaits(t *testing.T) {
	for _, c := range []struct{ name, ops, want string }{
		{"tasks done while waiting for the others count for the section that ends there", `
			0 0 start
			0 1 start of=0
			0 1 idle
			10 0 fork obj=5 at=1:100
			11 0 member obj=5
			12 1 member obj=5
			14 1 memberend obj=5 at=2:1
			15 0 memberend obj=5 at=2:1
			20 1 task
			20 0 task
			30 0 taskend
			50 1 taskend
			55 1 task
			60 1 taskend
			61 0 regionend obj=5
			70 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			region-end @100 0[11-25>61] 1[12-49>61]
			exit @300 0[61-70>70]`},
		{"who waits for more work when the program ends takes part if it did some", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			9 2 wait obj=7 at=2:1
			60 1 wait obj=7 at=2:1
			1000 0 exit at=1:300`, `
			exit @1 0[0-1000>1000] 1[0-60>1000]`},
		{"waiting for tasks is idleness, the tasks that are run meanwhile are not", `
			0 0 start
			0 1 start of=0
			0 1 idle
			10 0 fork obj=5 at=1:100
			10 0 member obj=5
			10 1 member obj=5
			12 1 memberend obj=5 at=2:1
			20 0 lull
			22 1 task
			25 1 lull
			26 0 lullend
			30 0 lull
			33 1 off n=2
			35 1 lullend
			40 0 lullend
			42 1 taskend
			50 0 memberend obj=5 at=2:1
			51 0 regionend obj=5
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			region-end @100 0[10-34>51] 1[10-24>51 off=2]
			exit @300 0[51-60>60]`},
		{"stages that one call through a pointer began hand an item on: no barrier", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			11 0 create of=2 at=1:100
			11 2 start of=0
			12 0 join of=1 at=1:200
			20 1 wait obj=8 at=91:11/90:900
			40 2 release obj=8 woken=1 at=92:21/90:900
			41 1 go-idle
			45 2 exit at=92:22/90:900
			50 1 exit at=91:12/90:900
			51 0 joined of=1
			52 0 join of=2 at=1:200
			52 0 joined of=2
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			join @200 1[10-29>51] 2[11-45>52]
			exit @300 0[52-60>60]`},
		{"a stage that others feed is no keeper of the one that it feeds", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			10 2 start of=0
			10 3 start of=0
			10 4 start of=0
			11 0 join of=1 at=1:200
			20 1 wait obj=8 at=3:30
			20 2 wait obj=9 at=4:40
			30 3 release obj=8 woken=1 at=5:50
			31 1 go-idle
			32 3 wait obj=7 at=5:51
			35 4 release obj=9 woken=2 at=6:60
			36 2 go-idle
			37 4 wait obj=6 at=6:61
			42 1 release obj=7 woken=3 at=3:32
			43 3 go-idle
			44 1 wait obj=8 at=3:30
			50 2 wait obj=9 at=4:40
			60 3 release obj=8 woken=1 at=5:50
			61 1 go-idle
			62 3 release obj=9 woken=2 at=5:52
			63 2 go-idle
			63 3 release obj=6 woken=4 at=5:54
			64 4 go-idle
			65 3 exit at=5:53
			70 1 exit at=3:33
			71 2 exit at=4:43
			72 4 exit at=6:63
			81 0 joined of=1
			90 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			serial @200 1[10-42>81]
			exit @43 0[81-90>90] 2[10-42>90] 3[10-54>90] 4[10-45>90]`},
		{"the last two stages of a pipeline hand items on and room back: no barrier", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			10 0 create of=2 at=1:100
			10 2 start of=0
			10 0 create of=3 at=1:100
			10 3 start of=0
			11 0 join of=1 at=1:200
			12 2 wait obj=7 at=4:40
			12 3 wait obj=8 at=5:50
			20 1 release obj=7 woken=2 at=3:30
			21 2 go-idle
			25 1 exit at=3:33
			26 0 joined of=1
			26 0 join of=2 at=1:200
			30 2 release obj=8 woken=3 at=4:42
			31 3 go-idle
			32 2 wait obj=6 at=4:41
			40 3 release obj=6 woken=2 at=5:51
			41 2 go-idle
			42 3 wait obj=8 at=5:50
			50 2 release obj=8 woken=3 at=4:42
			51 3 go-idle
			60 2 exit at=4:43
			61 0 joined of=2
			62 0 join of=3 at=1:200
			70 3 exit at=5:52
			71 0 joined of=3
			80 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			join @200 1[10-25>42] 2[10-42>61] 3[10-42>71]
			exit @300 0[71-80>80]`},
		{"barrier built from mutex and condition, called in a function", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			5 0 lock obj=3
			8 0 locked obj=3
			10 0 wait obj=9 at=50:501/1:100
			20 1 wait obj=9 at=50:501/1:100
			30 2 release obj=9 woken=0,1 at=50:502/1:100
			31 0 go
			32 1 go
			40 2 wait obj=9 at=50:501/1:100
			50 1 wait obj=9 at=50:501/1:100
			60 0 release obj=9 woken=1,2 at=50:502/1:100
			61 1 go
			61 2 go`, `
			built-barrier @100 0[0-10>30 lock=3] 1[0-20>30] 2[0-30>30]
			built-barrier @100 0[31-60>60] 1[32-50>60] 2[30-40>60]`},
		{"barrier written out in the worker: the wait itself names it", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=9 at=50:501/1:100
			20 1 wait obj=9 at=50:501/1:100
			30 2 release obj=9 woken=0,1 at=50:502/1:100
			31 0 go
			32 1 go
			40 2 wait obj=9 at=50:501/1:100 kept=1
			50 1 wait obj=9 at=50:501/1:100 kept=1
			60 0 release obj=9 woken=1,2 at=50:502/1:100 kept=1
			61 1 go
			61 2 go`, `
			built-barrier @501 0[0-10>30] 1[0-20>30] 2[0-30>30]
			built-barrier @501 0[31-60>60] 1[32-50>60] 2[30-40>60]`},
		{"barrier that wakes one by one", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=9 at=50:501
			20 1 wait obj=9 at=50:501
			30 2 release obj=9 woken=0 at=50:502
			31 0 go
			32 2 release obj=9 woken=1 at=50:502
			33 1 go
			50 0 exit
			50 1 exit
			50 2 exit`, `
			built-barrier @501 0[0-10>30] 1[0-20>30] 2[0-30>30]
			exit @0 0[31-50>50] 1[33-50>50] 2[30-50>50]`},
		{"a queue is no barrier: one of several waiters is woken", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=9 at=50:501
			20 1 wait obj=9 at=50:501
			30 2 release obj=9 woken=0 at=60:502
			31 0 go
			40 0 wait obj=9 at=50:501
			50 2 release obj=9 woken=1 at=60:502
			51 1 go
			60 0 exit
			60 1 exit
			60 2 exit`, `
			exit @0 0[0-40>60 off=21] 1[0-60>60 off=31] 2[0-60>60]`},
		{"a pool: main deals out, waits for all; keepers take no part", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			2 1 wait obj=9 at=50:501
			3 2 wait obj=9 at=50:501
			10 0 release obj=9 woken=1,2 at=60:100
			11 1 go
			11 2 go
			12 0 wait obj=8 at=60:601
			40 1 wait obj=9 at=50:501
			90 2 release obj=8 woken=0 at=50:502
			91 0 go
			92 2 wait obj=9 at=50:501
			99 0 exit`, `
			built-barrier @501 0[0-10>10] 1[0-2>10] 2[0-3>10]
			built-barrier @601 1[11-40>90] 2[11-90>90]
			exit @0 0[91-99>99] 2[90-92>99]`},
		{"a pool: what main deals out is handed to each, and main is no peer", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			2 1 wait obj=9 at=50:501
			3 2 wait obj=9 at=50:501
			10 0 release obj=9 woken=1,2 at=60:100 handed
			11 1 go
			11 2 go
			12 0 wait obj=8 at=60:601
			40 1 wait obj=9 at=50:501
			90 2 release obj=8 woken=0 at=50:502
			91 0 go
			92 2 wait obj=9 at=50:501
			99 0 exit`, `
			built-barrier @501 0[0-10>10] 1[0-2>10] 2[0-3>10]
			built-barrier @601 1[11-40>90] 2[11-90>90]
			exit @0 0[91-99>99] 2[90-92>99]`},
		{"a bare futex between two threads may be a lock", `
			0 0 start
			0 1 start of=0
			10 0 wait obj=9 at=50:501 untyped
			20 1 release obj=9 woken=0 at=50:502
			21 0 go
			30 0 exit
			30 1 exit`, `
			exit @0 0[0-30>30 off=11] 1[0-30>30]`},
		{"permits that are handed on: no barrier, though all who wait are woken at once", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			0 3 start of=0
			10 0 wait obj=9 at=50:501
			20 1 wait obj=9 at=50:501
			30 2 release obj=9 woken=0,1 at=50:502 handed
			31 0 go
			32 1 go
			60 0 exit
			60 1 exit
			60 2 exit
			60 3 exit`, `
			exit @0 0[0-60>60 off=21] 1[0-60>60 off=12] 2[0-60>60] 3[0-60>60]`},
		{"a lock that two threads hand on to one another: neither is the other's keeper", `
			0 0 start
			0 1 start of=0
			10 0 wait obj=9 at=50:501
			20 1 release obj=9 woken=0 at=60:601 peer
			21 0 go
			30 1 wait obj=9 at=50:501
			40 0 release obj=9 woken=1 at=60:601 peer
			41 1 go
			60 0 exit
			60 1 exit`, `
			exit @0 0[0-60>60 off=11] 1[0-60>60 off=11]`},
		{"spinning: whom it wakes, and where, comes after the releasing thread's arrival", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 release at=1:77          # on its way to the loop
			11 0 wait obj=9 at=1:78
			20 1 release at=1:77
			21 1 wait obj=9 at=1:78
			30 2 release at=1:77
			31 0 go
			31 2 release obj=9 woken=0
			32 2 release obj=9 woken=1
			32 1 go
			50 0 exit
			50 1 exit
			50 2 exit`, `
			built-barrier @78 0[0-11>30] 1[0-21>30] 2[0-30>30]
			exit @0 0[31-50>50] 1[32-50>50] 2[30-50>50]`},
		{"threads that nobody joins: the last one wakes the creator", `
			0 0 start
			5 0 create of=1 at=1:100
			5 1 start of=0
			6 0 create of=2 at=1:100
			6 2 start of=0
			7 0 wait obj=9 at=1:200
			40 1 exit
			90 2 release obj=9 woken=0
			91 0 go
			92 2 exit
			99 0 exit`, `
			serial @100 0[0-5>5]
			join @200 1[5-40>90] 2[6-90>90]
			exit @0 0[91-99>99] 2[90-92>99]`},
		{"a woken thread ends before all are woken", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=9 at=50:501
			20 1 wait obj=9 at=50:501
			30 2 release obj=9 woken=0 at=50:502
			31 0 go
			32 0 exit
			33 2 release obj=9 woken=1 at=50:502
			34 1 go
			50 1 exit
			50 2 exit`, `
			built-barrier @501 0[0-10>30] 1[0-20>30] 2[0-30>30]
			exit @0 0[31-32>50] 1[34-50>50] 2[30-50>50]`},
		{"one came through the last passage unseen: nobody says where, and the join has the work of both sections", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			0 0 create of=2 at=1:100
			0 2 start of=0
			0 0 create of=3 at=1:100
			0 3 start of=0
			0 0 create of=4 at=1:100
			0 4 start of=0
			0 0 join of=1 at=1:200
			10 1 wait obj=9 at=1:78
			20 2 wait obj=9 at=1:78
			25 3 wait obj=9 at=1:78
			30 4 release obj=9 woken=1,2,3 at=1:79
			30 1 go
			30 2 go
			30 3 go
			40 1 wait obj=9 at=1:78
			45 2 wait obj=9 at=1:78
			50 4 release obj=9 woken=1,2 at=1:79 # thread 3 was there, too
			50 1 go
			50 2 go
			80 1 exit
			80 2 exit
			80 3 exit
			80 4 exit
			80 0 joined of=1
			80 0 join of=2 at=1:200
			80 0 joined of=2
			80 0 join of=3 at=1:200
			80 0 joined of=3
			80 0 join of=4 at=1:200
			80 0 joined of=4`, `
			built-barrier @78 1[0-10>30] 2[0-20>30] 3[0-25>30] 4[0-30>30]
			join @200 1[30-70>80] 2[30-75>80] 3[30-80>80] 4[30-80>80]`},
		{"one came through without waiting: the two sections are one, with all that everybody did", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			0 3 start of=0
			10 0 wait obj=9 at=1:78
			20 1 wait obj=9 at=1:78
			25 3 wait obj=9 at=1:78
			30 2 release obj=9 woken=0,1,3 at=1:79
			30 0 go
			30 1 go
			30 3 go
			40 0 wait obj=9 at=1:78
			45 1 wait obj=9 at=1:78
			50 2 release obj=9 woken=0,1 at=1:79 # thread 3 was there, too
			50 0 go
			50 1 go
			60 0 wait obj=9 at=1:78
			65 1 wait obj=9 at=1:78
			70 3 wait obj=9 at=1:78
			75 2 release obj=9 woken=0,1,3 at=1:79`, `
			built-barrier @78 0[0-10>30] 1[0-20>30] 2[0-30>30] 3[0-25>30]
			built-barrier @78 0[30-50>75] 1[30-60>75] 2[30-75>75] 3[30-70>75]`},
		{"each at a flag of its own: one barrier", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=8 at=1:78
			20 1 wait obj=9 at=1:78
			30 2 release obj=8 woken=0 at=1:79
			31 0 go
			32 2 release obj=9 woken=1 at=1:79
			33 1 go
			50 0 exit
			50 1 exit
			50 2 exit`, `
			built-barrier @78 0[0-10>30] 1[0-20>30] 2[0-30>30]
			exit @0 0[31-50>50] 1[33-50>50] 2[30-50>50]`},
		{"a barrier's function, called at two places: the call of those who waited", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=9 at=50:501/1:100
			20 1 wait obj=9 at=50:501/1:100
			30 2 release obj=9 woken=0,1 at=50:502/1:100
			30 0 go
			30 1 go
			40 0 wait obj=9 at=50:501/1:100
			45 1 wait obj=9 at=50:501/1:100
			50 2 release obj=9 woken=0,1 at=50:502/1:110
			50 0 go
			50 1 go`, `
			built-barrier @100 0[0-10>30] 1[0-20>30] 2[0-30>30]
			built-barrier @100 0[30-40>50] 1[30-45>50] 2[30-50>50]`},
		{"a barrier written out in a function that two call: the line of the wait", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 wait obj=9 at=50:501/1:100
			20 1 wait obj=9 at=50:501/1:100
			30 2 release obj=9 woken=0,1 at=50:502/2:110
			30 0 go
			30 1 go
			40 0 wait obj=9 at=50:501/1:100 kept=1
			45 1 wait obj=9 at=50:501/1:100 kept=1
			50 2 release obj=9 woken=0,1 at=50:502/2:110 kept=1`, `
			built-barrier @501 0[0-10>30] 1[0-20>30] 2[0-30>30]
			built-barrier @501 0[30-40>50] 1[30-45>50] 2[30-50>50]`},
		{"a pipeline is one section: its stages only wait for work", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			0 0 create of=2 at=1:101
			0 2 start of=0
			0 0 create of=3 at=1:102
			0 3 start of=0
			0 0 join of=1 at=1:200
			5 2 wait obj=8 at=50:501/20:120
			6 3 wait obj=9 at=50:501/30:130
			30 1 release obj=8 woken=2 at=60:601/10:110
			31 2 go-idle
			40 2 release obj=9 woken=3 at=60:601/20:121
			41 3 go-idle
			45 3 wait obj=9 at=50:501/30:130
			50 2 wait obj=8 at=50:501/20:120
			80 1 release obj=8 woken=2 at=60:601/10:110 # nobody else is at work
			81 2 go-idle
			81 1 exit
			90 2 release obj=9 woken=3 at=60:601/20:121
			91 3 go-idle
			92 2 exit
			97 3 exit
			97 0 joined of=1
			97 0 join of=2 at=1:201
			97 0 joined of=2
			97 0 join of=3 at=1:202
			97 0 joined of=3`, `
			join @200 1[0-81>97] 2[0-35>97] 3[0-16>97]`},
		{"a queue of one: the creator feeds it, and is never told that the work is done", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			0 0 create of=2 at=1:100
			0 2 start of=0
			4 1 wait obj=9 at=50:501/10:110
			5 2 wait obj=9 at=50:501/10:110
			10 0 release obj=9 woken=1,2 at=60:601
			11 1 go-idle
			11 2 go-idle
			12 2 wait obj=9 at=50:501/10:110
			35 1 wait obj=9 at=50:501/10:110
			40 0 release obj=9 woken=1,2 at=60:601 # only one had something to do
			41 1 go-idle
			41 2 go-idle
			60 1 exit
			60 2 exit
			60 0 join of=1 at=1:200
			60 0 joined of=1
			60 0 join of=2 at=1:200
			60 0 joined of=2`, `
			built-barrier @501 0[0-10>10] 1[0-4>10] 2[0-5>10]
			join @200 0[10-60>60] 1[11-54>60] 2[11-31>60]`},
		{"a queue is closed: all have done their share, and who closes it has waited for none of them", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			0 0 create of=2 at=1:100
			0 2 start of=0
			4 1 wait obj=9 at=50:501/10:110
			5 2 wait obj=9 at=50:501/10:110
			10 0 release obj=9 woken=1 at=60:601
			11 1 go-idle
			12 0 release obj=9 woken=2 at=60:601
			13 2 go-idle
			30 1 wait obj=9 at=50:501/10:110
			33 2 wait obj=9 at=50:501/10:110
			40 0 release obj=9 woken=1,2 at=70:701
			41 1 go-idle
			41 2 go-idle
			42 1 exit
			42 2 exit
			50 0 join of=1 at=1:200
			50 0 joined of=1
			50 0 join of=2 at=1:200
			50 0 joined of=2`, `
			join @200 0[0-50>50] 1[0-24>50] 2[0-26>50]`},
	} {
		t.Run(c.name, func(t *testing.T) { recognises(t, c.ops, c.want) })
	}
}
