"""Helpers of `recommend` and `similar_songs`: candidates, search, diversity, tables of results."""
