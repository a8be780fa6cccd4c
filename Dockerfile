# The image of AgentHard: command line, Prefect worker and server, and the review application. Nothing runs as root.
# A release pins the base by digest: docker build --build-arg BASE=python:3.12-slim-bookworm@sha256:…
ARG BASE=python:3.12.11-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
COPY pyproject.toml requirements-dev.txt README.md LICENSE ./
COPY agenthard ./agenthard
COPY ace ./ace
COPY agency ./agency
COPY audit ./audit
COPY containment ./containment
COPY escape ./escape
COPY flows ./flows
COPY models ./models
COPY play ./play
COPY reports ./reports
COPY taxonomy ./taxonomy
RUN python -m venv /opt/agenthard
RUN /opt/agenthard/bin/python -m pip install --no-cache-dir --disable-pip-version-check --constraint requirements-dev.txt ".[otel,postgresql,urls]"
RUN /opt/agenthard/bin/python -m compileall -q -x solutions /opt/agenthard/lib

FROM ${BASE}
ENV PATH=/opt/agenthard/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/home/agenthard \
    AGENTHARD_HOME=/home/agenthard/data \
    PREFECT_HOME=/home/agenthard/prefect \
    PREFECT_SERVER_ANALYTICS_ENABLED=false \
    DO_NOT_TRACK=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
RUN groupadd --gid 10001 agenthard && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /home/agenthard --shell /usr/sbin/nologin agenthard
RUN mkdir -p /home/agenthard/data /home/agenthard/prefect /work && chown -R 10001:10001 /home/agenthard /work
COPY --from=build /opt/agenthard /opt/agenthard
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["agenthard"]
CMD ["--help"]
