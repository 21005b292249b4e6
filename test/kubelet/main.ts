// `npm run kubelet`: the node daemon as the folders of config/ bring it, in a pod of a real kubelet, containerd and runc, beside a real control plane.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setUpPackages, thisMachine } from '../../scripts/packages.ts';
import { DrillFolder } from '../../src/drill/run/drill-folder.ts';
import { AssetsMissing, assetsOf, versionOf } from '../../src/testbed/control-plane/assets.ts';
import { CASES } from './cases.ts';
import type { KubeletCase } from './cases.ts';
import { imageArchive } from './image-archive.ts';
import { installNode } from './installed.ts';
import { kubernetesPrograms, programsFolder } from './kubernetes/programs.ts';
import { NETWORK_PLUGINS } from './node-files.ts';
import { NodeSandbox } from './node.ts';
import { KubeletPlane } from './plane.ts';
import { seconds } from './steps.ts';
import type { Stage } from './steps.ts';

const PROGRAMS = [
  { command: 'containerd', package: 'containerd', services: ['containerd.service'] },
  { command: 'runc', package: 'runc' },
  { command: `${NETWORK_PLUGINS}/bridge`, package: 'containernetworking-plugins' },
  { command: 'nft', package: 'nftables' },
  { command: 'busybox', package: 'busybox-static' },
  { command: 'ip', package: 'iproute2' },
];
const IMAGE = 'docker.io/library/nodefence:0.1.0';
/** As a shell has it: 128 and the number of SIGINT. */
const INTERRUPTED = 130;

type Tell = (line: string) => void;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, image: { type: 'string' } } });
  const lacking = lacks();
  if (lacking !== undefined) {
    process.stderr.write(`${lacking}\n`);
    return 1;
  }
  const startedAtMs = performance.now();
  const tell: Tell = (line) => void process.stdout.write(`${seconds(performance.now() - startedAtMs).padStart(9)}  ${line}\n`);
  // The first one installs.
  const chosen = CASES.filter((each, index) => index === 0 || each.name.includes(values.only));
  const failed = await played(chosen, values.image, tell);
  const lines = [
    `${String(chosen.length - failed.length)} of ${String(chosen.length)} as they must be`,
    ...failed.map((name) => `  not so: ${name}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return failed.length === 0 ? 0 : 1;
}

/** The names of those that failed, or that were not reached. `image`: its archive, from an earlier run. */
async function played(cases: readonly KubeletCase[], image: string | undefined, tell: Tell): Promise<string[]> {
  const folder = new DrillFolder();
  let node: NodeSandbox | undefined;
  const plane = new KubeletPlane(folder);
  const end = async (): Promise<void> => {
    await node?.close();
    await plane.stop();
    folder.remove();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end().finally(() => process.exit(INTERRUPTED)));
  const left = cases.map(({ name }) => name);
  const failed: string[] = [];
  try {
    const assets = assetsOf(process.env);
    const programs = kubernetesPrograms(releaseOf(assets), tell);
    if (image === undefined) tell('building the image by the Dockerfile');
    const archive = image ?? (await imageArchive('controller', IMAGE, folder.in('image')));
    const work = folder.in('node');
    node = await NodeSandbox.open(work);
    await plane.start(assets);
    const stage: Stage = { node, plane, work, tell };
    await installNode(stage, work, programs, archive);
    for (const each of cases) {
      left.shift();
      if (await isPlayed(each, stage)) continue;
      failed.push(each.name);
      if (each === cases[0]) break;
    }
  } finally {
    await end();
  }
  return [...failed, ...left];
}

async function isPlayed({ name, play }: KubeletCase, stage: Stage): Promise<boolean> {
  stage.tell(name);
  const sinceMs = performance.now();
  try {
    await play(stage);
    stage.tell(`  ok, ${seconds(performance.now() - sinceMs)}`);
    return true;
  } catch (error) {
    stage.tell(`  FAILED: ${error instanceof Error ? error.message : String(error)}\n${stage.node.lastWords}`);
    return false;
  }
}

/** The line that brings what this computer lacks; undefined: nothing. */
function lacks(): string | undefined {
  const machine = thisMachine();
  if (!machine.isRoot) return 'a node in namespaces of its own needs root: run it as root, in a machine that may be thrown away';
  if (setUpPackages(PROGRAMS, machine, (line) => void process.stderr.write(`${line}\n`)).length > 0) return 'packages are missing';
  if (!machine.has('kubectl')) return 'the pages call kubectl: put one of 1.30 or newer into PATH';
  try {
    const release = releaseOf(assetsOf(process.env));
    if (existsSync(programsFolder(release)) || machine.has('go')) return undefined;
    return `Go builds the kubelet ${release}: put a Go that its go.mod accepts into PATH, or kubelet and kube-scheduler of that release into ${programsFolder(release)}`;
  } catch (error) {
    if (error instanceof AssetsMissing) return error.message;
    throw error;
  }
}

/** `v1.36.3`. */
function releaseOf(assets: string): string {
  return versionOf(assets).replace('Kubernetes ', '');
}

process.exitCode = await main();
