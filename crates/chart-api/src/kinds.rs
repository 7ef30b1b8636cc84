//! The kinds of objects that a chart renders, over the branches of its templates.
