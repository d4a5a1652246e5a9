package view

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// serverOf serves runs, for requests that are handed to it directly.
func serverOf(t testing.TB, runs ...*Run) *Server {
	t.Helper()
	s, err := Listen("", runs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.listener.Close() })
	return s
}

// request asks the server; edit changes the request first.
func request(s *Server, path string, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil)
	r.Header.Set("Authorization", "Bearer "+s.guard.token)
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestWhoIsLetIn(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 4, 3)))
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for _, c := range []struct {
		name, path string
		edit       func(*http.Request)
		want       int
	}{
		{"the token", "/", nil, 200},
		{"no token", "/", func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"a wrong token", "/", header("Authorization", "Bearer nope"), 403},
		{"an empty token", "/?token=", func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"the token in the address", "/?token=" + s.guard.token, func(r *http.Request) { r.Header.Del("Authorization") }, 200},
		{"the cookie", "/api/runs", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: s.guard.cookie, Value: s.guard.token})
		}, 200},
		{"a wrong cookie", "/api/runs", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: s.guard.cookie, Value: "x" + s.guard.token})
		}, 403},
		{"another host", "/api/runs", host("evil.example"), 403},
		{"another host with our port", "/", host("evil.example:8080"), 403},
		{"a host that begins like an address", "/", host("127.0.0.1.evil.example"), 403},
		{"no host", "/", host(""), 403},
		{"localhost, another port", "/", host("localhost:9999"), 200},
		{"IPv6", "/", host("[::1]:9999"), 200},
		{"our origin", "/api/runs", header("Origin", "http://127.0.0.1:8080"), 200},
		{"another origin", "/api/runs", header("Origin", "http://evil.example"), 403},
		{"another port's origin", "/api/runs", header("Origin", "http://127.0.0.1:1"), 403},
		{"a hidden origin", "/api/runs", header("Origin", "null"), 403},
		{"another site's fetch", "/api/runs", header("Sec-Fetch-Site", "cross-site"), 403},
		{"another port's fetch", "/api/runs", header("Sec-Fetch-Site", "same-site"), 403},
		{"writing", "/api/runs", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"a file beside the page", "/dist/app.js", nil, 404},
		{"a way out", "/../../etc/passwd", nil, 404},
		{"a way out of the API", "/api/../../../etc/passwd", nil, 404},
		{"no such question", "/api/nothing", nil, 404},
		{"a file by its path", "/api/source?f=/etc/passwd", nil, 400},
	} {
		w := request(s, c.path, c.edit)
		if w.Code != c.want {
			t.Errorf("%s: status %d, want %d (%s)", c.name, w.Code, c.want, w.Body)
		}
		for k, v := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			if w.Header().Get(k) != v {
				t.Errorf("%s: %s is %q", c.name, k, w.Header().Get(k))
			}
		}
		if w.Code >= 400 && strings.Contains(w.Body.String(), s.guard.token) {
			t.Errorf("%s: the refusal tells the token", c.name)
		}
	}
}

// FuzzRequest holds that no request without the token, or from elsewhere, gets anything, and that
// none breaks the server.
func FuzzRequest(f *testing.F) {
	s := serverOf(f, runOf(fixture(f, 3, 2)))
	f.Add("GET", "/api/runs", "127.0.0.1:1", "", "none", "Bearer x", "a=b")
	f.Add("GET", "/?token=", "localhost", "http://localhost", "same-origin", "", s.guard.cookie+"=")
	f.Add("POST", "/api/again?p=0&s=0&c=1", "[::1]:8080", "null", "cross-site", "Bearer ", "")
	f.Add("GET", "/api/../../etc/passwd?p=%zz&;x", "127.0.0.1.evil", "http://%zz", "same-site", "Basic eDp4", "=;=")
	f.Fuzz(func(t *testing.T, method, target, host, origin, site, authorization, cookie string) {
		u, err := url.Parse(target)
		if err != nil {
			return // net/http has answered
		}
		for _, token := range []bool{false, true} {
			r := &http.Request{Method: method, URL: u, Host: host, Header: http.Header{"Origin": {origin}, "Sec-Fetch-Site": {site},
				"Authorization": {authorization}, "Cookie": {cookie}}}
			if token {
				r.Header.Set("Authorization", "Bearer "+s.guard.token)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			switch {
			case w.Code >= 500:
				t.Errorf("%s %q: status %d: %s", method, target, w.Code, w.Body)
			case !token && w.Code < 400:
				t.Errorf("%s %q without the token: status %d", method, target, w.Code)
			case w.Code < 400 && (method != http.MethodGet && method != http.MethodHead || !s.guard.host(host)):
				t.Errorf("%s %q of %q: status %d", method, target, host, w.Code)
			}
			if w.Header().Get("Content-Security-Policy") != policy {
				t.Errorf("%s %q: no policy", method, target)
			}
		}
	})
}

// The policy allows no script or style within the page, and the page has none.
func TestThePageHasNothingInline(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 4, 3)))
	w := request(s, "/", nil)
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %q", policy)
	}
	for _, never := range []string{"style=", "<style", "onclick", "javascript:", "http:", "https:"} {
		if strings.Contains(w.Body.String(), never) {
			t.Errorf("the page contains %q", never)
		}
	}
	c := w.Result().Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Value != s.guard.token {
		t.Errorf("cookies %v", c)
	}
	for path, a := range assets() {
		if got := request(s, path, nil); got.Code != 200 || got.Header().Get("Content-Type") != a.mime || got.Body.Len() == 0 {
			t.Errorf("%s: status %d, type %q, %d bytes", path, got.Code, got.Header().Get("Content-Type"), got.Body.Len())
		}
	}
}

// A browser keeps the files of the page and is told when it has them still; it keeps nothing of a
// profile, nor the page that sets the cookie.
func TestWhatABrowserKeeps(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 4, 3)))
	for path, a := range assets() {
		body, err := a.body()
		if err != nil {
			t.Fatal(err)
		}
		first := request(s, path, nil)
		tag, how := first.Header().Get("ETag"), first.Header().Get("Cache-Control")
		if path == "/" {
			if tag != "" || how != "no-store" {
				t.Errorf("the page itself: %q, %s", tag, how)
			}
			continue
		}
		if tag == "" || how != "private, no-cache" {
			t.Errorf("%s: %q, %s", path, tag, how)
		}
		for _, c := range []struct {
			name, has string
			token     bool
			want      int
		}{
			{"the same", tag, true, 304},
			{"the same among others", `W/"x", ` + tag, true, 304},
			{"another lime's", `W/"0123456789abcdef01234567"`, true, 200},
			{"anything", "*", true, 200},
			{"nothing", "", true, 200},
			{"the same, without the token", tag, false, 403},
		} {
			w := request(s, path, func(r *http.Request) {
				r.Header.Set("If-None-Match", c.has)
				if !c.token {
					r.Header.Del("Authorization")
				}
			})
			if w.Code != c.want || (w.Code == 304) != (w.Body.Len() == 0) || w.Code == 200 && w.Body.Len() != len(body) {
				t.Errorf("%s, %s: status %d, %d bytes", path, c.name, w.Code, w.Body.Len())
			}
			if c.want == 403 && w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: a refusal may be kept", path)
			}
		}
	}
	for _, path := range []string{"/api/runs", "/api/head", "/api/source?f=0"} {
		w := request(s, path, func(r *http.Request) { r.Header.Set("If-None-Match", "*") })
		if w.Code != 200 || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" {
			t.Errorf("%s: status %d, %s", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
}

// What the first paint needs is at most 200 kB.
func TestThePageIsSmall(t *testing.T) {
	total := 0
	for _, a := range assets() {
		b, err := a.body()
		if err != nil {
			t.Fatal(err)
		}
		total += len(b)
	}
	if total > 200<<10 {
		t.Errorf("the page and what it loads take %d bytes, more than 200 kB", total)
	}
}

func TestListenOnAnotherName(t *testing.T) {
	s, err := Listen("localhost:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.listener.Close()
	if !strings.HasPrefix(s.Address(), "http://localhost:") || !s.Loopback() {
		t.Errorf("the address is %s", s.Address())
	}
	if _, err := Listen("nowhere", nil); err == nil {
		t.Error("an address without a port is taken")
	}
}

// A profile that changes or vanishes is told of, and what was read of it goes on being shown.
func TestAProfileThatChanges(t *testing.T) {
	r, path := fileRun(t, fixture(t, 4, 5))
	s := serverOf(t, r)
	state := func() string { return request(s, "/api/state", nil).Body.String() }
	if got := state(); strings.Contains(got, "changed") {
		t.Errorf("the state of a file that nobody touched: %s", got)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := state(); !strings.Contains(got, "written anew") {
		t.Errorf("the state of a file that was changed: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := state(); !strings.Contains(got, "is gone") {
		t.Errorf("the state of a file that is gone: %s", got)
	}
	if w := request(s, "/api/head", nil); w.Code != 200 {
		t.Errorf("the head of a file that is gone: %d %s", w.Code, w.Body)
	}
}
