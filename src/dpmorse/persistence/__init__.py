"""Model files: released values as JSON, every field checked when it is read back."""

from dpmorse.persistence.critical_points import critical_points_from_dict as critical_points_from_dict
from dpmorse.persistence.critical_points import critical_points_to_dict as critical_points_to_dict
from dpmorse.persistence.documents import domain_from_dict as domain_from_dict
from dpmorse.persistence.documents import domain_to_dict as domain_to_dict
from dpmorse.persistence.documents import mixture_from_dict as mixture_from_dict
from dpmorse.persistence.documents import mixture_to_dict as mixture_to_dict
from dpmorse.persistence.documents import privacy_from_dict as privacy_from_dict
from dpmorse.persistence.documents import privacy_to_dict as privacy_to_dict
from dpmorse.persistence.model_file import read_document as read_document
from dpmorse.persistence.model_file import write_document as write_document
