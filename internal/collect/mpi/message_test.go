package mpi

import (
	"fmt"
	"strings"
	"testing"
)

// letters runs calls and says what each sends and takes.
func letters(t *testing.T, c *Comms, p *process, steps []step) {
	t.Helper()
	for i, s := range steps {
		p.args = make([]uint64, 12)
		for n, v := range s.args {
			p.args[n] = v
		}
		call := c.Enter(row(t, s.name), p, uint64(i))
		if s.at != 0 {
			p.words[s.at] = s.puts
		}
		c.Leave(&call, p)
		got := ""
		switch {
		case call.Mail != nil && (call.Meets || call.Found):
			got = strings.TrimPrefix(call.Mail.Meeting().Communicator, "mail")
		case call.Waits:
			got = " waits"
		}
		if got = strings.TrimPrefix(got, " "); got != s.want {
			t.Errorf("call %d, %s: %q, want %q", i, s.name, got, s.want)
		}
	}
}

// Both sides of a message name it alike, whichever way it is sent and received by.
func TestMessages(t *testing.T) {
	const world, me = 0x44000000, 2
	to := func(comm, peer, tag int, more ...int) map[int]uint64 { // arguments of MPI_Send and its kin
		m := map[int]uint64{comm: world, 3: uint64(peer), 4: uint64(tag)}
		for i := 0; i+1 < len(more); i += 2 {
			m[more[i]] = uint64(more[i+1])
		}
		return m
	}
	p := &process{words: map[uint64]uint64{}}
	letters(t, New(ByValue), p, []step{
		{"MPI_Send", to(5, 1, 7), 0, 0, "waits"}, // which rank it is has not been asked
		{"MPI_Comm_rank", map[int]uint64{0: world, 1: 0x900}, 0x900, me, ""},
		{"MPI_Send", to(5, 1, 7), 0, 0, ">2,1,7,0,world"},
		{"MPI_Send", to(5, 1, 8), 0, 0, ">2,1,8,0,world"},
		{"MPI_Rsend", to(5, 1, 7), 0, 0, ">2,1,7,1,world"},
		{"MPI_Ssend", to(5, 3, 7), 0, 0, "!2,3,7,0,world"},
		{"MPI_Recv", to(5, 1, 7), 0, 0, "<1,2,7,0,world"},
		{"MPI_Send", to(5, -1, 7), 0, 0, "waits"},       // to nobody
		{"MPI_Recv", to(5, -2, 7, 6, 1), 0, 0, "waits"}, // from anybody, and nobody asks from whom
		{"MPI_Recv", to(5, -2, -1, 6, 0xa00), 0, 0, ""}, // nothing is in the status
		{"MPI_Probe", map[int]uint64{0: 3, 1: 5, 2: world}, 0, 0, "<3,2,5,0,world"},
		{"MPI_Recv", to(5, 3, 5), 0, 0, "<3,2,5,0,world"}, // the same that has been looked at
		{"MPI_Sendrecv", map[int]uint64{3: 1, 4: 7, 8: 3, 9: 5, 10: world}, 0, 0, ">2,1,7,2,world <3,2,5,1,world"},
		{"MPI_Sendrecv_replace", map[int]uint64{3: 1, 4: 7, 5: 3, 6: 5, 7: world}, 0, 0, ">2,1,7,3,world <3,2,5,2,world"},
		{"MPI_Irecv", to(5, 0, 1, 6, 0xb00), 0xb00, 0x71, ""},
		{"MPI_Irecv", to(5, 0, 1, 6, 0xb04), 0xb04, 0x72, ""},
		{"MPI_Isend", to(5, 0, 1, 6, 0xb08), 0xb08, 0x73, ">2,0,1,0,world"},
		{"MPI_Waitall", map[int]uint64{0: 3, 1: 0xb00}, 0, 0, "<0,2,1,0,world <0,2,1,1,world"},
		{"MPI_Irecv", to(5, 0, 1, 6, 0xb00), 0xb00, 0x74, ""},
		{"MPI_Test", map[int]uint64{0: 0xb00, 1: 0xc00}, 0xc00, 0, "waits"},
		{"MPI_Test", map[int]uint64{0: 0xb00, 1: 0xc00}, 0xc00, 1, "<0,2,1,2,world"},
		{"MPI_Irecv", to(5, 0, 1, 6, 0xb00), 0xb00, 0x75, ""},
		{"MPI_Waitany", map[int]uint64{0: 2, 1: 0xafc, 2: 0xd00}, 0xd00, 1, "<0,2,1,3,world"},
		{"MPI_Send_init", to(5, 1, 9, 6, 0xe00), 0xe00, 0x81, ""},
		{"MPI_Recv_init", to(5, 1, 9, 6, 0xe04), 0xe04, 0x82, ""},
		{"MPI_Startall", map[int]uint64{0: 2, 1: 0xe00}, 0, 0, ">2,1,9,0,world"},
		{"MPI_Waitall", map[int]uint64{0: 2, 1: 0xe00}, 0, 0, "<1,2,9,0,world"},
		{"MPI_Waitall", map[int]uint64{0: 2, 1: 0xe00}, 0, 0, "waits"}, // not started again
		{"MPI_Start", map[int]uint64{0: 0xe04}, 0, 0, ""},
		{"MPI_Wait", map[int]uint64{0: 0xe04}, 0, 0, "<1,2,9,1,world"},
	})
}

// From whom a message came that was taken from anybody stands in the status, where both
// implementations have it.
func TestStatus(t *testing.T) {
	for _, l := range []struct {
		world, any, source uint64
		names              map[uint64]string
	}{
		{0x44000000, 1<<32 - 2, 0xa08, nil},
		{0x7f0012a0, 1<<32 - 1, 0xa00, map[uint64]string{0x7f0012a0: "ompi_mpi_comm_world"}},
	} {
		p := &process{words: map[uint64]uint64{l.source: 3, l.source + 4: 6}, names: l.names}
		letters(t, New(ByValue), p, []step{
			{"MPI_Comm_rank", map[int]uint64{0: l.world, 1: 0x900}, 0x900, 2, ""},
			{"MPI_Recv", map[int]uint64{3: 3, 4: 6, 5: l.world}, 0, 0, "<3,2,6,0,world"},
			{"MPI_Recv", map[int]uint64{3: l.any, 4: 1<<32 - 1, 5: l.world, 6: 0xa00}, 0, 0, "<3,2,6,1,world"},
		})
	}
}

// Natively requests are known by their variables. One that holds two at a time says of neither when
// it is done.
func TestRequestsByVariable(t *testing.T) {
	const world = 0x44000000
	c := New(ByVariable)
	p := &variables{process{words: map[uint64]uint64{}}}
	call := func(name string, args map[int]uint64) string {
		p.args = make([]uint64, 12)
		for n, v := range args {
			p.args[n] = v
		}
		x := c.Enter(row(t, name), p, 0)
		c.Leave(&x, p)
		if x.Mail == nil {
			return ""
		}
		return fmt.Sprint(len(x.Mail.Sent), len(x.Mail.Taken))
	}
	c.find(p, world).rank = 2
	receive := map[int]uint64{3: 1, 4: 7, 5: world, 6: 0xb00}
	for i, s := range []struct {
		name string
		args map[int]uint64
		want string
	}{
		{"MPI_Irecv", receive, ""}, {"MPI_Wait", map[int]uint64{0: 0xb00}, "0 1"},
		{"MPI_Irecv", receive, ""}, {"MPI_Irecv", receive, ""}, {"MPI_Wait", map[int]uint64{0: 0xb00}, ""},
		{"MPI_Irecv", receive, ""}, {"MPI_Wait", map[int]uint64{0: 0xb00}, "0 1"},
	} {
		if got := call(s.name, s.args); got != s.want {
			t.Errorf("call %d, %s: %q, want %q", i, s.name, got, s.want)
		}
	}
}

// variables is a process of which only the places of variables are known.
type variables struct{ process }

func (*variables) Word(addr uint64, _ int) (uint64, bool) { return addr, true }

// A grid's rows are told apart by where the process stands in the dimensions that are left out.
func TestRowsOfAGrid(t *testing.T) {
	const world, grid = 0x44000000, 0x84000001
	for _, x := range []struct {
		rank uint64
		keep [3]uint64
		want string
	}{
		{7, [3]uint64{0, 1, 1}, "world/0/0:1:0"}, {7, [3]uint64{1, 0, 1}, "world/0/0:0:0"}, {7, [3]uint64{1, 1, 0}, "world/0/0:1:0"},
		{9, [3]uint64{0, 1, 0}, "world/0/0:1:1:0"}, {3, [3]uint64{1, 1, 1}, "world/0/0:0"},
	} {
		p := &process{words: map[uint64]uint64{0x100: 2, 0x104: 3, 0x108: 2, 0x200: x.keep[0], 0x204: x.keep[1], 0x208: x.keep[2]}}
		c := New(ByValue)
		var got string
		for _, s := range []step{
			{"MPI_Comm_rank", map[int]uint64{0: world, 1: 0x900}, 0x900, x.rank, ""},
			{"MPI_Cart_create", map[int]uint64{0: world, 1: 3, 2: 0x100, 5: 0x910}, 0x910, grid, ""},
			{"MPI_Cart_sub", map[int]uint64{0: grid, 1: 0x200, 2: 0x918}, 0x918, 0x84000002, ""},
			{"MPI_Barrier", map[int]uint64{0: 0x84000002}, 0, 0, ""},
		} {
			p.args = make([]uint64, 12)
			for n, v := range s.args {
				p.args[n] = v
			}
			call := c.Enter(row(t, s.name), p, 0)
			if s.at != 0 {
				p.words[s.at] = s.puts
			}
			c.Leave(&call, p)
			got = fmt.Sprintf("%s:%d", call.Meeting.Communicator, call.Meeting.N)
		}
		if got != x.want {
			t.Errorf("rank %d keeps %v: %s, want %s", x.rank, x.keep, got, x.want)
		}
	}
}
