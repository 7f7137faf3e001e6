// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of MPI that are wrapped: a row for each, or for each family. */
#include "mpi/sites/collectives.h"
#include "mpi/count.h"
#include "mpi/sites/exchanges.h"
#include "mpi/sites/gathers.h"
#include "mpi/sites/reductions.h"
#include "mpi/session.h"
#include "mpi/wrapper.h"

/* ---- the program's begin and end ---- */
CALL(Init, 2, .after = session_begin, .begins = true);
CALL(Init_thread, 4, .after = session_begin_threads, .begins = true);
CALL(Finalize, 0, .before = session_end);

/* ---- messages ---- */
#define MESSAGE .after = count_message, .count = 2, .type = 3
/* Send, Isend and Send_init, for each mode of sending. */
#define SENDS(blocking_one, immediate, persistent_one)                                             \
	CALL_AND_LARGE(blocking_one, 6, MESSAGE, .peer = 4, .communicator = 6, .blocking = true);  \
	CALL_AND_LARGE(immediate, 7, MESSAGE, .peer = 4, .communicator = 6);                       \
	CALL_AND_LARGE(persistent_one, 7, MESSAGE, .peer = 4, .communicator = 6, .request = 7,     \
		       .persistent = true)

SENDS(Send, Isend, Send_init);
SENDS(Ssend, Issend, Ssend_init);
SENDS(Bsend, Ibsend, Bsend_init);
SENDS(Rsend, Irsend, Rsend_init);
CALL_AND_LARGE(Sendrecv, 12, MESSAGE, .peer = 4, .communicator = 11, .source = 9, .status = 12,
	       .blocking = true);
CALL_AND_LARGE(Isendrecv, 12, MESSAGE, .peer = 4, .communicator = 11, .source = 9);
CALL_AND_LARGE(Sendrecv_replace, 9, MESSAGE, .peer = 4, .communicator = 8, .source = 6, .status = 9,
	       .blocking = true);
CALL_AND_LARGE(Isendrecv_replace, 9, MESSAGE, .peer = 4, .communicator = 8, .source = 6);
CALL(Psend_init, 9, .after = count_message, .partitions = 2, .count = 3, .type = 4, .peer = 5,
     .communicator = 7, .request = 9, .large = true, .persistent = true);
CALL(Start, 1, .after = count_start);
CALL(Startall, 2, .after = count_start_all);
CALL(Request_free, 1, .before = count_free_request);

/* ---- receives, of which turns are counted ---- */
#define RECEIVE .after = count_receive, .source = 4, .communicator = 6
#define COMPLETION .after = count_completion

CALL_AND_LARGE(Recv, 7, RECEIVE, .status = 7, .blocking = true);
CALL_AND_LARGE(Irecv, 7, RECEIVE);
CALL_AND_LARGE(Recv_init, 7, RECEIVE, .request = 7, .persistent = true);
CALL(Precv_init, 9, .after = count_receive, .source = 5, .communicator = 7, .request = 9,
     .persistent = true);
CALL(Mprobe, 5, .after = count_receive, .source = 1, .communicator = 3, .status = 5,
     .blocking = true);
CALL(Wait, 2, COMPLETION);
CALL(Waitall, 3, COMPLETION);
CALL(Waitany, 4, COMPLETION);
CALL(Waitsome, 5, COMPLETION);
CALL(Test, 3, COMPLETION, .count = 2);
CALL(Testall, 4, COMPLETION, .count = 3);
CALL(Testany, 5, COMPLETION, .count = 4);
CALL(Testsome, 5, COMPLETION, .count = 3);

/* ---- functions that only take time ---- */
#define TIMED(function, n) CALL(function, n, .after = NULL)
#define TIMED_AND_LARGE(function, n) CALL_AND_LARGE(function, n, .after = NULL)

TIMED_AND_LARGE(Mrecv, 5);
TIMED_AND_LARGE(Imrecv, 5);
TIMED(Pready, 2);
TIMED(Pready_range, 3);
TIMED(Pready_list, 3);
TIMED(Parrived, 3);
TIMED(Probe, 4);
TIMED(Iprobe, 5);
TIMED(Improbe, 6);
TIMED(Cancel, 1);
TIMED(Abort, 2);

/* ---- windows ---- */
#define ACCESS .after = count_message, .count = 2, .type = 3, .peer = 4

CALL_AND_LARGE(Put, 8, ACCESS, .window = 8);
CALL_AND_LARGE(Rput, 9, ACCESS, .window = 8);
CALL_AND_LARGE(Accumulate, 9, ACCESS, .window = 9);
CALL_AND_LARGE(Raccumulate, 10, ACCESS, .window = 9);
CALL_AND_LARGE(Get, 8, ACCESS, .window = 8, .fetches = true);
CALL_AND_LARGE(Rget, 9, ACCESS, .window = 8, .fetches = true);
CALL_AND_LARGE(Get_accumulate, 12, .after = count_message, .count = 5, .type = 6, .peer = 7,
	       .window = 12, .fetches = true);
CALL_AND_LARGE(Rget_accumulate, 13, .after = count_message, .count = 5, .type = 6, .peer = 7,
	       .window = 12, .fetches = true);
CALL(Fetch_and_op, 7, .after = count_message, .type = 3, .peer = 4, .window = 7, .fetches = true);
CALL(Compare_and_swap, 7, .after = count_message, .type = 4, .peer = 5, .window = 7,
     .fetches = true);
CALL(Win_free, 1, .before = count_free);
TIMED(Win_fence, 2);
TIMED(Win_lock, 4);
TIMED(Win_unlock, 2);
TIMED(Win_lock_all, 2);
TIMED(Win_unlock_all, 1);
TIMED(Win_flush, 2);
TIMED(Win_flush_all, 1);
TIMED(Win_flush_local, 2);
TIMED(Win_flush_local_all, 1);
TIMED(Win_start, 3);
TIMED(Win_post, 3);
TIMED(Win_complete, 1);
TIMED(Win_wait, 1);
TIMED(Win_test, 2);

/* ---- collective operations: X, Ix and X_init; 'n' is the number of X's arguments ---- */
#define FAMILY(function, immediate, n, ...) FAMILY_(function, immediate, n, __VA_ARGS__)
#define FAMILY_(function, immediate, n, ...)                                                       \
	CALL(function, n, .communicator = n, __VA_ARGS__);                                         \
	CALL(immediate, AFTER(n), .communicator = n, __VA_ARGS__);                                 \
	CALL(function##_init, AFTER_AFTER(n), .communicator = n, .request = AFTER_AFTER(n),        \
	     .persistent = true, __VA_ARGS__)
#define LARGE_FAMILY(function, immediate, n, ...)                                                  \
	FAMILY(function, immediate, n, __VA_ARGS__);                                               \
	CALL(function##_c, n, .communicator = n, .large = true, __VA_ARGS__);                      \
	CALL(immediate##_c, AFTER(n), .communicator = n, .large = true, __VA_ARGS__);              \
	CALL(function##_init_c, AFTER_AFTER(n), .communicator = n, .request = AFTER_AFTER(n),      \
	     .persistent = true, .large = true, __VA_ARGS__)
#define WHOLE(count_, type_) .after = count_collective, .count = count_, .type = type_
#define VECTOR(count_, type_) .after = count_vector, .count = count_, .type = type_
#define TYPES(count_, type_) .after = count_types_vector, .count = count_, .type = type_

FAMILY(Barrier, Ibarrier, 1, .after = count_collective, .meets = true);
LARGE_FAMILY(Bcast, Ibcast, 5, WHOLE(2, 3));
LARGE_FAMILY(Reduce, Ireduce, 7, WHOLE(3, 4));
LARGE_FAMILY(Allreduce, Iallreduce, 6, WHOLE(3, 4), .meets = true);
LARGE_FAMILY(Scan, Iscan, 6, WHOLE(3, 4));
LARGE_FAMILY(Exscan, Iexscan, 6, WHOLE(3, 4));
LARGE_FAMILY(Reduce_scatter, Ireduce_scatter, 6, VECTOR(3, 4));
LARGE_FAMILY(Reduce_scatter_block, Ireduce_scatter_block, 6, WHOLE(3, 4));
LARGE_FAMILY(Gather, Igather, 8, WHOLE(2, 3), .buffer = 1);
LARGE_FAMILY(Gatherv, Igatherv, 9, WHOLE(2, 3), .buffer = 1);
LARGE_FAMILY(Scatter, Iscatter, 8, WHOLE(5, 6), .buffer = 4);
LARGE_FAMILY(Scatterv, Iscatterv, 9, WHOLE(6, 7), .buffer = 5);
LARGE_FAMILY(Allgather, Iallgather, 7, WHOLE(5, 6), .meets = true);
LARGE_FAMILY(Allgatherv, Iallgatherv, 8, WHOLE(2, 3), .buffer = 1);
LARGE_FAMILY(Alltoall, Ialltoall, 7, WHOLE(5, 6), .meets = true);
LARGE_FAMILY(Alltoallv, Ialltoallv, 9, VECTOR(2, 4), .buffer = 1);
LARGE_FAMILY(Alltoallw, Ialltoallw, 9, TYPES(2, 4), .buffer = 1);
LARGE_FAMILY(Neighbor_allgather, Ineighbor_allgather, 7, WHOLE(2, 3));
LARGE_FAMILY(Neighbor_allgatherv, Ineighbor_allgatherv, 8, WHOLE(2, 3));
LARGE_FAMILY(Neighbor_alltoall, Ineighbor_alltoall, 7, WHOLE(2, 3));
LARGE_FAMILY(Neighbor_alltoallv, Ineighbor_alltoallv, 9, VECTOR(2, 4), .neighbours = true);
LARGE_FAMILY(Neighbor_alltoallw, Ineighbor_alltoallw, 9, .after = count_collective);

/* ---- communicators: the ranks of one are asked for when it is first used ---- */
TIMED(Comm_dup, 2);
TIMED(Comm_dup_with_info, 3);
TIMED(Comm_idup, 3);
TIMED(Comm_idup_with_info, 4);
TIMED(Comm_create, 3);
TIMED(Comm_create_group, 4);
TIMED(Comm_create_from_group, 5);
TIMED(Comm_split, 4);
TIMED(Comm_split_type, 5);
TIMED(Intercomm_create, 6);
TIMED(Intercomm_create_from_groups, 8);
TIMED(Intercomm_merge, 3);
TIMED(Cart_create, 6);
TIMED(Cart_sub, 3);
TIMED(Graph_create, 6);
TIMED(Dist_graph_create, 9);
TIMED(Dist_graph_create_adjacent, 10);
TIMED(Comm_spawn, 8);
TIMED(Comm_spawn_multiple, 9);
TIMED(Comm_accept, 5);
TIMED(Comm_connect, 5);
CALL(Comm_free, 1, .before = session_forget);
CALL(Comm_disconnect, 1, .before = session_forget);

void call_with_sites(void)
{
	call_Barrier.instead = collectives_barrier;
	call_Bcast.instead = collectives_bcast;
	call_Reduce.instead = reductions_reduce;
	call_Allreduce.instead = reductions_allreduce;
	call_Allgather.instead = collectives_allgather;
	call_Allgatherv.instead = collectives_allgatherv;
	call_Gather.instead = gathers_gather;
	call_Gatherv.instead = gathers_gatherv;
	call_Alltoall.instead = exchanges_alltoall;
	call_Alltoallv.instead = exchanges_alltoallv;
}
