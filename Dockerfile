# The image of Transcript Receiver: Node 24, production dependencies, a non-root user, nothing written outside /data.
#
#   docker build -t transcript-receiver .
#
# BUILD_BASE is where it is built: Debian with Node 24 and npm. BASE is where it runs: Debian's C and C++ libraries and certificate
# authorities, without a shell or a package manager. Both are pinned by digest; CONTRIBUTING.md, "The base images", says how to move them.
# Any Debian-like pair will do: CI builds over two made locally from Debian's packages.
ARG BUILD_BASE=docker.io/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ARG BASE=gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f

FROM ${BUILD_BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package of ours needs its install script; what does not run cannot do harm.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && node scripts/sbom.mjs --with-node >sbom.cdx.json && rm -rf node_modules
# A third of what npm installs and the compiler writes is types, source maps and documentation, which no program loads.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && node scripts/prune-packages.mjs node_modules dist
# Where the embedded file store of the default configuration (file:./data) writes; a volume belongs here. Everything else may
# be read-only. A link and not a variable: TR_STORE_URL would win over the store.url of a mounted configuration.
# /cache holds the index of the ledger, which can be built again: a volume spares that after a restart, and without one memory does.
RUN mkdir -p /image/volume/data /image/volume/cache /image/links/app && ln -s /data /image/links/app/data

FROM ${BASE}
# What changes rarely comes first, so that a new version brings only its last layers.
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build --chown=10001:10001 /image/volume/ /
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /image/links/ /
COPY package.json LICENSE ./
COPY config ./config
COPY --from=build /app/sbom.cdx.json ./
COPY --from=build /app/dist ./dist
# One malloc arena per thread, glibc's default, holds ten megabytes of nothing.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 CACHE_DIRECTORY=/cache
# A number, so that Kubernetes' runAsNonRoot can tell.
USER 10001:10001
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
# The port is the receiver's own setting, from wherever that comes: the environment or a mounted configuration.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["/usr/local/bin/node", "-e", "import('/app/dist/config/load-settings.js').then((config) => fetch(`http://127.0.0.1:${config.loadSettings(process.env).tree.receiver.port}/healthz`)).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1: no shell in between that would swallow SIGTERM, and the receiver starts no children to reap.
# The flags, which `npm start` has as well, keep memory small and flat: docs/performance.md, "Flags of Node".
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=8", "--liftoff-only", "--expose-gc", "dist/main.js"]
CMD ["serve"]
# Last: they differ with every build, and must not keep the layers above from being the same.
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Transcript Receiver" \
      org.opencontainers.image.description="The callback URL that never loses a transcript" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
