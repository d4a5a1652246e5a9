package export

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"lime/internal/profile"
)

// Perfetto writes a trace of track events (perfetto/protos/perfetto/trace/trace_packet.proto and
// track_event/*.proto): a track for each thread, with its parts of the sections and its waits at
// their ends. Parts of nested sections lie inside of one another.
func Perfetto(w io.Writer, src profile.Source) error {
	src = newVisible(src)
	b := bufio.NewWriter(w)
	t := src.Tables()
	tracks := make([][]slice, len(t.Threads))
	for id := range t.Sections {
		name := fmt.Sprintf("%s %s", t.Sections[id].Kind, sectionPlace(t, profile.SectionID(id)))
		for in, err := range src.Instances(profile.SectionID(id)) {
			if err != nil {
				return err
			}
			for k := range in.Parts {
				p := &in.Parts[k]
				if p.Thread >= 0 && int(p.Thread) < len(tracks) {
					tracks[p.Thread] = append(tracks[p.Thread], partSlices(name, p)...)
				}
			}
		}
	}
	trace := &protoTrace{w: b}
	for i := range tracks {
		trace.track(uint64(i)+1, threadName(t, profile.ThreadID(i)))
		trace.nest(uint64(i)+1, tracks[i])
	}
	if trace.err != nil {
		return trace.err
	}
	return b.Flush()
}

// slice is something on a track that lasts; the arguments are times that have no place on the time
// line.
type slice struct {
	name     string
	from, to uint64
	args     []sliceArg
}

type sliceArg struct {
	name  string
	value uint64
}

func partSlices(name string, p *profile.Part) []slice {
	work := slice{name: name, from: p.Start, to: p.Arrive}
	for _, a := range []sliceArg{{"waited for locks", p.LockWait}, {"off the processor", p.OffCPU}} {
		if a.value > 0 {
			work.args = append(work.args, a)
		}
	}
	if p.Release <= p.Arrive {
		return []slice{work}
	}
	return []slice{work, {name: "wait at " + name, from: p.Arrive, to: p.Release}}
}

// protoTrace writes protocol buffers: a Trace is packets in field 1.
type protoTrace struct {
	w   io.Writer
	err error
}

// Fields and values of the messages.
const (
	tracePacket      = 1
	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetTrack      = 60
	trackUUID        = 1
	trackThread      = 4
	threadPID        = 1
	threadTID        = 2
	threadTitle      = 5
	eventAnnotations = 4
	eventType        = 9
	eventTrack       = 11
	eventName        = 23
	annotationValue  = 3
	annotationName   = 10
	sliceBegin       = 1
	sliceEnd         = 2
)

func (p *protoTrace) packet(body []byte) {
	body = uintField(body, packetSequence, 1)
	if _, err := p.w.Write(bytesField(nil, tracePacket, body)); err != nil && p.err == nil {
		p.err = err
	}
}

// track describes a thread's track.
func (p *protoTrace) track(id uint64, name string) {
	thread := uintField(uintField(nil, threadPID, 1), threadTID, id)
	thread = bytesField(thread, threadTitle, []byte(name))
	p.packet(bytesField(nil, packetTrack, bytesField(uintField(nil, trackUUID, id), trackThread, thread)))
}

// nest writes the slices of a track so that each ends before the one around it does, as the format
// wants it: an end closes what began last.
func (p *protoTrace) nest(track uint64, list []slice) {
	slices.SortStableFunc(list, func(a, b slice) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var open []uint64
	closeUntil := func(at uint64) {
		for n := len(open); n > 0 && open[n-1] <= at; n-- {
			p.end(track, open[n-1])
			open = open[:n-1]
		}
	}
	for _, s := range list {
		closeUntil(s.from)
		if n := len(open); n > 0 {
			s.to = min(s.to, open[n-1])
		}
		p.begin(track, s)
		open = append(open, s.to)
	}
	closeUntil(math.MaxUint64)
}

func (p *protoTrace) begin(track uint64, s slice) {
	event := uintField(uintField(nil, eventType, sliceBegin), eventTrack, track)
	event = bytesField(event, eventName, []byte(s.name))
	for _, a := range s.args {
		event = bytesField(event, eventAnnotations, bytesField(uintField(nil, annotationValue, a.value), annotationName, []byte(a.name)))
	}
	p.packet(bytesField(uintField(nil, packetTimestamp, s.from), packetEvent, event))
}

func (p *protoTrace) end(track, at uint64) {
	event := uintField(uintField(nil, eventType, sliceEnd), eventTrack, track)
	p.packet(bytesField(uintField(nil, packetTimestamp, at), packetEvent, event))
}

func uintField(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func bytesField(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v)))
	return append(b, v...)
}
