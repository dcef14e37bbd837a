"""The page: a chat over the abstracts, its sources beside it, and the same answers for scripts."""

import os

# Gradio reads it when it is imported, and would otherwise report that import to an outside host.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
