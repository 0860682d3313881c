//! Nothing: this package is here for its features and its tests.
