//! Generates objects that fit the schema of a CRD.

mod branches;
mod inputs;
mod pattern;
mod scalar;

pub(crate) use inputs::inputs;
#[cfg(feature = "envtest")]
pub(crate) use inputs::minimal;
