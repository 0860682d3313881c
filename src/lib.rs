#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod log;

pub mod event;

pub mod session;

pub mod projection;

pub mod wire;

pub mod interop;
