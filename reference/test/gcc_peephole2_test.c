/* The four instructions that g++'s pass peephole2 rewrites wrongly on x86-64
 * (cmake/compiler.cmake):
 *
 *     mov x, copy;  mov x, result;  neg result;  cmovs copy, result     |x|
 *
 * become  neg x;  mov x, result;  cmovns x, result,  which is -x. They are handed to the pass as
 * they are, in gcc's own RTL, because no C source is sure to be compiled to them. Wrong with the
 * pass in gcc 12.2.0 of Debian 12, 13.3.0 of Ubuntu 24.04 and Debian 13, and 14.2.0 of Debian 13;
 * right everywhere with -fno-peephole2, which every target of this build has. Compile it with
 * -fpeephole2 to see whether another gcc has the fault. */
#include <stdio.h>

/* Its return is an instruction of the list. */
#pragma GCC diagnostic ignored "-Wreturn-type"

/* clang-format off */
/* Starts at the pass csa, a little before peephole2: a pass that is off is no place to start. */
int __RTL(startwith("csa")) magnitude(int x __attribute__((unused))) {
(function "magnitude"
  (param "x"
    (DECL_RTL (reg:SI di))
    (DECL_RTL_INCOMING (reg:SI di))
  )
  (insn-chain
    (block 2
      (edge-from entry (flags "FALLTHRU"))
      (cnote 1 [bb 2] NOTE_INSN_BASIC_BLOCK)
      (cinsn 2 (set (reg:SI cx) (reg:SI di)))
      (cinsn 3 (set (reg:SI ax) (reg:SI di)))
      (cinsn 4 (parallel [
        (set (reg:CCGOC flags) (compare:CCGOC (neg:SI (reg:SI ax)) (const_int 0)))
        (set (reg:SI ax) (neg:SI (reg:SI ax)))]))
      (cinsn 5 (set (reg:SI ax) (if_then_else:SI (ge (reg:CCGOC flags) (const_int 0))
        (reg:SI ax) (reg:SI cx))))
      (cinsn 6 (use (reg:SI ax)))
      (cjump_insn 7 (simple_return))
      (edge-to exit)
    )
    (cbarrier 8)
  )
  (crtl
    (return_rtx (reg/i:SI ax))
  )
)
}
/* clang-format on */

int main(void) {
    volatile int five = 5;
    volatile int minus_five = -5;
    const int of_five = magnitude(five);
    const int of_minus_five = magnitude(minus_five);
    printf("|5| = %d, |-5| = %d\n", of_five, of_minus_five);
    return of_five == 5 && of_minus_five == 5 ? 0 : 1;
}
