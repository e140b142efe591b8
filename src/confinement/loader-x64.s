# The loader for x86-64 (loader.ts says what it is for). Made into bytes with:
#   llvm-mc -triple=x86_64-linux -filetype=obj loader-x64.s | objcopy -O binary -j .text /dev/stdin out
# r12: the step at hand, 88 bytes: number, six arguments, rule, text of the complaint, its length, exit code.
        .intel_syntax noprefix
        .text
start:  mov     ebx, 0x10000000         # everything that can be read from descriptor 4 goes there
read:   xor     eax, eax                # read(4, rbx, what is left of 4 MiB)
        mov     edi, 4
        mov     rsi, rbx
        mov     edx, 0x10400000
        sub     rdx, rbx
        syscall
        test    rax, rax
        jle     begin
        add     rbx, rax
        jmp     read
begin:  mov     r12d, 0x10000000        # the first word is the length of it all: half a list is not begun with
        mov     edi, 125
        sub     rbx, r12
        jz      end
        cmp     rbx, [r12]
        jne     end
        add     r12, 8
step:   mov     rax, [r12]
        mov     rdi, [r12 + 8]
        mov     rsi, [r12 + 16]
        mov     rdx, [r12 + 24]
        mov     r10, [r12 + 32]
        mov     r8, [r12 + 40]
        mov     r9, [r12 + 48]
        syscall
        mov     ecx, [r12 + 56]
        cmp     ecx, 1                  # rule 1: goes on either way
        je      next
        test    rax, rax                # rules 0 and 2: a failure is the end
        js      failed
        cmp     ecx, 2                  # rule 2: a fork, of which the child goes on
        jne     next
        test    eax, eax
        jnz     parent
next:   add     r12, 88
        jmp     step

failed: neg     eax                     # the error's number goes into the last digits of the complaint
        mov     rsi, [r12 + 64]
        mov     rdi, [r12 + 72]
        lea     rdi, [rsi + rdi - 2]
        mov     ecx, 10
        mov     r8d, 3
digit:  xor     edx, edx
        div     ecx
        add     dl, 48
        mov     [rdi], dl
        dec     rdi
        dec     r8d
        jnz     digit
        mov     eax, 1                  # write(2, text, length)
        mov     edi, 2
        mov     rdx, [r12 + 72]
        syscall
        mov     rdi, [r12 + 80]
        jmp     end

parent: mov     r13d, eax               # reaps all that ends, until the child does
wait:   mov     eax, 61                 # wait4(-1, status, 0, 0)
        mov     rdi, -1
        lea     rsi, [rsp - 64]
        xor     edx, edx
        xor     r10d, r10d
        syscall
        cmp     eax, r13d
        jne     wait
        mov     edi, [rsp - 64]
        mov     eax, edi
        shr     edi, 8                  # how it exited,
        and     edi, 255
        and     eax, 127
        jz      end
        lea     edi, [rax + 128]        # or 128 and the signal
end:    mov     eax, 231                # exit_group
        syscall
