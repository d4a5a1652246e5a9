package guest_test

import (
	"testing"

	"lime/internal/testenv"
)

// TestPatientThreads computes with a library whose threads yield until the time stamp counter has
// gone on.
func TestPatientThreads(t *testing.T) {
	long(t, "sh")
	testenv.Tool(t, "numpy")
	same(t, "", "env", "OPENBLAS_NUM_THREADS=4", "/usr/bin/python3", "-c",
		"import numpy as n\na = n.arange(90000).reshape(300, 300) % 17 * 1.0\nfor i in range(5): a = (a @ a.T) % 13\nprint(a.sum())")
}

// TestCodeGenerators runs interpreters that generate code, each in its own manner: in two places at
// once (Erlang), by changing rights (LuaJIT, PHP), by patching what runs (Java, JavaScript).
func TestCodeGenerators(t *testing.T) {
	long(t, "sh")
	rows := []struct {
		name string
		args []string
	}{
		{"erlang", []string{"erl", "-noshell", "-eval", `io:format("~p~n", [lists:sum([X*X rem 7 || X <- lists:seq(1, 100000)])]), halt().`}},
		{"luajit", []string{"luajit", "-e", "local s=0; for i=1,3e7 do s=(s*3+i)%1000003 end; print(s)"}},
		{"pypy", []string{"pypy3", "-c", "print(sum(i*i%7 for i in range(3000000)))"}},
		{"php", []string{"php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit=tracing", "-d", "opcache.jit_buffer_size=32M",
			"-r", `$s=0; for($i=0;$i<3000000;$i++){$s=($s*3+$i)%1000003;} echo $s,"\n";`}},
		{"node", []string{"node", "-e", "let s=0; for(let i=0;i<30000000;i++){s=(s*3+i)%1000003} console.log(s)"}},
		{"java", []string{"java", "-version"}},
		{"java, compiling", []string{"java", "testdata/Loop.java"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { same(t, "", row.args...) })
	}
}
