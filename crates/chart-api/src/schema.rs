//! The schema of a chart's values, as that of a CRD.
