import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KUBELET, KUBELET_FLAGS, NETWORK, NODE_NAME, PAUSE_IMAGE, runtimeConfiguration, serviceRules } from './node-files.ts';
import { until } from './steps.ts';
import type { Stage } from './steps.ts';

const IMPORT_MS = 600_000;
const STARTED_MS = 120_000;
const READY_MS = 300_000;
const MAKE_IMAGE = join(import.meta.dirname, '..', 'machine', 'guest', 'make-image.sh');

/** containerd with the images, a kubelet and a scheduler, which end with the node; resolves when the Node is Ready. `folder`: for what they keep. */
export async function installNode(stage: Stage, folder: string, programs: string, image: string): Promise<void> {
  const { node, plane, tell } = stage;
  await node.sh('cat > /etc/cni/net.d/10-pods.conflist', undefined, NETWORK);
  await node.sh('nft -f -', undefined, serviceRules(plane.server));
  const configuration = join(folder, 'containerd.toml');
  writeFileSync(configuration, runtimeConfiguration(join(folder, 'containerd')));
  await node.start('containerd', ['containerd', '--config', configuration]);
  const answers = async (): Promise<true | undefined> => ((await node.run('ctr version')).code === 0 ? true : undefined);
  await until(stage, 'containerd answers', STARTED_MS, answers);
  await node.sh(`sh ${MAKE_IMAGE} ${PAUSE_IMAGE} && ctr -n k8s.io images import ${image}`, IMPORT_MS);
  tell('containerd has the image');
  await node.sh('cat > /etc/kubernetes/kubelet.yaml', undefined, KUBELET);
  await node.sh('umask 077; cat > /etc/kubernetes/kubelet.conf', undefined, readFileSync(plane.kubeconfig('kubelet'), 'utf8'));
  const scheduler = [`--kubeconfig=${plane.kubeconfig('kube-scheduler')}`, '--leader-elect=false', '--secure-port=0'];
  await node.start('kube-scheduler', [join(programs, 'kube-scheduler'), ...scheduler]);
  await node.start('kubelet', [join(programs, 'kubelet'), ...KUBELET_FLAGS]);
  const ready = `get node ${NODE_NAME} --ignore-not-found -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}'`;
  await until(stage, 'the Node is Ready', READY_MS, async () => ((await plane.kubectl(ready)) === 'True' ? true : undefined));
  tell((await plane.kubectl(`get node ${NODE_NAME} -o wide --no-headers`)).trim());
}
