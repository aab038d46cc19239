# The gateway, as it is published: dist/ with the portal, schema/, @informerql/controller and what they need at run time.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/client/package.json packages/client/
COPY packages/controller/package.json packages/controller/
COPY packages/portal/package.json packages/portal/
COPY tools/node/package.json tools/node/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json tsconfig.examples.json .oxfmtrc.json ./
COPY src/ src/
COPY schema/ schema/
COPY scenario/ scenario/
COPY examples/ examples/
COPY tools/build.ts tools/
COPY tools/wire-types/ tools/wire-types/
COPY packages/controller/ packages/controller/
RUN npm run build:gateway
COPY packages/portal/ packages/portal/
RUN npm run build --workspace @informerql/portal

# The Node binary that the repository pins for itself is optional: this image has its own.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/client/package.json packages/client/
COPY packages/controller/package.json packages/controller/
COPY packages/portal/package.json packages/portal/
COPY tools/node/package.json tools/node/
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules/ node_modules/
COPY --from=build /app/dist/ dist/
COPY --from=build /app/packages/controller/dist/ packages/controller/dist/
COPY --from=build /app/packages/controller/schema/ packages/controller/schema/
COPY --from=build /app/packages/controller/scenario/ packages/controller/scenario/
COPY packages/controller/package.json packages/controller/
COPY package.json LICENSE NOTICE ./
COPY schema/ schema/
# The user `node` of the image, by its number: so that it can be told that it is not root.
USER 1000:1000
EXPOSE 4000
# It asks without TLS, then with it. Where the configuration names another port, give INFORMERQL_SERVER_PORT too.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "dist/command/health-check.js"]
# The heap, from which the gateway's bounds follow, is a part of the container's memory. The chart has another command and the same in
# MiB in NODE_OPTIONS, which this flag would overrule.
ENTRYPOINT ["node", "--max-old-space-size-percentage=60", "--max-semi-space-size=16", "dist/main.js"]
CMD ["serve"]
