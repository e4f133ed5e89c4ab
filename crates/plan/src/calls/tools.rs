//! The declared tools: found by name, however it is spelled.

use std::collections::HashMap;

use interleaf_model::{Tool, ToolName};
use serde_json::{Map, Value};

/// A tool as the reader sees it.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) name: ToolName,
    pub(crate) schema: Value,
}

/// The declared tools.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    shapes: Vec<Shape>,
    by_name: HashMap<ToolName, usize>,
    /// By the name without case, and with `_` for `-`: the tool, if it is the only one.
    by_case: HashMap<String, Option<usize>>,
    by_sound: HashMap<String, Option<usize>>,
}

/// No tool has a longer name, in bytes.
const LONGEST_NAME: usize = 512;

impl Tools {
    pub(super) fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let shape = |tool: &Tool| Shape {
            name: tool.name.clone(),
            schema: tool.parameters.as_ref().map_or_else(empty_schema, |own| own.to_value()),
        };
        let shapes: Vec<Shape> = tools.into_iter().map(shape).collect();
        let (mut by_name, mut by_case) = (HashMap::new(), HashMap::new());
        let mut by_sound = HashMap::new();
        for (i, shape) in shapes.iter().enumerate() {
            by_name.entry(shape.name.clone()).or_insert(i);
            let name = shape.name.as_str().to_ascii_lowercase();
            by_sound.entry(name.replace('-', "_")).and_modify(|own| *own = None).or_insert(Some(i));
            by_case.entry(name).and_modify(|own| *own = None).or_insert(Some(i));
        }
        Self { shapes, by_name, by_case, by_sound }
    }

    /// The tool, if there is one only.
    pub(super) fn only(&self) -> Option<&Shape> {
        match self.shapes.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The tool of exactly this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Shape> {
        self.by_name.get(name).map(|&i| &self.shapes[i])
    }

    /// The tool of this name, or of this name but for its case.
    pub(super) fn get_cased(&self, name: &str) -> Option<&Shape> {
        if name.len() > LONGEST_NAME {
            return None;
        }
        let cased = || self.by_case.get(&name.to_ascii_lowercase()).copied().flatten();
        self.get(name).or_else(|| cased().map(|i| &self.shapes[i]))
    }

    /// The tool that a name means: as it is written, but for its case, without a prefix
    /// such as `functions.`, or but for `-` and `_`.
    pub(super) fn find(&self, name: &str) -> Option<&Shape> {
        let name = name.trim();
        if name.len() > LONGEST_NAME {
            return None;
        }
        let unquoted = name.trim_matches(['"', '\'', '`']);
        if let Some(found) = self.get_cased(name).or_else(|| self.get_cased(unquoted)) {
            return Some(found);
        }
        let last = unquoted.rsplit(['.', ':', '/']).next().unwrap_or(unquoted);
        let prefix = &unquoted[..unquoted.len() - last.len()];
        let is_namespace =
            ["functions.", "function.", "tools.", "default_api.", "default_api:"].contains(&prefix);
        if is_namespace && let Some(found) = self.get_cased(last) {
            return Some(found);
        }
        let sound = unquoted.to_ascii_lowercase().replace('-', "_");
        self.by_sound.get(&sound).copied().flatten().map(|i| &self.shapes[i])
    }
}

fn empty_schema() -> Value {
    serde_json::json!({"type": "object", "properties": {}})
}

impl Shape {
    /// A tool of which only the name is known.
    pub(crate) fn unknown(name: &ToolName) -> Self {
        Self { name: name.clone(), schema: empty_schema() }
    }

    /// The declared property of this name: as it is written, or but for its case if that
    /// leaves one.
    pub(crate) fn property(&self, name: &str) -> Option<&str> {
        let declared = self.properties()?;
        if let Some((own, _)) = declared.get_key_value(name) {
            return Some(own);
        }
        let mut same = declared.keys().filter(|own| own.eq_ignore_ascii_case(name));
        same.next().filter(|_| same.next().is_none()).map(String::as_str)
    }

    /// The schema of a property; anything goes where there is none.
    pub(crate) fn property_schema(&self, name: &str) -> &Value {
        static ANYTHING: Value = Value::Bool(true);
        let own = self.properties().and_then(|declared| declared.get(name));
        own.or_else(|| self.resolved().get("additionalProperties")).unwrap_or(&ANYTHING)
    }

    pub(crate) fn properties(&self) -> Option<&Map<String, Value>> {
        self.resolved().get("properties")?.as_object()
    }

    fn resolved(&self) -> &Value {
        crate::schema::resolve(&self.schema, &self.schema)
    }
}
