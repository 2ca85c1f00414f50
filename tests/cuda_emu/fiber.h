/* fiber.h - stacks of their own and the switch between them, known to AddressSanitizer.
 *
 * Switch   a dozen instructions on x86-64 and aarch64 (callee-saved registers, then the stack pointer); ucontext
 *          elsewhere
 * Owner    fiber_make maps the stack once, with a page below it that no one may touch; fiber_restart begins it anew
 * Source   System V AMD64 ABI; AAPCS64; sanitizer/common_interface_defs.h (start and finish of a fiber switch) */
#ifndef MYTH_EMU_FIBER_H
#define MYTH_EMU_FIBER_H

#include "engine/base/asan.h"

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#define EMU_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

struct fiber {
    void *sp;             /* saved stack pointer */
    unsigned char *stack; /* lowest usable byte  */
    size_t stack_bytes;
    void *fake_stack; /* AddressSanitizer's  */
#if defined(EMU_FIBER_UCONTEXT)
    ucontext_t context;
#endif
};

/* entry never returns. False: no memory. */
bool fiber_make(fiber *f, size_t stack_bytes, void (*entry)());
void fiber_restart(fiber *f, void (*entry)());
/* `f` becomes the caller's own stack. */
void fiber_adopt(fiber *f);
void fiber_switch(fiber *from, fiber *to);
/* First thing an entry does. */
void fiber_entered();

#endif
