//! Which patterns are subsequences of a text.

use vyre::prelude::*;

#[wave_graph(deterministic)]
#[pass(id = "a.subsequences", unproven)]
pub mod subsequences {
    #[include(key = letter, value = place, values = places, n = n, after(spell))]
    use vyre_standard::sort_by_key as sort;
    #[include(key = letter, count = many, n = n, bins = 256, after(spell))]
    use vyre_standard::histogram as counts;
    #[include(value = many, scanned = first, n = 256, after(counts))]
    use vyre_standard::exclusive_scan as scan;

    pub struct Data {
        #[input(per = n)] text: u8,
        #[topology] patterns: u32,
        #[topology(per = patterns)] pattern: Rows<u8>,
        #[scratch(per = n)] letter: u32,
        #[scratch(per = n)] place: u32,
        /// Where each letter stands in the text, letter by letter.
        #[scratch(per = n)] places: u32,
        #[scratch(per = 256)] many: u32,
        #[scratch(per = 256)] first: u32,
        #[output(per = patterns)] found: bool,
        #[output(per = patterns)] prefix: u32,
        /// The place of each letter of a pattern in its first embedding.
        #[output(per = row(pattern), init = u32::MAX)] at: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn spell(i: Index, text: &u8, letter: &mut u32, place: &mut u32) {
        *letter = u32::from(*text);
        *place = i;
    }

    #[wave(range(patterns), after(sort, scan))]
    fn look(
        pattern: &Row<u8>, places: &Buf<u32>, many: &Buf<u32>, first: &Buf<u32>,
        found: &mut bool, prefix: &mut u32, at: &mut Row<u32>,
    ) {
        let mut from = 0;
        let mut len = 0;
        for c in pattern {
            let c = u32::from(c);
            let end = first[c] + many[c];
            let (mut low, mut high) = (first[c], end);
            while low < high {
                let mid = low + (high - low) / 2;
                if places[mid] < from {
                    low = mid + 1;
                } else {
                    high = mid;
                }
            }
            if low == end {
                break;
            }
            at[len] = places[low];
            from = places[low] + 1;
            len += 1;
        }
        *prefix = len;
        *found = len == pattern.len();
    }
}

use crate::common::{Res, Rng, Settings, measure, say};

fn check(runtime: &Runtime, text: &[u8], patterns: &[Vec<u8>], settings: Option<&Settings>) -> Res<bool> {
    let pattern = Rows::from_rows(patterns)?;
    let topology = subsequences::Topology { patterns: patterns.len() as u32, pattern: &pattern };
    let mut session = subsequences::Session::new(runtime, topology)?;
    let run = subsequences::Run { text, n: text.len() as u32 };
    let once = Settings::once();
    let (out, times) = measure(&mut session, settings.unwrap_or(&once), |s, out| s.run_into(run, out).map(|()| out.report.clone()))?;
    let mut found = Vec::new();
    let mut prefix = Vec::new();
    let mut at = Vec::new();
    for p in patterns {
        let mut places = Vec::new();
        for (i, &c) in text.iter().enumerate() {
            if places.len() < p.len() && p[places.len()] == c {
                places.push(i as u32);
            }
        }
        found.push(places.len() == p.len());
        prefix.push(places.len() as u32);
        places.resize(p.len(), u32::MAX);
        at.extend(places);
    }
    let ok = out.found == found && out.prefix == prefix && out.at == at;
    let yes = found.iter().filter(|&&f| f).count();
    if settings.is_some() {
        let what = format!("{} bytes, {} patterns, {yes} found", text.len(), patterns.len());
        say("subseq", &what, &times, &out.report, ok);
    } else if !ok {
        println!("subseq WRONG for {} bytes, {} patterns", text.len(), patterns.len());
    }
    Ok(ok)
}

fn case(runtime: &Runtime, r: &mut Rng, shape: (u32, u32, u32, u32), settings: Option<&Settings>) -> Res<bool> {
    let (n, many, letters, longest) = shape;
    let text: Vec<u8> = (0..n).map(|_| (r.below(letters) * 255 / letters.max(2).saturating_sub(1).max(1)).min(255) as u8).collect();
    let patterns: Vec<Vec<u8>> = (0..many)
        .map(|_| {
            let len = r.below(longest + 1);
            let take = r.below(2) == 0 && n > 0;
            (0..len)
                .map(|_| if take { text[r.below(n) as usize] } else { (r.below(letters + 1) * 255 / letters) as u8 })
                .collect()
        })
        .collect();
    check(runtime, &text, &patterns, settings)
}

pub fn small(runtime: &Runtime, r: &mut Rng) -> Res<bool> {
    let mut ok = true;
    for shape in [(0, 0, 4, 3), (0, 5, 4, 3), (1, 9, 1, 2), (50, 0, 4, 3), (50, 100, 3, 30), (1000, 300, 26, 60), (5000, 1000, 256, 40), (20_000, 200, 4, 8000)] {
        ok &= case(runtime, r, shape, None)?;
    }
    Ok(ok)
}

pub fn large(runtime: &Runtime, settings: &Settings, r: &mut Rng) -> Res<bool> {
    let n = settings.size.unwrap_or(800_000) as u32;
    case(runtime, r, (n, 2_000, 26, 60), Some(settings))
}
