// Package perf samples threads through perf_event_open(2): it opens events,
// owns their ring buffers, and decodes the records in them. It knows no
// symbols, stacks or profiles, and imports unit and golang.org/x/sys/unix only.
package perf
