//! 'Did you mean …?' and lists of what is allowed.

/// The candidate that `word` most likely is a misspelling of.
pub(super) fn nearest<'word>(
    word: &str,
    candidates: impl IntoIterator<Item = &'word str>,
) -> Option<&'word str> {
    let tolerance = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (edits(&normalized(word), &normalized(candidate)), candidate))
        .filter(|&(distance, _)| distance <= tolerance)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// `did you mean "x"?` where there is a near miss, else `give one of …`.
pub(super) fn remedy(word: &str, candidates: &[&str], quote: &str) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean {quote}{candidate}{quote}?"),
        None => format!("give {}", one_of(candidates, quote)),
    }
}

/// `one of a, b, c`, or the only one.
pub(super) fn one_of(candidates: &[&str], quote: &str) -> String {
    let quoted: Vec<_> =
        candidates.iter().map(|candidate| format!("{quote}{candidate}{quote}")).collect();
    match quoted.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

/// Other scene formats write `bend_distance` or `bendDistance`.
fn normalized(word: &str) -> Vec<char> {
    word.chars()
        .filter(|character| !matches!(character, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Letters inserted, left out, replaced or swapped with their neighbor (the distance of
/// optimal string alignment). A misspelled word is short: only that much of it is compared.
fn edits(from: &[char], to: &[char]) -> usize {
    const LONGEST: usize = 64;
    let (from, to) = (&from[..from.len().min(LONGEST)], &to[..to.len().min(LONGEST)]);
    let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
    table[0] = (0..=to.len()).collect();
    for i in 1..=from.len() {
        table[i][0] = i;
        for j in 1..=to.len() {
            let replaced = table[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let swaps = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            let swapped = if swaps { table[i - 2][j - 2] + 1 } else { usize::MAX };
            table[i][j] = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1).min(swapped);
        }
    }
    table[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let keys = ["stiffness", "compliance", "bend-distance", "dt"];
        assert_eq!(nearest("stifness", keys), Some("stiffness"));
        assert_eq!(nearest("bendDistance", keys), Some("bend-distance"));
        assert_eq!(nearest("bend_distance", keys), Some("bend-distance"));
        assert_eq!(nearest("Dt", keys), Some("dt"));
        assert_eq!(nearest("color", keys), None);
        assert_eq!(nearest("", keys), None);
    }

    #[test]
    fn edits_counts_what_fingers_do_wrong() {
        let distance = |a: &str, b: &str| edits(&normalized(a), &normalized(b));
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("gird", "grid"), 1);
    }
}
