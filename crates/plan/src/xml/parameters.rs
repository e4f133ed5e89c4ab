//! From the parameters of a call to its arguments.

use std::borrow::Cow;

use interleaf_model::Json;
use serde_json::Value;

use super::tag::Tag;
use super::value;
use crate::calls::{CALL_TAGS, Shape};
use crate::exact;
use crate::schema::{Kinds, resolve};

/// A parameter as it is written.
pub(crate) struct Parameter<'t> {
    pub(super) name: Cow<'t, str>,
    pub(super) raw: Cow<'t, str>,
    pub(super) kind: Option<String>,
}

/// The arguments that parameters make, and whether one came twice with different values.
pub(crate) fn arguments(parameters: &[Parameter<'_>], shape: &Shape) -> (Json, bool) {
    let mut groups: Vec<(&str, Vec<&Parameter<'_>>)> = Vec::new();
    for parameter in parameters {
        let written = parameter.name.trim();
        let name = shape.property(written).unwrap_or(written);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(parameter),
            None => groups.push((name, vec![parameter])),
        }
    }
    let mut repeated = false;
    let values: Vec<(&str, Json)> = groups
        .into_iter()
        .map(|(name, group)| {
            (name, value_of(&group, shape.property_schema(name), shape, &mut repeated))
        })
        .collect();
    (exact::object(values.iter().map(|(name, value)| (*name, value))), repeated)
}

fn value_of(group: &[&Parameter<'_>], schema: &Value, shape: &Shape, repeated: &mut bool) -> Json {
    let root = &shape.schema;
    let read = |parameter: &Parameter<'_>, schema| {
        value::read(&parameter.raw, schema, root, parameter.kind.as_deref())
    };
    if let [only] = group {
        return read(only, schema);
    }
    let kinds = Kinds::allowed(schema, root);
    if kinds.contains(Kinds::ARRAY) && kinds != Kinds::ANY {
        let whole: Vec<Json> = group.iter().map(|parameter| read(parameter, schema)).collect();
        if let Some(lists) = whole.iter().map(exact::items).collect::<Option<Vec<_>>>() {
            return exact::array(lists.iter().flatten());
        }
        let items = resolve(schema, root).get("items").unwrap_or(&Value::Bool(true));
        let list: Vec<Json> = group.iter().map(|parameter| read(parameter, items)).collect();
        return exact::array(&list);
    }
    let mut values: Vec<Json> = group.iter().map(|parameter| read(parameter, schema)).collect();
    *repeated |= values.windows(2).any(|pair| !exact::is_same(&pair[0], &pair[1]));
    values.pop().unwrap_or_else(|| Json::from(Value::Null))
}

/// The attributes of a call's start tag that are parameters: of a tag such as `<invoke>`
/// those that the tool declares, of a tag named after the tool all of them.
pub(crate) fn of_attributes<'t>(tag: &Tag<'t>, shape: &Shape) -> Vec<Parameter<'t>> {
    let is_call_tag = tag.is_one_of(&CALL_TAGS);
    let is_meant = |name: &str| match is_call_tag {
        true => !name.eq_ignore_ascii_case("name") && shape.property(name).is_some(),
        false => !name.is_empty(),
    };
    let parameter = |(name, raw): &(&'t str, Cow<'t, str>)| Parameter {
        name: Cow::Borrowed(name),
        // It was decoded with the tag; a value is decoded when it is read.
        raw: Cow::Owned(raw.replace('&', "&amp;")),
        kind: None,
    };
    tag.attributes.iter().filter(|(name, _)| is_meant(name)).map(parameter).collect()
}
