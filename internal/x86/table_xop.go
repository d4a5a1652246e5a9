package x86

// xop8Rows, xop9Rows and xopARows are AMD's XOP maps 8, 9 and 10 (AMD APM vol. 3
// and 4), which libraries still carry behind a check of CPUID.
const xop8Rows = `
x np.85 vpmacssww =Vx Hx Wx Lx
x np.86 vpmacsswd =Vx Hx Wx Lx
x np.87 vpmacssdql =Vx Hx Wx Lx
x np.8e vpmacssdd =Vx Hx Wx Lx
x np.8f vpmacssdqh =Vx Hx Wx Lx
x np.95 vpmacsww =Vx Hx Wx Lx
x np.96 vpmacswd =Vx Hx Wx Lx
x np.97 vpmacsdql =Vx Hx Wx Lx
x np.9e vpmacsdd =Vx Hx Wx Lx
x np.9f vpmacsdqh =Vx Hx Wx Lx
x np.a6 vpmadcsswd =Vx Hx Wx Lx
x np.b6 vpmadcswd =Vx Hx Wx Lx
x np.a2 vpcmov =Vx Hx Wx Lx
x np.a3 vpperm =Vx Hx Wx Lx
x np.c0 vprotb =Vx Wx Ib
x np.cc vpcomb =Vx Hx Wx Ib
x np.ec vpcomub =Vx Hx Wx Ib
x np.c1 vprotw =Vx Wx Ib
x np.cd vpcomw =Vx Hx Wx Ib
x np.ed vpcomuw =Vx Hx Wx Ib
x np.c2 vprotd =Vx Wx Ib
x np.ce vpcomd =Vx Hx Wx Ib
x np.ee vpcomud =Vx Hx Wx Ib
x np.c3 vprotq =Vx Wx Ib
x np.cf vpcomq =Vx Hx Wx Ib
x np.ef vpcomuq =Vx Hx Wx Ib
`

const xop9Rows = `
x np.01/1 blcfill =By Ey ; f=oszapc
x np.01/2 blsfill =By Ey ; f=oszapc
x np.01/3 blcs =By Ey ; f=oszapc
x np.01/4 tzmsk =By Ey ; f=oszapc
x np.01/5 blcic =By Ey ; f=oszapc
x np.01/6 blsic =By Ey ; f=oszapc
x np.01/7 t1mskc =By Ey ; f=oszapc
x np.02/1 blcmsk =By Ey ; f=oszapc
x np.02/6 blci =By Ey ; f=oszapc
x np.12/0r llwpcb Ry ; sp=privileged
x np.12/1r slwpcb +Ry ; sp=privileged
x np.80 vfrczps =Vx Wx
x np.81 vfrczpd =Vx Wx
x np.82 vfrczss =Vx Wd
x np.83 vfrczsd =Vx Wq
x np.90 vprotb =Vx Wx Hx
x np.91 vprotw =Vx Wx Hx
x np.92 vprotd =Vx Wx Hx
x np.93 vprotq =Vx Wx Hx
x np.94 vpshlb =Vx Wx Hx
x np.95 vpshlw =Vx Wx Hx
x np.96 vpshld =Vx Wx Hx
x np.97 vpshlq =Vx Wx Hx
x np.98 vpshab =Vx Wx Hx
x np.99 vpshaw =Vx Wx Hx
x np.9a vpshad =Vx Wx Hx
x np.9b vpshaq =Vx Wx Hx
x np.c1 vphaddbw =Vx Wx
x np.c2 vphaddbd =Vx Wx
x np.c3 vphaddbq =Vx Wx
x np.c6 vphaddwd =Vx Wx
x np.c7 vphaddwq =Vx Wx
x np.cb vphadddq =Vx Wx
x np.d1 vphaddubw =Vx Wx
x np.d2 vphaddubd =Vx Wx
x np.d3 vphaddubq =Vx Wx
x np.d6 vphadduwd =Vx Wx
x np.d7 vphadduwq =Vx Wx
x np.db vphaddudq =Vx Wx
x np.e1 vphsubbw =Vx Wx
x np.e2 vphsubwd =Vx Wx
x np.e3 vphsubdq =Vx Wx
`

const xopARows = `
x np.10 bextr =Gy Ey Id ; f=oszapc
x np.12/0 lwpins By Ed Id ; f=c
x np.12/1 lwpval By Ed Id
`
