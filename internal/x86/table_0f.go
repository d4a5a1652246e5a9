package x86

// twoByteRows is the integer and system half of the 0F map (Intel SDM vol. 2D,
// table A-3, and the groups 6, 7, 8, 9, 15, 16 and 17 of table A-6); the
// PadLock rows are VIA's (PadLock Programming Guide).
const twoByteRows = `
00/0 sldt +Evw ; sys
00/1 str +Evw ; sys
00/2 lldt Ew ; sp=privileged
00/3 ltr Ew ; sp=privileged
00/4 verr Ew ; f=z
00/5 verw Ew ; f=z
01/0m sgdt =M10 ; sys
01/1m sidt =M10 ; sys
01/2m lgdt M10 ; sp=privileged
01/3m lidt M10 ; sp=privileged
01/4 smsw +Evw ; sys
f3.01/5m rstorssp +Mq ; f=oszapc sp=privileged
01/6 lmsw Ew ; sp=privileged
01/7m invlpg M0 ; sp=privileged
01/0r0 enclv ; r=ax,bx,cx,dx w=ax,bx,cx,dx f=oszapc sp=privileged
01/0r1 vmcall ; r=ax,bx,cx,dx,si,di w=ax,bx,cx,dx,si,di f=oszapc sp=privileged
01/0r2 vmlaunch ; f=oszapc sp=privileged
01/0r3 vmresume ; f=oszapc sp=privileged
01/0r4 vmxoff ; f=oszapc sp=privileged
01/0r5 pconfig ; r=ax,bx,cx,dx w=ax f=oszapc sp=privileged
np.01/0r6 wrmsrns ; r=ax,cx,dx sp=privileged
f3.01/0r6 wrmsrlist ; r=ax,cx,dx,si,di w=cx sp=privileged
f2.01/0r6 rdmsrlist ; r=ax,cx,dx,si,di w=cx sp=privileged
01/1r0 monitor ; r=ax,cx,dx sp=privileged
01/1r1 mwait ; r=ax,cx sp=privileged
01/1r2 clac ; sp=privileged
01/1r3 stac ; sp=privileged
66.01/1r4 tdcall ; sp=privileged
66.01/1r5 seamret ; sp=privileged
66.01/1r6 seamops ; sp=privileged
66.01/1r7 seamcall ; sp=privileged
01/1r7 encls ; r=ax,bx,cx,dx w=ax,bx,cx,dx f=oszapc sp=privileged
01/2r0 xgetbv ; r=cx w=ax,dx sp=xgetbv
01/2r1 xsetbv ; r=ax,cx,dx sp=privileged
01/2r4 vmfunc ; r=ax,cx sp=privileged
01/2r5 xend ; sp=serial
01/2r6 xtest ; f=oszapc
01/2r7 enclu ; r=ax,bx,cx,dx,si,di w=ax,bx,cx,dx f=oszapc sp=privileged
01/3r0 vmrun ; r=ax sp=privileged
01/3r1 vmmcall ; r=ax,bx,cx,dx w=ax,bx,cx,dx sp=privileged
01/3r2 vmload ; r=ax sp=privileged
01/3r3 vmsave ; r=ax sp=privileged
01/3r4 stgi ; sp=privileged
01/3r5 clgi ; sp=privileged
01/3r6 skinit ; r=ax sp=privileged
01/3r7 invlpga ; r=ax,cx sp=privileged
np.01/5r0 serialize ; sp=serial
f3.01/5r0 setssbsy ; sp=privileged
f2.01/5r0 xsusldtrk
f2.01/5r1 xresldtrk
f3.01/5r2 saveprevssp ; sp=privileged
f3.01/5r4 uiret ; r=sp w=sp f=oszapcd br=far
f3.01/5r5 testui ; f=oszapc
f3.01/5r6 clui
f3.01/5r7 stui
np.01/5r6 rdpkru ; r=cx w=ax,dx
np.01/5r7 wrpkru ; r=ax,cx,dx
01/7r0 swapgs ; sp=privileged
01/7r1 rdtscp ; w=ax,cx,dx sp=rdtscp
01/7r2 monitorx ; r=ax,cx,dx
01/7r3 mwaitx ; r=ax,bx,cx sp=pause
01/7r4 clzero ; r=ax iw
01/7r5 rdpru ; r=cx w=ax,dx f=oszapc t=oszapc
f3.01/7r2 mcommit ; f=oszapc
f3.01/7r6 rmpadjust ; r=ax,cx,dx w=ax f=oszapc sp=privileged
f2.01/7r6 rmpupdate ; r=ax,cx w=ax f=oszapc sp=privileged
f3.01/7r7 psmash ; r=ax w=ax f=oszapc sp=privileged
f2.01/7r7 pvalidate ; r=ax,cx,dx w=ax f=oszapc sp=privileged
01/7r6 invlpgb ; r=ax,cx,dx sp=privileged
01/7r7 tlbsync ; sp=privileged
02 lar +Gv Ew ; f=z cond
03 lsl +Gv Ew ; f=z cond
05 syscall ; r=ax,di,si,dx,r8,r9,r10 w=ax,cx,r11 br=syscall
06 clts ; sp=privileged
07 sysret ; r=cx,r11 f=oszapcd br=far
08 invd ; sp=privileged
09 wbinvd ; sp=privileged
0b ud2 ; br=trap
0d prefetchw M0
0d/0r nop E0
0d/1r nop E0
0d/2r nop E0
0d/3r nop E0
0d/4r nop E0
0d/5r nop E0
0d/6r nop E0
0d/7r nop E0
0e femms ; mmx
0f 3dnow Pq Qq Ib ; mmx
18/0m prefetchnta M0 # PREFETCHH
18/1m prefetcht0 M0 # PREFETCHH
18/2m prefetcht1 M0 # PREFETCHH
18/3m prefetcht2 M0 # PREFETCHH
18 nop E0
19 nop E0
1a nop E0 # BNDLDX
1b nop E0 # BNDSTX
1c nop E0 # CLDEMOTE
1d nop E0
1e nop E0
f3.1e/1r rdssp +Ry ; cond
f3.1e/7r2 endbr64
f3.1e/7r3 endbr32
1f nop E0
20 mov =Rq ; cr sp=privileged
21 mov =Rq ; cr sp=privileged
22 mov Rq ; cr sp=privileged
23 mov Rq ; cr sp=privileged
30 wrmsr ; r=ax,cx,dx sp=privileged
31 rdtsc ; w=ax,dx sp=rdtsc
32 rdmsr ; r=cx w=ax,dx sp=privileged
33 rdpmc ; r=cx w=ax,dx sp=privileged
34 sysenter ; br=far
35 sysexit ; r=cx,dx br=far
37 getsec ; r=ax,bx,cx w=ax,bx,cx sp=privileged
40-4f cmovcc +Gv Ev ; cc cond
np.78 vmread =Eq Gq ; f=oszapc sp=privileged
np.79 vmwrite Gq Eq ; f=oszapc sp=privileged
80-8f jcc Jz ; f64 cc br=cond
90-9f setcc =Eb ; cc
a0 push ; d64 r=sp w=sp iw
a1 pop ; d64 r=sp w=sp ir sp=fsgsbase
a2 cpuid ; r=ax,cx w=ax,bx,cx,dx sp=cpuid
a3 bt Ev Gv ; f=osapc bits
a4 shld +Ev Gv Ib ; f=oszapc shi
a5 shld +Ev Gv ; r=cx f=oszapc cond
a6/0r0 montmul ; r=ax,cx,si w=ax,cx,dx,si ir iw
a6/1r0 xsha1 ; r=ax,cx,si,di w=ax,cx,si,di ir iw
a6/2r0 xsha256 ; r=ax,cx,si,di w=ax,cx,si,di ir iw
a7/0r0 xstore ; r=cx,dx,di w=ax,cx,di iw cond
a7/1r0 xcrypt-ecb ; r=ax,bx,cx,dx,si,di w=ax,cx,si,di ir iw cond
a7/2r0 xcrypt-cbc ; r=ax,bx,cx,dx,si,di w=ax,cx,si,di ir iw cond
a7/3r0 xcrypt-ctr ; r=ax,bx,cx,dx,si,di w=ax,cx,si,di ir iw cond
a7/4r0 xcrypt-cfb ; r=ax,bx,cx,dx,si,di w=ax,cx,si,di ir iw cond
a7/5r0 xcrypt-ofb ; r=ax,bx,cx,dx,si,di w=ax,cx,si,di ir iw cond
a8 push ; d64 r=sp w=sp iw
a9 pop ; d64 r=sp w=sp ir sp=fsgsbase
aa rsm ; f=oszapcd sp=privileged
ab bts +Ev Gv ; f=osapc bits
ac shrd +Ev Gv Ib ; f=oszapc shi
ad shrd +Ev Gv ; r=cx f=oszapc cond
ae/0m fxsave =M512 ; xall sse x87 sp=xsave
ae/1m fxrstor M512 ; xall sse x87 sp=xsave
ae/2m ldmxcsr Md ; sse
ae/3m stmxcsr =Md ; sse
ae/4m xsave +M0a ; r=ax,dx sp=xsave xst
ae/5m xrstor M0a ; r=ax,dx sp=xsave xst
np.ae/6m xsaveopt +M0a ; r=ax,dx sp=xsave xst
np.ae/7m clflush M0
66.ae/6m clwb M0
66.ae/7m clflushopt M0
f3.ae/6m clrssbsy +Mq ; f=oszapc sp=privileged
f3.ae/4m ptwrite Ey
f3.ae/4r ptwrite Ey
f3.ae/0r rdfsbase =Ry ; sp=fsgsbase
f3.ae/1r rdgsbase =Ry ; sp=fsgsbase
f3.ae/2r wrfsbase Ry ; sp=fsgsbase
f3.ae/3r wrgsbase Ry ; sp=fsgsbase
f3.ae/5r incssp Ry
np.ae/5r lfence ; sp=serial
np.ae/6r mfence ; sp=serial
ae/7r sfence ; sp=serial
f3.ae/6r umonitor Rq
66.ae/6r tpause Rd ; r=ax,dx f=oszapc sp=pause
f2.ae/6r umwait Rd ; r=ax,dx f=oszapc sp=pause
af imul +Gv Ev ; f=oszapc
b0 cmpxchg +Eb Gb ; r=ax w=ax f=oszapc
b1 cmpxchg +Ev Gv ; r=ax w=ax f=oszapc
b2 lss =Gv Ms ; sp=privileged
b3 btr +Ev Gv ; f=osapc bits
b4 lfs =Gv Ms ; sp=privileged
b5 lgs =Gv Ms ; sp=privileged
b6 movzb =Gv Eb # MOVZX
b7 movzw =Gv Ew # MOVZX
f3.b8 popcnt =Gv Ev ; f=oszapc
b9 ud1 Gv Ev ; br=trap
ba/4 bt Ev Ib ; f=osapc
ba/5 bts +Ev Ib ; f=osapc
ba/6 btr +Ev Ib ; f=osapc
ba/7 btc +Ev Ib ; f=osapc
bb btc +Ev Gv ; f=osapc bits
bc bsf +Gv Ev ; f=oszapc cond
f3.bc tzcnt =Gv Ev ; f=oszapc
bd bsr +Gv Ev ; f=oszapc cond
f3.bd lzcnt =Gv Ev ; f=oszapc
be movsb =Gv Eb # MOVSX
bf movsw =Gv Ew # MOVSX
c0 xadd +Eb +Gb ; f=oszapc
c1 xadd +Ev +Gv ; f=oszapc
np.c3 movnti =My Gy
c7/1m.w0 cmpxchg8b +Mq ; r=ax,bx,cx,dx w=ax,dx f=z
c7/1m.w1 cmpxchg16b +Mo ; r=ax,bx,cx,dx w=ax,dx f=z # CMPXCHG8B
c7/3m xrstors M0a ; r=ax,dx sp=privileged xst
c7/4m xsavec +M0a ; r=ax,dx sp=xsave xst
c7/5m xsaves +M0a ; r=ax,dx sp=privileged xst
c7/6m vmptrld Mq ; f=oszapc sp=privileged
c7/7m vmptrst =Mq ; f=oszapc sp=privileged
c7/6r rdrand =Rv ; f=oszapc sp=rdrand
c7/7r rdseed =Rv ; f=oszapc sp=rdrand
f3.c7/6r senduipi Rq ; sp=privileged
f3.c7/7r rdpid =Rq ; sp=rdpid
c8-cf bswap +Zv
ff ud0 Gv Ev ; br=trap
`
