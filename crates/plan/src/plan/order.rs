//! An order in which dependencies come first, or the cycles that leave none.

use super::PlanStep;

/// The place of each step in that order; steps that could stand anywhere keep the order
/// of the file.
///
/// # Errors
/// One cycle for each knot of steps, each as the list of its steps.
pub(super) fn ranks(steps: &[PlanStep]) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    let mut removed = vec![false; steps.len()];
    let mut rank = vec![0; steps.len()];
    let mut next = 0;
    let mut cycles = Vec::new();
    loop {
        remove_free(steps, &mut removed, &mut rank, &mut next);
        let Some(cycle) = find_cycle(steps, &removed) else { break };
        // Without the steps of the cycle the rest can be looked at.
        for &at in &cycle {
            removed[at] = true;
        }
        cycles.push(cycle);
    }
    if cycles.is_empty() { Ok(rank) } else { Err(cycles) }
}

/// Takes out, and numbers, every step that waits for nothing that is left.
fn remove_free(steps: &[PlanStep], removed: &mut [bool], rank: &mut [usize], next: &mut usize) {
    let mut waits: Vec<usize> = steps
        .iter()
        .map(|step| step.depends_on.iter().filter(|&&needed| !removed[needed]).count())
        .collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for (at, step) in steps.iter().enumerate() {
        for &needed in &step.depends_on {
            needed_by[needed].push(at);
        }
    }
    let free = |at: &usize| !removed[*at] && waits[*at] == 0;
    let mut layer: Vec<usize> = (0..steps.len()).filter(free).collect();
    while !layer.is_empty() {
        let mut above = Vec::new();
        for at in layer {
            removed[at] = true;
            rank[at] = *next;
            *next += 1;
            for &waiting in &needed_by[at] {
                waits[waiting] -= 1;
                if waits[waiting] == 0 && !removed[waiting] {
                    above.push(waiting);
                }
            }
        }
        above.sort_unstable();
        layer = above;
    }
}

/// A cycle among the steps that are left: each of them waits for another that is left.
fn find_cycle(steps: &[PlanStep], removed: &[bool]) -> Option<Vec<usize>> {
    let mut at = removed.iter().position(|removed| !removed)?;
    let mut path: Vec<usize> = Vec::new();
    let mut seen = vec![false; steps.len()];
    while !std::mem::replace(&mut seen[at], true) {
        path.push(at);
        at = *steps[at].depends_on.iter().find(|&&needed| !removed[needed])?;
    }
    let start = path.iter().position(|&on_path| on_path == at)?;
    Some(path.split_off(start))
}
