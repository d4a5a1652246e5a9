package x86

// oneByteRows is the one-byte opcode map (Intel SDM vol. 2D, table A-2) with
// the groups 1, 1A, 2, 3, 4, 5 and 11 (table A-6). The grammar of a row is at
// the type row.
const oneByteRows = `
00 add +Eb Gb ; f=oszapc
01 add +Ev Gv ; f=oszapc
02 add +Gb Eb ; f=oszapc
03 add +Gv Ev ; f=oszapc
04 add +Ab Ib ; f=oszapc
05 add +Av Iz ; f=oszapc
08 or +Eb Gb ; f=oszapc
09 or +Ev Gv ; f=oszapc
0a or +Gb Eb ; f=oszapc
0b or +Gv Ev ; f=oszapc
0c or +Ab Ib ; f=oszapc
0d or +Av Iz ; f=oszapc
10 adc +Eb Gb ; f=oszapc t=c
11 adc +Ev Gv ; f=oszapc t=c
12 adc +Gb Eb ; f=oszapc t=c
13 adc +Gv Ev ; f=oszapc t=c
14 adc +Ab Ib ; f=oszapc t=c
15 adc +Av Iz ; f=oszapc t=c
18 sbb +Eb Gb ; f=oszapc t=c
19 sbb +Ev Gv ; f=oszapc t=c
1a sbb +Gb Eb ; f=oszapc t=c
1b sbb +Gv Ev ; f=oszapc t=c
1c sbb +Ab Ib ; f=oszapc t=c
1d sbb +Av Iz ; f=oszapc t=c
20 and +Eb Gb ; f=oszapc
21 and +Ev Gv ; f=oszapc
22 and +Gb Eb ; f=oszapc
23 and +Gv Ev ; f=oszapc
24 and +Ab Ib ; f=oszapc
25 and +Av Iz ; f=oszapc
28 sub +Eb Gb ; f=oszapc
29 sub +Ev Gv ; f=oszapc
2a sub +Gb Eb ; f=oszapc
2b sub +Gv Ev ; f=oszapc
2c sub +Ab Ib ; f=oszapc
2d sub +Av Iz ; f=oszapc
30 xor +Eb Gb ; f=oszapc
31 xor +Ev Gv ; f=oszapc
32 xor +Gb Eb ; f=oszapc
33 xor +Gv Ev ; f=oszapc
34 xor +Ab Ib ; f=oszapc
35 xor +Av Iz ; f=oszapc
38 cmp Eb Gb ; f=oszapc
39 cmp Ev Gv ; f=oszapc
3a cmp Gb Eb ; f=oszapc
3b cmp Gv Ev ; f=oszapc
3c cmp Ab Ib ; f=oszapc
3d cmp Av Iz ; f=oszapc
50-57 push Zv ; d64 r=sp w=sp iw
58-5f pop =Zv ; d64 r=sp w=sp ir
63 movsxd =Gv Ed
68 push Iz ; d64 r=sp w=sp iw
69 imul =Gv Ev Iz ; f=oszapc
6a push Ib ; d64 r=sp w=sp iw
6b imul =Gv Ev Ib ; f=oszapc
6c ins ; str r=di,dx w=di t=d iw sp=privileged
6d ins ; str r=di,dx w=di t=d iw sp=privileged
6e outs ; str r=si,dx w=si t=d ir sp=privileged
6f outs ; str r=si,dx w=si t=d ir sp=privileged
70-7f jcc Jb ; cc br=cond
80/0 add +Eb Ib ; f=oszapc
80/1 or +Eb Ib ; f=oszapc
80/2 adc +Eb Ib ; f=oszapc t=c
80/3 sbb +Eb Ib ; f=oszapc t=c
80/4 and +Eb Ib ; f=oszapc
80/5 sub +Eb Ib ; f=oszapc
80/6 xor +Eb Ib ; f=oszapc
80/7 cmp Eb Ib ; f=oszapc
81/0 add +Ev Iz ; f=oszapc
81/1 or +Ev Iz ; f=oszapc
81/2 adc +Ev Iz ; f=oszapc t=c
81/3 sbb +Ev Iz ; f=oszapc t=c
81/4 and +Ev Iz ; f=oszapc
81/5 sub +Ev Iz ; f=oszapc
81/6 xor +Ev Iz ; f=oszapc
81/7 cmp Ev Iz ; f=oszapc
83/0 add +Ev Ib ; f=oszapc
83/1 or +Ev Ib ; f=oszapc
83/2 adc +Ev Ib ; f=oszapc t=c
83/3 sbb +Ev Ib ; f=oszapc t=c
83/4 and +Ev Ib ; f=oszapc
83/5 sub +Ev Ib ; f=oszapc
83/6 xor +Ev Ib ; f=oszapc
83/7 cmp Ev Ib ; f=oszapc
84 test Eb Gb ; f=oszapc
85 test Ev Gv ; f=oszapc
86 xchg +Eb +Gb ; lock
87 xchg +Ev +Gv ; lock
88 mov =Eb Gb
89 mov =Ev Gv
8a mov =Gb Eb
8b mov =Gv Ev
8c mov =Evw Sw
8d lea =Gv M0
8e/4 mov Sw Ew ; sp=fsgsbase
8e/5 mov Sw Ew ; sp=fsgsbase
8e mov Sw Ew
8f/0 pop =Ev ; d64 r=sp w=sp ir
f3.90.b0 pause ; sp=pause
90.b0 nop
90-97 xchg +Zv +Av
98 cwtl ; r=ax w=ax
99 cltd ; r=ax w=dx
9b fwait ; x87
9c pushf ; d64 t=oszapcd r=sp w=sp iw
9d popf ; d64 f=oszapcd r=sp w=sp ir
9e sahf ; r=ax f=szapc
9f lahf ; r=ax w=ax t=szapc
a0 mov =Ab Ob ; ir
a1 mov =Av Ov ; ir
a2 mov Ob Ab ; iw
a3 mov Ov Av ; iw
a4-a5 movs ; str r=si,di w=si,di t=d ir iw
a6-a7 cmps ; str r=si,di w=si,di t=d f=oszapc ir
a8 test Ab Ib ; f=oszapc
a9 test Av Iz ; f=oszapc
aa-ab stos ; str r=ax,di w=di t=d iw
ac lods ; str r=si,ax w=si,ax t=d ir
ad lods ; str r=si w=si,ax t=d ir
ae-af scas ; str r=ax,di w=di t=d f=oszapc ir
b0-b7 mov =Zb Ib
b8-bf mov =Zv Iv
c0/0 rol +Eb Ib ; f=oc shi
c0/1 ror +Eb Ib ; f=oc shi
c0/2 rcl +Eb Ib ; f=oc t=c shi
c0/3 rcr +Eb Ib ; f=oc t=c shi
c0/4 shl +Eb Ib ; f=oszapc shi
c0/5 shr +Eb Ib ; f=oszapc shi
c0/6 shl +Eb Ib ; f=oszapc shi
c0/7 sar +Eb Ib ; f=oszapc shi
c1/0 rol +Ev Ib ; f=oc shi
c1/1 ror +Ev Ib ; f=oc shi
c1/2 rcl +Ev Ib ; f=oc t=c shi
c1/3 rcr +Ev Ib ; f=oc t=c shi
c1/4 shl +Ev Ib ; f=oszapc shi
c1/5 shr +Ev Ib ; f=oszapc shi
c1/6 shl +Ev Ib ; f=oszapc shi
c1/7 sar +Ev Ib ; f=oszapc shi
d0/0 rol +Eb ; f=oc
d0/1 ror +Eb ; f=oc
d0/2 rcl +Eb ; f=oc t=c
d0/3 rcr +Eb ; f=oc t=c
d0/4 shl +Eb ; f=oszapc
d0/5 shr +Eb ; f=oszapc
d0/6 shl +Eb ; f=oszapc
d0/7 sar +Eb ; f=oszapc
d1/0 rol +Ev ; f=oc
d1/1 ror +Ev ; f=oc
d1/2 rcl +Ev ; f=oc t=c
d1/3 rcr +Ev ; f=oc t=c
d1/4 shl +Ev ; f=oszapc
d1/5 shr +Ev ; f=oszapc
d1/6 shl +Ev ; f=oszapc
d1/7 sar +Ev ; f=oszapc
d2/0 rol +Eb ; f=oc r=cx cond
d2/1 ror +Eb ; f=oc r=cx cond
d2/2 rcl +Eb ; f=oc t=c r=cx cond
d2/3 rcr +Eb ; f=oc t=c r=cx cond
d2/4 shl +Eb ; f=oszapc r=cx cond
d2/5 shr +Eb ; f=oszapc r=cx cond
d2/6 shl +Eb ; f=oszapc r=cx cond
d2/7 sar +Eb ; f=oszapc r=cx cond
d3/0 rol +Ev ; f=oc r=cx cond
d3/1 ror +Ev ; f=oc r=cx cond
d3/2 rcl +Ev ; f=oc t=c r=cx cond
d3/3 rcr +Ev ; f=oc t=c r=cx cond
d3/4 shl +Ev ; f=oszapc r=cx cond
d3/5 shr +Ev ; f=oszapc r=cx cond
d3/6 shl +Ev ; f=oszapc r=cx cond
d3/7 sar +Ev ; f=oszapc r=cx cond
c2 ret Iw ; f64 r=sp w=sp ir br=ret
c3 ret ; f64 r=sp w=sp ir br=ret
c6/0 mov =Eb Ib
c6/7r0 xabort Ib ; r=ax w=ax cond
c7/0 mov =Ev Iz
c7/7r0 xbegin Jz ; r=ax w=ax cond br=txn
c8 enter Iw Ib ; d64 r=sp,bp w=sp,bp iw ir
c9 leave ; d64 r=bp w=sp,bp ir
ca lret Iw ; r=sp w=sp ir br=far # RET
cb lret ; r=sp w=sp ir br=far # RET
cc int3 ; br=trap
cd int Ib ; br=trap
cf iret ; r=sp w=sp ir br=far f=oszapcd
d7 xlat ; r=ax,bx w=ax ir
e0 loopne Jb ; r=cx w=cx t=z br=loop
e1 loope Jb ; r=cx w=cx t=z br=loop
e2 loop Jb ; r=cx w=cx br=loop
e3 jrcxz Jb ; r=cx br=loop
e4 in =Ab Ib ; sp=privileged
e5 in =Az Ib ; sp=privileged
e6 out Ib Ab ; sp=privileged
e7 out Ib Az ; sp=privileged
e8 call Jz ; f64 r=sp w=sp iw br=call
e9 jmp Jz ; f64 br=jump
eb jmp Jb ; f64 br=jump
ec in =Ab ; r=dx sp=privileged
ed in =Az ; r=dx sp=privileged
ee out Ab ; r=dx sp=privileged
ef out Az ; r=dx sp=privileged
f1 int1 ; br=trap
f4 hlt ; br=trap sp=privileged
f5 cmc ; t=c f=c
f6/0 test Eb Ib ; f=oszapc
f6/1 test Eb Ib ; f=oszapc
f6/2 not +Eb
f6/3 neg +Eb ; f=oszapc
f6/4 mul Eb ; r=ax w=ax f=oszapc
f6/5 imul Eb ; r=ax w=ax f=oszapc
f6/6 div Eb ; r=ax w=ax f=oszapc
f6/7 idiv Eb ; r=ax w=ax f=oszapc
f7/0 test Ev Iz ; f=oszapc
f7/1 test Ev Iz ; f=oszapc
f7/2 not +Ev
f7/3 neg +Ev ; f=oszapc
f7/4 mul Ev ; r=ax w=ax,dx f=oszapc
f7/5 imul Ev ; r=ax w=ax,dx f=oszapc
f7/6 div Ev ; r=ax,dx w=ax,dx f=oszapc
f7/7 idiv Ev ; r=ax,dx w=ax,dx f=oszapc
f8 clc ; f=c
f9 stc ; f=c
fa cli ; sp=privileged
fb sti ; sp=privileged
fc cld ; f=d
fd std ; f=d
fe/0 inc +Eb ; f=oszap
fe/1 dec +Eb ; f=oszap
ff/0 inc +Ev ; f=oszap
ff/1 dec +Ev ; f=oszap
ff/2 call Ev ; f64 r=sp w=sp iw br=callind
ff/3 lcall Ms ; r=sp w=sp iw br=far # CALL
ff/4 jmp Ev ; f64 br=jumpind
ff/5 ljmp Ms ; br=far # JMP
ff/6 push Ev ; d64 r=sp w=sp iw
`
