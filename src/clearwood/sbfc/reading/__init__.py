"""Feature graphs as pictures, tables and pages."""
