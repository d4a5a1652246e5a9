package export

import (
	"encoding/json"
	"io"

	"lime/internal/profile"
)

// speedscope's file format (https://www.speedscope.app/file-format-schema.json), as far as it is
// used here.
type scopeFile struct {
	Schema   string      `json:"$schema"`
	Name     string      `json:"name"`
	Exporter string      `json:"exporter"`
	Shared   scopeShared `json:"shared"`
	Profiles []*scope    `json:"profiles"`
}

type scopeShared struct {
	Frames []scopeFrame `json:"frames"`
}

type scopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int32  `json:"line,omitempty"`
}

type scope struct {
	Type       string    `json:"type"`
	Name       string    `json:"name"`
	Unit       string    `json:"unit"`
	StartValue float64   `json:"startValue"`
	EndValue   float64   `json:"endValue"`
	Samples    [][]int   `json:"samples"`
	Weights    []float64 `json:"weights"`
}

// Speedscope writes a sampled profile for each thread.
func Speedscope(w io.Writer, src profile.Source) error {
	src = newVisible(src)
	t := src.Tables()
	list, err := paths(t, "time")
	if err != nil {
		return err
	}
	f := scopeFile{Schema: "https://www.speedscope.app/file-format-schema.json", Name: "lime", Exporter: src.Meta().Tool}
	ids := map[scopeFrame]int{}
	byThread := map[profile.ThreadID]*scope{}
	for _, s := range list {
		p := byThread[s.thread]
		if p == nil {
			p = &scope{Type: "sampled", Name: threadName(t, s.thread), Unit: scopeUnit(src.Meta().ClockUnit)}
			byThread[s.thread] = p
			f.Profiles = append(f.Profiles, p)
		}
		stack := make([]int, 0, len(s.frames))
		for _, x := range s.frames {
			k := scopeFrame{clean(x.function), x.file, x.line}
			if _, ok := ids[k]; !ok {
				ids[k] = len(f.Shared.Frames)
				f.Shared.Frames = append(f.Shared.Frames, k)
			}
			stack = append(stack, ids[k])
		}
		p.Samples, p.Weights = append(p.Samples, stack), append(p.Weights, s.value)
		p.EndValue += s.value
	}
	return json.NewEncoder(w).Encode(f)
}

func scopeUnit(clock string) string {
	if clock == "ns" {
		return "nanoseconds"
	}
	return "none"
}
