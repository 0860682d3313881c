//! Where tools and skills come from.

use serde::{Deserialize, Serialize};

/// Where a tool comes from, or what brought it in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ToolSource {
    /// The application's own.
    Builtin,
    /// A plugin.
    Plugin,
    /// A server that speaks the Model Context Protocol.
    Mcp,
    /// The model found it in the catalogue of what can be activated.
    Discovery,
    /// A person named it.
    Mention,
    /// A device that is connected.
    Device,
    /// Another name.
    Other(String),
}

impl ToolSource {
    /// Its name, as it stands in JSON.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin => "builtin",
            Self::Plugin => "plugin",
            Self::Mcp => "mcp",
            Self::Discovery => "discovery",
            Self::Mention => "mention",
            Self::Device => "device",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for ToolSource {
    fn from(name: String) -> Self {
        match name.as_str() {
            "builtin" => Self::Builtin,
            "plugin" => Self::Plugin,
            "mcp" => Self::Mcp,
            "discovery" => Self::Discovery,
            "mention" => Self::Mention,
            "device" => Self::Device,
            _ => Self::Other(name),
        }
    }
}

impl From<ToolSource> for String {
    fn from(source: ToolSource) -> Self {
        source.name().to_owned()
    }
}
