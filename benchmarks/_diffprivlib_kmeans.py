"""Time diffprivlib's KMeans; runs in an environment of its own and prints JSON."""

import json
import sys
import time
import warnings

import diffprivlib  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from diffprivlib.models import KMeans  # type: ignore[import-not-found,unused-ignore]

warnings.filterwarnings("ignore")

X = np.load(sys.argv[1])
n_clusters, repeats = int(sys.argv[2]), int(sys.argv[3])
times = []
for seed in range(repeats):
    start = time.perf_counter()
    KMeans(n_clusters, epsilon=1.0, bounds=(-1.0, 1.0), random_state=seed).fit(X)
    times.append(time.perf_counter() - start)
print(json.dumps({"version": diffprivlib.__version__, "seconds": min(times)}))
