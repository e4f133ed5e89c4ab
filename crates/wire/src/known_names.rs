//! Which names a list of fields has.

use std::collections::HashSet;

/// Up to this many fields are looked at one by one.
const FEW: usize = 16;

/// The names of a list of fields that grows: whether one is there is found without looking at
/// all of them. While there are few, nothing is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownNames(HashSet<Box<str>>);

impl KnownNames {
    /// Whether the list, which has these names, has this one. It is added to the list next.
    pub(crate) fn add<'n>(
        &mut self,
        name: &str,
        mut list: impl ExactSizeIterator<Item = &'n str>,
    ) -> bool {
        if list.len() <= FEW {
            return list.any(|known| known == name);
        }
        // Fields may have been taken off the list since.
        if self.0.len() != list.len() {
            self.0 = list.map(Box::from).collect();
        }
        !self.0.insert(name.into())
    }
}

/// They follow from the list.
impl PartialEq for KnownNames {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::KnownNames;

    #[test]
    fn fields_are_looked_at_a_few_times_each_however_many_there_are() {
        for n in [100, 10_000] {
            let looked_at = Cell::new(0);
            let (mut known, mut list) = (KnownNames::default(), Vec::<String>::new());
            for i in 0..n {
                let name = format!("field{i}");
                let names = list.iter().inspect(|_| looked_at.set(looked_at.get() + 1));
                assert!(!known.add(&name, names.map(String::as_str)));
                list.push(name);
            }
            assert!(known.add("field0", list.iter().map(String::as_str)));
            assert!(looked_at.get() <= 200, "{n}: {}", looked_at.get());
        }
    }

    #[test]
    fn a_field_that_was_taken_off_the_list_is_not_known() {
        let (mut known, mut list) = (KnownNames::default(), Vec::<String>::new());
        for i in 0..40 {
            known.add(&format!("field{i}"), list.iter().map(String::as_str));
            list.push(format!("field{i}"));
        }
        list.remove(7);
        assert!(!known.add("field7", list.iter().map(String::as_str)));
        list.push("field7".to_owned());
        assert!(known.add("field7", list.iter().map(String::as_str)));
        assert!(known.add("field8", list.iter().map(String::as_str)));
    }
}
