package x86

// rows0F3A is the 0F3A map, legacy, VEX and EVEX (Intel SDM vol. 2D, table A-5,
// and the pages of vol. 2A to 2C; FMA4 and vpermil2 from the AMD APM vol. 4 and 6).
const rows0F3A = `
v 66.00 vpermq =Vx Wx Ib
v 66.01 vpermpd =Vx Wx Ib
e 66.00 vpermq =Vx Wx Ib ; bc
e 66.01 vpermpd =Vx Wx Ib ; bc
v 66.02 vpblendd =Vx Hx Wx Ib
e 66.03 valign =Vx Hx Wx Ib ; bc
v 66.04 vpermilps =Vx Wx Ib
v 66.05 vpermilpd =Vx Wx Ib
e 66.04 vpermilps =Vx Wx Ib ; bc
e 66.05 vpermilpd =Vx Wx Ib ; bc
v 66.06 vperm2f128 =Vx Hx Wx Ib
lv 66.08 roundps =Vx Wx Ib
lv 66.09 roundpd =Vx Wx Ib
lv 66.0a roundss +Vx Hx Wd Ib
lv 66.0b roundsd +Vx Hx Wq Ib
e 66.08 vrndscaleps =Vx Wx Ib ; bc
e 66.09 vrndscalepd =Vx Wx Ib ; bc
e 66.0a vrndscaless =Vx Hx Wd Ib
e 66.0b vrndscalesd =Vx Hx Wq Ib
e np.08 vrndscaleph =Vx Wx Ib ; bc2
e np.0a vrndscalesh =Vx Hx Ww Ib
lv 66.0c blendps +Vx Hx Wx Ib
lv 66.0d blendpd +Vx Hx Wx Ib
lv 66.0e pblendw +Vx Hx Wx Ib
l np.0f palignr +Pq Qq Ib ; mmx
lve 66.0f palignr +Vx Hx Wx Ib
lve 66.14 pextrb =Edb Vx Ib
lve 66.15 pextrw =Edw Vx Ib
lve 66.16 pextr =Ey Vx Ib
lve 66.17 extractps =Ed Vx Ib
v 66.18 vinsertf128 =Vx Hx Wo Ib
e 66.18 vinsertf128 =Vx Hx Wo Ib
v 66.19 vextractf128 =Wo Vx Ib
e 66.19 vextractf128 =Wo Vx Ib
e 66.1a vinsertf256 =Vx Hx Wu Ib
e 66.1b vextractf256 =Wu Vx Ib
v 66.1d vcvtps2ph =Wh Vx Ib
e 66.1d vcvtps2ph =Wh Vx Ib
e 66.1e vpcmpu =k Hx Wx Ib ; bc
e 66.1f vpcmp =k Hx Wx Ib ; bc
lve 66.20 pinsrb +Vx Hx Edb Ib
lve 66.21 insertps +Vx Hx Wd Ib
lve 66.22 pinsr +Vx Hx Ey Ib
e 66.23 vshuff =Vx Hx Wx Ib ; bc
e 66.25 vpternlog +Vx Hx Wx Ib ; bc
e 66.26 vgetmantp =Vx Wx Ib ; bc
e 66.27 vgetmants =Vx Hx We Ib
e np.26 vgetmantph =Vx Wx Ib ; bc2
e np.27 vgetmantsh =Vx Hx Ww Ib
v 66.30r kshiftr =k jr Ib
v 66.31r kshiftr =k jr Ib
v 66.32r kshiftl =k jr Ib
v 66.33r kshiftl =k jr Ib
v 66.38 vinserti128 =Vx Hx Wo Ib
e 66.38 vinserti128 =Vx Hx Wo Ib
v 66.39 vextracti128 =Wo Vx Ib
e 66.39 vextracti128 =Wo Vx Ib
e 66.3a vinserti256 =Vx Hx Wu Ib
e 66.3b vextracti256 =Wu Vx Ib
e 66.3e vpcmpub =k Hx Wx Ib
e 66.3f vpcmpb =k Hx Wx Ib
lv 66.40 dpps +Vx Hx Wx Ib
lv 66.41 dppd +Vx Hx Wx Ib
lv 66.42 mpsadbw +Vx Hx Wx Ib
e 66.42 vdbpsadbw =Vx Hx Wx Ib
e 66.43 vshufi =Vx Hx Wx Ib ; bc
lve 66.44 pclmulqdq +Vx Hx Wx Ib
v 66.46 vperm2i128 =Vx Hx Wx Ib
v 66.48.w0 vpermil2ps =Vx Hx Wx Lx
v 66.48.w1 vpermil2ps =Vx Hx Lx Wx
v 66.49.w0 vpermil2pd =Vx Hx Wx Lx
v 66.49.w1 vpermil2pd =Vx Hx Lx Wx
v 66.4a vblendvps =Vx Hx Wx Lx
v 66.4b vblendvpd =Vx Hx Wx Lx
v 66.4c vpblendvb =Vx Hx Wx Lx
e 66.50 vrangep =Vx Hx Wx Ib ; bc
e 66.51 vranges =Vx Hx We Ib
e 66.54 vfixupimmp +Vx Hx Wx Ib ; bc
e 66.55 vfixupimms +Vx Hx We Ib
e 66.56 vreducep =Vx Wx Ib ; bc
e 66.57 vreduces =Vx Hx We Ib
e np.56 vreduceph =Vx Wx Ib ; bc2
e np.57 vreducesh =Vx Hx Ww Ib
l 66.60 pcmpestrm Vx Wx Ib ; x0w r=ax,dx f=oszapc
v 66.60 vpcmpestrm Vx Wx Ib ; x0w r=ax,dx f=oszapc
lv 66.61 pcmpestri Vx Wx Ib ; r=ax,dx w=cx f=oszapc
lv 66.62 pcmpistrm Vx Wx Ib ; x0w f=oszapc
lv 66.63 pcmpistri Vx Wx Ib ; w=cx f=oszapc
e 66.66 vfpclassp =k Wx Ib ; bc
e 66.67 vfpclasss =k We Ib
e np.66 vfpclassph =k Wx Ib ; bc2
e np.67 vfpclasssh =k Ww Ib
e np.c2 vcmpph =k Hx Wx Ib ; bc2
e f3.c2 vcmpsh =k Hx Ww Ib
e 66.70 vpshldw =Vx Hx Wx Ib
e 66.71 vpshld =Vx Hx Wx Ib ; bc
e 66.72 vpshrdw =Vx Hx Wx Ib
e 66.73 vpshrd =Vx Hx Wx Ib ; bc
l np.cc sha1rnds4 +Vx Wx Ib
v 66.de vsm3rnds2 +Vx Hx Wx Ib
lv 66.ce gf2p8affineqb +Vx Hx Wx Ib
lv 66.cf gf2p8affineinvqb +Vx Hx Wx Ib
e 66.ce vgf2p8affineqb =Vx Hx Wx Ib ; bc
e 66.cf vgf2p8affineinvqb =Vx Hx Wx Ib ; bc
lv 66.df aeskeygenassist =Vx Wx Ib
l f3.f0/0r0 hreset Ib ; r=ax sp=privileged
v f2.f0 rorx =Gy Ey Ib
v 66.5c vfmaddsubps =Vx Hx Wx Lx # AMD FMA4
v 66.5d vfmaddsubpd =Vx Hx Wx Lx # AMD FMA4
v 66.5e vfmsubaddps =Vx Hx Wx Lx # AMD FMA4
v 66.5f vfmsubaddpd =Vx Hx Wx Lx # AMD FMA4
v 66.68 vfmaddps =Vx Hx Wx Lx # AMD FMA4
v 66.69 vfmaddpd =Vx Hx Wx Lx # AMD FMA4
v 66.6a vfmaddss =Vx Hx Wd Lx # AMD FMA4
v 66.6b vfmaddsd =Vx Hx Wq Lx # AMD FMA4
v 66.6c vfmsubps =Vx Hx Wx Lx # AMD FMA4
v 66.6d vfmsubpd =Vx Hx Wx Lx # AMD FMA4
v 66.6e vfmsubss =Vx Hx Wd Lx # AMD FMA4
v 66.6f vfmsubsd =Vx Hx Wq Lx # AMD FMA4
v 66.78 vfnmaddps =Vx Hx Wx Lx # AMD FMA4
v 66.79 vfnmaddpd =Vx Hx Wx Lx # AMD FMA4
v 66.7a vfnmaddss =Vx Hx Wd Lx # AMD FMA4
v 66.7b vfnmaddsd =Vx Hx Wq Lx # AMD FMA4
v 66.7c vfnmsubps =Vx Hx Wx Lx # AMD FMA4
v 66.7d vfnmsubpd =Vx Hx Wx Lx # AMD FMA4
v 66.7e vfnmsubss =Vx Hx Wd Lx # AMD FMA4
v 66.7f vfnmsubsd =Vx Hx Wq Lx # AMD FMA4
`
