//! An order in which dependencies come first, or the cycles that leave none.
//!
//! Every dependency is looked at a fixed number of times, however the steps depend on each other:
//! a plan is read in a time that grows as its text does.

use super::PlanStep;

/// The place of each step in that order; steps that could stand anywhere keep the order
/// of the file.
///
/// # Errors
/// One cycle for each knot of steps, each as the list of its steps.
pub(super) fn ranks(steps: &[PlanStep]) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    Sorting::of(steps).run()
}

/// Steps that are taken out one after the other, those that wait for nothing first.
struct Sorting<'p> {
    steps: &'p [PlanStep],
    needed_by: Vec<Vec<usize>>,
    /// How many steps that are left each one waits for.
    waits: Vec<usize>,
    removed: Vec<bool>,
    rank: Vec<usize>,
    next: usize,
    /// How many dependencies were looked at.
    visits: usize,
}

/// A way along the first dependency that is left, from step to step.
struct Way {
    path: Vec<usize>,
    on_path: Vec<bool>,
    /// For each step, how many of its first dependencies are gone.
    gone: Vec<usize>,
    /// All steps before this one are gone.
    first: usize,
}

impl<'p> Sorting<'p> {
    fn of(steps: &'p [PlanStep]) -> Self {
        let n = steps.len();
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (at, step) in steps.iter().enumerate() {
            step.depends_on.iter().for_each(|&needed| needed_by[needed].push(at));
        }
        let waits = steps.iter().map(|step| step.depends_on.len()).collect();
        let (removed, rank) = (vec![false; n], vec![0; n]);
        Self { steps, needed_by, waits, removed, rank, next: 0, visits: 0 }
    }

    fn run(&mut self) -> Result<Vec<usize>, Vec<Vec<usize>>> {
        let free = |at: &usize| self.waits[*at] == 0;
        let layer = (0..self.steps.len()).filter(free).collect();
        self.remove_free(layer);
        let n = self.steps.len();
        let (on_path, gone) = (vec![false; n], vec![0; n]);
        let mut way = Way { path: Vec::new(), on_path, gone, first: 0 };
        let mut cycles = Vec::new();
        while let Some(cycle) = self.find_cycle(&mut way) {
            // Without the steps of the cycle the rest can be looked at.
            let mut free = Vec::new();
            for &at in &cycle {
                self.removed[at] = true;
            }
            for &at in &cycle {
                self.leave(at, &mut free);
            }
            free.sort_unstable();
            self.remove_free(free);
            cycles.push(cycle);
        }
        if cycles.is_empty() { Ok(std::mem::take(&mut self.rank)) } else { Err(cycles) }
    }

    /// Takes out, and numbers, steps that wait for nothing, and all that then waits for nothing.
    fn remove_free(&mut self, mut layer: Vec<usize>) {
        while !layer.is_empty() {
            let mut above = Vec::new();
            for at in layer {
                self.removed[at] = true;
                self.rank[at] = self.next;
                self.next += 1;
                self.leave(at, &mut above);
            }
            above.sort_unstable();
            layer = above;
        }
    }

    /// Tells those that wait for a step that it is gone; gives those that wait for nothing now.
    fn leave(&mut self, at: usize, free: &mut Vec<usize>) {
        for &waiting in &self.needed_by[at] {
            self.visits += 1;
            self.waits[waiting] -= 1;
            if self.waits[waiting] == 0 && !self.removed[waiting] {
                free.push(waiting);
            }
        }
    }

    /// A cycle among the steps that are left: each of them waits for another that is left. The way
    /// up to a cycle that was found is gone on from, for it would be gone again.
    fn find_cycle(&mut self, way: &mut Way) -> Option<Vec<usize>> {
        while let Some(at) = way.path.pop_if(|at| self.removed[*at]) {
            way.on_path[at] = false;
        }
        if way.path.is_empty() {
            let left = |at: &usize| !self.removed[*at];
            way.first = (way.first..self.steps.len()).find(left)?;
            way.path.push(way.first);
            way.on_path[way.first] = true;
        }
        loop {
            let at = *way.path.last()?;
            let needed = loop {
                let needed = *self.steps[at].depends_on.get(way.gone[at])?;
                self.visits += 1;
                if !self.removed[needed] {
                    break needed;
                }
                way.gone[at] += 1;
            };
            if way.on_path[needed] {
                let start = way.path.iter().rposition(|&on_path| on_path == needed)?;
                return Some(way.path.split_off(start));
            }
            way.path.push(needed);
            way.on_path[needed] = true;
        }
    }
}

/// For each step, those of its dependencies that lead to all of them: what the last of them
/// depends on itself is left out. If each step depends on all before it, one is left of each.
pub(super) fn leading(steps: &[PlanStep], rank: &[usize]) -> Vec<Vec<usize>> {
    let ordered = steps.iter().map(|step| {
        let mut needed = step.depends_on.clone();
        needed.sort_unstable_by_key(|&at| rank[at]);
        needed
    });
    let ordered: Vec<Vec<usize>> = ordered.collect();
    let leading = |needed: &Vec<usize>| {
        let Some(&last) = needed.last() else { return Vec::new() };
        let known = &ordered[last];
        let is_known =
            |at: &usize| known.binary_search_by_key(&rank[*at], |&other| rank[other]).is_ok();
        needed.iter().copied().filter(|at| !is_known(at)).collect()
    };
    ordered.iter().map(leading).collect()
}

#[cfg(test)]
mod tests {
    use interleaf_model::ToolName;

    use super::super::StepId;
    use super::*;

    fn steps(needs: impl IntoIterator<Item = Vec<usize>>) -> Vec<PlanStep> {
        let step = |(at, depends_on): (usize, Vec<usize>)| PlanStep {
            id: StepId::new(at.to_string()),
            tool: ToolName::new("t"),
            reason: String::new(),
            depends_on,
            draft: None,
        };
        needs.into_iter().enumerate().map(step).collect()
    }

    fn visits(steps: &[PlanStep]) -> (usize, usize) {
        let mut sorting = Sorting::of(steps);
        let cycles = sorting.run().err().map_or(0, |cycles| cycles.len());
        (cycles, sorting.visits)
    }

    #[test]
    fn each_dependency_is_looked_at_a_fixed_number_of_times_in_plans_of_any_shape() {
        let n = 300;
        let shapes = [
            ("each on all before it", 0, steps((0..n).map(|at| (0..at).collect()))),
            ("a chain", 0, steps((0..n).map(|at| (0..at).last().into_iter().collect()))),
            ("each on itself", n, steps((0..n).map(|at| vec![at]))),
            ("each on all", n, steps((0..n).map(|at| (0..n).skip(at).chain(0..at).collect()))),
            ("pairs", n / 2, steps((0..n).map(|at| vec![at ^ 1]))),
            // From the first step the way leads through all, to a pair at the end.
            (
                "a long way to each cycle",
                n / 2,
                steps((0..n).map(|at| match at % 2 {
                    0 if at + 2 < n => vec![at + 2, at + 1],
                    0 => vec![at + 1],
                    _ => vec![at - 1],
                })),
            ),
        ];
        for (name, n_cycles, steps) in shapes {
            let edges: usize = steps.iter().map(|step| step.depends_on.len()).sum();
            let (cycles, visits) = visits(&steps);
            assert_eq!(cycles, n_cycles, "{name}");
            assert!(visits <= 2 * edges + steps.len() + cycles, "{name}: {visits} of {edges}");
        }
    }

    #[test]
    fn one_dependency_leads_to_all_if_each_step_depends_on_all_before_it() {
        let steps = steps((0..300).map(|at| (0..at).rev().collect()));
        let leading = leading(&steps, &ranks(&steps).unwrap());
        assert!(leading.iter().skip(1).all(|needed| needed.len() == 1));
        assert_eq!(leading[7], [6]);
    }
}
