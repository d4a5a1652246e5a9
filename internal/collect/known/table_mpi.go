package known

// Functions of MPI in which processes meet or wait for one another. Fortran's are wrappers of
// these, in Open MPI as in MPICH, and what tools put in between calls the PMPI names.

const (
	mpi31  = "MPI 4.0, 6 (collective communication)"
	mpi7   = "MPI 4.0, 7 (groups, contexts, communicators)"
	mpi3   = "MPI 4.0, 3 (point-to-point communication)"
	mpi12  = "MPI 4.0, 12 (one-sided communication)"
	mpi11  = "MPI 4.0, 11 (process initialization)"
	mpi8   = "MPI 4.0, 8 (process topologies)"
	mpi14  = "MPI 4.0, 14 (I/O)"
	bySize = 8 // bytes of an argument on the stack
)

// meets are rows by the numbers of two arguments: the communicator or window, and what the role has
// as its second.
type meets struct {
	role   Role
	source string
	list   []meetsRow
}

type meetsRow struct {
	name           string
	object, second int
	args           int // how many arguments there are
	constant       int // by role: MeetSplit's argument that tells the new communicators apart, ...
}

func mpi() (rows []Func) {
	for _, m := range meetsTable() {
		for _, r := range m.list {
			rows = append(rows, Func{Name: r.name, Also: Profiled, Role: m.role, Object: r.object, Second: r.second,
				Constant: uint64(r.constant), Probe: AtBoth, Hook: m.role.hooked(),
				Why:  m.role.unhooked(),
				Pass: Pass{Stack: bySize * max(r.args-6, 0)}, Source: m.source})
		}
	}
	return rows
}

// hooked is how a native run sees the calls of a role.
func (r Role) hooked() How {
	if r == Poll || r == PollOne {
		return Unseen
	}
	return AtBoth
}

// unhooked is why a native run does not see them.
func (r Role) unhooked() string {
	if r == Poll || r == PollOne {
		return "programs poll in loops, and two records a call would slow them down: messages that are found so are not matched"
	}
	return ""
}

func meetsTable() []meets {
	return []meets{
		{Meet, mpi11, []meetsRow{
			{"MPI_Init", None, None, 2, 0}, {"MPI_Init_thread", None, None, 4, 0}, {"MPI_Finalize", None, None, 0, 0},
		}},
		{Meet, mpi31, []meetsRow{
			{"MPI_Barrier", 0, None, 1, 0}, {"MPI_Allreduce", 5, None, 6, 0}, {"MPI_Allgather", 6, None, 7, 0}, {"MPI_Allgatherv", 7, None, 8, 0},
			{"MPI_Alltoall", 6, None, 7, 0}, {"MPI_Alltoallv", 8, None, 9, 0}, {"MPI_Alltoallw", 8, None, 9, 0},
			{"MPI_Scan", 5, None, 6, 0}, {"MPI_Exscan", 5, None, 6, 0},
			{"MPI_Reduce_scatter", 5, None, 6, 0}, {"MPI_Reduce_scatter_block", 5, None, 6, 0},
		}},
		{Meet, mpi8, []meetsRow{
			{"MPI_Neighbor_allgather", 6, None, 7, 0}, {"MPI_Neighbor_allgatherv", 7, None, 8, 0}, {"MPI_Neighbor_alltoall", 6, None, 7, 0},
			{"MPI_Neighbor_alltoallv", 8, None, 9, 0}, {"MPI_Neighbor_alltoallw", 8, None, 9, 0},
		}},
		{Meet, mpi12, []meetsRow{{"MPI_Win_fence", 1, None, 2, 0}}},
		// The communicators that these make are not told apart.
		{Meet, mpi7, []meetsRow{{"MPI_Comm_split_type", 0, None, 5, 0}, {"MPI_Intercomm_create", 0, None, 6, 0}}},
		{Meet, mpi14, []meetsRow{{"MPI_File_open", 0, None, 5, 0}}},
		{MeetFrom, mpi31, []meetsRow{{"MPI_Bcast", 4, 3, 5, 0}, {"MPI_Scatter", 7, 6, 8, 0}, {"MPI_Scatterv", 8, 7, 9, 0}}},
		{MeetTo, mpi31, []meetsRow{{"MPI_Reduce", 6, 5, 7, 0}, {"MPI_Gather", 7, 6, 8, 0}, {"MPI_Gatherv", 8, 7, 9, 0}}},
		{MeetStart, mpi31, []meetsRow{
			{"MPI_Ibarrier", 0, 1, 2, 0}, {"MPI_Iallreduce", 5, 6, 7, 0}, {"MPI_Iallgather", 6, 7, 8, 0}, {"MPI_Iallgatherv", 7, 8, 9, 0},
			{"MPI_Ialltoall", 6, 7, 8, 0}, {"MPI_Ialltoallv", 8, 9, 10, 0}, {"MPI_Ialltoallw", 8, 9, 10, 0},
			{"MPI_Iscan", 5, 6, 7, 0}, {"MPI_Iexscan", 5, 6, 7, 0},
			{"MPI_Ireduce_scatter", 5, 6, 7, 0}, {"MPI_Ireduce_scatter_block", 5, 6, 7, 0}, {"MPI_Ibcast", 4, 5, 6, 0}, {"MPI_Ireduce", 6, 7, 8, 0},
			{"MPI_Iscatter", 7, 8, 9, 0}, {"MPI_Iscatterv", 8, 9, 10, 0}, {"MPI_Igather", 7, 8, 9, 0}, {"MPI_Igatherv", 8, 9, 10, 0},
		}},
		{MeetStart, mpi8, []meetsRow{
			{"MPI_Ineighbor_allgather", 6, 7, 8, 0}, {"MPI_Ineighbor_allgatherv", 7, 8, 9, 0},
			{"MPI_Ineighbor_alltoall", 6, 7, 8, 0}, {"MPI_Ineighbor_alltoallv", 8, 9, 10, 0},
			{"MPI_Ineighbor_alltoallw", 8, 9, 10, 0},
		}},
		{MeetFinish, mpi3, []meetsRow{{"MPI_Wait", 0, None, 2, 0}, {"MPI_Waitall", 1, 0, 3, 0}}},
		{MeetDup, mpi7, []meetsRow{{"MPI_Comm_dup", 0, 1, 2, 0}, {"MPI_Comm_dup_with_info", 0, 2, 3, 0}}},
		{MeetDup, mpi12, []meetsRow{{"MPI_Win_create", 4, 5, 6, 0}, {"MPI_Win_allocate", 3, 5, 6, 0},
			{"MPI_Win_allocate_shared", 3, 5, 6, 0}, {"MPI_Win_create_dynamic", 1, 2, 3, 0}}},
		{MeetNew, mpi7, []meetsRow{{"MPI_Comm_create", 0, 2, 3, 0}}},
		{MeetNew, mpi8, []meetsRow{{"MPI_Graph_create", 0, 5, 6, 0},
			{"MPI_Dist_graph_create_adjacent", 0, 9, 10, 0}, {"MPI_Dist_graph_create", 0, 8, 9, 0}}},
		{MeetSplit, mpi7, []meetsRow{{"MPI_Comm_split", 0, 3, 4, 1}}},
		{MeetGrid, mpi8, []meetsRow{{"MPI_Cart_create", 0, 5, 6, 0}}},
		{MeetRows, mpi8, []meetsRow{{"MPI_Cart_sub", 0, 2, 3, 0}}},
		{MeetAsk, mpi7, []meetsRow{{"MPI_Comm_rank", 0, 1, 2, 0}}},
		{Send, mpi3, []meetsRow{{"MPI_Send", 5, 3, 6, 0}, {"MPI_Bsend", 5, 3, 6, 0}, {"MPI_Rsend", 5, 3, 6, 0}}},
		{SendAnswered, mpi3, []meetsRow{{"MPI_Ssend", 5, 3, 6, 0}}},
		{Receive, mpi3, []meetsRow{{"MPI_Recv", 5, 3, 7, 0}}},
		{SendReceive, mpi3, []meetsRow{{"MPI_Sendrecv", 10, 3, 12, 8}, {"MPI_Sendrecv_replace", 7, 3, 9, 5}}},
		{SendStart, mpi3, []meetsRow{{"MPI_Isend", 5, 3, 7, 0}, {"MPI_Issend", 5, 3, 7, 0},
			{"MPI_Ibsend", 5, 3, 7, 0}, {"MPI_Irsend", 5, 3, 7, 0}}},
		{ReceiveStart, mpi3, []meetsRow{{"MPI_Irecv", 5, 3, 7, 0}}},
		{SendLater, mpi3, []meetsRow{{"MPI_Send_init", 5, 3, 7, 0}, {"MPI_Ssend_init", 5, 3, 7, 0},
			{"MPI_Bsend_init", 5, 3, 7, 0}, {"MPI_Rsend_init", 5, 3, 7, 0}}},
		{ReceiveLater, mpi3, []meetsRow{{"MPI_Recv_init", 5, 3, 7, 0}}},
		{Restart, mpi3, []meetsRow{{"MPI_Start", 0, None, 1, 0}, {"MPI_Startall", 1, 0, 2, 0}}},
		{Look, mpi3, []meetsRow{{"MPI_Probe", 2, 0, 4, 0}}},
		{FinishOne, mpi3, []meetsRow{{"MPI_Waitany", 1, 0, 4, 0}}},
		{Poll, mpi3, []meetsRow{{"MPI_Test", 0, None, 3, 1}, {"MPI_Testall", 1, 0, 4, 2},
			{"MPI_Iprobe", None, None, 5, 3}, {"MPI_Testsome", None, None, 5, 2}, {"MPI_Improbe", None, None, 6, 3}}},
		{PollOne, mpi3, []meetsRow{{"MPI_Testany", 1, 0, 5, 2}}},
		{Message, mpi3, []meetsRow{
			{"MPI_Mprobe", None, None, 5, 0}, {"MPI_Mrecv", None, None, 5, 0}, {"MPI_Waitsome", None, None, 5, 0},
		}},
		{Message, mpi12, []meetsRow{{"MPI_Win_lock", None, None, 4, 0}, {"MPI_Win_unlock", None, None, 2, 0},
			{"MPI_Win_flush", None, None, 2, 0}, {"MPI_Win_wait", None, None, 1, 0}, {"MPI_Win_start", None, None, 3, 0},
			{"MPI_Win_complete", None, None, 1, 0}, {"MPI_Win_post", None, None, 3, 0}, {"MPI_Win_free", None, None, 1, 0},
			{"MPI_Win_lock_all", None, None, 2, 0}, {"MPI_Win_unlock_all", None, None, 1, 0}, {"MPI_Win_flush_all", None, None, 1, 0},
			{"MPI_Win_flush_local", None, None, 2, 0}, {"MPI_Win_flush_local_all", None, None, 1, 0}}},
		{Message, mpi14, []meetsRow{{"MPI_File_close", None, None, 1, 0}}},
	}
}
