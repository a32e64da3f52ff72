"""Judging: functions of arrays; none of them takes a model."""

from skmtc.metrics._auc import auc_score

__all__ = ["auc_score"]
