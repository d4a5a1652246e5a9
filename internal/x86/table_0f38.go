package x86

// rows0F38 is the 0F38 map, legacy, VEX and EVEX (Intel SDM vol. 2D, table A-4,
// and the pages of vol. 2A to 2C for the VEX and EVEX forms).
const rows0F38 = `
l np.00 pshufb +Pq Qq ; mmx
lve 66.00 pshufb +Vx Hx Wx
l np.01 phaddw +Pq Qq ; mmx
lv 66.01 phaddw +Vx Hx Wx
l np.02 phaddd +Pq Qq ; mmx
lv 66.02 phaddd +Vx Hx Wx
l np.03 phaddsw +Pq Qq ; mmx
lv 66.03 phaddsw +Vx Hx Wx
l np.04 pmaddubsw +Pq Qq ; mmx
lve 66.04 pmaddubsw +Vx Hx Wx
l np.05 phsubw +Pq Qq ; mmx
lv 66.05 phsubw +Vx Hx Wx
l np.06 phsubd +Pq Qq ; mmx
lv 66.06 phsubd +Vx Hx Wx
l np.07 phsubsw +Pq Qq ; mmx
lv 66.07 phsubsw +Vx Hx Wx
l np.08 psignb +Pq Qq ; mmx
lv 66.08 psignb +Vx Hx Wx
l np.09 psignw +Pq Qq ; mmx
lv 66.09 psignw +Vx Hx Wx
l np.0a psignd +Pq Qq ; mmx
lv 66.0a psignd +Vx Hx Wx
l np.0b pmulhrsw +Pq Qq ; mmx
lve 66.0b pmulhrsw +Vx Hx Wx
v 66.0c vpermilps =Vx Hx Wx
v 66.0d vpermilpd =Vx Hx Wx
v 66.0e vtestps Vx Wx ; f=oszapc
v 66.0f vtestpd Vx Wx ; f=oszapc
e 66.0c vpermilps =Vx Hx Wx ; bc
e 66.0d vpermilpd =Vx Hx Wx ; bc
l 66.10 pblendvb +Vx Wx ; x0r
e 66.10 vpsrlvw =Vx Hx Wx
e f3.10 vpmovuswb =Wh Vx
e 66.11 vpsravw =Vx Hx Wx
e f3.11 vpmovusdb =Wf Vx
e 66.12 vpsllvw =Vx Hx Wx
e f3.12 vpmovusqb =Wg Vx
v 66.13 vcvtph2ps =Vx Wh
e 66.13 vcvtph2ps =Vx Wh
e f3.13 vpmovusdw =Wh Vx
l 66.14 blendvps +Vx Wx ; x0r
e 66.14 vprorv =Vx Hx Wx ; bc
e f3.14 vpmovusqw =Wf Vx
l 66.15 blendvpd +Vx Wx ; x0r
e 66.15 vprolv =Vx Hx Wx ; bc
e f3.15 vpmovusqd =Wh Vx
v 66.16 vpermps =Vx Hx Wx
e 66.16 vpermp =Vx Hx Wx ; bc
lv 66.17 ptest Vx Wx ; f=oszapc
ve 66.18 vbroadcastss =Vx Wd
v 66.19 vbroadcastsd =Vx Wq
e 66.19 vbroadcastsd =Vx Wq
v 66.1a vbroadcastf128 =Vx Mo
e 66.1a vbroadcastf128 =Vx Mo
e 66.1b vbroadcastf256 =Vx Mu
l np.1c pabsb =Pq Qq ; mmx
lve 66.1c pabsb =Vx Wx
l np.1d pabsw =Pq Qq ; mmx
lve 66.1d pabsw =Vx Wx
l np.1e pabsd =Pq Qq ; mmx
lve 66.1e pabsd =Vx Wx ; bc
e 66.1f vpabsq =Vx Wx ; bc
lve 66.20 pmovsxbw =Vx Wh
lve 66.21 pmovsxbd =Vx Wf
lve 66.22 pmovsxbq =Vx Wg
lve 66.23 pmovsxwd =Vx Wh
lve 66.24 pmovsxwq =Vx Wf
lve 66.25 pmovsxdq =Vx Wh
lve 66.30 pmovzxbw =Vx Wh
lve 66.31 pmovzxbd =Vx Wf
lve 66.32 pmovzxbq =Vx Wg
lve 66.33 pmovzxwd =Vx Wh
lve 66.34 pmovzxwq =Vx Wf
lve 66.35 pmovzxdq =Vx Wh
e f3.20 vpmovswb =Wh Vx
e f3.21 vpmovsdb =Wf Vx
e f3.22 vpmovsqb =Wg Vx
e f3.23 vpmovsdw =Wh Vx
e f3.24 vpmovsqw =Wf Vx
e f3.25 vpmovsqd =Wh Vx
e f3.30 vpmovwb =Wh Vx
e f3.31 vpmovdb =Wf Vx
e f3.32 vpmovqb =Wg Vx
e f3.33 vpmovdw =Wh Vx
e f3.34 vpmovqw =Wf Vx
e f3.35 vpmovqd =Wh Vx
e 66.26 vptestm =k Hx Wx
e 66.27 vptestm =k Hx Wx ; bc
e f3.26 vptestnm =k Hx Wx
e f3.27 vptestnm =k Hx Wx ; bc
lve 66.28 pmuldq +Vx Hx Wx ; bc
e f3.28 vpmovm2 =Vx jr
lv 66.29 pcmpeqq +Vx Hx Wx
e 66.29 vpcmpeqq =k Hx Wx ; bc
e f3.29 vpmov2m =k Ux
lve 66.2a movntdqa =Vx Mx
e f3.2a vpbroadcastmb2q =Vx jr
lve 66.2b packusdw +Vx Hx Wx ; bc
v 66.2c vmaskmovps =Vx Hx Mx
v 66.2d vmaskmovpd =Vx Hx Mx
v 66.2e vmaskmovps =Mx Hx Vx
v 66.2f vmaskmovpd =Mx Hx Vx
e 66.2c vscalefp =Vx Hx Wx ; bc
e 66.2d vscalefs =Vx Hx We
v 66.36 vpermd =Vx Hx Wx
e 66.36 vperm =Vx Hx Wx ; bc
lv 66.37 pcmpgtq +Vx Hx Wx
e 66.37 vpcmpgtq =k Hx Wx ; bc
lve 66.38 pminsb +Vx Hx Wx
e f3.38 vpmovm2 =Vx jr
lve 66.39 pminsd +Vx Hx Wx ; bc
e f3.39 vpmov2m =k Ux
lve 66.3a pminuw +Vx Hx Wx
e f3.3a vpbroadcastmw2d =Vx jr
lve 66.3b pminud +Vx Hx Wx ; bc
lve 66.3c pmaxsb +Vx Hx Wx
lve 66.3d pmaxsd +Vx Hx Wx ; bc
lve 66.3e pmaxuw +Vx Hx Wx
lve 66.3f pmaxud +Vx Hx Wx ; bc
lve 66.40 pmulld +Vx Hx Wx ; bc
lv 66.41 phminposuw =Vx Wx
e 66.42 vgetexpp =Vx Wx ; bc
e 66.43 vgetexps =Vx Hx We
e 66.44 vplzcnt =Vx Wx ; bc
ve 66.45 vpsrlv =Vx Hx Wx ; bc
ve 66.46 vpsrav =Vx Hx Wx ; bc
ve 66.47 vpsllv =Vx Hx Wx ; bc
v np.49m ldtilecfg M64 ; amx
v 66.49m sttilecfg =M64 ; amx
v np.49/0r0 tilerelease ; amx
v f2.49r tilezero ; amx
v f3.4bm tilestored =M0a ; amx
v f2.4bm tileloadd M0a ; amx
v 66.4bm tileloaddt1 M0a ; amx
e 66.4c vrcp14p =Vx Wx ; bc
e 66.4d vrcp14s =Vx Hx We
e 66.4e vrsqrt14p =Vx Wx ; bc
e 66.4f vrsqrt14s =Vx Hx We
ve 66.50 vpdpbusd +Vx Hx Wx ; bc
ve 66.51 vpdpbusds +Vx Hx Wx ; bc
ve 66.52 vpdpwssd +Vx Hx Wx ; bc
ve 66.53 vpdpwssds +Vx Hx Wx ; bc
v np.50 vpdpbuud +Vx Hx Wx
v f3.50 vpdpbsud +Vx Hx Wx
v f2.50 vpdpbssd +Vx Hx Wx
v np.51 vpdpbuuds +Vx Hx Wx
v f3.51 vpdpbsuds +Vx Hx Wx
v f2.51 vpdpbssds +Vx Hx Wx
e f3.52 vdpbf16ps +Vx Hx Wx ; bc
e 66.54 vpopcntb =Vx Wx
e 66.55 vpopcntd =Vx Wx ; bc
ve 66.58 vpbroadcastd =Vx Wd
ve 66.59 vpbroadcastq =Vx Wq
v 66.5a vbroadcasti128 =Vx Mo
e 66.5a vbroadcasti128 =Vx Mo
e 66.5b vbroadcasti256 =Vx Mu
v f3.5cr tdpbf16ps T ; amx
v f2.5cr tdpfp16ps T ; amx
v np.5er tdpbuud T ; amx
v f3.5er tdpbsud T ; amx
v f2.5er tdpbssd T ; amx
v 66.5er tdpbusd T ; amx
v 66.6cr tcmmimfp16ps T ; amx
v np.6cr tcmmrlfp16ps T ; amx
e 66.62 vpexpand =Vx Wx ; cx2
e 66.63 vpcompress =Wx Vx ; cx2
e 66.64 vpblendm =Vx Hx Wx ; bc
e 66.65 vblendmp =Vx Hx Wx ; bc
e 66.66 vpblendm =Vx Hx Wx
e f2.68 vp2intersect =k Hx Wx ; bc
e 66.70 vpshldvw +Vx Hx Wx
e 66.71 vpshldv +Vx Hx Wx ; bc
e 66.72 vpshrdvw +Vx Hx Wx
e f3.72 vcvtneps2bf16 =Vx Wx ; bc
v f3.72 vcvtneps2bf16 =Vx Wx
e f2.72 vcvtne2ps2bf16 =Vx Hx Wx ; bc
e 66.73 vpshrdv +Vx Hx Wx ; bc
e 66.75 vpermi2 +Vx Hx Wx
e 66.76 vpermi2 +Vx Hx Wx ; bc
e 66.77 vpermi2p +Vx Hx Wx ; bc
ve 66.78 vpbroadcastb =Vx Wb
ve 66.79 vpbroadcastw =Vx Ww
e 66.7a vpbroadcastb =Vx Rd
e 66.7b vpbroadcastw =Vx Rd
e 66.7c vpbroadcast =Vx Ry
e 66.7d vpermt2 +Vx Hx Wx
e 66.7e vpermt2 +Vx Hx Wx ; bc
e 66.7f vpermt2p +Vx Hx Wx ; bc
l 66.80 invept Gq Mo ; f=oszapc sp=privileged
l 66.81 invvpid Gq Mo ; f=oszapc sp=privileged
l 66.82 invpcid Gq Mo ; sp=privileged
e 66.83 vpmultishiftqb =Vx Hx Wx ; bc
e 66.88 vexpandp =Vx Wx ; cx
e 66.89 vpexpand =Vx Wx ; cx
e 66.8a vcompressp =Wx Vx ; cx
e 66.8b vpcompress =Wx Vx ; cx
v 66.8c vpmaskmov =Vx Hx Mx
v 66.8e vpmaskmov =Mx Hx Vx
e 66.8d vperm =Vx Hx Wx
e 66.8f vpshufbitqmb =k Hx Wx
v 66.90 vpgatherd +Vx +Hx Xe
e 66.90 vpgatherd +Vx Xe
v 66.91 vpgatherq +Vx +Hx Xe
e 66.91 vpgatherq +Vx Xe
v 66.92 vgatherdp +Vx +Hx Xe
e 66.92 vgatherdp +Vx Xe
v 66.93 vgatherqp +Vx +Hx Xe
e 66.93 vgatherqp +Vx Xe
e 66.a0 vpscatterd =Xe Vx
e 66.a1 vpscatterq =Xe Vx
e 66.a2 vscatterdp =Xe Vx
e 66.a3 vscatterqp =Xe Vx
e 66.c6/1 vgatherpf0dp X0
e 66.c6/2 vgatherpf1dp X0
e 66.c6/5 vscatterpf0dp X0
e 66.c6/6 vscatterpf1dp X0
e 66.c7/1 vgatherpf0qp X0
e 66.c7/2 vgatherpf1qp X0
e 66.c7/5 vscatterpf0qp X0
e 66.c7/6 vscatterpf1qp X0
e 66.b4 vpmadd52luq +Vx Hx Wx ; bc
e 66.b5 vpmadd52huq +Vx Hx Wx ; bc
v 66.b4 vpmadd52luq +Vx Hx Wx
v 66.b5 vpmadd52huq +Vx Hx Wx
v f3.b0 vcvtneebf162ps =Vx Mx
v f2.b0 vcvtneobf162ps =Vx Mx
v np.b0 vcvtneoph2ps =Vx Mx
v 66.b0 vcvtneeph2ps =Vx Mx
v 66.b1 vbcstnesh2ps =Vx Mw
v f3.b1 vbcstnebf162ps =Vx Mw
e 66.c4 vpconflict =Vx Wx ; bc
e 66.c8 vexp2p =Vx Wx ; bc
e 66.ca vrcp28p =Vx Wx ; bc
e 66.cb vrcp28s =Vx Hx We
e 66.cc vrsqrt28p =Vx Wx ; bc
e 66.cd vrsqrt28s =Vx Hx We
l np.c8 sha1nexte +Vx Wx
l np.c9 sha1msg1 +Vx Wx
l np.ca sha1msg2 +Vx Wx
l np.cb sha256rnds2 +Vx Wx ; x0r
l np.cc sha256msg1 +Vx Wx
l np.cd sha256msg2 +Vx Wx
v f2.cb vsha512rnds2 +Vx Hx Ux
v f2.cc vsha512msg1 +Vx Ux
v f2.cd vsha512msg2 +Vx Ux
v np.da vsm3msg1 +Vx Hx Wx
v 66.da vsm3msg2 +Vx Hx Wx
v f3.da vsm4key4 =Vx Hx Wx
v f2.da vsm4rnds4 =Vx Hx Wx
v 66.d2 vpdpwusd +Vx Hx Wx
v 66.d3 vpdpwusds +Vx Hx Wx
v f3.d2 vpdpwsud +Vx Hx Wx
v f3.d3 vpdpwsuds +Vx Hx Wx
v np.d2 vpdpwuud +Vx Hx Wx
v np.d3 vpdpwuuds +Vx Hx Wx
lve 66.cf gf2p8mulb +Vx Hx Wx
lv 66.db aesimc =Vx Wx
lve 66.dc aesenc +Vx Hx Wx
lve 66.dd aesenclast +Vx Hx Wx
lve 66.de aesdec +Vx Hx Wx
lve 66.df aesdeclast +Vx Hx Wx
l f3.d8/0m aesencwide128kl M48 ; sse xall f=oszapc
l f3.d8/1m aesdecwide128kl M48 ; sse xall f=oszapc
l f3.d8/2m aesencwide256kl M64 ; sse xall f=oszapc
l f3.d8/3m aesdecwide256kl M64 ; sse xall f=oszapc
l f3.dc aesenc128kl +Vx M48 ; f=oszapc
l f3.dcr loadiwkey Vx Ux ; x0r r=ax f=oszapc sp=privileged
l f3.dd aesdec128kl +Vx M48 ; f=oszapc
l f3.de aesenc256kl +Vx M64 ; f=oszapc
l f3.df aesdec256kl +Vx M64 ; f=oszapc
l f3.far encodekey128 =Gd Rd ; sse xall f=oszapc
l f3.fbr encodekey256 =Gd Rd ; sse xall f=oszapc
l np.f0 movbe =Gv Mv
l 66.f0 movbe =Gv Mv
l f2.f0 crc32 +Gy Eb
l np.f1 movbe =Mv Gv
l 66.f1 movbe =Mv Gv
l f2.f1 crc32 +Gy Ev
v np.f2 andn =Gy By Ey ; f=oszapc
v np.f3/1 blsr =By Ey ; f=oszapc
v np.f3/2 blsmsk =By Ey ; f=oszapc
v np.f3/3 blsi =By Ey ; f=oszapc
v np.f5 bzhi =Gy Ey By ; f=oszapc
v f3.f5 pext =Gy By Ey
v f2.f5 pdep =Gy By Ey
l 66.f5 wruss =My Gy ; sp=privileged
l np.f6 wrss =My Gy
l 66.f6 adcx +Gy Ey ; f=c t=c
l f3.f6 adox +Gy Ey ; f=o t=o
v f2.f6 mulx =Gy =By Ey ; r=dx
v np.f7 bextr =Gy Ey By ; f=oszapc
v 66.f7 shlx =Gy Ey By
v f3.f7 sarx =Gy Ey By
v f2.f7 shrx =Gy Ey By
l 66.f8 movdir64b Gn M64 ; iw
l f3.f8m enqcmds Gn M64 ; iw f=oszapc
l f2.f8m enqcmd Gn M64 ; iw f=oszapc
l np.f9 movdiri =My Gy
l np.fcm aadd +My Gy
l 66.fcm aand +My Gy
l f2.fcm aor +My Gy
l f3.fcm axor +My Gy
v 66.e0m cmpoxadd +My +Gy By ; f=oszapc
v 66.e1m cmpnoxadd +My +Gy By ; f=oszapc
v 66.e2m cmpbxadd +My +Gy By ; f=oszapc
v 66.e3m cmpnbxadd +My +Gy By ; f=oszapc
v 66.e4m cmpzxadd +My +Gy By ; f=oszapc
v 66.e5m cmpnzxadd +My +Gy By ; f=oszapc
v 66.e6m cmpbexadd +My +Gy By ; f=oszapc
v 66.e7m cmpnbexadd +My +Gy By ; f=oszapc
v 66.e8m cmpsxadd +My +Gy By ; f=oszapc
v 66.e9m cmpnsxadd +My +Gy By ; f=oszapc
v 66.eam cmppxadd +My +Gy By ; f=oszapc
v 66.ebm cmpnpxadd +My +Gy By ; f=oszapc
v 66.ecm cmplxadd +My +Gy By ; f=oszapc
v 66.edm cmpnlxadd +My +Gy By ; f=oszapc
v 66.eem cmplexadd +My +Gy By ; f=oszapc
v 66.efm cmpnlexadd +My +Gy By ; f=oszapc
ve 66.96 vfmaddsub132p +Vx Hx Wx ; bc
ve 66.97 vfmsubadd132p +Vx Hx Wx ; bc
ve 66.98 vfmadd132p +Vx Hx Wx ; bc
ve 66.99 vfmadd132s +Vx Hx We
ve 66.9a vfmsub132p +Vx Hx Wx ; bc
ve 66.9b vfmsub132s +Vx Hx We
ve 66.9c vfnmadd132p +Vx Hx Wx ; bc
ve 66.9d vfnmadd132s +Vx Hx We
ve 66.9e vfnmsub132p +Vx Hx Wx ; bc
ve 66.9f vfnmsub132s +Vx Hx We
ve 66.a6 vfmaddsub213p +Vx Hx Wx ; bc
ve 66.a7 vfmsubadd213p +Vx Hx Wx ; bc
ve 66.a8 vfmadd213p +Vx Hx Wx ; bc
ve 66.a9 vfmadd213s +Vx Hx We
ve 66.aa vfmsub213p +Vx Hx Wx ; bc
ve 66.ab vfmsub213s +Vx Hx We
ve 66.ac vfnmadd213p +Vx Hx Wx ; bc
ve 66.ad vfnmadd213s +Vx Hx We
ve 66.ae vfnmsub213p +Vx Hx Wx ; bc
ve 66.af vfnmsub213s +Vx Hx We
ve 66.b6 vfmaddsub231p +Vx Hx Wx ; bc
ve 66.b7 vfmsubadd231p +Vx Hx Wx ; bc
ve 66.b8 vfmadd231p +Vx Hx Wx ; bc
ve 66.b9 vfmadd231s +Vx Hx We
ve 66.ba vfmsub231p +Vx Hx Wx ; bc
ve 66.bb vfmsub231s +Vx Hx We
ve 66.bc vfnmadd231p +Vx Hx Wx ; bc
ve 66.bd vfnmadd231s +Vx Hx We
ve 66.be vfnmsub231p +Vx Hx Wx ; bc
ve 66.bf vfnmsub231s +Vx Hx We
e f2.9am v4fmaddps +Vx Hx Mo ; xall
e f2.9bm v4fmaddss +Vx Hx Mo ; xall
e f2.aam v4fnmaddps +Vx Hx Mo ; xall
e f2.abm v4fnmaddss +Vx Hx Mo ; xall
e f2.52m vp4dpwssd +Vx Hx Mo ; xall
e f2.53m vp4dpwssds +Vx Hx Mo ; xall
`
