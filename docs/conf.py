"""Sphinx configuration."""

import sys
from pathlib import Path

import skmtc
from skmtc._version import project_urls

sys.path.insert(0, str(Path(__file__).resolve().parent / "_extensions"))

project = "skmtc"
author = "The skmtc developers"
copyright = "2026, the skmtc developers"
version = release = skmtc.__version__

extensions = [
    "benchmark_tables",
    "matplotlib.sphinxext.plot_directive",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are shown without a network
    "numpydoc",
    "result_table",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "ignore_pattern": "benchmarks",
    "within_subsection_order": "gallery_order.place",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,  # the page of times loads scripts from the network
}
plot_formats = ["png"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_working_directory = str(Path(__file__).resolve().parent)  # figures read tables from here
exclude_patterns = ["_build", "paper"]
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "skmtc"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
# The landing page has cards instead, and the others have no pages below them.
PAGES_ALONE = ("index", "install", "audience", "benchmarks", "contributing", "policies", "changes")
html_sidebars = {page: [] for page in PAGES_ALONE}
html_theme_options = {"show_prev_next": True, "show_toc_level": 2}
if "Source" in project_urls():
    html_theme_options["github_url"] = project_urls()["Source"]

# A link within these pages that leads nowhere is an error. Other projects are named, not linked.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(sklearn|joblib|matplotlib|numpy|scipy|pandas)(\..*)?")]
