package x86

// x87Rows are the escape opcodes D8 to DF (Intel SDM vol. 2D, tables A-7 to
// A digit behind a name marks an undocumented alias of the plain form.
const x87Rows = `
d8/0m fadd Md ; x87
d8/0r fadd ; x87
d8/1m fmul Md ; x87
d8/1r fmul ; x87
d8/2m fcom Md ; x87
d8/2r fcom ; x87
d8/3m fcomp Md ; x87
d8/3r fcomp ; x87
d8/4m fsub Md ; x87
d8/4r fsub ; x87
d8/5m fsubr Md ; x87
d8/5r fsubr ; x87
d8/6m fdiv Md ; x87
d8/6r fdiv ; x87
d8/7m fdivr Md ; x87
d8/7r fdivr ; x87
d9/0m fld Md ; x87
d9/2m fst =Md ; x87
d9/3m fstp =Md ; x87
d9/4m fldenv M28 ; x87
d9/5m fldcw Mw ; x87
d9/6m fnstenv =M28 ; x87
d9/7m fnstcw =Mw ; x87
d9/0r fld ; x87
d9/1r fxch ; x87
d9/2r0 fnop ; x87
d9/3r fstp1 ; x87 # FST
d9/4r0 fchs ; x87
d9/4r1 fabs ; x87
d9/4r4 ftst ; x87
d9/4r5 fxam ; x87
d9/5r0 fld1 ; x87
d9/5r1 fldl2t ; x87
d9/5r2 fldl2e ; x87
d9/5r3 fldpi ; x87
d9/5r4 fldlg2 ; x87
d9/5r5 fldln2 ; x87
d9/5r6 fldz ; x87
d9/6r0 f2xm1 ; x87
d9/6r1 fyl2x ; x87
d9/6r2 fptan ; x87
d9/6r3 fpatan ; x87
d9/6r4 fxtract ; x87
d9/6r5 fprem1 ; x87
d9/6r6 fdecstp ; x87
d9/6r7 fincstp ; x87
d9/7r0 fprem ; x87
d9/7r1 fyl2xp1 ; x87
d9/7r2 fsqrt ; x87
d9/7r3 fsincos ; x87
d9/7r4 frndint ; x87
d9/7r5 fscale ; x87
d9/7r6 fsin ; x87
d9/7r7 fcos ; x87
da/0m fiadd Md ; x87
da/1m fimul Md ; x87
da/2m ficom Md ; x87
da/3m ficomp Md ; x87
da/4m fisub Md ; x87
da/5m fisubr Md ; x87
da/6m fidiv Md ; x87
da/7m fidivr Md ; x87
da/0r fcmovb ; x87 cond t=c # FCMOVCC
db/0r fcmovnb ; x87 cond t=c # FCMOVCC
da/1r fcmove ; x87 cond t=z # FCMOVCC
db/1r fcmovne ; x87 cond t=z # FCMOVCC
da/2r fcmovbe ; x87 cond t=cz # FCMOVCC
db/2r fcmovnbe ; x87 cond t=cz # FCMOVCC
da/3r fcmovu ; x87 cond t=p # FCMOVCC
db/3r fcmovnu ; x87 cond t=p # FCMOVCC
da/5r1 fucompp ; x87
db/0m fild Md ; x87
db/1m fisttp =Md ; x87
db/2m fist =Md ; x87
db/3m fistp =Md ; x87
db/5m fld M10 ; x87
db/7m fstp =M10 ; x87
db/4r0 fneni ; x87
db/4r1 fndisi ; x87
db/4r2 fnclex ; x87
db/4r3 fninit ; x87
db/4r4 fnsetpm ; x87
db/4r5 frstpm ; x87
db/5r fucomi ; x87 f=oszapc
db/6r fcomi ; x87 f=oszapc
dc/0m fadd Mq ; x87
dc/1m fmul Mq ; x87
dc/2m fcom Mq ; x87
dc/3m fcomp Mq ; x87
dc/4m fsub Mq ; x87
dc/5m fsubr Mq ; x87
dc/6m fdiv Mq ; x87
dc/7m fdivr Mq ; x87
dc/0r fadd ; x87
dc/1r fmul ; x87
dc/2r fcom2 ; x87
dc/3r fcomp3 ; x87
dc/4r fsubr ; x87
dc/5r fsub ; x87
dc/6r fdivr ; x87
dc/7r fdiv ; x87
dd/0m fld Mq ; x87
dd/1m fisttp =Mq ; x87
dd/2m fst =Mq ; x87
dd/3m fstp =Mq ; x87
dd/4m frstor M108 ; x87
dd/6m fnsave =M108 ; x87
dd/7m fnstsw =Mw ; x87
dd/0r ffree ; x87
dd/1r fxch4 ; x87
dd/2r fst ; x87
dd/3r fstp ; x87
dd/4r fucom ; x87
dd/5r fucomp ; x87
de/0m fiadd Mw ; x87
de/1m fimul Mw ; x87
de/2m ficom Mw ; x87
de/3m ficomp Mw ; x87
de/4m fisub Mw ; x87
de/5m fisubr Mw ; x87
de/6m fidiv Mw ; x87
de/7m fidivr Mw ; x87
de/0r faddp ; x87
de/1r fmulp ; x87
de/2r fcomp5 ; x87
de/4r fsubrp ; x87
de/5r fsubp ; x87
de/6r fdivrp ; x87
de/7r fdivp ; x87
de/3r1 fcompp ; x87
df/0m fild Mw ; x87
df/1m fisttp =Mw ; x87
df/2m fist =Mw ; x87
df/3m fistp =Mw ; x87
df/4m fbld M10 ; x87
df/5m fild Mq ; x87
df/6m fbstp =M10 ; x87
df/7m fistp =Mq ; x87
df/0r ffreep ; x87
df/1r fxch7 ; x87
df/2r fstp8 ; x87
df/3r fstp9 ; x87
df/4r0 fnstsw =Aw ; x87
df/5r fucomip ; x87 f=oszapc
df/6r fcomip ; x87 f=oszapc
`
