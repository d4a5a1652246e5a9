package x86

// rowsMap5 is EVEX map 5 (AVX512-FP16; Intel SDM vol. 2, the pages of the
// instructions).
const rowsMap5 = `
e f3.10 vmovsh =Vx Hx Ww
e f3.11 vmovsh =Ww Hx Vx
e np.1d vcvtss2sh =Vx Hx Wd
e 66.1d vcvtps2phx =Vx Wx ; bc4
e f3.2a vcvtsi2sh =Vx Hx Ey
e f3.2c vcvttsh2si =Gy Ww
e f3.2d vcvtsh2si =Gy Ww
e np.2e vucomish Vx Ww ; f=oszapc
e np.2f vcomish Vx Ww ; f=oszapc
e np.51 vsqrtph =Vx Wx ; bc2
e f3.51 vsqrtsh =Vx Hx Ww
e np.58 vaddph =Vx Hx Wx ; bc2
e f3.58 vaddsh =Vx Hx Ww
e np.59 vmulph =Vx Hx Wx ; bc2
e f3.59 vmulsh =Vx Hx Ww
e np.5c vsubph =Vx Hx Wx ; bc2
e f3.5c vsubsh =Vx Hx Ww
e np.5d vminph =Vx Hx Wx ; bc2
e f3.5d vminsh =Vx Hx Ww
e np.5e vdivph =Vx Hx Wx ; bc2
e f3.5e vdivsh =Vx Hx Ww
e np.5f vmaxph =Vx Hx Wx ; bc2
e f3.5f vmaxsh =Vx Hx Ww
e np.5a vcvtph2pd =Vx Wf ; bc2
e 66.5a vcvtpd2ph =Vx Wx ; bc8
e f3.5a vcvtsh2sd =Vx Hx Ww
e f2.5a vcvtsd2sh =Vx Hx Wq
e np.5b.w0 vcvtdq2ph =Vx Wx ; bc4
e np.5b.w1 vcvtqq2ph =Vx Wx ; bc8
e 66.5b vcvtph2dq =Vx Wh ; bc2
e f3.5b vcvttph2dq =Vx Wh ; bc2
e 66.6e vmovw =Vx Edw
e 66.7e vmovw =Edw Vx
e np.78 vcvttph2udq =Vx Wh ; bc2
e 66.78 vcvttph2uqq =Vx Wf ; bc2
e f3.78 vcvttsh2usi =Gy Ww
e np.79 vcvtph2udq =Vx Wh ; bc2
e 66.79 vcvtph2uqq =Vx Wf ; bc2
e f3.79 vcvtsh2usi =Gy Ww
e 66.7a vcvttph2qq =Vx Wf ; bc2
e f2.7a.w0 vcvtudq2ph =Vx Wx ; bc4
e f2.7a.w1 vcvtuqq2ph =Vx Wx ; bc8
e 66.7b vcvtph2qq =Vx Wf ; bc2
e f3.7b vcvtusi2sh =Vx Hx Ey
e np.7c vcvttph2uw =Vx Wx ; bc2
e 66.7c vcvttph2w =Vx Wx ; bc2
e np.7d vcvtph2uw =Vx Wx ; bc2
e 66.7d vcvtph2w =Vx Wx ; bc2
e f3.7d vcvtw2ph =Vx Wx ; bc2
e f2.7d vcvtuw2ph =Vx Wx ; bc2
`

// rowsMap6 is EVEX map 6 (AVX512-FP16).
const rowsMap6 = `
e 66.13 vcvtph2psx =Vx Wh ; bc2
e np.13 vcvtsh2ss =Vx Hx Ww
e 66.2c vscalefph =Vx Hx Wx ; bc2
e 66.2d vscalefsh =Vx Hx Ww
e 66.42 vgetexpph =Vx Wx ; bc2
e 66.43 vgetexpsh =Vx Hx Ww
e 66.4c vrcpph =Vx Wx ; bc2
e 66.4d vrcpsh =Vx Hx Ww
e 66.4e vrsqrtph =Vx Wx ; bc2
e 66.4f vrsqrtsh =Vx Hx Ww
e f3.56 vfmaddcph +Vx Hx Wx ; bc4
e f3.57 vfmaddcsh +Vx Hx Wd
e f2.56 vfcmaddcph +Vx Hx Wx ; bc4
e f2.57 vfcmaddcsh +Vx Hx Wd
e f3.d6 vfmulcph =Vx Hx Wx ; bc4
e f3.d7 vfmulcsh =Vx Hx Wd
e f2.d6 vfcmulcph =Vx Hx Wx ; bc4
e f2.d7 vfcmulcsh =Vx Hx Wd
e 66.96 vfmaddsub132ph +Vx Hx Wx ; bc2
e 66.97 vfmsubadd132ph +Vx Hx Wx ; bc2
e 66.98 vfmadd132ph +Vx Hx Wx ; bc2
e 66.99 vfmadd132sh +Vx Hx Ww
e 66.9a vfmsub132ph +Vx Hx Wx ; bc2
e 66.9b vfmsub132sh +Vx Hx Ww
e 66.9c vfnmadd132ph +Vx Hx Wx ; bc2
e 66.9d vfnmadd132sh +Vx Hx Ww
e 66.9e vfnmsub132ph +Vx Hx Wx ; bc2
e 66.9f vfnmsub132sh +Vx Hx Ww
e 66.a6 vfmaddsub213ph +Vx Hx Wx ; bc2
e 66.a7 vfmsubadd213ph +Vx Hx Wx ; bc2
e 66.a8 vfmadd213ph +Vx Hx Wx ; bc2
e 66.a9 vfmadd213sh +Vx Hx Ww
e 66.aa vfmsub213ph +Vx Hx Wx ; bc2
e 66.ab vfmsub213sh +Vx Hx Ww
e 66.ac vfnmadd213ph +Vx Hx Wx ; bc2
e 66.ad vfnmadd213sh +Vx Hx Ww
e 66.ae vfnmsub213ph +Vx Hx Wx ; bc2
e 66.af vfnmsub213sh +Vx Hx Ww
e 66.b6 vfmaddsub231ph +Vx Hx Wx ; bc2
e 66.b7 vfmsubadd231ph +Vx Hx Wx ; bc2
e 66.b8 vfmadd231ph +Vx Hx Wx ; bc2
e 66.b9 vfmadd231sh +Vx Hx Ww
e 66.ba vfmsub231ph +Vx Hx Wx ; bc2
e 66.bb vfmsub231sh +Vx Hx Ww
e 66.bc vfnmadd231ph +Vx Hx Wx ; bc2
e 66.bd vfnmadd231sh +Vx Hx Ww
e 66.be vfnmsub231ph +Vx Hx Wx ; bc2
e 66.bf vfnmsub231sh +Vx Hx Ww
`
