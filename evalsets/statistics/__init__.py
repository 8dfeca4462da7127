"""Intervals, paired tests, agreement and weighted rates; numpy is loaded only by what resamples."""

from evalsets.statistics.agreement import Agreement, Confusion, agreement, cohens_kappa
from evalsets.statistics.means import clustered_rate_interval, mean_interval
from evalsets.statistics.movement import Movement, PairedComparison, compare_means, compare_rates
from evalsets.statistics.paired import (
    discordance,
    holm,
    mcnemar_exact,
    mcnemar_mid_p,
    sign_flip_p,
)
from evalsets.statistics.power import smallest_detectable_drop
from evalsets.statistics.rates import Interval, clopper_pearson_interval, wilson_interval
from evalsets.statistics.student import t_quantile
from evalsets.statistics.trend import Trend, monotone_trend
from evalsets.statistics.weighted import WeightedRate, weighted_rate

bca_interval = mean_interval

__all__ = [
    "Agreement",
    "Confusion",
    "Interval",
    "Movement",
    "PairedComparison",
    "Trend",
    "WeightedRate",
    "agreement",
    "bca_interval",
    "clopper_pearson_interval",
    "clustered_rate_interval",
    "cohens_kappa",
    "compare_means",
    "compare_rates",
    "discordance",
    "holm",
    "mcnemar_exact",
    "mcnemar_mid_p",
    "mean_interval",
    "monotone_trend",
    "sign_flip_p",
    "smallest_detectable_drop",
    "t_quantile",
    "weighted_rate",
    "wilson_interval",
]
