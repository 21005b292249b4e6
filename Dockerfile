# docker build -t nodefence:0.1.0 .                        controller: Redfish and Kubernetes agents
# docker build -t nodefence:0.1.0-full --target full .     the same with ipmitool, the ClusterLabs fence agents, and what node daemons call: systemctl, sg_persist, mpathpersist
#
# No program runs because a ConfigMap names it: those of the folder that --programs names do, and the image has none there. In an image of your own:
#   FROM nodefence:0.1.0-full
#   COPY --chmod=0755 filer /opt/nodefence-programs/
#   RUN cp /usr/sbin/fence_netio /opt/nodefence-programs/
# and `--programs /opt/nodefence-programs` in the arguments of the Deployment or DaemonSet (docs/security.md).
#
# The base is pinned by tag, to the Node that the tests run under; a digest can be given: --build-arg BASE=node@sha256:...
ARG BASE=node:24.21.0-bookworm-slim

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No script of a package runs, and the runtime that comes as an optional package stays out: the base image has it.
RUN npm ci --ignore-scripts --omit=optional
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY agents agents
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json --declaration false
RUN npm ci --ignore-scripts --omit=optional --omit=dev

FROM ${BASE} AS controller
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["node", "/app/dist/src/main.js"]
CMD ["controller"]

FROM controller AS full
USER 0:0
# Without its list of enterprise numbers ipmitool refuses to start.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ipmitool fence-agents systemd sg3-utils multipath-tools \
  && rm -rf /var/lib/apt/lists/* \
  && test -s /usr/share/misc/enterprise-numbers.txt
USER 65532:65532

# What a build without --target makes.
FROM controller
