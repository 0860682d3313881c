//! The manifests that an application knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::manifest::{Manifest, ManifestError};

/// The manifests that an application knows, each under its identifier.
///
/// One that is wrong does not spoil the others: it is set aside, and whoever asks for it is told why.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    manifests: Vec<Arc<Manifest>>,
    places: BTreeMap<String, Result<usize, ManifestError>>,
    refused: Vec<ManifestError>,
}

impl Catalogue {
    /// A catalogue of these, in their order. Of two with one identifier the first counts.
    #[must_use]
    pub fn new(manifests: impl IntoIterator<Item = Manifest>) -> Self {
        let mut catalogue = Self::default();
        for manifest in manifests {
            let identifier = manifest.identifier.clone();
            let place = match manifest.check() {
                _ if catalogue.places.contains_key(&identifier) => {
                    catalogue.refused.push(ManifestError::Duplicate { identifier });
                    continue;
                }
                Ok(()) => {
                    catalogue.manifests.push(Arc::new(manifest));
                    Ok(catalogue.manifests.len() - 1)
                }
                Err(error) => {
                    catalogue.refused.push(error.clone());
                    Err(error)
                }
            };
            catalogue.places.insert(identifier, place);
        }
        catalogue
    }

    /// The manifest of this identifier; none if there is none.
    ///
    /// # Errors
    /// What is wrong with it, where it was set aside.
    pub fn find(&self, identifier: &str) -> Result<Option<&Arc<Manifest>>, &ManifestError> {
        match self.places.get(identifier) {
            Some(Ok(place)) => Ok(self.manifests.get(*place)),
            Some(Err(error)) => Err(error),
            None => Ok(None),
        }
    }

    /// All that can be used, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Manifest>> {
        self.manifests.iter()
    }

    /// Why manifests were set aside, in their order.
    #[must_use]
    pub fn refused(&self) -> &[ManifestError] {
        &self.refused
    }
}
