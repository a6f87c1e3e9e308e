"""Names of columns that tables of counts have."""

SETTING = ("setting", "settings", "basis", "bases")
OUTCOME = ("outcome", "outcomes", "bits", "bitstring")
COUNT = ("count", "counts", "n")
FREQUENCY = (
    *("frequency", "frequencies", "freq", "relative frequency", "relative_frequency"),
    *("probability", "probabilities", "prob", "p", "f"),
)
SHOTS = ("shots", "total", "n_shots", "nshots", "repetitions", "repeats")
CHANNEL = ("preparation", "prep", "prepared", "input", "input_state", "prepared_state", "preparation_setting")
