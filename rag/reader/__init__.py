"""Which sentences of the retrieved abstracts answer a question, and whether any does."""
