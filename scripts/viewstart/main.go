// Command viewstart measures a start of 'lime view': viewstart LIME PROFILE starts it, asks for what
// the time line needs, for the sums of the whole run and for the causes, and prints after each how
// long it took on the wall and of the processor, and the most memory that the server has had. Where
// XDG_CACHE_HOME names an empty directory it is a first start.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// bandRows is how many threads a tile of the time line has.
const bandRows = 64

// server is lime view at work.
type server struct {
	cmd   *exec.Cmd
	began time.Time
	api   *url.URL
	token string
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: viewstart LIME PROFILE")
	}
	s, err := start(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	err = s.measure()
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
	if err != nil {
		log.Fatal(err)
	}
}

func start(lime, profile string) (*server, error) {
	s := &server{cmd: exec.Command(lime, "view", "--no-browser", profile), began: time.Now()}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("it prints no address: %w", err)
	}
	if s.api, err = url.Parse(strings.TrimSpace(line)); err != nil {
		return nil, err
	}
	s.token = s.api.Query().Get("token")
	s.api.RawQuery = ""
	return s, nil
}

// get asks a question.
func (s *server) get(question string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, s.api.JoinPath("api").String()+"/"+question, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", question, body)
	}
	return body, err
}

func (s *server) measure() error {
	s.say("the address")
	body, err := s.get("runs")
	if err != nil {
		return err
	}
	var runs []struct{ Threads []string }
	if err := json.Unmarshal(body, &runs); err != nil || len(runs) == 0 {
		return fmt.Errorf("no runs: %w", err)
	}
	for _, of := range []struct{ what, question string }{{"the sketch", "sketched?b=%d"}, {"the time line", "span?z=0&x=0&b=%d"}} {
		for b := range (len(runs[0].Threads) + bandRows - 1) / bandRows {
			if _, err := s.get(fmt.Sprintf(of.question, b)); err != nil && of.what == "the time line" { // there may be no sketch
				return err
			}
		}
		s.say(of.what)
	}
	for _, q := range []struct{ what, question string }{{"sums of the whole run", "window"}, {"critical path", "critical"}, {"causes", "head"}} {
		if _, err := s.get(q.question); err != nil {
			return err
		}
		s.say(q.what)
	}
	return nil
}

// say prints how the server stands.
func (s *server) say(what string) {
	fmt.Printf("%-22s %7.2f s on the wall %7.2f s of the processor %5d MB at most %5d MB now\n",
		what, time.Since(s.began).Seconds(), s.spent(), s.memory("VmHWM"), s.memory("VmRSS"))
}

func (s *server) file(name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.cmd.Process.Pid, name))
	if err != nil {
		log.Fatal(err)
	}
	return string(text)
}

// memory is a figure of proc(5)'s status, in MB.
func (s *server) memory(name string) int {
	_, rest, _ := strings.Cut(s.file("status"), name+":")
	kb, _, _ := strings.Cut(rest, " kB")
	n, _ := strconv.Atoi(strings.TrimSpace(kb))
	return n / 1000
}

// spent is the processor time, in seconds: proc(5) counts hundredths.
func (s *server) spent() float64 {
	_, rest, _ := strings.Cut(s.file("stat"), ") ")
	words := strings.Fields(rest)
	user, _ := strconv.Atoi(words[11])
	system, _ := strconv.Atoi(words[12])
	return float64(user+system) / 100
}
