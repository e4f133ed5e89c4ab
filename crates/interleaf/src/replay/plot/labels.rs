//! Labels that stand at the right of what they name, and do not overlap.

/// How far apart the lines of two labels are at least.
const APART: f64 = 17.0;

/// Moves places apart, in their order, inside a stretch; each stays as near to where it was
/// as it can.
pub(super) fn spread(places: &[f64], (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let mut moved: Vec<f64> = order.iter().map(|&i| places[i]).collect();
    // Neighbours that are too near share a place, half above and half below their mean.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for &place in &moved {
        groups.push((place, 1));
        while let [.., (above, n), (below, m)] = groups.as_slice() {
            let (above, n, below, m) = (*above, *n, *below, *m);
            let ends = above + (n as f64 - 1.0) / 2.0 * APART;
            let begins = below - (m as f64 - 1.0) / 2.0 * APART;
            if begins - ends >= APART {
                break;
            }
            groups.truncate(groups.len() - 2);
            let mean = (above * n as f64 + below * m as f64) / (n + m) as f64;
            groups.push((mean, n + m));
        }
    }
    let mut index = 0;
    for (mean, n) in groups {
        for i in 0..n {
            moved[index] = mean + (i as f64 - (n as f64 - 1.0) / 2.0) * APART;
            index += 1;
        }
    }
    for i in 0..moved.len() {
        let least = if i == 0 { top } else { moved[i - 1] + APART };
        moved[i] = moved[i].max(least);
    }
    for i in (0..moved.len()).rev() {
        let most = if i + 1 == moved.len() { bottom } else { moved[i + 1] - APART };
        moved[i] = moved[i].min(most);
    }
    let mut spread = vec![0.0; places.len()];
    order.into_iter().zip(moved).for_each(|(i, place)| spread[i] = place);
    spread
}
