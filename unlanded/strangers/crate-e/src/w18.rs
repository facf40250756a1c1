//! Traps: what is named must be the same on every backend, and what the docs say.
use crate::common::*;
pub mod own_in_items {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = node)] arr: [u32; 3], }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, arr: &mut [u32; 3]) { arr[(v % 4) as usize] = v; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod records_k {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[topology(per = node)] arr: [u32; 5], #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(edges(graph, from = l), after(choose))]
        fn e(e: Edge, arr: &Records<[u32; 5]>, o: &Buf<Atomic<u32>>) { o[0].fetch_add(arr.get(e.dst)[(e.dst % 6) as usize]); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, p::Topology { graph: &g.csr, arr: &vec![[1; 5]; g.n] }).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod records_i {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[input(per = node - 10)] arr: [u8; 2], #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(edges(graph, from = l), after(choose))]
        fn e(e: Edge, arr: &Records<[u8; 2]>, o: &Buf<Atomic<u32>>) { o[0].fetch_add(u32::from(arr.get(e.dst)[1])); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { arr: &vec![[1, 2]; g.n - 10] }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod flat {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[scratch(per = node, init = [1, 2])] arr: [u32; 2], #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn e(v: Node, arr: &Buf<Atomic<u32>>) { arr[v * 2 + 60].fetch_add(1); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod push_no_node {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 10 == 7 { l.push(v + 20); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, o: &Buf<Atomic<u32>>) { o[0].fetch_max(v); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod overflow_reset {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 20, reset = round)] l: List<(u32, bool)>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 3))]
    mod f {
        #[fixpoint(until(round == 1))]
        mod g {
            #[wave(nodes)]
            fn put(v: Node, f: Round, g: Round, l: &Append<(u32, bool)>) { if v % 5 <= f * g { l.append((v, false)); } }
        }
        #[wave(items(l), after(g))]
        fn own(x: (u32, bool), o: &Buf<Atomic<u32>>) { o[0].fetch_max(x.0); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod overflow_slot {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 20, reset = round)] l: List<u32>, #[output(per = 20)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>, o: &Buf<Atomic<u32>>) { o[l.append(v)].fetch_add(1); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod two_overflows {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 20, reset = round)] l: List<u32>, #[list(capacity = 10)] k: List<u32>, #[output(per = 20)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>, k: &Append<u32>) { k.append(v); l.append(v); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod overflow_and_assert {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 20, reset = round)] l: List<u32>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>) { assert!(v != 30, "thirty"); l.append(v); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod assert_in_later {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 20, reset = round)] l: List<u32>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>) { l.append(v); }
        #[wave(nodes)]
        fn say(v: Node) { assert!(v != 3, "three"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod assert_in_earlier {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 20, reset = round)] l: List<u32>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn say(v: Node) { assert!(v != 3, "three"); }
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>) { l.append(v); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_u8 {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<(u8, u32)>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<(u8, u32)>) { if round == 1 { l.append(((v % 256) as u8, v)); } }
        #[wave(items(l), after(put))]
        fn get(x: (u8, u32), o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_f64 {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<f64>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<f64>) { if round == 1 { l.append(f64::from(v) - 20.5); } }
        #[wave(items(l), after(put))]
        fn get(x: f64, o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_i64 {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<i64>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<i64>) { if round == 1 { l.append(i64::from(v) - 40); } }
        #[wave(items(l), after(put))]
        fn get(x: i64, o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_bool {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<bool>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<bool>) { if round == 1 { l.append(v % 2 == 0); } }
        #[wave(items(l), after(put))]
        fn get(x: bool, o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_boolt {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<(bool, u32)>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<(bool, u32)>) { if round == 1 { l.append((v % 2 == 0, v)); } }
        #[wave(items(l), after(put))]
        fn get(x: (bool, u32), o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_f32 {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<f32>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<f32>) { if round == 1 { l.append(-(v as f32)); } }
        #[wave(items(l), after(put))]
        fn get(x: f32, o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_u64 {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<u64>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<u64>) { if round == 1 { l.append(u64::from(v) << 40); } }
        #[wave(items(l), after(put))]
        fn get(x: u64, o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod item_i32 {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, reset = round)] l: List<(i32, u8)>, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, round: Round, l: &Append<(i32, u8)>) { if round == 1 { l.append((-(v as i32), 3)); } }
        #[wave(items(l), after(put))]
        fn get(x: (i32, u8), o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); assert!(o.len() > 1 || { let _y = x; false }, "always"); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod max_rounds_list {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = 1000)] l: List<u32>, #[reduce(sum)] s: u64, #[output(per = 1)] o: u32, }
    #[fixpoint(until(l.len() > 50000 && s > 3), max_rounds = 3)]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>, s: &Reduce<Sum<u64>>) { if v % 2 == 0 { l.append(v); } s.add(1); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod max_rounds_reset {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[list(capacity = 60, reset = round)] k: List<bool>, #[frontier] fr: Frontier, #[output(per = 1)] o: u32, }
    const M: u32 = 4;
    #[fixpoint(until(l.is_empty() || k.len() > 50 || fr.is_empty()), max_rounds = M)]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Push, k: &Append<bool>, fr: &Push) { if v % 2 == 0 { l.push(v); } k.append(true); fr.push(v); }
        #[wave(items(fr))]
        fn get(o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod swap_beyond {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = node)] arr: [bool; 8], }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, arr: &mut [bool; 8]) { arr.swap((v % 8) as usize, (v % 11) as usize); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod helper {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = node)] arr: [i64; 4], }
    #[device]
    fn pick(a: [i64; 4], k: u64) -> i64 { a[k as usize] }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, arr: &mut [i64; 4]) { arr[0] = pick(*arr, if v == 29 { u64::MAX } else { 2 }); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod n_one {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = node)] arr: [u8; 1], }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, arr: &mut [u8; 1]) { arr[(v / 26) as usize] = 1; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod bits_reset {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[scratch(per = node, bits = 33, init = true, reset = round)] b: Bits, #[output(per = 1)] o: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, b: &Bits) { b.unset(v, v + 10); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod edge_own {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = edge(graph))] arr: [f32; 2], }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(edges(graph, from = l), after(choose))]
        fn own(e: Edge, arr: &mut [f32; 2]) { arr[(e.dst / 40 * 2) as usize] = 1.0; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod divide {
    use crate::common::*;
    #[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[list(unique, reset = round)] l: List<Node>, #[output(per = node)] arr: [u32; 2], }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push) { if round == 1 && v % 3 == 2 { l.push(v); } }
        #[wave(items(l), after(choose))]
        fn own(v: Node, arr: &mut [u32; 2]) { arr[1] = 5 / (arr[0] + 44 - v.min(44)); }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run {}) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod inc_own {
    use crate::common::*;
    pub mod lib {
        use vyre::prelude::*;
        #[wave_graph]
        pub mod q {
            pub struct Data { #[topology] graph: Csr, #[list(unique)] l: List<Node>, #[list(capacity = 3)] k: List<u32>, #[output(per = node)] arr: [u32; 2], #[input(per = 1)] start: u32, lim: u32 }
            #[wave(nodes)]
            fn go(v: Node, start: &Buf<u32>, l: &Push) { if v % 10 == start[0] { l.push(v); } }
            #[wave(edges(graph, from = l), after(go))]
            fn each(e: Edge, arr: &Buf<Atomic<u32>>, k: &Append<u32>, lim: u32) { arr[e.dst * 2].fetch_add(1); if e.index % lim == 0 { k.append(e.dst); } }
            #[wave(items(l), after(each))]
            fn own(arr: &mut [u32; 2], lim: u32) { arr[lim as usize] = 1; }
        }
    }
#[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[scratch(per = 1)] s: u32, #[output(per = node)] o: u32, lim: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) { s[0].store(round); }
        #[include(graph = graph, start = s, lim = lim, after(set))]
        use super::super::lib::q as one;
        #[include(graph = graph, start = s, lim = lim, after(one))]
        use super::super::lib::q as two;
        #[wave(nodes, after(two))]
        fn last(two_arr: &[u32; 2], o: &mut u32) { *o += two_arr[0]; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { lim: 100000 }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod inc_overflow {
    use crate::common::*;
    pub mod lib {
        use vyre::prelude::*;
        #[wave_graph]
        pub mod q {
            pub struct Data { #[topology] graph: Csr, #[list(unique)] l: List<Node>, #[list(capacity = 3)] k: List<u32>, #[output(per = node)] arr: [u32; 2], #[input(per = 1)] start: u32, lim: u32 }
            #[wave(nodes)]
            fn go(v: Node, start: &Buf<u32>, l: &Push) { if v % 10 == start[0] { l.push(v); } }
            #[wave(edges(graph, from = l), after(go))]
            fn each(e: Edge, arr: &Buf<Atomic<u32>>, k: &Append<u32>, lim: u32) { arr[e.dst * 2].fetch_add(1); if e.index % lim == 0 { k.append(e.dst); } }
            #[wave(items(l), after(each))]
            fn own(arr: &mut [u32; 2], lim: u32) { arr[lim as usize] = 1; }
        }
    }
#[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[scratch(per = 1)] s: u32, #[output(per = node)] o: u32, lim: u32, }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) { s[0].store(round); }
        #[include(graph = graph, start = s, lim = lim, after(set))]
        use super::super::lib::q as one;
        #[include(graph = graph, start = s, lim = lim, after(one))]
        use super::super::lib::q as two;
        #[wave(nodes, after(two))]
        fn last(two_arr: &[u32; 2], o: &mut u32) { *o += two_arr[0]; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { lim: 2 }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod filter_index {
    use crate::common::*;
    pub mod lib {
        use vyre::prelude::*;
        #[wave_graph]
        pub mod q {
            pub struct Data { #[topology] graph: Csr, #[list(unique)] l: List<Node>, #[list(capacity = 3)] k: List<u32>, #[output(per = node)] arr: [u32; 2], #[input(per = 1)] start: u32, lim: u32 }
            #[wave(nodes)]
            fn go(v: Node, start: &Buf<u32>, l: &Push) { if v % 10 == start[0] { l.push(v); } }
            #[wave(edges(graph, from = l), after(go))]
            fn each(e: Edge, arr: &Buf<Atomic<u32>>, k: &Append<u32>, lim: u32) { arr[e.dst * 2].fetch_add(1); if e.index % lim == 0 { k.append(e.dst); } }
            #[wave(items(l), after(each))]
            fn own(arr: &mut [u32; 2], lim: u32) { arr[lim as usize] = 1; }
        }
    }
#[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[scratch(per = 1)] s: u32, #[output(per = node)] o: u32, lim: u32, #[scratch(per = 6)] t: u32, }
    #[device]
    fn f1(e: Edge, t: &Buf<u32>) -> bool { t[e.dst % 7] == 0 }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) { s[0].store(round); }
        #[include(graph = graph, start = s, lim = lim, after(set), edges = f1)]
        use super::super::lib::q as one;
        #[include(graph = graph, start = s, lim = lim, after(one), edges = f1)]
        use super::super::lib::q as two;
        #[wave(nodes, after(two))]
        fn last(two_arr: &[u32; 2], o: &mut u32) { *o += two_arr[0]; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { lim: 1 }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod filter_div {
    use crate::common::*;
    pub mod lib {
        use vyre::prelude::*;
        #[wave_graph]
        pub mod q {
            pub struct Data { #[topology] graph: Csr, #[list(unique)] l: List<Node>, #[list(capacity = 3)] k: List<u32>, #[output(per = node)] arr: [u32; 2], #[input(per = 1)] start: u32, lim: u32 }
            #[wave(nodes)]
            fn go(v: Node, start: &Buf<u32>, l: &Push) { if v % 10 == start[0] { l.push(v); } }
            #[wave(edges(graph, from = l), after(go))]
            fn each(e: Edge, arr: &Buf<Atomic<u32>>, k: &Append<u32>, lim: u32) { arr[e.dst * 2].fetch_add(1); if e.index % lim == 0 { k.append(e.dst); } }
            #[wave(items(l), after(each))]
            fn own(arr: &mut [u32; 2], lim: u32) { arr[lim as usize] = 1; }
        }
    }
#[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[scratch(per = 1)] s: u32, #[output(per = node)] o: u32, lim: u32, }
    #[device]
    fn f2(e: Edge, lim: u32) -> bool { 7 / (lim - 1 + e.src / 20 - e.src / 20) > 100 }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) { s[0].store(round); }
        #[include(graph = graph, start = s, lim = lim, after(set), edges = f2)]
        use super::super::lib::q as one;
        #[include(graph = graph, start = s, lim = lim, after(one), edges = f2)]
        use super::super::lib::q as two;
        #[wave(nodes, after(two))]
        fn last(two_arr: &[u32; 2], o: &mut u32) { *o += two_arr[0]; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { lim: 1 }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod filter_assert {
    use crate::common::*;
    pub mod lib {
        use vyre::prelude::*;
        #[wave_graph]
        pub mod q {
            pub struct Data { #[topology] graph: Csr, #[list(unique)] l: List<Node>, #[list(capacity = 3)] k: List<u32>, #[output(per = node)] arr: [u32; 2], #[input(per = 1)] start: u32, lim: u32 }
            #[wave(nodes)]
            fn go(v: Node, start: &Buf<u32>, l: &Push) { if v % 10 == start[0] { l.push(v); } }
            #[wave(edges(graph, from = l), after(go))]
            fn each(e: Edge, arr: &Buf<Atomic<u32>>, k: &Append<u32>, lim: u32) { arr[e.dst * 2].fetch_add(1); if e.index % lim == 0 { k.append(e.dst); } }
            #[wave(items(l), after(each))]
            fn own(arr: &mut [u32; 2], lim: u32) { arr[lim as usize] = 1; }
        }
    }
#[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[scratch(per = 1)] s: u32, #[output(per = node)] o: u32, lim: u32, }
    #[device]
    fn f3(e: Edge) -> bool { assert!(e.dst != 17 || e.src == 0, "seventeen"); e.index % 2 == 0 }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) { s[0].store(round); }
        #[include(graph = graph, start = s, lim = lim, after(set), edges = f3)]
        use super::super::lib::q as one;
        #[include(graph = graph, start = s, lim = lim, after(one), edges = f3)]
        use super::super::lib::q as two;
        #[wave(nodes, after(two))]
        fn last(two_arr: &[u32; 2], o: &mut u32) { *o += two_arr[0]; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { lim: 100 }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}
pub mod filter_array {
    use crate::common::*;
    pub mod lib {
        use vyre::prelude::*;
        #[wave_graph]
        pub mod q {
            pub struct Data { #[topology] graph: Csr, #[list(unique)] l: List<Node>, #[list(capacity = 3)] k: List<u32>, #[output(per = node)] arr: [u32; 2], #[input(per = 1)] start: u32, lim: u32 }
            #[wave(nodes)]
            fn go(v: Node, start: &Buf<u32>, l: &Push) { if v % 10 == start[0] { l.push(v); } }
            #[wave(edges(graph, from = l), after(go))]
            fn each(e: Edge, arr: &Buf<Atomic<u32>>, k: &Append<u32>, lim: u32) { arr[e.dst * 2].fetch_add(1); if e.index % lim == 0 { k.append(e.dst); } }
            #[wave(items(l), after(each))]
            fn own(arr: &mut [u32; 2], lim: u32) { arr[lim as usize] = 1; }
        }
    }
#[wave_graph]
    pub mod p {
        pub struct Data { #[topology] graph: Csr, #[scratch(per = 1)] s: u32, #[output(per = node)] o: u32, lim: u32, #[scratch(per = edge(graph))] arr: [u32; 3], }
    #[device]
    fn f4(e: Edge, arr: &[u32; 3]) -> bool { arr[(e.index % 4) as usize] == 0 }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) { s[0].store(round); }
        #[include(graph = graph, start = s, lim = lim, after(set), edges = f4)]
        use super::super::lib::q as one;
        #[include(graph = graph, start = s, lim = lim, after(one), edges = f4)]
        use super::super::lib::q as two;
        #[wave(nodes, after(two))]
        fn last(two_arr: &[u32; 2], o: &mut u32) { *o += two_arr[0]; }
    }
}
    pub fn sign_of(rt: &Runtime, g: &G) -> Result<(String, Option<Error>), String> {
        let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut first = None;
        for turn in 0..3 {
            let e = match session.run(p::Run { lim: 100 }) { Ok(_) => return Err("WRONG no trap".into()), Err(e) => e };
            let s = sign(&e);
            match &first { None => first = Some((s, Some(e))), Some(f) if f.0 == s => {}, Some(f) => return Err(format!("WRONG turn {turn} differs: {} / {s}", f.0)) }
        }
        Ok(first.unwrap())
    }
}

type F = fn(&Runtime, &G) -> Result<(String, Option<Error>), String>;
fn first(g: &G, f: impl Fn(usize, u32, u32) -> bool) -> Option<u64> {
    g.edges.iter().enumerate().find(|(k, e)| f(*k, e.0, e.1)).map(|(k, _)| k as u64)
}
#[allow(clippy::type_complexity, unused_variables)]
pub const ALL: &[(&str, F, &str, fn(&G) -> Option<u64>)] = &[
    ("own_in_items", own_in_items::sign_of as F, "kind=IndexOutOfBounds kernel=own item=11 index=3 len=3", |_: &G| None),
    ("records_k", records_k::sign_of as F, "kind=IndexOutOfBounds kernel=e index=5 len=5", |g: &G| first(g, |e, s, d| s % 3 == 2 && d % 6 == 5)),
    ("records_i", records_i::sign_of as F, "kind=IndexOutOfBounds kernel=e len=40", |g: &G| first(g, |e, s, d| s % 3 == 2 && d >= 40)),
    ("flat", flat::sign_of as F, "kind=IndexOutOfBounds kernel=e item=20 index=100 len=100", |_: &G| None),
    ("push_no_node", push_no_node::sign_of as F, "kernel=choose item=37 index=57 len=50", |_: &G| None),
    ("overflow_reset", overflow_reset::sign_of as F, "kernel=put index=30 len=20 item=NONE", |_: &G| None),
    ("overflow_slot", overflow_slot::sign_of as F, "", |_: &G| None),
    ("two_overflows", two_overflows::sign_of as F, "index=50", |_: &G| None),
    ("overflow_and_assert", overflow_and_assert::sign_of as F, "", |_: &G| None),
    ("assert_in_later", assert_in_later::sign_of as F, "", |_: &G| None),
    ("assert_in_earlier", assert_in_earlier::sign_of as F, "", |_: &G| None),
    ("item_u8", item_u8::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_f64", item_f64::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_i64", item_i64::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_bool", item_bool::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_boolt", item_boolt::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_f32", item_f32::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_u64", item_u64::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("item_i32", item_i32::sign_of as F, "kind=Assert kernel=get", |_: &G| None),
    ("max_rounds_list", max_rounds_list::sign_of as F, "", |_: &G| None),
    ("max_rounds_reset", max_rounds_reset::sign_of as F, "", |_: &G| None),
    ("swap_beyond", swap_beyond::sign_of as F, "kernel=own item=8 index=8 len=8", |_: &G| None),
    ("helper", helper::sign_of as F, "kernel=own item=29 index=18446744073709551615 len=4", |_: &G| None),
    ("n_one", n_one::sign_of as F, "kernel=own item=26 index=1 len=1", |_: &G| None),
    ("bits_reset", bits_reset::sign_of as F, "kernel=own item=23 index=33 len=33", |_: &G| None),
    ("edge_own", edge_own::sign_of as F, "kernel=own index=2 len=2", |g: &G| first(g, |e, s, d| s % 3 == 2 && d >= 40)),
    ("divide", divide::sign_of as F, "kernel=own item=44", |_: &G| None),
    ("inc_own", inc_own::sign_of as F, "kernel=one::own index=100000 len=2 item=0", |_: &G| None),
    ("inc_overflow", inc_overflow::sign_of as F, "", |_: &G| None),
    ("filter_index", filter_index::sign_of as F, "kind=IndexOutOfBounds index=6 len=6", |g: &G| first(g, |e, s, d| s % 10 == 0 && d % 7 == 6)),
    ("filter_div", filter_div::sign_of as F, "", |g: &G| first(g, |e, s, d| s % 10 == 0)),
    ("filter_assert", filter_assert::sign_of as F, "", |_: &G| None),
    ("filter_array", filter_array::sign_of as F, "kind=IndexOutOfBounds index=3 len=3", |g: &G| first(g, |e, s, d| s % 10 == 0 && e % 4 == 3)),
];
pub fn graph(rng: &mut Rng) -> G {
    random(rng, 50, 400)
}
/// Whether a trap is as told.
pub fn judge(e: &Error, want: &str, first: Option<u64>) -> R {
    let Some(t) = e.trap() else { return Err(format!("WRONG not a trap: {e}")) };
    let mut wrong = vec![];
    for w in want.split_whitespace() {
        let (key, value) = w.split_once('=').unwrap();
        let is = match key {
            "kind" => format!("{:?}", t.kind),
            "kernel" => t.kernel.to_string(),
            "index" => t.index.to_string(),
            "len" => t.len.to_string(),
            "item" => t.item.map_or("NONE".into(), |i| i.to_string()),
            _ => unreachable!(),
        };
        if is != value {
            wrong.push(format!("{key} is {is}, not {value}"));
        }
    }
    if let Some(f) = first {
        if t.item.map(|i| i.to_string()) != Some(f.to_string()) {
            wrong.push(format!("item is {:?}, not {f}", t.item));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("WRONG {}: {}", wrong.join(", "), sign(e))) }
}
