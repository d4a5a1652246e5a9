package view

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Server serves the page and its API.
type Server struct {
	api      atomic.Pointer[API]
	asked    atomic.Int64 // when something was asked for last, nanoseconds
	guard    *guard
	listener net.Listener
	http     *http.Server
}

// Listen opens the server's address: "" is a free port of 127.0.0.1.
func Listen(address string, runs []*Run) (*Server, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: want HOST:PORT, as in 127.0.0.1:8080 (%w)", address, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	s := &Server{guard: newGuard(host), listener: l}
	s.api.Store(NewAPI(runs))
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	s.api.Load().Prepare()
	return s, nil
}

// Address is where the page is, with the token.
func (s *Server) Address() string {
	at := s.listener.Addr().(*net.TCPAddr)
	host := s.guard.name
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("http://%s/?token=%s", net.JoinHostPort(host, strconv.Itoa(at.Port)), s.guard.token)
}

// Loopback reports whether nobody but this machine reaches the server.
func (s *Server) Loopback() bool { return s.listener.Addr().(*net.TCPAddr).IP.IsLoopback() }

// Serve answers until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.http.Close() })
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	if p := s.guard.check(r); p != nil {
		complain(w, r, p)
		return
	}
	name, isAPI := strings.CutPrefix(r.URL.Path, "/api/")
	if isAPI {
		s.answer(w, r, name)
		return
	}
	a, ok := assets()[r.URL.Path]
	if !ok {
		complain(w, r, missing("There is no such page."))
		return
	}
	body, err := a.body()
	if err != nil {
		complain(w, r, err)
		return
	}
	if r.URL.Path == "/" {
		http.SetCookie(w, &http.Cookie{Name: s.guard.cookie, Value: s.guard.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	} else if remembered(w.Header(), r, body) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	write(w, r, a.mime, body)
}

// remembered has the browser keep a file of the page, and tells whether it has this very one: it
// asks each time, as another lime may answer under the same address. What a profile says is kept by
// no browser.
func remembered(h http.Header, r *http.Request, body []byte) bool {
	sum := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"` // weak: packed or not
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", tag)
	return strings.Contains(r.Header.Get("If-None-Match"), tag)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, name string) {
	values := r.URL.Query()
	values.Del("token")
	s.asked.Store(time.Now().UnixNano())
	out, err := s.api.Load().Answer(name, values)
	if err != nil {
		complain(w, r, err)
		return
	}
	write(w, r, out.Type, out.Body)
}

// complain sends an error: for the API as JSON, otherwise as text.
func complain(w http.ResponseWriter, r *http.Request, err error) {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(Status(err))
		fmt.Fprintln(w, tidyText(err.Error()))
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(Status(err))
	json.NewEncoder(w).Encode(map[string]string{"error": tidyText(err.Error())})
}

// packFrom is the size from which an answer is worth packing; on one machine the network costs next
// to nothing.
const packFrom = 4 << 10

func write(w http.ResponseWriter, r *http.Request, mime string, body []byte) {
	w.Header().Set("Content-Type", mime)
	if len(body) < packFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Write(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Vary", "Accept-Encoding")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a valid level gives no error
	z.Write(body)
	z.Close()
}
