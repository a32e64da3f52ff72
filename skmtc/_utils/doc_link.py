"""The link from the HTML display of an estimator to its page in the docs."""

from skmtc._version import project_urls


class DocLinkMixin:
    """Links to the page of an estimator as :doc:`api` makes them, if the docs have an address.

    The names of the three attributes are those that scikit-learn documents for developers.
    """

    _doc_link_module = "skmtc"

    @property
    def _doc_link_template(self):
        pages = project_urls().get("Documentation")
        return f"{pages}/generated/skmtc.{{estimator_name}}.html" if pages else ""

    def _doc_link_url_param_generator(self, estimator=None):
        return {"estimator_name": type(estimator or self).__name__}
