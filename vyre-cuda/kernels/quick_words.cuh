// The words of a tile in a narrow round, where the interpreter runs it. This text stands within the round, whose state it uses.
enter:
    {
        uint4 word = load_shared_entry(at);
        u32 a = load_shared(regs + (word.y & 0xffff)), b = load_shared(regs + (word.y >> 16)), x = 0;
        for (;;) {
            // The operands of the next word are loaded while this one goes on, which hands on what it makes.
            uint4 next_word = load_shared_entry(at + 16);
            u32 y = (word.x & VYRE_QUICK_HANDED_B) != 0 ? x : b;
            x = (word.x & VYRE_QUICK_HANDED_A) != 0 ? x : a;
            u64 wide;
            u32 index, len;
            bool bad;
            if ((word.x & VYRE_QUICK_COMPUTES) != 0) {
                // No branch: what `word.w` asks for is chosen from what it may ask for. Its bytes' signs are masks.
                const u32 flip = sign_of_byte<0>(word.w), both = sign_of_byte<1>(word.w),
                          odd = sign_of_byte<2>(word.w), sign = word.w & VYRE_QUICK_SIGNED;
                a = load_shared(regs + (next_word.y & 0xffff));
                b = load_shared(regs + (next_word.y >> 16));
                const u32 z = y ^ flip, sum = x + z - flip, bits = (x & z & both) | ((x ^ z) & odd);
                const u32 order = (x ^ sign) < (y ^ sign) ? 0 : x == y ? 1 : 2;
                const u32 holds = word.w >> order & 1, picked = holds != 0 ? x : y;
                const u32 made = (word.w & VYRE_QUICK_BITS) != 0 ? bits : sum;
                const u32 compared = (word.w & VYRE_QUICK_PICKS) != 0 ? picked : holds;
                x = (word.w & VYRE_QUICK_COMPARES) != 0 ? compared : made;
                goto made;
            }
            wide = 0;
            index = x;
            len = 0;
            bad = false;
            // The most frequent ones first: what the compiler makes of the rest is a tree of comparisons.
            {
                const u32 op = again(word.x) & 255;
                if (op == VYRE_OP_AtomCas32) goto op_AtomCas32;
                if (op == VYRE_OP_AtomMinU32) goto op_AtomMinU32;
                if (op == VYRE_OP_AtomOr64) goto op_AtomOr64;
            }
            switch (word.x & 255) {
#define KNOWN(NAME, CODE) case CODE: goto op_##NAME;
                VYRE_QUICK_OPS(KNOWN)
#undef KNOWN
                default: goto unknown;
            }
            {
#define Q32(NAME, EXPR)         \
    op_##NAME: {                \
        const u32 p = x, q = y; \
        (void)q;                \
        x = (EXPR);             \
        goto store;             \
    }
                Q32(Mul32, p * q)
                Q32(Shl32, p << (q & 31))
                Q32(ShrU32, p >> (q & 31))
                Q32(AddF32, B32(__fadd_rn(F32(p), F32(q))))
                Q32(SubF32, B32(__fsub_rn(F32(p), F32(q))))
                Q32(MulF32, B32(__fmul_rn(F32(p), F32(q))))
                Q32(LtF32, F32(p) < F32(q))
                Q32(LeF32, F32(p) <= F32(q))
                op_Sel32: x = x != 0 ? y : load_shared(regs + (word.z >> 16)); goto store;
#undef Q32
// High halves of what the operands name.
#define A_HIGH load_shared(regs + (word.y & 0xffff) + 128)
#define B_HIGH load_shared(regs + (word.y >> 16) + 128)
#define Q64(NAME, EXPR)                                      \
    op_##NAME: {                                            \
        const u64 p = JOIN(x, A_HIGH), q = JOIN(y, B_HIGH); \
        wide = (EXPR);                                       \
        goto store_wide;                                     \
    }
#define C64(NAME, EXPR)                                      \
    op_##NAME: {                                            \
        const u64 p = JOIN(x, A_HIGH), q = JOIN(y, B_HIGH); \
        x = (EXPR);                                          \
        goto store;                                          \
    }
                Q64(Add64, p + q)
                Q64(Sub64, p - q)
                C64(LtU64, p < q)
                C64(LeU64, p <= q)
#undef Q64
#undef C64
                op_Shl64: wide = JOIN(x, A_HIGH) << (y & 63); goto store_wide;
                op_ShrU64: wide = JOIN(x, A_HIGH) >> (y & 63); goto store_wide;
// An element of the buffer whose entry `word.w` names; the item dies where it has none.
#define Q_ELEMENT(SIZE, BODY)                                                        \
    const uint4 buffer = load_shared_entry(word.w);                                  \
    const bool ok = mask != 0 && x < buffer.z;                                       \
    const u64 address = JOIN(buffer.x, buffer.y) + U64(x) * (SIZE);                  \
    bad = mask != 0 && !ok;                                                          \
    len = buffer.z;                                                                  \
    if (ok) { BODY; }                                                                \
    goto element
#define Q_ELEMENT32(NAME, SIZE, EXPR)                                                \
    op_##NAME: {                                                                     \
        const u32 q = y;                                                             \
        (void)q;                                                                     \
        Q_ELEMENT(SIZE, x = (EXPR));                                                 \
    }
#define Q_ELEMENT64(NAME, EXPR)                                                      \
    op_##NAME: {                                                                     \
        const u64 q = JOIN(y, B_HIGH);                                               \
        (void)q;                                                                     \
        Q_ELEMENT(8, wide = (EXPR));                                                 \
    }
#define Q_STORE(NAME, SIZE, DO)                                                      \
    op_##NAME: {                                                                     \
        const u64 q = JOIN(y, SIZE == 8 ? B_HIGH : 0);                               \
        Q_ELEMENT(SIZE, DO);                                                         \
    }
                Q_ELEMENT32(Ld8, 1, load_global8(address))
                Q_ELEMENT32(Ld32, 4, load_global(address))
                Q_ELEMENT32(AtomLd32, 4, load_relaxed(address))
                Q_ELEMENT32(AtomAdd32, 4, atomic_add(address, q))
                Q_ELEMENT32(AtomAddF32, 4, B32(atomic_add_f32(address, F32(q))))
                Q_ELEMENT32(AtomMinU32, 4, atomic_min_u32(address, q))
                Q_ELEMENT32(AtomMaxU32, 4, atomic_max_u32(address, q))
                Q_ELEMENT32(AtomOr32, 4, atomic_or(address, q))
                Q_ELEMENT32(AtomCas32, 4, atomic_cas(address, q, load_shared(regs + (word.z >> 16))) == q)
                Q_ELEMENT64(Ld64, load_global64(address))
                Q_ELEMENT64(AtomLd64, load_relaxed64(address))
                Q_ELEMENT64(AtomAdd64, atomic_add64(address, q))
                Q_ELEMENT64(AtomOr64, atomic_or64(address, q))
                Q_ELEMENT64(AtomAnd64, atomic_and64(address, q))
                Q_ELEMENT64(AtomMinU64, atomic_min_u64(address, q))
                Q_ELEMENT64(AtomMaxU64, atomic_max_u64(address, q))
                Q_STORE(St8, 1, store_global8(address, U32(q)))
                Q_STORE(St32, 4, store_global(address, U32(q)))
                Q_STORE(AtomSt32, 4, store_relaxed(address, U32(q)))
                Q_STORE(St64, 8, store_global64(address, q))
                Q_STORE(AtomSt64, 8, store_relaxed64(address, q))
#undef A_HIGH
#undef B_HIGH
#undef Q_ELEMENT
#undef Q_ELEMENT32
#undef Q_ELEMENT64
#undef Q_STORE
                op_Else: {
                    mask = stack & alive & 1;
                    stack &= ~1u;
                    if (!__any_sync(VYRE_FULL, mask != 0)) goto jump;
                    goto next;
                }
                op_EndIf: {
                    mask = stack >> 1 & alive & 1;
                    stack >>= 2;
                    goto next;
                }
                op_QUICK_RETURN: {
                    alive &= ~mask;
                    mask = 0;
                    goto next;
                }
                op_QUICK_PUSH: goto push;
                op_Ret: goto tile_done;
            }
        unknown:
            if (lane == 0) {
                quick.special = 1;
                const u64 key = trap_key(vyre_state.kernel, VYRE_WHOLE_WAVE, word.x >> 16);
                if (key < mine.key) {
                    mine.key = key;
                    mine.index = word.x & 255;
                    mine.len = 0;
                    mine.kind = VYRE_TRAP_UnknownWord;
                    mine.lane = 0;
                }
            }
            __syncwarp();
            goto tile_done;
        store:
            a = load_shared(regs + (next_word.y & 0xffff));
            b = load_shared(regs + (next_word.y >> 16));
        made:
            store_shared_if(mask != 0 && (word.x & VYRE_QUICK_DROPS) == 0, regs + (word.z & 0xffff), x);
            if ((word.x & (VYRE_QUICK_DECIDES | VYRE_QUICK_IF)) == 0) goto handed;
            if ((word.x & VYRE_QUICK_DECIDES) != 0) {
                MARK(31 + (word.x >> 16));
                word = next_word;
                at += 16;
                next_word = load_shared_entry(at + 16);
                y = (word.x & VYRE_QUICK_HANDED_B) != 0 ? x : b;
                goto push;
            }
            // Two bits a level: the mask before, and that of the other branch.
            {
                const u32 taken = x != 0 ? mask : 0;
                stack = stack << 2 | mask << 1 | (mask & ~taken);
                mask = taken;
                if (!__any_sync(VYRE_FULL, mask != 0)) goto jump;
            }
            goto handed;
        element:
            if (__any_sync(VYRE_FULL, bad)) goto fault;
        after_element:
            if ((word.x & VYRE_QUICK_WIDE) == 0) goto store;
        store_wide:
            if (mask != 0) {
                store_shared(regs + (word.z & 0xffff), U32(wide));
                store_shared(regs + (word.z & 0xffff) + 128, U32(wide >> 32));
            }
        next:
            a = load_shared(regs + (next_word.y & 0xffff));
            b = load_shared(regs + (next_word.y >> 16));
        handed:
            MARK(31 + (word.x >> 16));
            at += 16;
            word = next_word;
            continue;
        // Where x, pushes y to frontier `word.w >> 16`. Only pushes to the swept frontier are counted here.
        push:
            {
                const bool own = (word.w & VYRE_QUICK_OWN) != 0;
                Frontier& to =
                    own ? f : in_shared<Frontier>(load_shared(base + offsetof(Quick, frontiers)) + (word.w >> 16) * sizeof(Frontier));
                const u32 at_stamps = quick_address(&to) + static_cast<u32>(offsetof(Frontier, stamps));
                const uint4 fields = load_shared_entry(at_stamps);
                const u64 stamps = JOIN(fields.x, fields.y), offsets = JOIN(fields.z, fields.w);
                bool ok = mask != 0 && x != 0;
                len = load_shared(at_stamps + 16);
                index = y;
                bad = ok && y >= len;
                if (__any_sync(VYRE_FULL, bad)) goto fault;
#include "quick_push.cuh"
            }
            if ((word.w & VYRE_QUICK_LAST) != 0) goto tile_done;
            goto next;
        jump:
            at = load_shared(base + offsetof(Quick, code)) + (word.z >> 16) * 16;
            goto enter;
        // The trap of the lowest item is kept until the round's end; the lanes that met it are dead.
        fault:
            if (lane == 0) quick.special = 1;
            {
                const bool pushes = (word.x & 255) == VYRE_QUICK_PUSH;
                const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
                const u32 item = kernel.item_row == VYRE_NONE ? 0 : load_shared(regs + kernel.item_row * 128);
                const u32 lowest = __reduce_min_sync(VYRE_FULL, bad ? item : VYRE_NONE);
                const u32 holders = __ballot_sync(VYRE_FULL, bad && item == lowest);
                const u32 pc = word.x >> 16;
                const u64 key = trap_key(vyre_state.kernel, lowest, pc);
                if (lane == __ffs(holders) - 1 && key < mine.key) {
                    mine.key = key;
                    mine.index = index;
                    mine.len = len;
                    mine.kind = VYRE_TRAP_IndexOutOfBounds;
                    mine.lane = lane;
                }
                __syncwarp();
                if (bad) alive = mask = 0;
                if (pushes) goto push;
                goto after_element;
            }
        }
    }
