# The image of Transcript Receiver: Node 24, production dependencies, a non-root user, nothing written outside /data.
#
#   docker build -t transcript-receiver .
#
# BASE is where the image runs, BUILD_BASE where it is built; both need Node 24, the second npm as well. Any Debian-like
# base will do: CI builds over one made locally from Debian's packages.
ARG BUILD_BASE=docker.io/library/node:24-bookworm-slim
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BUILD_BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package of ours needs its install script; what does not run cannot do harm.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && rm -rf node_modules && npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Transcript Receiver" \
      org.opencontainers.image.description="The callback URL that never loses a transcript" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
# Where the embedded file store of the default configuration (file:./data) writes; a volume belongs here. Everything else may
# be read-only. A link and not a variable: TR_STORE_URL would win over the store.url of a mounted configuration.
RUN mkdir -p /data && chown 10001:10001 /data && ln -s /data data
# One malloc arena per thread, glibc's default, holds ten megabytes of nothing.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2
# A number, so that Kubernetes' runAsNonRoot can tell.
USER 10001:10001
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.TR_PORT || 8080}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1: no shell in between that would swallow SIGTERM, and the receiver starts no children to reap.
# The flags, which `npm start` has as well, keep memory small and flat: docs/performance.md, "Flags of Node".
ENTRYPOINT ["node", "--no-allocation-site-pretenuring", "--max-semi-space-size=8", "--expose-gc", "dist/main.js"]
CMD ["serve"]
