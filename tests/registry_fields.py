"""The fields of the public registry of deployments, described for the tests: names, kinds, allowed values.

As published in github.com/opendp/deployments-registry-data (schemas/deployments-schema.yaml). A field is a
kind, a set of allowed values, or a mapping of fields; ``REQUIRED`` are those that an entry must have.
"""

import re
from datetime import date

TEXT, NUMBER, WORDS, DAY, ANY = "text", "number", "list of text", "day", "anything"

FIELDS = {
    "url_slug": TEXT,
    "status": {
        "Converted",
        "Draft",
        "Pending",
        "Changes Required",
        "Approved",
        "Approved (Update Requested)",
        "Approved (Pending)",
    },
    "tier": {1, 2, 3},
    "deployment": {
        "basic": {
            "name": TEXT,
            "data_curators": WORDS,
            "intended_use": TEXT,
            "data_product_type": {
                "Summary statistics",
                "Machine learning model",
                "Dataset",
                "Synthetic data",
                "Interactive API",
                "SQL queries",
            },
            "data_product_region": TEXT,
            "description": TEXT,
            "publication_date": DAY,
            "data_product_sector": {
                "Technology",
                "Healthcare",
                "Education",
                "Government",
                "Energy",
                "Finance",
            },
        },
        "dp_variant": {
            "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
            "data_domain": TEXT,
            "unprotected_quantities": TEXT,
        },
        "privacy_loss": {
            "privacy_unit": TEXT,
            "privacy_unit_details": TEXT,
            "privacy_parameters": {"epsilon": NUMBER, "delta": NUMBER, "rho": NUMBER},
            "privacy_parameters_details": ANY,
        },
        "deployment_model": {
            "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
            "model_name_details": TEXT,
            "actors": TEXT,
            "release_type": {"One release", "Many releases"},
            "release_type_details": TEXT,
            "data_source_type": {"Static", "Dynamic"},
            "data_source_type_details": ANY,
            "access_type": {"Interactive", "Non-interactive"},
            "access_type_details": TEXT,
        },
        "accounting": {"post_processing": TEXT, "composition": TEXT},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": TEXT,
            "mechanisms": TEXT,
            "justification": TEXT,
        },
        "administrative": {"sources": TEXT, "notes": TEXT, "registry_authors": WORDS},
    },
}

REQUIRED = {
    "": {"url_slug", "status", "tier", "deployment"},
    "deployment": {"basic"},
    "basic": set(FIELDS["deployment"]["basic"]) - {"data_product_sector"},
    "administrative": {"registry_authors"},
}


def complaints(entry, fields=FIELDS, name=""):
    """Return what is wrong with an entry."""
    if not isinstance(entry, dict):
        return [f"{name} is no mapping"]
    found = [f"{name}: no {field}" for field in REQUIRED.get(name, set()) - set(entry)]
    found += [f"{name}: unknown {field}" for field in set(entry) - set(fields)]
    for field in set(entry) & set(fields):
        found += _complaints_of(entry[field], fields[field], field)
    return found


def _complaints_of(value, wanted, name):
    if isinstance(wanted, dict):
        return complaints(value, wanted, name)
    if isinstance(wanted, set):
        right = type(value) in {str, int} and value in wanted
    elif wanted == WORDS:
        right = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
    elif wanted == NUMBER:
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
    else:
        right = wanted == ANY or isinstance(value, str)
    if wanted == DAY and right:
        right = bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)) and bool(date.fromisoformat(value))
    return [] if right else [f"{name} is {value!r}"]
