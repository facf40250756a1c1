// The body of a tile in a narrow round, in the module of a compiled pass. This text stands within the round, whose state it
// uses.
//
// A comment is where a body goes, which the host puts there (vyre-cuda/src/ptx/thread.rs): its registers are those that the
// comment names. A lane gives back a bit for each place where it pushes, and the node; of a fault, the highest bit, the pc and
// the kind, the index, and the length.
{
    u32 flags, given[3];
    asm volatile("// VYRE_HOLE body %4 %5 %6 %7 %8 %9 to %0 %1 %2 %3"
                 : "=&r"(flags), "=&r"(given[0]), "=&r"(given[1]), "=&r"(given[2])
                 : "r"(vyre_state.kernel), "r"(mask), "r"(edge), "r"(src), "r"(target), "r"(quick.rounds.w + done)
                 : "memory");
    u32 places = __reduce_or_sync(VYRE_FULL, flags);
    if (places >> 31 != 0) {
        // The trap of the lowest item is kept until the round's end; what such lanes pushed does not matter any more.
        const bool bad = flags >> 31 != 0;
        const u32 lowest = __reduce_min_sync(VYRE_FULL, bad ? edge : VYRE_NONE);
        const u32 holders = __ballot_sync(VYRE_FULL, bad && edge == lowest);
        const u64 key = trap_key(vyre_state.kernel, lowest, given[0] >> 8);
        if (lane == __ffs(holders) - 1) {
            quick.special = 1;
            if (key < mine.key) {
                mine.key = key;
                mine.index = given[1];
                mine.len = given[2];
                mine.kind = given[0] & 255;
                mine.lane = lane;
            }
        }
        __syncwarp();
        if (bad) flags = 0;
        places = __reduce_or_sync(VYRE_FULL, flags);
    }
    for (; places != 0; places &= places - 1) {
        const u32 place = __ffs(places) - 1, y = place == 0 ? given[0] : place == 1 ? given[1] : given[2];
        bool ok = (flags >> place & 1) != 0;
        // The number of the frontier there; none for the swept one.
        u32 number;
        asm("// VYRE_HOLE frontier %1 %2 to %0" : "=r"(number) : "r"(vyre_state.kernel), "r"(place));
        const bool own = number == VYRE_NONE;
        Frontier& to = own ? f : in_shared<Frontier>(load_shared(base + offsetof(Quick, frontiers)) + number * sizeof(Frontier));
        const uint4 fields = load_shared_entry(quick_address(&to) + static_cast<u32>(offsetof(Frontier, stamps)));
        const u64 stamps = JOIN(fields.x, fields.y), offsets = JOIN(fields.z, fields.w);
#include "quick_push.cuh"
    }
}
