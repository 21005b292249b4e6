#!/bin/sh
# Makes an image of busybox and gives it to containerd: no registry is asked.
set -e
folder=$(mktemp -d)
mkdir -p "$folder/layer/bin" "$folder/image"
cp /bin/busybox "$folder/layer/bin/busybox"
for name in sh sleep; do ln -s busybox "$folder/layer/bin/$name"; done
tar -C "$folder/layer" -cf "$folder/image/layer.tar" .
sum=$(sha256sum "$folder/image/layer.tar" | cut -d' ' -f1)
cat > "$folder/image/config.json" <<END
{"architecture":"amd64","os":"linux","config":{"Cmd":["/bin/sleep","2147483"]},"rootfs":{"type":"layers","diff_ids":["sha256:$sum"]}}
END
echo "[{\"Config\":\"config.json\",\"RepoTags\":[\"$1\"],\"Layers\":[\"layer.tar\"]}]" > "$folder/image/manifest.json"
tar -C "$folder/image" -cf "$folder/image.tar" manifest.json config.json layer.tar
ctr -n k8s.io images import "$folder/image.tar"
rm -r "$folder"
