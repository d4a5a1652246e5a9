package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"lime/internal/profile"
)

// Perfetto writes a trace of track events (perfetto/protos/perfetto/trace/trace_packet.proto and
// track_event/track_event.proto): a track for each thread, with its parts of the sections and its waits at their ends.
func Perfetto(w io.Writer, src profile.Source) error {
	b := bufio.NewWriter(w)
	t := src.Tables()
	trace := &protoTrace{w: b}
	for i := range t.Threads {
		trace.track(uint64(i)+1, threadName(t, profile.ThreadID(i)))
	}
	for id := range t.Sections {
		for in, err := range src.Instances(profile.SectionID(id)) {
			if err != nil {
				return err
			}
			name := sectionName(t, profile.SectionID(id))
			for k := range in.Parts {
				p := &in.Parts[k]
				trace.slice(uint64(p.Thread)+1, name, p.Start, p.Arrive)
				if p.Release > p.Arrive {
					trace.slice(uint64(p.Thread)+1, "wait at "+name, p.Arrive, p.Release)
				}
			}
		}
	}
	if trace.err != nil {
		return trace.err
	}
	return b.Flush()
}

func sectionName(t *profile.Tables, id profile.SectionID) string {
	s := &t.Sections[id]
	if len(s.Frames) > 0 && s.Frames[0].File >= 0 {
		return fmt.Sprintf("%s %s:%d", s.Kind, t.Files[s.Frames[0].File].Path, s.Frames[0].Line)
	}
	return fmt.Sprintf("%s %#x", s.Kind, s.EndAddr)
}

// protoTrace writes protocol buffers: a Trace is packets in field 1.
type protoTrace struct {
	w   io.Writer
	err error
}

// Fields and values of the messages.
const (
	tracePacket     = 1
	packetTimestamp = 8
	packetSequence  = 10
	packetEvent     = 11
	packetTrack     = 60
	trackUUID       = 1
	trackName       = 2
	eventType       = 9
	eventTrack      = 11
	eventName       = 23
	sliceBegin      = 1
	sliceEnd        = 2
)

func (p *protoTrace) packet(body []byte) {
	body = uintField(body, packetSequence, 1)
	if _, err := p.w.Write(bytesField(nil, tracePacket, body)); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *protoTrace) track(id uint64, name string) {
	p.packet(bytesField(nil, packetTrack, bytesField(uintField(nil, trackUUID, id), trackName, []byte(name))))
}

func (p *protoTrace) slice(track uint64, name string, from, to uint64) {
	begin := uintField(uintField(nil, eventType, sliceBegin), eventTrack, track)
	begin = bytesField(begin, eventName, []byte(name))
	p.packet(bytesField(uintField(nil, packetTimestamp, from), packetEvent, begin))
	end := uintField(uintField(nil, eventType, sliceEnd), eventTrack, track)
	p.packet(bytesField(uintField(nil, packetTimestamp, to), packetEvent, end))
}

func uintField(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func bytesField(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v)))
	return append(b, v...)
}
