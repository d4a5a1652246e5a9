// On which cores threads ran. Cores differ, by their clocks and by who else wants them; threads that
// stay where they are differ with them, again and again.

package native

import (
	"fmt"

	"lime/internal/profile"
)

// coreTime is how long a thread ran on a core, in ns.
type coreTime struct {
	core uint32
	ns   uint64
}

func addCore(list []coreTime, c coreTime) []coreTime {
	for i := range list {
		if list[i].core == c.core {
			list[i].ns += c.ns
			return list
		}
	}
	return append(list, c)
}

// ranOn adds the time since the thread came to its core, or the piece began.
func (p *piece) ranOn(c *onCPU, at uint64) {
	if from := max(c.since, p.from); c.on && c.seen && at > from {
		p.cores = addCore(p.cores, coreTime{c.core, at - from})
	}
}

// onCores writes how long a part's thread ran on each core.
func (o *output) onCores(x *profile.Instance, s *partSum, part int32) {
	for _, c := range s.cores {
		id, ok := o.coreEvents[c.core]
		if !ok {
			kind, told := o.eventKinds[profile.KindCoreTime]
			if !told {
				kind = o.sink.AddKind(profile.NewKind(profile.Measured, profile.KindCoreTime))
				o.eventKinds[profile.KindCoreTime] = kind
			}
			id = o.sink.AddEvent(profile.Event{Kind: kind, Node: profile.None, Addr: uint64(c.core), Detail: fmt.Sprint("core ", c.core)})
			o.coreEvents[c.core] = id
		}
		x.Events = append(x.Events, profile.Count{Row: int32(id), Part: part, N: c.ns})
	}
}
