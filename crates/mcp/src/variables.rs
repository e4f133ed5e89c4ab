//! `${NAME}` in a setting stands for a variable of the environment.

use crate::SettingsError;

/// A text with its variables filled in. What is not there is an error that names the field.
pub(crate) fn filled(
    field: &str,
    text: &str,
    mut variable: impl FnMut(&str) -> Option<String>,
) -> Result<String, SettingsError> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            return Err(SettingsError::new(format!("`{field}`: a `${{` has no `}}`")));
        };
        let value = variable(name).ok_or_else(|| {
            SettingsError::new(format!("`{field}`: the variable {name} is not set"))
        })?;
        out.push_str(before);
        out.push_str(&value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// The names of the variables in a text.
pub(crate) fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

#[cfg(test)]
mod tests {
    use super::{filled, named};

    fn fill(text: &str) -> Result<String, String> {
        let variable = |name: &str| (name == "KEY").then(|| "a${b}".to_owned());
        filled("headers.Authorization", text, variable).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_are_filled_in_once() {
        assert_eq!(fill("Bearer ${KEY}!"), Ok("Bearer a${b}!".to_owned()));
        assert_eq!(fill("$KEY, $5"), Ok("$KEY, $5".to_owned()));
        assert_eq!(named("a${KEY}b${OTHER}${").collect::<Vec<_>>(), ["KEY", "OTHER"]);
    }

    #[test]
    fn what_is_missing_is_told_with_its_field() {
        let missing = "`headers.Authorization`: the variable NONE is not set";
        assert_eq!(fill("${NONE}"), Err(missing.to_owned()));
        assert_eq!(fill("${KEY"), Err("`headers.Authorization`: a `${` has no `}`".to_owned()));
    }
}
