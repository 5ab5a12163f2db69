"""A report as text, Markdown, HTML, figures and the source paper's table; see the modules."""
