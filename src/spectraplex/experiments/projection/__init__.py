"""The paper's remark: a projection-based method whose projections are done by rank-one steps."""
