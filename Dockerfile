# syntax=docker/dockerfile:1
#
# Anvil in a container. There was no container engine where this file was written: it has not been built or run yet.
#
#   docker build -t anvil .
#   docker run --rm --init -p 127.0.0.1:7302:7302 -v anvil-data:/data anvil
#
# Started like that, Anvil uses its embedded defaults, and everything it knows (event log and read models) lies in the volume at /data: without a
# named volume it goes away with the container. With EVENTSTORE_URL and DATABASE_URL it uses your servers instead, see docker-compose.yml.
# Give it time to stop (docker stop --time 45): the embedded PostgreSQL is shut down in order.

FROM node:20-slim AS base
WORKDIR /app
ENV NPM_CONFIG_UPDATE_NOTIFIER=false
COPY package.json package-lock.json .npmrc ./

FROM base AS build
RUN npm ci --include=dev
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY src ./src
COPY projections ./projections
RUN npm run build

FROM base AS production-dependencies
# TypeScript comes along as an optional peer of the OpenAPI module, which needs it at build time alone.
RUN npm ci --omit=dev && rm -rf node_modules/typescript && npm cache clean --force

FROM node:20-slim
WORKDIR /app
ENV NODE_ENV=production \
    ANVIL_HOST=0.0.0.0 \
    ANVIL_PORT=7302 \
    ANVIL_DATA_DIR=/data
# The code belongs to root and the service runs as somebody else: it can write to its data and to nothing else.
RUN mkdir /data && chown node:node /data
COPY --from=production-dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
USER node
VOLUME /data
# HTTP only. The embedded stores stay on the loopback and in a socket inside the container.
EXPOSE 7302
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ANVIL_PORT}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Not through npm, which would stand between the service and the signal that ends it.
CMD ["node", "dist/src/main.js"]
