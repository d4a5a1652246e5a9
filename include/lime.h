/* Marks phases of a program, for lime --phase NAME. Needs no library; without lime a mark is a call of an
 * empty function. Phases belong to the thread that marks them, and may nest. */
#ifndef LIME_H
#define LIME_H

#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__)
#ifdef __cplusplus
extern "C" {
#endif
/* lime knows these functions by their names. They begin with instructions that do nothing and may be
 * replaced: at least eight bytes. */
__attribute__((weak, noinline, used)) void lime_phase_begin(const char *name)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0" : : "r"(name) : "memory");
}
__attribute__((weak, noinline, used)) void lime_phase_end(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0" : : : "memory");
}
#ifdef __cplusplus
}
#endif
#define LIME_BEGIN(name) lime_phase_begin(name)
#define LIME_END() lime_phase_end()
#else
#define LIME_BEGIN(name) ((void)(name))
#define LIME_END() ((void)0)
#endif

#endif
