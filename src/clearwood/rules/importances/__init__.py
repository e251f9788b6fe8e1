"""What matters to rules, beside what matters to the model that they speak for."""
