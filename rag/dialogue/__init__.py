"""What a message means: its kind, what it points back to, and what it asks when it stands alone."""
