/* fiber.cc - see fiber.h. */
#include "fiber.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum { PAGE = 4096 };

#if defined(__x86_64__)
asm(".text\n"
    ".p2align 4\n"
    ".type emu_fiber_swap, @function\n"
    "emu_fiber_swap:\n" /* (void **from_sp, void *to_sp) */
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
    "    ret\n"
    ".size emu_fiber_swap, .-emu_fiber_swap\n");
extern "C" void emu_fiber_swap(void **from_sp, void *to_sp) asm("emu_fiber_swap");

static void set_entry(fiber *f, void (*entry)())
{
    uintptr_t at = ((uintptr_t)f->stack + f->stack_bytes - 64) & ~(uintptr_t)15; /* where `ret` finds the entry */
    memcpy((void *)at, &entry, sizeof(entry));
    memset((void *)(at - 48), 0, 48);
    memset((void *)(at + 8), 0, 8); /* its return address: the end of every backtrace */
    f->sp = (void *)(at - 48);
}
#elif defined(__aarch64__)
asm(".text\n"
    ".p2align 4\n"
    ".type emu_fiber_swap, %function\n"
    "emu_fiber_swap:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n    stp x25, x26, [sp, "
    "#48]\n"
    "    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, "
    "#144]\n"
    "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
    "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n    ldp x25, x26, [sp, "
    "#48]\n"
    "    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, "
    "#144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
    ".size emu_fiber_swap, .-emu_fiber_swap\n");
extern "C" void emu_fiber_swap(void **from_sp, void *to_sp) asm("emu_fiber_swap");

static void set_entry(fiber *f, void (*entry)())
{
    uintptr_t at = (((uintptr_t)f->stack + f->stack_bytes - 64) & ~(uintptr_t)15) - 160;
    memset((void *)at, 0, 160);
    memcpy((void *)(at + 88), &entry, sizeof(entry)); /* x30 */
    f->sp = (void *)at;
}
#else
static void set_entry(fiber *f, void (*entry)())
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = f->stack_bytes;
    f->context.uc_link = nullptr;
    makecontext(&f->context, entry, 0);
}
#endif

bool fiber_make(fiber *f, size_t stack_bytes, void (*entry)())
{
    void *p = mmap(nullptr, stack_bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE) != 0)
        return false;
    memset((void *)f, 0, sizeof(*f));
    f->stack = (unsigned char *)p + PAGE;
    f->stack_bytes = stack_bytes;
    set_entry(f, entry);
    return true;
}

void fiber_restart(fiber *f, void (*entry)())
{
#if HAS_ASAN
    __asan_unpoison_memory_region(f->stack, f->stack_bytes); /* frames that were given up */
#endif
    f->fake_stack = nullptr;
    set_entry(f, entry);
}

void fiber_adopt(fiber *f)
{
    static thread_local void *low;
    static thread_local size_t bytes;
    pthread_attr_t attr;
    memset((void *)f, 0, sizeof(*f));
    if (!low && pthread_getattr_np(pthread_self(), &attr) == 0) { /* reads /proc: once */
        pthread_attr_getstack(&attr, &low, &bytes);
        pthread_attr_destroy(&attr);
    }
    f->stack = (unsigned char *)low;
    f->stack_bytes = bytes;
}

void fiber_switch(fiber *from, fiber *to)
{
#if HAS_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
#endif
#if defined(EMU_FIBER_UCONTEXT)
    swapcontext(&from->context, &to->context);
#else
    emu_fiber_swap(&from->sp, to->sp);
#endif
#if HAS_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

void fiber_entered()
{
#if HAS_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}
