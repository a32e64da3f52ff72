"""Build backend: setuptools, with everything that the repository holds in the sdist.

setuptools looks for the list of these files in MANIFEST.in, at the top level, which is for what
users look for. Here the list is `.ci/sdist.in`, in the same language.
"""

from setuptools.build_meta import *  # noqa: F403
from setuptools.command.egg_info import egg_info, manifest_maker

manifest_maker.template = ".ci/sdist.in"
# setuptools would write setup.cfg of the sdist anew, without comments, to fix a version with a tag.
egg_info.save_version_info = lambda *_: None
