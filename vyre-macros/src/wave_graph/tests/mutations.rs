//! Damaged sources: whatever they say, the macro answers with messages and Rust.

use super::*;

/// Deletes, repeats and swaps tokens, at every depth.
fn mutate(tokens: TokenStream, random: &mut impl FnMut(u32) -> u32) -> TokenStream {
    let mut list: Vec<TokenTree> = tokens.into_iter().collect();
    if list.is_empty() {
        return TokenStream::new();
    }
    let at = random(list.len() as u32) as usize;
    let other = random(list.len() as u32) as usize;
    const NAMES: [&str; 24] = [
        "v", "dist", "front", "rank", "f32", "u32", "Node", "Edge", "levels", "graph", "mut",
        "items", "self", "super", "crate", "Self", "Point", "device", "include", "Bits", "List",
        "u8", "until", "swap",
    ];
    match random(8) {
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[other].clone()),
        2 => list.swap(at, other),
        3 | 4 => {
            let words: Vec<usize> = (0..list.len())
                .filter(|&i| matches!(list[i], TokenTree::Ident(_)))
                .collect();
            if !words.is_empty() {
                let at = words[random(words.len() as u32) as usize];
                let name = NAMES[random(NAMES.len() as u32) as usize];
                list[at] = Ident::new(name, Span::call_site()).into();
            }
        }
        _ => {
            // Deeper, where there is a group.
            let groups: Vec<usize> = (0..list.len())
                .filter(|&i| matches!(list[i], TokenTree::Group(_)))
                .collect();
            if !groups.is_empty() {
                let at = groups[random(groups.len() as u32) as usize];
                if let TokenTree::Group(g) = &list[at] {
                    let inner = mutate(g.stream(), random);
                    list[at] = proc_macro2::Group::new(g.delimiter(), inner).into();
                }
            }
        }
    }
    list.into_iter().collect()
}

#[test]
fn mutated_modules_give_messages_and_rust() {
    let source = format!(
        "pub mod g {{ {DATA}
        const K: u32 = 3;
        #[device] fn mix(x: u32, y: u32) -> u32 {{ (x ^ y).wrapping_mul(K) }}
        #[wave(nodes)] fn init(v: Node, source: u32, dist: &mut u32, front: &Push, prior: &f32, rank: &mut f32) {{
            *dist = u32::MAX; *rank = *prior * 0.5;
            if v == source {{ *dist = 0; front.push(v); }}
        }}
        #[fixpoint(after(init), until(front.is_empty() || total < 0.5), max_rounds = 7)] mod levels {{
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, weight: &u32, dist: &Buf<Atomic<u32>>, front: &Push) {{
                let next = mix(*weight, round) + 1;
                if dist[e.dst].fetch_min(next) > next {{ front.push(e.dst); }}
            }}
            #[wave(nodes)] fn count(v: Node, graph: &Csr, total: &Reduce<Sum<f32>>) {{
                for u in graph.neighbors(v) {{ if u > v {{ continue; }} total.add(1.0); }}
            }}
        }} }}"
    );
    let source = TokenStream::from_str(&source).expect("the test lexes");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % u64::from(n)) as u32
    };
    let (mut rust, mut others) = (0, 0);
    while rust < 200 {
        let mut item = source.clone();
        for _ in 0..=random(2) {
            item = mutate(item, &mut random);
        }
        let was_rust = syn::parse2::<Item>(item.clone()).is_ok();
        if !was_rust && others == 50 {
            continue;
        }
        let shown = item.to_string();
        if let Ok(Item::Mod(module)) = syn::parse2(item.clone()) {
            let mut report = Report::default();
            let graph = syntax::graph(TokenStream::new(), module, &mut report);
            let parsed = report.is_empty();
            let built = build(&graph, Imports::default(), parsed, &mut report);
            let internal = |(_, m): &(Span, String)| m.contains("internal error");
            assert!(!report.messages().iter().any(internal), "{shown}");
            assert_eq!(built.skeleton.is_some(), report.is_empty(), "{shown}");
            if built.skeleton.is_some() {
                check_plan(&built.program);
            }
        }
        let out = import::expand(Asker::WaveGraph, TokenStream::new(), item);
        if was_rust {
            rust += 1;
            syn::parse2::<syn::File>(out).expect("the expansion parses");
        } else {
            others += 1;
        }
    }
}

#[test]
fn no_token_stream_panics() {
    for attr in [
        "",
        "x",
        "limits",
        "limits(",
        "crate = 1",
        "budget = \"x GiB\"",
        "a b c",
        "limits(nodes)",
    ] {
        let Ok(attr) = TokenStream::from_str(attr) else {
            continue;
        };
        for item in [
            "",
            "fn f() {}",
            "struct S;",
            "mod m;",
            "mod m {}",
            "x y z",
            "mod m { pub struct Data(u32); #[wave(,)] fn f(self, (a, b): (u32, u32)) {} }",
        ] {
            let item = TokenStream::from_str(item).expect("the test lexes");
            for asker in [Asker::WaveGraph, Asker::Kernel, Asker::Device] {
                let _ = import::expand(asker, attr.clone(), item.clone());
            }
            let _ = import::resume(item.clone());
            let _ = crate::pass::expand(attr.clone(), item);
        }
    }
}

/// Sources that the macros stand on: everything of that kind in the repository.
#[derive(Default)]
struct Corpus {
    seeds: Vec<(Asker, TokenStream)>,
    /// What a `#[device]` item or a graph hands out, to whoever asks for anything.
    packages: Vec<TokenStream>,
}

impl Corpus {
    fn file(&mut self, text: &str) {
        // syn's recursion would end the stack where a source shows what nests too deeply.
        let tokens: TokenStream = text.parse().expect("tokens");
        if source::check_depth(tokens, 0).is_err() {
            return;
        }
        // Some show what is said of broken syntax.
        if let Ok(source) = syn::parse_str::<syn::File>(text) {
            self.items(&source.items);
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            let attrs = match item {
                Item::Mod(m) => &m.attrs,
                Item::Fn(f) => &f.attrs,
                _ => continue,
            };
            let word = |a: &syn::Attribute| match a.path().get_ident()?.to_string().as_str() {
                "wave_graph" => Some(Asker::WaveGraph),
                "kernel" => Some(Asker::Kernel),
                "device" => Some(Asker::Device),
                _ => None,
            };
            if let Some(asker) = attrs.iter().find_map(word) {
                self.seeds.push((asker, item.to_token_stream()));
                if asker != Asker::Kernel {
                    self.packages.push(quote! { {#item} {} });
                }
            } else if let Item::Mod(m) = item
                && let Some((_, items)) = &m.content
            {
                self.items(items);
            }
        }
    }

    fn folder(&mut self, path: &str) {
        let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(path).expect("the sources are there");
        let mut files: Vec<_> = files.map(|f| f.expect("a file").path()).collect();
        files.sort();
        for file in files {
            if file.extension().is_some_and(|e| e == "rs") {
                self.file(&std::fs::read_to_string(file).expect("a source"));
            }
        }
    }

    fn of_the_repository() -> Corpus {
        let mut all = Corpus::default();
        for folder in [
            "ui-tests/fail",
            "ui-tests/pass",
            "vyre/tests",
            "examples/examples",
            "examples/src",
        ] {
            all.folder(folder);
        }
        let page = include_str!("../../../../docs/LANGUAGE.md");
        let fenced = page.split("```").skip(1).step_by(2);
        for example in fenced.filter(|example| !example.starts_with("text")) {
            let source = example.split("# fn main").next().unwrap_or(example);
            all.file(&source.replace("\n# use", "\nuse"));
        }
        all
    }
}

/// What an expansion asks of another module, without the name: the input of `import!` but for the package.
fn asks(out: &TokenStream) -> Option<TokenStream> {
    let mut tokens = out.clone().into_iter();
    tokens.find(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '!'))?;
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(g)), None) => {
            // Not a `compile_error!`.
            let first = g.stream().into_iter().next();
            matches!(first, Some(TokenTree::Group(_))).then(|| g.stream())
        }
        _ => None,
    }
}

fn is_rust(item: &TokenStream) -> bool {
    syn::parse2::<Item>(item.clone()).is_ok()
}

/// A mutation that leaves an item of Rust's, most times.
fn mostly_rust(item: TokenStream, random: &mut impl FnMut(u32) -> u32) -> TokenStream {
    let mut mutated = mutate(item.clone(), random);
    for _ in 0..8 {
        if is_rust(&mutated) {
            break;
        }
        mutated = mutate(item.clone(), random);
    }
    mutated
}

/// Sources with more wrong in each after some tokens moved, whatever other modules hand to them. `VYRE_FUZZ` is the
/// number of times that each is taken.
#[test]
fn mutated_sources_panic_nowhere() {
    let corpus = Corpus::of_the_repository();
    let (seeds, packages) = (&corpus.seeds, &corpus.packages);
    assert!(seeds.len() > 250, "{}", seeds.len());
    let turns = std::env::var("VYRE_FUZZ").map_or(1, |n| n.parse().expect("a number"));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % u64::from(n)) as u32
    };
    let (mut rust, mut answered) = (0, 0);
    for _ in 0..turns {
        for (asker, seed) in seeds {
            let mut item = seed.clone();
            for _ in 0..random(4) {
                item = mostly_rust(item, &mut random);
            }
            let was_rust = is_rust(&item);
            let mut out = import::expand(*asker, TokenStream::new(), item);
            while let Some(question) = asks(&out) {
                let mut package = packages[random(packages.len() as u32) as usize].clone();
                if random(4) == 0 {
                    package = mutate(package, &mut random);
                }
                out = import::resume(quote! { {#package} #question });
                answered += 1;
            }
            if was_rust {
                rust += 1;
                syn::parse2::<syn::File>(out).expect("the expansion parses");
            }
        }
    }
    println!(
        "{} sources, {rust} of them Rust, {answered} answers of other modules",
        seeds.len() * turns
    );
}
