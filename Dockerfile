# The command line, from this checkout: docker build -t dpmorse . && docker run --rm -v "$PWD:/data" dpmorse --help
FROM python:3.13-slim
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir '/source[excel,plot]'
# Whoever runs it says as whom: docker run --user "$(id -u):$(id -g)" writes files that are their own.
ENV NUMBA_CACHE_DIR=/tmp/numba MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
USER 1000
ENTRYPOINT ["dpmorse"]
