"""Rules for survival: lists and trees whose predictions are Kaplan-Meier curves."""
