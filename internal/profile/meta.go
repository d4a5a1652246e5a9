package profile

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
)

// metaField is one row of the table meta. Strings, integers and floats stand as
// such, the command as a JSON array.
type metaField struct {
	key  string
	col  func(*Meta, *env) column
	only func(*Meta) bool // nil: always; else it stands there only if this holds
}

var metaFields = []metaField{
	{"tool", func(m *Meta, e *env) column { return text[string]{&m.Tool, e} }, nil},
	{"collector", func(m *Meta, e *env) column { return text[string]{&m.Collector, e} }, nil},
	{"model", func(m *Meta, e *env) column { return text[string]{&m.Model, e} }, nil},
	{"machine", func(m *Meta, e *env) column { return text[string]{&m.Machine, e} }, nil},
	{"command", func(m *Meta, e *env) column { return list{&m.Command, e} }, nil},
	{"cores", func(m *Meta, e *env) column { return num[int]{&m.Cores} }, nil},
	{"asked", func(m *Meta, e *env) column { return truth{&m.Asked} }, isAsked},
	{"clock_unit", func(m *Meta, e *env) column { return text[string]{&m.ClockUnit, e} }, nil},
	{"clock_hz", func(m *Meta, e *env) column { return real{&m.ClockHz} }, nil},
	{"time_label", func(m *Meta, e *env) column { return num[Label]{&m.TimeLabel} }, nil},
	{"count_label", func(m *Meta, e *env) column { return num[Label]{&m.CountLabel} }, nil},
	{"node_time", func(m *Meta, e *env) column { return text[string]{&m.NodeTime, e} }, nil},
	{"end_state", func(m *Meta, e *env) column { return text[string]{&m.EndState, e} }, nil},
	{"exit_status", func(m *Meta, e *env) column { return num[int]{&m.ExitStatus} }, nil},
	{"run_time", func(m *Meta, e *env) column { return num[uint64]{&m.RunTime} }, nil},
	{"core_time", func(m *Meta, e *env) column { return num[uint64]{&m.CoreTime} }, nil},
	{"complete", func(m *Meta, e *env) column { return truth{&m.Complete} }, nil},
	{"resolved", func(m *Meta, e *env) column { return truth{&m.Resolved} }, nil},
	{"launcher", func(m *Meta, e *env) column { return text[string]{&m.Launcher, e} }, ofRank},
	{"rank", func(m *Meta, e *env) column { return num[int]{&m.Rank} }, ofRank},
	{"ranks", func(m *Meta, e *env) column { return num[int]{&m.Ranks} }, ofRank},
	{"host", func(m *Meta, e *env) column { return text[string]{&m.Host, e} }, ofRank},
	{"job", func(m *Meta, e *env) column { return text[string]{&m.Job, e} }, ofRank},
	{"region", func(m *Meta, e *env) column { return list{&m.Region, e} }, inParts},
	{"region_time", func(m *Meta, e *env) column { return num[uint64]{&m.RegionTime} }, inParts},
	{"whole_time", func(m *Meta, e *env) column { return num[uint64]{&m.WholeTime} }, inParts},
	{"stretches", func(m *Meta, e *env) column { return num[int]{&m.Stretches} }, inParts},
}

// Conditions of fields.
func isAsked(m *Meta) bool { return m.Asked }
func ofRank(m *Meta) bool  { return m.Launcher != "" }
func inParts(m *Meta) bool { return len(m.Region) > 0 }

func findMeta(key string) (metaField, bool) {
	for _, f := range metaFields {
		if f.key == key {
			return f, true
		}
	}
	return metaField{}, false
}

// list is a list of strings, stored as a JSON array.
type list struct {
	p   *[]string
	env *env
}

func (c list) Value() (v driver.Value, err error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if *c.p == nil {
		return "[]", nil
	}
	err = enc.Encode(*c.p)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (c list) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s instead of text", kindOf(v))
	}
	if err := c.env.spend(len(s)); err != nil {
		return err
	}
	var l []string
	if err := json.Unmarshal([]byte(s), &l); err != nil {
		return fmt.Errorf("list of strings: %w", err)
	}
	if len(l) > 0 {
		*c.p = l
	}
	return nil
}

// truth is a truth value, stored as 0 or 1.
type truth struct{ p *bool }

func (c truth) Value() (driver.Value, error) {
	if *c.p {
		return int64(1), nil
	}
	return int64(0), nil
}

func (c truth) Scan(v any) error {
	if v != int64(0) && v != int64(1) {
		return fmt.Errorf("%v instead of 0 or 1", v)
	}
	*c.p = v == int64(1)
	return nil
}
