# docker build -t nodefence:0.1.0 .                        controller: Redfish, cloud and Kubernetes agents
# docker build -t nodefence:0.1.0-full --target full .     the same with ipmitool, the ClusterLabs fence agents, what these call (ssh, snmpget), and what node daemons call: systemctl, sg_persist, mpathpersist
#
# No program runs because a ConfigMap names it: those of the folder that --programs names do, and the image has none there. In an image of your own:
#   FROM nodefence:0.1.0-full
#   COPY --chmod=0755 filer /opt/nodefence-programs/
#   RUN cp /usr/sbin/fence_netio /opt/nodefence-programs/
# and `--programs /opt/nodefence-programs` in the arguments of the Deployment or DaemonSet (docs/security.md).
#
# For another platform, docker buildx build --platform linux/arm64: what is built runs on the platform that builds; only target full runs programs of the other.
#
# Bases are pinned by tag; digests can be given: --build-arg BASE=node@sha256:... --build-arg NODE=node@sha256:... --build-arg RUNTIME=debian@sha256:...
# The same bases and SOURCE_DATE_EPOCH give the same image. `npm run image` builds and tries it without a registry of images (docs/image.md).
ARG BASE=node:24.21.0-bookworm-slim
ARG NODE=node:24.21.0-bookworm-slim
# Without npm, which nothing here runs.
ARG RUNTIME=debian:bookworm-slim

FROM --platform=$BUILDPLATFORM ${BASE} AS build
# Of the platform that the image is for; empty: of this one.
ARG TARGETARCH
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No script of a package runs.
RUN npm ci --ignore-scripts
COPY scripts/supply scripts/supply
COPY src src
COPY agents agents
# The clusters and devices that `nodefence drill` plays with are no part of the product.
RUN node scripts/supply/bundle.ts --product
# The runtime that comes as an optional package stays out: the base image has it.
RUN npm ci --ignore-scripts --omit=optional --omit=dev
RUN node scripts/supply/sbom.ts > sbom.cdx.json
# Packages keep what Node runs on this platform, and their licences.
RUN node scripts/supply/prune.ts node_modules $TARGETARCH

# Of the platform that the image is for, and so is all that follows: some engines forget it after a stage that names another.
FROM --platform=$TARGETPLATFORM ${NODE} AS node

FROM --platform=$TARGETPLATFORM ${RUNTIME} AS controller
WORKDIR /app
COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY LICENSE package.json ./
COPY --from=build /build/sbom.cdx.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
USER 65532:65532
EXPOSE 8080
# What is young and dies at once needs no 128 MB: of the memory of 5,000 nodes that was a third (docs/adr/0025-a-small-heap.md).
# The C library would keep what each of nine threads has freed for that thread alone: 10 MB.
ENV MALLOC_ARENA_MAX=1
ENTRYPOINT ["node", "--max-semi-space-size=2", "/app/dist/src/main.js"]
CMD ["controller"]

FROM controller AS full
# Lines of a sources.list of one moment, for exactly these packages once more: --build-arg APT_SOURCES='deb [check-valid-until=no] MIRROR/20261101T000000Z bookworm main'
ARG APT_SOURCES=
USER 0:0
# Pinned to the versions of Debian 12, with its security updates. Without its list of enterprise numbers ipmitool refuses to start, and ssh without a name for its user. What says when it was built goes.
RUN if [ -n "$APT_SOURCES" ]; then rm -rf /etc/apt/sources.list.d/* && printf '%s\n' "$APT_SOURCES" > /etc/apt/sources.list; fi \
  && apt-get update \
  && apt-get install -y --no-install-recommends ipmitool=1.8.19-* fence-agents=4.12.1-* openssh-client=1:9.2p1-* snmp=5.9.3+dfsg-* systemd=252.* sg3-utils=1.46-* multipath-tools=0.9.4-* \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/ldconfig/aux-cache /var/log/* /etc/machine-id /var/lib/systemd/catalog/database \
  && test -s /usr/share/misc/enterprise-numbers.txt \
  && echo 'nodefence:x:65532:65532::/nonexistent:/usr/sbin/nologin' >> /etc/passwd
USER 65532:65532

# What a build without --target makes.
FROM controller
