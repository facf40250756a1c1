import random,sys
seed=int(sys.argv[1]) if len(sys.argv)>1 else 1
count=int(sys.argv[2]) if len(sys.argv)>2 else 30
rnd=random.Random(seed)
SELF_PUSH = True

class Prog: pass

def gen():
    while True:
        p=Prog()
        p.lists=[]  # (kind, reset)
        for i in range(rnd.randint(2,4)):
            p.lists.append([rnd.choice(['u','u','i']), rnd.random()<0.65])
        if not any(k=='u' for k,_ in p.lists): p.lists[0][0]='u'
        p.no=rnd.choice([1,2,3,5,8]); p.ns=rnd.choice([1,2,4,7,8]); p.ne=rnd.choice([1,3,8])
        p.sreset=rnd.random()<0.7; p.breset=rnd.random()<0.6; p.binit=rnd.random()<0.5; p.bw=rnd.choice([1,7,31,32,33,64,65])
        p.sinit=[rnd.randint(0,9) for _ in range(p.ns)]
        p.fix=[]  # parent
        p.waves=[]
        p.nf=0
        p.frontier_owner=None
        def scope(depth, path):
            items=[]
            for _ in range(rnd.randint(2,4) if depth else rnd.randint(1,3)):
                if depth<3 and p.nf<4 and rnd.random()<(0.8 if depth==0 else 0.3):
                    f=p.nf; p.nf+=1
                    fx={'id':f,'path':path+[f],'times':rnd.randint(1,3),'ask':None,'items':None}
                    fx['items']=scope(depth+1, path+[f])
                    items.append(('f',fx))
                else:
                    w={'id':len(p.waves),'path':path}
                    p.waves.append(w)
                    items.append(('w',w))
            return items
        p.root=scope(0,[])
        if p.nf==0: continue
        fixes=[]
        def walk(items):
            for k,x in items:
                if k=='f': fixes.append(x); walk(x['items'])
        walk(p.root)
        if any(not any(True for w in p.waves if w['path'][:len(f['path'])]==f['path']) for f in fixes): continue
        # a fixpoint directly contains waves?
        owners=[f for f in fixes if any(k=='w' for k,_ in f['items'])]
        if owners and rnd.random()<0.6:
            p.frontier_owner=rnd.choice(owners)['id']
        def first(w):
            return all(x['id']>=w['id'] for x in p.waves if x['path']==w['path'])
        for w in p.waves:
            doms=['nodes','nodes','edges']
            for i,(k,_) in enumerate(p.lists):
                doms+=[('items',i)]*2
                if k=='u': doms+=[('from',i)]*2
            if p.frontier_owner is not None and w['path'] and w['path'][-1]==p.frontier_owner:
                doms+=[('items','F'),('from','F')]*2
            d=rnd.choice(doms)
            if first(w) and rnd.random()<0.75: d='nodes'
            w['dom']=d
            node_own = d=='nodes' or (isinstance(d,tuple) and d[0]=='items' and (d[1]=='F' or p.lists[d[1]][0]=='u'))
            edge = d=='edges' or (isinstance(d,tuple) and d[0]=='from')
            ops=[]
            used=set()
            for _ in range(rnd.randint(1,4)):
                c=[]
                for i,(k,_) in enumerate(p.lists):
                    c+=[('push',i)]*2
                if p.frontier_owner is not None: c+=[('push','F')]
                c+=['acc','acc']
                if node_own: c+=['own','owns','reads','bitset','bitcount','swap']
                if edge: c+=['owne','recs']
                o=rnd.choice(c)
                m=rnd.randint(1,5); t=rnd.randint(1,m)
                ops.append({'op':o,'m':m,'t':t,'salt':rnd.randint(0,10**9),'who':rnd.choice(['src','dst']) if edge else 'v','k':rnd.randint(0,7),'c':rnd.randint(1,9)})
            if first(w) and d=='nodes':
                for i in rnd.sample(range(len(p.lists)),2):
                    m=rnd.randint(2,9)
                    ops.append({'op':('push',i),'m':m,'t':1,'salt':rnd.randint(0,10**9),'who':'v','k':0,'c':1})
            # rules: s is not both written and read by others in one wave; order inside a lane is fine for own
            if any(o['op']=='recs' for o in ops) and any(o['op'] in('owns',) for o in ops): pass
            w['ops']=ops
        # until questions
        for f in fixes:
            if rnd.random()<0.6:
                c=list(range(len(p.lists)))
                if p.frontier_owner==f['id']: c.append('F')
                f['ask']=(rnd.choice(c), rnd.randint(1,40), rnd.random()<0.3)
        # fields of a wave
        for w in p.waves:
            fl={}
            def use(name,mode):
                fl.setdefault(name,set()).add(mode)
            d=w['dom']
            if isinstance(d,tuple): use('L%s'%d[1],'sweep')
            for o in w['ops']:
                op=o['op']
                if isinstance(op,tuple): use('L%s'%op[1],'push')
                elif op=='acc' or op=='recs':
                    use('acc','add')
                    if op=='recs': use('s','read')
                elif op=='own': use('o','write')
                elif op in('owns','swap'): use('s','write')
                elif op=='reads': use('s','read'); use('o','write')
                elif op=='bitset': use('b','write')
                elif op=='bitcount': use('b','read'); use('acc','add')
                elif op=='owne': use('e','write')
            w['fields']=fl
        if not SELF_PUSH and any('sweep' in m and 'push' in m for w in p.waves for f,m in w['fields'].items() if f!='LF'): continue
        # each wave uses something
        # owners of resets
        def lca(paths):
            if not paths: return None
            a=paths[0]
            for b in paths[1:]:
                n=0
                while n<len(a) and n<len(b) and a[n]==b[n]: n+=1
                a=a[:n]
            return a
        ok=True
        p.owner={}
        for i,(k,reset) in enumerate(p.lists):
            paths=[w['path'] for w in p.waves if 'L%d'%i in w['fields']]+[f['path'] for f in fixes if f['ask'] and f['ask'][0]==i]
            a=lca(paths)
            if reset and (not a or not any('L%d'%i in w['fields'] for w in p.waves)): p.lists[i][1]=False
            elif reset: p.owner['L%d'%i]=a[-1]
            if not any('L%d'%i in w['fields'] for w in p.waves): ok=False
        for n,flag in (('s','sreset'),('b','breset')):
            paths=[w['path'] for w in p.waves if n in w['fields']]
            a=lca(paths)
            if getattr(p,flag) and not a: setattr(p,flag,False)
            elif getattr(p,flag): p.owner[n]=a[-1]
        if p.frontier_owner is not None:
            if not any('LF' in w['fields'] and 'sweep' in w['fields']['LF'] for w in p.waves): ok=False
        if not ok: continue
        p.fixes=fixes
        return p

def fields_of(item):
    k,x=item
    if k=='w': return x['fields']
    fl={}
    for it in x['items']:
        for f,m in fields_of(it).items():
            if f=='LF' and x.get('owner'): pass
            fl.setdefault(f,set()).update(m)
    if x['ask']: fl.setdefault('L%s'%x['ask'][0],set()).add('ask')
    return fl

def conflict(a,b,p,scope_id):
    for f in a:
        if f in b:
            m=a[f]|b[f]
            if m=={'read'} or m=={'add'} or m=={'push'} or m=={'sweep'} or m<={'sweep','ask'}: continue
            if f=='LF' and p.frontier_owner==scope_id and m<={'sweep','push'}: continue
            return True
    return False

def name(item): return ('w%d' if item[0]=='w' else 'f%d')%item[1]['id']

def emit(p, mod):
    out=[]
    L=lambda i: 'lf' if i=='F' else 'l%d'%i
    D=['#[topology] graph: Csr,','n: u32,']
    for i,(k,r) in enumerate(p.lists):
        rs=', reset = round' if r else ''
        if k=='u': D.append(f'#[list(unique{rs})] l{i}: List<Node>,')
        else: D.append(f'#[list(capacity = (node + edge(graph)) * 300 + 2000{rs})] l{i}: List<u32>,')
    if p.frontier_owner is not None: D.append('#[frontier(unique)] lf: Frontier,')
    D.append(f'#[output(per = node, init = 7)] o: [u64; {p.no}],')
    D.append('#[output(per = node)] acc: u64,')
    rs=', reset = round' if p.sreset else ''
    use_s=any('s' in w['fields'] for w in p.waves)
    use_b=any('b' in w['fields'] for w in p.waves)
    if use_s: D.append(f'#[scratch(per = node, init = {p.sinit}{rs})] s: [u32; {p.ns}],')
    rs=', reset = round' if p.breset else ''
    it=', init = true' if p.binit else ''
    if use_b: D.append(f'#[scratch(per = node, bits = {p.bw}{it}{rs})] b: Bits,')
    D.append(f'#[output(per = edge(graph), init = {[k for k in range(p.ne)]})] e: [u32; {p.ne}],')
    def wave(w, after, ind):
        d=w['dom']
        if d=='nodes': dom='nodes'; item='v: Node'
        elif d=='edges': dom='edges(graph)'; item='at: Edge'
        elif d[0]=='items':
            dom=f'items({L(d[1])})'; item='v: Node' if d[1]=='F' or p.lists[d[1]][0]=='u' else 'x: u32'
        else: dom=f'edges(graph, from = {L(d[1])})'; item='at: Edge'
        edge=item.startswith('at'); isx=item.startswith('x')
        params=[item]+[f'f{f}: Round' for f in w['path']]
        if isx: params.append('n: u32')
        used={}
        for f,m in w['fields'].items():
            if f.startswith('L'):
                i=f[1:]
                if 'push' in m:
                    nm='lf' if i=='F' else 'l'+i
                    used[nm]=f'{nm}: &Push' if i=='F' or p.lists[int(i)][0]=='u' else f'{nm}: &Append<u32>'
            elif f=='acc': used['acc']='acc: &Buf<Atomic<u64>>'
            elif f=='o': used['o']=f'o: &mut [u64; {p.no}]'
            elif f=='s':
                if edge: used['s']=f's: &Records<[u32; {p.ns}]>'
                else: used['s']=(f's: &mut [u32; {p.ns}]' if 'write' in m else f's: &[u32; {p.ns}]')
            elif f=='b': used['b']='b: &Bits'
            elif f=='e': used['e']=f'e: &mut [u32; {p.ne}]'
        params+=used.values()
        rounds=[f'f{f}' for f in w['path']]+['0']*(3-len(w['path']))
        body=[]
        idv='at.index' if edge else ('x' if isx else 'v')
        for o in w['ops']:
            who={'src':'at.src','dst':'at.dst','v':'x % n' if isx else 'v'}[o['who']]
            h=f'mix({idv}, {", ".join(rounds)}, {o["salt"]})'
            op=o['op']; k=o['k']; c=o['c']
            if isinstance(op,tuple):
                i=op[1]
                st=f'lf.push({who});' if i=='F' else (f'l{i}.push({who});' if p.lists[i][0]=='u' else f'l{i}.append({who} + h % 3);')
            elif op=='acc': st=f'acc[{who}].fetch_add(u64::from(h % 1000) + {c});'
            elif op=='own': st=f'o[(h % {p.no}) as usize] += {c} + u64::from(h % 17);'
            elif op=='owns': st=f's[((h >> 3) % {p.ns}) as usize] += {c} + h % 5;'
            elif op=='swap': st=f's.swap({k%p.ns}, (h % {p.ns}) as usize);'
            elif op=='reads': st=f'o[{k%p.no}] = o[{k%p.no}].wrapping_mul(3).wrapping_add(u64::from(s[{c%p.ns}]));'
            elif op=='recs': st=f'acc[{who}].fetch_add(u64::from(s.get({"at.dst" if o["who"]=="src" else "at.src"})[(h % {p.ns}) as usize]));'
            elif op=='bitset': st=(f'b.unset(v, h % {p.bw});' if p.binit else f'b.set(v, h % {p.bw});')
            elif op=='bitcount': st=f'acc[v].fetch_add(u64::from(b.count(v)) * {c});'
            elif op=='owne': st=f'e[{k%p.ne}] = e[{k%p.ne}] * 3 + {c} + h % 7;'
            body.append(f'let h = {h};\n{ind}    if h % {o["m"]} < {o["t"]} {{ {st} }}')
        af=f', after({", ".join(after)})' if after else ''
        out.append(f'{ind}#[wave({dom}{af})]')
        out.append(f'{ind}fn w{w["id"]}({", ".join(params)}) {{')
        for b in body: out.append(f'{ind}    {b}')
        out.append(f'{ind}}}')
    def scope(items, ind, sid):
        fl=[fields_of(it) for it in items]
        for j,it in enumerate(items):
            after=[name(items[i]) for i in range(j) if conflict(fl[i],fl[j],p,sid)]
            if it[0]=='w': wave(it[1], after, ind)
            else:
                f=it[1]
                u=f'round + 1 == {f["times"]}'
                if f['ask']:
                    l,t,e=f['ask']
                    u+=f' || {L(l)}.is_empty()' if e else f' || {L(l)}.len() >= {t}'
                a=f'after({", ".join(after)}), ' if after else ''
                out.append(f'{ind}#[fixpoint({a}until({u}))]')
                out.append(f'{ind}mod f{f["id"]} {{')
                scope(f['items'], ind+'    ', f['id'])
                out.append(f'{ind}}}')
    scope(p.root,'        ',None)
    code=f'''    #[wave_graph]
    pub mod p {{
        pub struct Data {{
'''+'\n'.join('            '+d for d in D)+'''
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
'''+'\n'.join(out)+'''
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; @NO@]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; @NE@], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
'''
    if not any(w['dom']=='edges' or (isinstance(w['dom'],tuple) and w['dom'][0]=='from') for w in p.waves): code=code.replace(', edges = admitted','')
    code=code.replace('@NO@',str(p.no)).replace('@NE@',str(p.ne))
    # the IR as Rust
    def who(o): return {'src':'Who::Src','dst':'Who::Dst','v':'Who::V'}[o['who']]
    def lid(i): return '99' if i=='F' else str(i)
    def op(o):
        op_=o['op']
        if isinstance(op_,tuple): t=f'Op::Push({lid(op_[1])})'
        else: t={'acc':'Op::Acc','own':'Op::Own','owns':'Op::OwnS','swap':'Op::Swap','reads':'Op::ReadS','recs':'Op::RecS','bitset':'Op::BitSet','bitcount':'Op::BitCount','owne':'Op::OwnE'}[op_]
        return f'St {{ op: {t}, m: {o["m"]}, t: {o["t"]}, salt: {o["salt"]}, who: {who(o)}, k: {o["k"]}, c: {o["c"]} }}'
    def dom(d):
        if d=='nodes': return 'Dom::Nodes'
        if d=='edges': return 'Dom::Edges'
        return ('Dom::Items(%s)' if d[0]=='items' else 'Dom::From(%s)')%lid(d[1])
    def tree(items):
        r=[]
        for k,x in items:
            if k=='w': r.append(f'It::W(Wave {{ dom: {dom(x["dom"])}, ops: vec![{", ".join(op(o) for o in x["ops"])}] }})')
            else:
                a='None' if not x['ask'] else f'Some(({lid(x["ask"][0])}, {x["ask"][1]}, {"true" if x["ask"][2] else "false"}))'
                r.append(f'It::F(Fix {{ id: {x["id"]}, times: {x["times"]}, ask: {a}, items: vec![{", ".join(tree(x["items"]))}] }})')
        return r
    lists=', '.join(f'({"true" if k=="u" else "false"}, {"Some(%d)"%p.owner["L%d"%i] if r else "None"})' for i,(k,r) in enumerate(p.lists))
    ow=lambda n,f: f'Some({p.owner[n]})' if getattr(p,f) and n in p.owner else 'None'
    ir=f'''    pub fn ir() -> Ir {{
        Ir {{
            lists: vec![{lists}], frontier: {'None' if p.frontier_owner is None else f'Some({p.frontier_owner})'},
            no: {p.no}, ns: {p.ns}, ne: {p.ne}, bw: {p.bw}, binit: {'true' if p.binit else 'false'}, sinit: vec!{p.sinit}, s_owner: {ow('s','sreset')}, b_owner: {ow('b','breset')},
            root: vec![{", ".join(tree(p.root))}],
        }}
    }}
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {{
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {{
            s.run_into(p::Run {{ n: g.n as u32 }}, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }}
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 {{ s.submit(w::Run {{ n: g.n as u32, times: times + k, salt }}, 0); }}
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {{
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {{e}}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {{
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {{
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] {{ tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }}
                }}
                for e in 0..g.m() {{
                    for x in &want.e[e] {{ te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }}
                }}
            }}
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }}
        Ok(())
    }}
'''
    return f'pub mod {mod} {{\n    use super::common::*;\n    use super::ir::*;\n{code}{ir}}}\n'
progs=[emit(gen(),f'g{i:02}') for i in range(count)]
head='''//! Random programs against an interpreter of the same (see ir.rs). Written by fuzz.py.
#![allow(clippy::all, unused_variables)]
#[path = "../common.rs"]
mod common;
#[path = "../ir.rs"]
mod ir;
use common::*;
'''
main='''
const ALL: &[(&str, fn(&Runtime, &mut Rng, &G) -> R)] = &['''+', '.join(f'("g{i:02}", g{i:02}::check)' for i in range(count))+'''];
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |key: &str| args.iter().position(|a| a == key).and_then(|k| args.get(k + 1)).cloned();
    let backend = value("--backend").unwrap_or("all".into());
    let names: Vec<String> = match backend.as_str() { "all" => ["native", "native4", "vir0"].map(String::from).to_vec(), o => o.split(',').map(String::from).collect() };
    let seed: u64 = value("--seed").map_or(1, |s| s.parse().unwrap());
    let only = value("--only");
    let mut bad = 0;
    for name in &names {
        let rt = match name.as_str() {
            "native" => Runtime::native(),
            "native1" => Runtime::native_threads(1).unwrap(),
            "native4" => Runtime::native_threads(4).unwrap(),
            "vir0" => Runtime::vir0(),
            "cuda" => Runtime::cuda().unwrap().with_route(vyre::RoutePolicy::Interpreter),
            "compiled" => Runtime::cuda().unwrap().with_route(vyre::RoutePolicy::Compiled),
            o => Runtime::named(o).unwrap(),
        };
        let begun = std::time::Instant::now();
        let mut fails = 0;
        for (p, check) in ALL {
            if only.as_ref().is_some_and(|o| o != p) { continue; }
            let mut shown = 0;
            for g in graphs(&mut Rng(seed), args.iter().any(|a| a == "--large")) {
                let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&rt, &mut Rng(seed), &g))).unwrap_or_else(|_| Err("PANIC".into()));
                if let Err(e) = r {
                    fails += 1;
                    shown += 1;
                    if shown <= 2 { println!("FAIL {p} on {name}, {}: {e}", g.name); }
                }
            }
        }
        println!("{name}: {fails} failures in {:?}", begun.elapsed());
        bad += fails;
    }
    std::process::exit(i32::from(bad > 0));
}
'''
open('src/bin/fuzz.rs','w').write(head+'\n'.join(progs)+main)
