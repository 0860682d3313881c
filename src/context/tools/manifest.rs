//! What an application says of a group of tools that belong together.

use serde::Deserialize;

use super::source::ToolSource;
use crate::context::raw;
use crate::event::{Fields, Value};

/// A group of tools that are turned on and off together, such as those of one plugin or one server.
///
/// In JSON the names are camelCase: `identifier`, `type`, `source`, `title`, `description`, `systemRole`, `apis`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// What it is asked for by; any text that is not empty.
    pub identifier: String,
    /// The third part of its tools' names, where there is one: an application's own word for how they are run.
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
    /// Where it comes from, where that is known.
    #[serde(default)]
    pub source: Option<ToolSource>,
    /// What it is called on a screen.
    #[serde(default)]
    pub title: Option<String>,
    /// What it is good for, in a line or two.
    #[serde(default)]
    pub description: Option<String>,
    /// Instructions for the model. It reads them while these tools are on.
    #[serde(default)]
    pub system_role: Option<String>,
    /// The tools themselves. There may be none: instructions alone.
    #[serde(default)]
    pub apis: Vec<Api>,
}

/// One tool of a manifest: a function that the model may call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    /// Its name, unique in its manifest; any text that is not empty.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: Option<String>,
    /// The JSON Schema of its arguments; absent or null: it takes none.
    #[serde(default, deserialize_with = "raw::value")]
    pub parameters: Value,
}

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Nothing could ask for it.
    #[error("a manifest has an empty identifier")]
    EmptyIdentifier,
    /// A tool could not be called.
    #[error("manifest `{identifier}`: the API at place {index} has an empty name")]
    EmptyApiName {
        /// The manifest.
        identifier: String,
        /// The API's place, from 0.
        index: usize,
    },
    /// A call could mean either.
    #[error("manifest `{identifier}`: two APIs have the name `{name}`; each needs one of its own")]
    DuplicateApi {
        /// The manifest.
        identifier: String,
        /// The name.
        name: String,
    },
    /// What stands in the place of a schema is none.
    #[error("manifest `{identifier}`: the parameters of `{api}` are no JSON Schema: expected an object, found {found}")]
    Parameters {
        /// The manifest.
        identifier: String,
        /// The API.
        api: String,
        /// What stands there.
        found: String,
    },
    /// Another manifest before it has its identifier.
    #[error("two manifests have the identifier `{identifier}`; the first one counts")]
    Duplicate {
        /// The identifier.
        identifier: String,
    },
    /// It was asked for under another name than the one that it gives itself.
    #[error("asked for the manifest `{asked}`, got one that calls itself `{found}`")]
    OtherIdentifier {
        /// What was asked for.
        asked: String,
        /// What came.
        found: String,
    },
}

impl Manifest {
    /// A manifest without tools, to be filled in.
    #[must_use]
    pub fn new(identifier: impl Into<String>) -> Self {
        let (kind, source, title, description, system_role) = (None, None, None, None, None);
        Self { identifier: identifier.into(), kind, source, title, description, system_role, apis: Vec::new() }
    }

    /// Whether it can be used.
    ///
    /// # Errors
    /// The first thing that is wrong with it, of all of [`ManifestError`] but what concerns others beside it.
    pub fn check(&self) -> Result<(), ManifestError> {
        let identifier = || self.identifier.clone();
        if self.identifier.is_empty() {
            return Err(ManifestError::EmptyIdentifier);
        }
        let mut names = std::collections::BTreeSet::new();
        for (index, api) in self.apis.iter().enumerate() {
            if api.name.is_empty() {
                return Err(ManifestError::EmptyApiName { identifier: identifier(), index });
            }
            if !names.insert(api.name.as_str()) {
                return Err(ManifestError::DuplicateApi { identifier: identifier(), name: api.name.clone() });
            }
            if !matches!(api.parameters, Value::Map(_) | Value::Null) {
                let (api, found) = (api.name.clone(), api.parameters.found());
                return Err(ManifestError::Parameters { identifier: identifier(), api, found });
            }
        }
        Ok(())
    }
}

impl Api {
    /// A tool of this name that takes these arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: Some(description.into()), parameters }
    }

    /// The schema of its arguments, mended.
    pub(super) fn schema(&self) -> Value {
        match &self.parameters {
            Value::Null => super::schema::mended(&Value::Map(Fields::from([("type".to_owned(), "object".into())]))),
            parameters => super::schema::mended(parameters),
        }
    }
}
