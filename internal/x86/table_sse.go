package x86

// sseRows is the vector half of the 0F map: MMX, SSE, AVX, AVX-512 (Intel SDM
// vol. 2D, tables; the EVEX forms from the pages of vol. 2A to 2C).
// A row with l and v or e stands for several encodings of one operation: the
// vvvv operand is absent in the legacy form, and the name gets a v elsewhere.
const sseRows = `
lve np.10 movups =Vx Wx
lve 66.10 movupd =Vx Wx
l f3.10r movss +Vx Wd
lve f3.10 movss =Vx Hx Wd
l f2.10r movsd +Vx Wq
lve f2.10 movsd =Vx Hx Wq
lve np.11 movups =Wx Vx
lve 66.11 movupd =Wx Vx
l f3.11r movss +Wd Vx
lve f3.11 movss =Wd Hx Vx
l f2.11r movsd +Wq Vx
lve f2.11 movsd =Wq Hx Vx
lve np.12 movlps +Vx Hx Wq
lve 66.12 movlpd +Vx Hx Mq
lve f3.12 movsldup =Vx Wx
lve f2.12 movddup =Vx WD
lve np.13 movlps =Mq Vx
lve 66.13 movlpd =Mq Vx
lve np.14 unpcklps +Vx Hx Wx ; bc
lve 66.14 unpcklpd +Vx Hx Wx ; bc
lve np.15 unpckhps +Vx Hx Wx ; bc
lve 66.15 unpckhpd +Vx Hx Wx ; bc
lve np.16 movhps +Vx Hx Wq
lve 66.16 movhpd +Vx Hx Mq
lve f3.16 movshdup =Vx Wx
lve np.17 movhps =Mq Vx
lve 66.17 movhpd =Mq Vx
lve np.28 movaps =Vx Wx
lve 66.28 movapd =Vx Wx
lve np.29 movaps =Wx Vx
lve 66.29 movapd =Wx Vx
l np.2a cvtpi2ps +Vx Qq ; mmx
l 66.2a cvtpi2pd =Vx Qq ; mmx
lve f3.2a cvtsi2ss +Vx Hx Ey
lve f2.2a cvtsi2sd +Vx Hx Ey
lve np.2b movntps =Mx Vx
lve 66.2b movntpd =Mx Vx
l f3.2b movntss =Md Vx
l f2.2b movntsd =Mq Vx
l np.2c cvttps2pi =Pq Wq ; mmx
l 66.2c cvttpd2pi =Pq Wx ; mmx
lve f3.2c cvttss2si =Gy Wd
lve f2.2c cvttsd2si =Gy Wq
l np.2d cvtps2pi =Pq Wq ; mmx
l 66.2d cvtpd2pi =Pq Wx ; mmx
lve f3.2d cvtss2si =Gy Wd
lve f2.2d cvtsd2si =Gy Wq
lve np.2e ucomiss Vx Wd ; f=oszapc
lve 66.2e ucomisd Vx Wq ; f=oszapc
lve np.2f comiss Vx Wd ; f=oszapc
lve 66.2f comisd Vx Wq ; f=oszapc
lv np.50 movmskps =Gy Ux
lv 66.50 movmskpd =Gy Ux
lve np.51 sqrtps =Vx Wx ; bc
lve 66.51 sqrtpd =Vx Wx ; bc
lve f3.51 sqrtss +Vx Hx Wd
lve f2.51 sqrtsd +Vx Hx Wq
lv np.52 rsqrtps =Vx Wx
lv f3.52 rsqrtss +Vx Hx Wd
lv np.53 rcpps =Vx Wx
lv f3.53 rcpss +Vx Hx Wd
lve np.54 andps +Vx Hx Wx ; bc
lve 66.54 andpd +Vx Hx Wx ; bc
lve np.55 andnps +Vx Hx Wx ; bc
lve 66.55 andnpd +Vx Hx Wx ; bc
lve np.56 orps +Vx Hx Wx ; bc
lve 66.56 orpd +Vx Hx Wx ; bc
lve np.57 xorps +Vx Hx Wx ; bc
lve 66.57 xorpd +Vx Hx Wx ; bc
lve np.58 addps +Vx Hx Wx ; bc
lve 66.58 addpd +Vx Hx Wx ; bc
lve f3.58 addss +Vx Hx Wd
lve f2.58 addsd +Vx Hx Wq
lve np.59 mulps +Vx Hx Wx ; bc
lve 66.59 mulpd +Vx Hx Wx ; bc
lve f3.59 mulss +Vx Hx Wd
lve f2.59 mulsd +Vx Hx Wq
lve np.5c subps +Vx Hx Wx ; bc
lve 66.5c subpd +Vx Hx Wx ; bc
lve f3.5c subss +Vx Hx Wd
lve f2.5c subsd +Vx Hx Wq
lve np.5d minps +Vx Hx Wx ; bc
lve 66.5d minpd +Vx Hx Wx ; bc
lve f3.5d minss +Vx Hx Wd
lve f2.5d minsd +Vx Hx Wq
lve np.5e divps +Vx Hx Wx ; bc
lve 66.5e divpd +Vx Hx Wx ; bc
lve f3.5e divss +Vx Hx Wd
lve f2.5e divsd +Vx Hx Wq
lve np.5f maxps +Vx Hx Wx ; bc
lve 66.5f maxpd +Vx Hx Wx ; bc
lve f3.5f maxss +Vx Hx Wd
lve f2.5f maxsd +Vx Hx Wq
lve np.5a cvtps2pd =Vx Wh ; bc
lve 66.5a cvtpd2ps =Vx Wx ; bc
lve f3.5a cvtss2sd +Vx Hx Wd
lve f2.5a cvtsd2ss +Vx Hx Wq
lv np.5b cvtdq2ps =Vx Wx
e np.5b.w0 vcvtdq2ps =Vx Wx ; bc
e np.5b.w1 vcvtqq2ps =Vx Wx ; bc
lve 66.5b cvtps2dq =Vx Wx ; bc
lve f3.5b cvttps2dq =Vx Wx ; bc
l np.60 punpcklbw +Pq Qd ; mmx
lve 66.60 punpcklbw +Vx Hx Wx
l np.61 punpcklwd +Pq Qd ; mmx
lve 66.61 punpcklwd +Vx Hx Wx
l np.62 punpckldq +Pq Qd ; mmx
lve 66.62 punpckldq +Vx Hx Wx ; bc
l np.63 packsswb +Pq Qq ; mmx
lve 66.63 packsswb +Vx Hx Wx
l np.64 pcmpgtb +Pq Qq ; mmx
lv 66.64 pcmpgtb +Vx Hx Wx
e 66.64 vpcmpgtb =k Hx Wx
l np.65 pcmpgtw +Pq Qq ; mmx
lv 66.65 pcmpgtw +Vx Hx Wx
e 66.65 vpcmpgtw =k Hx Wx
l np.66 pcmpgtd +Pq Qq ; mmx
lv 66.66 pcmpgtd +Vx Hx Wx
e 66.66 vpcmpgtd =k Hx Wx ; bc
l np.67 packuswb +Pq Qq ; mmx
lve 66.67 packuswb +Vx Hx Wx
l np.68 punpckhbw +Pq Qq ; mmx
lve 66.68 punpckhbw +Vx Hx Wx
l np.69 punpckhwd +Pq Qq ; mmx
lve 66.69 punpckhwd +Vx Hx Wx
l np.6a punpckhdq +Pq Qq ; mmx
lve 66.6a punpckhdq +Vx Hx Wx ; bc
l np.6b packssdw +Pq Qq ; mmx
lve 66.6b packssdw +Vx Hx Wx ; bc
l np.74 pcmpeqb +Pq Qq ; mmx
lv 66.74 pcmpeqb +Vx Hx Wx
e 66.74 vpcmpeqb =k Hx Wx
l np.75 pcmpeqw +Pq Qq ; mmx
lv 66.75 pcmpeqw +Vx Hx Wx
e 66.75 vpcmpeqw =k Hx Wx
l np.76 pcmpeqd +Pq Qq ; mmx
lv 66.76 pcmpeqd +Vx Hx Wx
e 66.76 vpcmpeqd =k Hx Wx ; bc
lve 66.6c punpcklqdq +Vx Hx Wx ; bc
lve 66.6d punpckhqdq +Vx Hx Wx ; bc
l np.6e movd =Pq Ey ; mmx
lve 66.6e movd =Vx Ey
l np.6f movq =Pq Qq ; mmx
lv 66.6f movdqa =Vx Wx
lv f3.6f movdqu =Vx Wx
e 66.6f.w0 vmovdqa32 =Vx Wx
e 66.6f.w1 vmovdqa64 =Vx Wx
e f3.6f.w0 vmovdqu32 =Vx Wx
e f3.6f.w1 vmovdqu64 =Vx Wx
e f2.6f.w0 vmovdqu8 =Vx Wx
e f2.6f.w1 vmovdqu16 =Vx Wx
l np.70 pshufw =Pq Qq Ib ; mmx
lve 66.70 pshufd =Vx Wx Ib ; bc
lve f3.70 pshufhw =Vx Wx Ib
lve f2.70 pshuflw =Vx Wx Ib
l np.71/2 psrlw +Nq Ib ; mmx
l 66.71/2 psrlw +Ux Ib
v 66.71/2 vpsrlw =Hx Ux Ib
e 66.71/2 vpsrlw =Hx Wx Ib
l np.71/4 psraw +Nq Ib ; mmx
l 66.71/4 psraw +Ux Ib
v 66.71/4 vpsraw =Hx Ux Ib
e 66.71/4 vpsraw =Hx Wx Ib
l np.71/6 psllw +Nq Ib ; mmx
l 66.71/6 psllw +Ux Ib
v 66.71/6 vpsllw =Hx Ux Ib
e 66.71/6 vpsllw =Hx Wx Ib
l np.72/2 psrld +Nq Ib ; mmx
l 66.72/2 psrld +Ux Ib
v 66.72/2 vpsrld =Hx Ux Ib
e 66.72/2 vpsrld =Hx Wx Ib ; bc
l np.72/4 psrad +Nq Ib ; mmx
l 66.72/4 psrad +Ux Ib
v 66.72/4 vpsrad =Hx Ux Ib
e 66.72/4 vpsrad =Hx Wx Ib ; bc
l np.72/6 pslld +Nq Ib ; mmx
l 66.72/6 pslld +Ux Ib
v 66.72/6 vpslld =Hx Ux Ib
e 66.72/6 vpslld =Hx Wx Ib ; bc
l np.73/2 psrlq +Nq Ib ; mmx
l 66.73/2 psrlq +Ux Ib
v 66.73/2 vpsrlq =Hx Ux Ib
e 66.73/2 vpsrlq =Hx Wx Ib ; bc
l np.73/6 psllq +Nq Ib ; mmx
l 66.73/6 psllq +Ux Ib
v 66.73/6 vpsllq =Hx Ux Ib
e 66.73/6 vpsllq =Hx Wx Ib ; bc
l 66.73/3 psrldq +Ux Ib
v 66.73/3 vpsrldq =Hx Ux Ib
l 66.73/7 pslldq +Ux Ib
v 66.73/7 vpslldq =Hx Ux Ib
e 66.73/3 vpsrldq =Hx Wx Ib
e 66.73/7 vpslldq =Hx Wx Ib
e 66.72/0.w0 vprord =Hx Wx Ib ; bc
e 66.72/0.w1 vprorq =Hx Wx Ib ; bc
e 66.72/1.w0 vprold =Hx Wx Ib ; bc
e 66.72/1.w1 vprolq =Hx Wx Ib ; bc
e 66.72/4.w1 vpsraq =Hx Wx Ib ; bc
l np.77 emms ; mmx
v np.77.l0 vzeroupper ; avx xall
v np.77.l1 vzeroall ; avx xall
l 66.78/0r extrq +Ux Ib Ib
l 66.79r extrq +Vx Ux
l f2.78r insertq +Vx Ux Ib Ib
l f2.79r insertq +Vx Ux
e np.78.w0 vcvttps2udq =Vx Wx ; bc
e np.78.w1 vcvttpd2udq =Vx Wx ; bc
e 66.78.w0 vcvttps2uqq =Vx Wh ; bc
e 66.78.w1 vcvttpd2uqq =Vx Wx ; bc
e f3.78 vcvttss2usi =Gy Wd
e f2.78 vcvttsd2usi =Gy Wq
e np.79.w0 vcvtps2udq =Vx Wx ; bc
e np.79.w1 vcvtpd2udq =Vx Wx ; bc
e 66.79.w0 vcvtps2uqq =Vx Wh ; bc
e 66.79.w1 vcvtpd2uqq =Vx Wx ; bc
e f3.79 vcvtss2usi =Gy Wd
e f2.79 vcvtsd2usi =Gy Wq
e 66.7a.w0 vcvttps2qq =Vx Wh ; bc
e 66.7a.w1 vcvttpd2qq =Vx Wx ; bc
e f3.7a.w0 vcvtudq2pd =Vx Wh ; bc
e f3.7a.w1 vcvtuqq2pd =Vx Wx ; bc
e f2.7a.w0 vcvtudq2ps =Vx Wx ; bc
e f2.7a.w1 vcvtuqq2ps =Vx Wx ; bc
e 66.7b.w0 vcvtps2qq =Vx Wh ; bc
e 66.7b.w1 vcvtpd2qq =Vx Wx ; bc
e f3.7b vcvtusi2ss =Vx Hx Ey
e f2.7b vcvtusi2sd =Vx Hx Ey
lv 66.7c haddpd +Vx Hx Wx
lv f2.7c haddps +Vx Hx Wx
lv 66.7d hsubpd +Vx Hx Wx
lv f2.7d hsubps +Vx Hx Wx
l np.7e movd =Ey Pq ; mmx
lve 66.7e movd =Ey Vx
lve f3.7e movq =Vx Wq
l np.7f movq =Qq Pq ; mmx
lv 66.7f movdqa =Wx Vx
lv f3.7f movdqu =Wx Vx
e 66.7f.w0 vmovdqa32 =Wx Vx
e 66.7f.w1 vmovdqa64 =Wx Vx
e f3.7f.w0 vmovdqu32 =Wx Vx
e f3.7f.w1 vmovdqu64 =Wx Vx
e f2.7f.w0 vmovdqu8 =Wx Vx
e f2.7f.w1 vmovdqu16 =Wx Vx
v ae/2m vldmxcsr Md ; sse
v ae/3m vstmxcsr =Md ; sse
lv np.c2 cmpps +Vx Hx Wx Ib
e np.c2 vcmpps =k Hx Wx Ib ; bc
lv 66.c2 cmppd +Vx Hx Wx Ib
e 66.c2 vcmppd =k Hx Wx Ib ; bc
lv f3.c2 cmpss +Vx Hx Wd Ib
e f3.c2 vcmpss =k Hx Wd Ib
lv f2.c2 cmpsd +Vx Hx Wq Ib
e f2.c2 vcmpsd =k Hx Wq Ib
l np.c4 pinsrw +Pq Edw Ib ; mmx
lve 66.c4 pinsrw +Vx Hx Edw Ib
l np.c5 pextrw =Gy Nq Ib ; mmx
lve 66.c5 pextrw =Gy Ux Ib
lve np.c6 shufps +Vx Hx Wx Ib ; bc
lve 66.c6 shufpd +Vx Hx Wx Ib ; bc
lv 66.d0 addsubpd +Vx Hx Wx
lv f2.d0 addsubps +Vx Hx Wx
lve 66.d6 movq =Wq Vx
l f3.d6 movq2dq =Vx Nq ; mmx
l f2.d6 movdq2q =Pq Ux ; mmx
l np.d7 pmovmskb =Gy Nq ; mmx
lv 66.d7 pmovmskb =Gy Ux
lv 66.e6 cvttpd2dq =Vx Wx
lv f3.e6 cvtdq2pd =Vx Wh
lv f2.e6 cvtpd2dq =Vx Wx
e 66.e6 vcvttpd2dq =Vx Wx ; bc
e f2.e6 vcvtpd2dq =Vx Wx ; bc
e f3.e6.w0 vcvtdq2pd =Vx Wh ; bc
e f3.e6.w1 vcvtqq2pd =Vx Wx ; bc
l np.e7 movntq =Mq Pq ; mmx
lve 66.e7 movntdq =Mx Vx
lv f2.f0 lddqu =Vx Mx
l np.f7 maskmovq Pq Nq ; mmx r=di iw ir
lv 66.f7 maskmovdqu Vx Ux ; r=di iw ir
l np.d1 psrlw +Pq Qq ; mmx
lve 66.d1 psrlw +Vx Hx Wo
l np.d2 psrld +Pq Qq ; mmx
lve 66.d2 psrld +Vx Hx Wo
l np.d3 psrlq +Pq Qq ; mmx
lve 66.d3 psrlq +Vx Hx Wo
l np.e1 psraw +Pq Qq ; mmx
lve 66.e1 psraw +Vx Hx Wo
l np.e2 psrad +Pq Qq ; mmx
lve 66.e2 psrad +Vx Hx Wo
l np.f1 psllw +Pq Qq ; mmx
lve 66.f1 psllw +Vx Hx Wo
l np.f2 pslld +Pq Qq ; mmx
lve 66.f2 pslld +Vx Hx Wo
l np.f3 psllq +Pq Qq ; mmx
lve 66.f3 psllq +Vx Hx Wo
l np.d4 paddq +Pq Qq ; mmx
lve 66.d4 paddq +Vx Hx Wx ; bc
l np.d5 pmullw +Pq Qq ; mmx
lve 66.d5 pmullw +Vx Hx Wx
l np.d8 psubusb +Pq Qq ; mmx
lve 66.d8 psubusb +Vx Hx Wx
l np.d9 psubusw +Pq Qq ; mmx
lve 66.d9 psubusw +Vx Hx Wx
l np.da pminub +Pq Qq ; mmx
lve 66.da pminub +Vx Hx Wx
l np.db pand +Pq Qq ; mmx
lve 66.db pand +Vx Hx Wx ; bc
l np.dc paddusb +Pq Qq ; mmx
lve 66.dc paddusb +Vx Hx Wx
l np.dd paddusw +Pq Qq ; mmx
lve 66.dd paddusw +Vx Hx Wx
l np.de pmaxub +Pq Qq ; mmx
lve 66.de pmaxub +Vx Hx Wx
l np.df pandn +Pq Qq ; mmx
lve 66.df pandn +Vx Hx Wx ; bc
l np.e0 pavgb +Pq Qq ; mmx
lve 66.e0 pavgb +Vx Hx Wx
l np.e3 pavgw +Pq Qq ; mmx
lve 66.e3 pavgw +Vx Hx Wx
l np.e4 pmulhuw +Pq Qq ; mmx
lve 66.e4 pmulhuw +Vx Hx Wx
l np.e5 pmulhw +Pq Qq ; mmx
lve 66.e5 pmulhw +Vx Hx Wx
l np.e8 psubsb +Pq Qq ; mmx
lve 66.e8 psubsb +Vx Hx Wx
l np.e9 psubsw +Pq Qq ; mmx
lve 66.e9 psubsw +Vx Hx Wx
l np.ea pminsw +Pq Qq ; mmx
lve 66.ea pminsw +Vx Hx Wx
l np.eb por +Pq Qq ; mmx
lve 66.eb por +Vx Hx Wx ; bc
l np.ec paddsb +Pq Qq ; mmx
lve 66.ec paddsb +Vx Hx Wx
l np.ed paddsw +Pq Qq ; mmx
lve 66.ed paddsw +Vx Hx Wx
l np.ee pmaxsw +Pq Qq ; mmx
lve 66.ee pmaxsw +Vx Hx Wx
l np.ef pxor +Pq Qq ; mmx
lve 66.ef pxor +Vx Hx Wx ; bc
l np.f4 pmuludq +Pq Qq ; mmx
lve 66.f4 pmuludq +Vx Hx Wx ; bc
l np.f5 pmaddwd +Pq Qq ; mmx
lve 66.f5 pmaddwd +Vx Hx Wx
l np.f6 psadbw +Pq Qq ; mmx
lve 66.f6 psadbw +Vx Hx Wx
l np.f8 psubb +Pq Qq ; mmx
lve 66.f8 psubb +Vx Hx Wx
l np.f9 psubw +Pq Qq ; mmx
lve 66.f9 psubw +Vx Hx Wx
l np.fa psubd +Pq Qq ; mmx
lve 66.fa psubd +Vx Hx Wx ; bc
l np.fb psubq +Pq Qq ; mmx
lve 66.fb psubq +Vx Hx Wx ; bc
l np.fc paddb +Pq Qq ; mmx
lve 66.fc paddb +Vx Hx Wx
l np.fd paddw +Pq Qq ; mmx
lve 66.fd paddw +Vx Hx Wx
l np.fe paddd +Pq Qq ; mmx
lve 66.fe paddd +Vx Hx Wx ; bc
v np.41 kand =k i jr
v 66.41 kand =k i jr
v np.42 kandn =k i jr
v 66.42 kandn =k i jr
v np.45 kor =k i jr
v 66.45 kor =k i jr
v np.46 kxnor =k i jr
v 66.46 kxnor =k i jr
v np.47 kxor =k i jr
v 66.47 kxor =k i jr
v np.4a kadd =k i jr
v 66.4a kadd =k i jr
v np.44 knot =k jr
v 66.44 knot =k jr
v np.4b kunpck =k i jr
v 66.4b kunpck =k i jr
v np.90.w0 kmovw =k jw
v 66.90.w0 kmovb =k jb
v np.90.w1 kmovq =k jq
v 66.90.w1 kmovd =k jd
v np.91.w0 kmovw =jwm k
v 66.91.w0 kmovb =jbm k
v np.91.w1 kmovq =jqm k
v 66.91.w1 kmovd =jdm k
v np.92 kmovw =k Rd
v 66.92 kmovb =k Rd
v f2.92 kmov =k Ry
v np.93 kmovw =Gd jr
v 66.93 kmovb =Gd jr
v f2.93 kmov =Gy jr
v np.98 kortest k jr ; f=oszapc
v 66.98 kortest k jr ; f=oszapc
v np.99 ktest k jr ; f=oszapc
v 66.99 ktest k jr ; f=oszapc
`
