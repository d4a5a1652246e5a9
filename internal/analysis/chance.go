package analysis

import (
	"lime/internal/profile"
	"lime/internal/unit"
)

// Who took which piece of work, where the pieces go to whoever comes first and threads ran in
// parallel, is the run's chance: no cause.

// HostTimes is what a section's parts took on the host, in seconds, with what the collector did
// meanwhile.
type HostTimes struct {
	CPU       float64 `json:"cpu_seconds"`       // processor time of all threads
	Lost      float64 `json:"lost_seconds"`      // that threads had less of it than the one with most
	Imbalance float64 `json:"imbalance"`         // that, of as much for all as for the one with most
	Wall      float64 `json:"wall_seconds"`      // of the thread that took longest, by the wall
	WallLost  float64 `json:"wall_lost_seconds"` // that the others took less by the wall
}

// luck sums what instances say of chance and of the host's clocks.
type luck struct {
	win, lost float64 // of what the last threads are later than the mean, and of all waits
	host      HostTimes
	span      float64
	unknown   bool // some part's processor time is not known
}

func (l *luck) add(in *profile.Instance, tm timing) {
	win := min(float64(in.Chance), tm.time-tm.mean())
	l.win, l.lost = l.win+win, l.lost+win*float64(tm.n)
	var cpu, wall, most, longest uint64
	for i := range in.Parts {
		h := &in.Parts[i].Host
		cpu, wall = cpu+h.CPU, wall+h.Wall
		most, longest = max(most, h.CPU), max(longest, h.Wall)
		l.unknown = l.unknown || h.CPU == 0 && in.Parts[i].Time() > 0
	}
	n := float64(len(in.Parts))
	const second = 1e9
	l.host.CPU += float64(cpu) / second
	l.host.Lost += (n*float64(most) - float64(cpu)) / second
	l.host.Wall += float64(longest) / second
	l.host.WallLost += (n*float64(longest) - float64(wall)) / second
	l.span += n * float64(most) / second
}

// byChance is the part of what an instance's threads wait for the last one that is who took which
// piece of work.
func byChance(in *profile.Instance) float64 {
	sum, longest := 0.0, 0.0
	for i := range in.Parts {
		t := float64(in.Parts[i].Time())
		sum, longest = sum+t, max(longest, t)
	}
	return min(1, ratio(float64(in.Chance), longest-ratio(sum, float64(len(in.Parts)))))
}

// times is nil if they were not measured for all parts.
func (l *luck) times() *HostTimes {
	if l.unknown || l.host.CPU == 0 {
		return nil
	}
	h := l.host
	h.Imbalance = ratio(h.Lost, l.span)
	return &h
}

// evenButForChance looks whether most of what a section loses is who took which piece: then what
// the last threads did more of than others is no cause.
func (sec *Section) evenButForChance() {
	if sec.mostlyChance() {
		sec.demote()
	}
}

func (sec *Section) mostlyChance() bool {
	return sec.Chance > 0 && sec.Chance >= littleFound*sec.TimeToWin
}

// chanceVerdict says how even the pieces are.
func chanceVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	if !s.mostlyChance() {
		return
	}
	n := float64(s.InstanceCount)
	say("dealt", SeverityInfo, "Pieces of work go to whoever comes first here, and who did is the chance of this run: the "+
		"last thread is %s later than the mean. Had whoever was free first by the clock taken the next one, the same "+
		"pieces would leave %s.", timeWords(s.TimeToWin/n, clock), timeWords(max(0, s.TimeToWin-s.Chance)/n, clock))
}

// hostVerdict says what the section lost in processor time.
func hostVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	if h := s.Host; h != nil {
		say("host-time", SeverityInfo, "In processor time, lime's own included: %s in all threads; with as much for all as for "+
			"the one with most, %s more (%s).", seconds(h.CPU), seconds(h.Lost), unit.Percent(h.Imbalance))
	}
}

func seconds(s float64) string { return unit.Nanos(s * 1e9).String() }
