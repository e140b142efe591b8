// The loader for AArch64 (loader.ts says what it is for). Made into bytes with:
//   llvm-mc -triple=aarch64-linux -filetype=obj loader-arm64.s | objcopy -O binary -j .text /dev/stdin out
// x19: the step at hand, 88 bytes: number, six arguments, rule, text of the complaint, its length, exit code.
        .text
start:  mov     x20, #0x10000000        // everything that can be read from descriptor 4 goes there
        mov     x21, #0x10000000
        movk    x21, #0x1040, lsl #16   // 4 MiB further
read:   mov     x8, #63                 // read(4, x20, what is left)
        mov     x0, #4
        mov     x1, x20
        sub     x2, x21, x20
        svc     #0
        cmp     x0, #0
        b.le    begin
        add     x20, x20, x0
        b       read
begin:  mov     x19, #0x10000000        // the first word is the length of it all: half a list is not begun with
        mov     x0, #125
        subs    x20, x20, x19
        b.eq    end
        ldr     x1, [x19], #8
        cmp     x20, x1
        b.ne    end
step:   ldp     x8, x0, [x19]
        ldp     x1, x2, [x19, #16]
        ldp     x3, x4, [x19, #32]
        ldp     x5, x6, [x19, #48]
        svc     #0
        cmp     x6, #1                  // rule 1: goes on either way
        b.eq    next
        tbnz    x0, #63, failed         // rules 0 and 2: a failure is the end
        cmp     x6, #2                  // rule 2: a fork, of which the child goes on
        b.ne    next
        cbnz    x0, parent
next:   add     x19, x19, #88
        b       step

failed: neg     x0, x0                  // the error's number goes into the last digits of the complaint
        ldp     x1, x2, [x19, #64]
        add     x3, x1, x2
        sub     x3, x3, #2
        mov     x4, #10
        mov     x5, #3
digit:  udiv    x6, x0, x4
        msub    x7, x6, x4, x0
        add     x7, x7, #48
        strb    w7, [x3], #-1
        mov     x0, x6
        subs    x5, x5, #1
        b.ne    digit
        mov     x8, #64                 // write(2, text, length)
        mov     x0, #2
        svc     #0
        ldr     x0, [x19, #80]
        b       end

parent: mov     w22, w0                 // reaps all that ends, until the child does
wait:   mov     x8, #260                // wait4(-1, status, 0, 0)
        mov     x0, #-1
        sub     x1, sp, #64
        mov     x2, #0
        mov     x3, #0
        svc     #0
        cmp     w0, w22
        b.ne    wait
        ldur    w1, [sp, #-64]
        ubfx    w0, w1, #8, #8          // how it exited,
        ands    w1, w1, #127
        b.eq    end
        add     w0, w1, #128            // or 128 and the signal
end:    mov     x8, #94                 // exit_group
        svc     #0
