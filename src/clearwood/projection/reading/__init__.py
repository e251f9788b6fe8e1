"""What people read of projections: scores beside the reference's, sections of pages."""
