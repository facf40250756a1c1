//! A list of tuples that begins anew: slots, lengths in an inner `until`, capacity to the item, overflow.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = cap, reset = round)] log: List<(u32, u64)>,
        #[output(per = outer)] sums: u64,
        #[output(per = outer)] lens: u32,
        #[output(per = slots)] slot_used: u32,
        outer: u32,
        inner: u32,
        enough: u32,
        cap: u32,
        slots: u32,
        salt: u32,
    }
    #[device]
    fn mix(a: u32, b: u32, c: u32, d: u32) -> u32 {
        let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d;
        x ^= x >> 15;
        x = x.wrapping_mul(0x2C1B_3C6D);
        x ^ (x >> 12)
    }
    #[fixpoint(until(round + 1 >= outer))]
    mod phases {
        #[fixpoint(until(log.len() >= enough || round + 1 >= inner))]
        mod rounds {
            #[wave(nodes)]
            fn note(v: Node, phases: Round, rounds: Round, salt: u32, log: &Append<(u32, u64)>, slot_used: &Buf<Atomic<u32>>) {
                if mix(v, phases, rounds, salt) % 5 == 0 {
                    let slot = log.append((v, u64::from(phases * 1000 + rounds)));
                    if slot < slot_used.len() {
                        slot_used[slot].fetch_add(1);
                    }
                }
            }
        }
        #[wave(items(log), after(rounds))]
        fn add(x: (u32, u64), phases: Round, sums: &Buf<Atomic<u64>>, lens: &Buf<Atomic<u32>>) {
            if phases < sums.len() {
                sums[phases].fetch_add(u64::from(x.0) * 3 + x.1);
                lens[phases].fetch_add(1);
            }
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..3 {
        let (outer, inner, enough, salt) = (1 + rng.below(4), 1 + rng.below(4), rng.below(g.n as u32 + 3), rng.below(u32::MAX));
        let (mut sums, mut lens, mut most, mut totals) = (vec![], vec![], 0u32, vec![]);
        for phase in 0..outer {
            let (mut sum, mut len) = (0u64, 0u32);
            for round in 0..inner {
                for v in 0..g.n as u32 {
                    if p::mix(v, phase, round, salt) % 5 == 0 {
                        sum += u64::from(v) * 3 + u64::from(phase * 1000 + round);
                        len += 1;
                    }
                }
                totals.push(len);
                if len >= enough {
                    break;
                }
            }
            most = most.max(len);
            sums.push(sum);
            lens.push(len);
        }
        let slots = g.n as u32 * inner;
        let slot_used: Vec<u32> = (0..slots).map(|k| lens.iter().filter(|&&l| l > k).count() as u32).collect();
        let run = p::Run { outer, inner, enough, cap: most, slots, salt };
        let out = session.run(run).map_err(err)?;
        same("sums", &out.sums, &sums)?;
        same("lens", &out.lens, &lens)?;
        same("slots", &out.slot_used, &slot_used)?;
        if most > 0 {
            let cap = most - 1;
            let needed = totals.iter().copied().find(|&t| t > cap).unwrap();
            match session.run(p::Run { cap, ..run }) {
                Ok(_) => return Err("WRONG no overflow".into()),
                Err(e) => {
                    let t = e.trap().ok_or_else(|| format!("WRONG not a trap: {e}"))?;
                    if (t.index, t.len, t.item) != (needed.into(), cap.into(), None) {
                        return Err(format!("WRONG overflow, expected {needed} of {cap}: {}", sign(&e)));
                    }
                }
            }
            let out = session.run(run).map_err(err)?;
            same("sums after overflow", &out.sums, &sums)?;
        }
    }
    Ok(())
}
