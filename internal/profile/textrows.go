package profile

// A textRow is one kind of line of the text twin: its word, a new row with
// its defaults, and its fields.
type textRow[Row any] struct {
	word   string
	blank  Row
	fields func(*Row) []textField
}

var imageText = textRow[Image]{"image", Image{}, func(r *Image) []textField {
	return []textField{str("path", &r.Path), str("build-id", &r.BuildID), hex("base", &r.Base), hex("lo", &r.Lo), hex("hi", &r.Hi)}
}}

var fileText = textRow[File]{"file", File{}, func(r *File) []textField {
	return []textField{str("path", &r.Path)}
}}

// sourceLine is a line of File.Lines.
type sourceLine struct {
	file FileID
	n    int32
	text string
}

var lineText = textRow[sourceLine]{"line", sourceLine{file: None, n: None}, func(r *sourceLine) []textField {
	return []textField{id("file", &r.file), id("n", &r.n), str("text", &r.text)}
}}

var functionText = textRow[Function]{"function", Function{Image: None, File: None}, func(r *Function) []textField {
	return []textField{str("name", &r.Name), str("link", &r.Link), id("image", &r.Image), hex("entry", &r.Entry),
		id("file", &r.File), dec("line", &r.Line, 0)}
}}

var nodeText = textRow[Node]{"node", Node{Image: None, Function: None}, func(r *Node) []textField {
	return []textField{enum("kind", nodeKindNames, &r.Kind), id("image", &r.Image), id("function", &r.Function),
		hex("addr", &r.Addr), dec("size", &r.Size, 0),
		dec("instrs", &r.Instrs, 0), hex("last", &r.LastAddr), frames("at", &r.Frames), frames("first", &r.First)}
}}

var edgeText = textRow[Edge]{"edge", Edge{From: None, To: None}, func(r *Edge) []textField {
	return []textField{enum("kind", edgeKindNames, &r.Kind), id("from", &r.From), id("to", &r.To)}
}}

var kindText = textRow[EventKind]{"kind", EventKind{}, func(r *EventKind) []textField {
	return []textField{str("name", &r.Name), str("title", &r.Title), str("superior", &r.Superior),
		str("unit", &r.Unit), enum("label", labelNames, &r.Label)}
}}

var eventText = textRow[Event]{"event", Event{Node: None}, func(r *Event) []textField {
	return []textField{dec("kind", &r.Kind, 0), id("node", &r.Node), hex("addr", &r.Addr), str("detail", &r.Detail), frames("at", &r.Frames)}
}}

var sectionText = textRow[Section]{"section", Section{EndNode: None}, func(r *Section) []textField {
	return []textField{str("kind", &r.Kind), hex("end", &r.EndAddr), id("end-node", &r.EndNode),
		frames("at", &r.Frames), frames("from", &r.Starts)}
}}

var threadText = textRow[Thread]{"thread", Thread{Parent: None, Entry: None}, func(r *Thread) []textField {
	return []textField{str("name", &r.Name), id("parent", &r.Parent), dec("tid", &r.TID, 0),
		dec("start", &r.Start, 0), dec("end", &r.End, 0), id("entry", &r.Entry)}
}}

var pathText = textRow[PathNode]{"path", PathNode{Parent: None, Node: None}, func(r *PathNode) []textField {
	return []textField{id("parent", &r.Parent), id("node", &r.Node), hex("addr", &r.Addr)}
}}

var sampleText = textRow[PathSample]{"sample", PathSample{Path: None, Thread: None, Section: None}, func(r *PathSample) []textField {
	return []textField{id("path", &r.Path), id("thread", &r.Thread), id("section", &r.Section),
		str("metric", &r.Metric), float("value", &r.Value)}
}}

var noteText = textRow[Note]{"note", Note{}, func(r *Note) []textField {
	return []textField{str("code", &r.Code), dec("n", &r.N, 0), str("text", &r.Text)}
}}

var metaText = textRow[Meta]{"meta", Meta{}, func(r *Meta) []textField {
	return []textField{str("tool", &r.Tool), str("collector", &r.Collector), str("model", &r.Model),
		str("machine", &r.Machine), strs("command", &r.Command),
		dec("cores", &r.Cores, 0), boolean("asked", &r.Asked), str("clock-unit", &r.ClockUnit), float("clock-hz", &r.ClockHz), enum("time-label", labelNames, &r.TimeLabel),
		enum("count-label", labelNames, &r.CountLabel), str("node-time", &r.NodeTime), str("end-state", &r.EndState),
		dec("exit-status", &r.ExitStatus, 0),
		dec("run-time", &r.RunTime, 0), dec("core-time", &r.CoreTime, 0), boolean("complete", &r.Complete), boolean("resolved", &r.Resolved),
		str("launcher", &r.Launcher), dec("rank", &r.Rank, 0), dec("ranks", &r.Ranks, 0), str("host", &r.Host), str("job", &r.Job), strs("region", &r.Region), dec("region-time", &r.RegionTime, 0),
		dec("whole-time", &r.WholeTime, 0), dec("stretches", &r.Stretches, 0)}
}}

var instanceText = textRow[Instance]{"instance", Instance{}, func(r *Instance) []textField {
	return []textField{id("section", &r.Section), meetingField(&r.Meeting), dec("chance", &r.Chance, 0)}
}}

// unset marks a part's release that is not given: it becomes the last arrival.
const unset = ^uint64(0)

var partText = textRow[Part]{"part", Part{Thread: None, Release: unset, Entry: None, Exit: None}, func(r *Part) []textField {
	return []textField{id("thread", &r.Thread), dec("start", &r.Start, 0), dec("arrive", &r.Arrive, 0), dec("release", &r.Release, unset),
		dec("lock-wait", &r.LockWait, 0), dec("off-cpu", &r.OffCPU, 0), id("entry", &r.Entry), id("exit", &r.Exit),
		nodeList("entry-stack", &r.EntryStack), nodeList("exit-stack", &r.ExitStack),
		enum("meets", meetRoleNames, &r.Meets), dec("early", &r.Early, 0),
		dec("cpu-ns", &r.Host.CPU, 0), dec("wall-ns", &r.Host.Wall, 0)}
}}
