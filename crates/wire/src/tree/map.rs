//! The fields of an object.

use smol_str::SmolStr;

use super::Value;

/// Up to this many fields are searched one by one.
const FEW: usize = 16;

type Field = (SmolStr, Value);

/// The fields of an object, in order. Of several of one name the last counts, in the place of
/// the first.
#[derive(Debug, Clone)]
pub(crate) struct Map(Fields);

#[derive(Debug, Clone)]
enum Fields {
    Few(Box<[Field]>),
    Many(Box<Many>),
}

#[derive(Debug, Clone)]
struct Many {
    fields: Box<[Field]>,
    /// The places of the fields, in the order of their names.
    by_name: Box<[usize]>,
}

impl Map {
    /// An object of these fields.
    pub(crate) fn of(mut fields: Vec<Field>) -> Self {
        if fields.len() <= FEW {
            let has_before = |i: usize| fields[..i].iter().any(|(name, _)| *name == fields[i].0);
            if (1..fields.len()).any(has_before) {
                keep_last(&mut fields);
            }
            return Self(Fields::Few(fields.into()));
        }
        let mut by_name = in_order(&fields);
        if !by_name.is_sorted_by(|a, b| fields[*a].0 < fields[*b].0) {
            keep_last(&mut fields);
            by_name = in_order(&fields);
        }
        Self(Fields::Many(Box::new(Many { fields: fields.into(), by_name: by_name.into() })))
    }

    fn fields(&self) -> &[Field] {
        match &self.0 {
            Fields::Few(fields) => fields,
            Fields::Many(many) => &many.fields,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let field = match &self.0 {
            Fields::Few(fields) => fields.iter().find(|(own, _)| own == name),
            Fields::Many(many) => {
                let own = |at: &usize| many.fields[*at].0.as_str();
                let found = many.by_name.binary_search_by(|at| own(at).cmp(name)).ok();
                found.map(|i| &many.fields[many.by_name[i]])
            }
        };
        field.map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.fields().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields().is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.into_iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }
}

/// The places of fields, in the order of their names; of one name, in their own order.
fn in_order(fields: &[Field]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by(|a, b| fields[*a].0.cmp(&fields[*b].0));
    order
}

/// Leaves one field of each name: the last, in the place of the first.
fn keep_last(fields: &mut Vec<Field>) {
    let by_name = in_order(fields);
    let same = by_name.chunk_by(|a, b| fields[*a].0 == fields[*b].0);
    let ends = same.filter_map(|places| Some((*places.first()?, *places.last()?)));
    let ends: Vec<(usize, usize)> = ends.collect();
    let mut is_first = vec![false; fields.len()];
    for (first, last) in ends {
        is_first[first] = true;
        let value = std::mem::replace(&mut fields[last].1, Value::Null);
        fields[first].1 = value;
    }
    let mut is_first = is_first.into_iter();
    fields.retain(|_| is_first.next().unwrap_or_default());
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a str, &'a Value);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, Field>, fn(&'a Field) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.fields().iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// Two objects are the same if they have the same fields, in whatever order.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}
