// `npm run deb:boot`: the Debian package under a systemd of its own (systemd-nspawn), beside a real API server. Root, on Debian.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpPackages, thisMachine } from '../../../scripts/packages.ts';
import { findAssets } from '../../../src/testbed/control-plane/assets.ts';
import { debianTree } from '../../image/bases.ts';
import { Cluster, KUBECTL } from '../../installation/cluster.ts';
import { Machine } from './machine.ts';
import { TRIALS } from './trials.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CACHE = join(homedir(), '.cache', 'nodefence-image');
const PROGRAMS = [
  { command: 'debootstrap', package: 'debootstrap' },
  { command: 'systemd-nspawn', package: 'systemd-container' },
];
const NODE = 'worker-1';

/** What an administrator puts on the machine: the package, kubeconfigs, and on a control-plane machine kubectl with the administrator's. */
async function configure(tree: string, cluster: Cluster): Promise<void> {
  const put = (path: string, text: string, mode: number): void => {
    mkdirSync(join(tree, path, '..'), { recursive: true });
    writeFileSync(join(tree, path), text, { mode });
    chmodSync(join(tree, path), mode);
  };
  const withTokenFile = (tokenFile: string): string => cluster.kubeconfigText({ tokenFile });
  put('etc/nodefence/kubeconfig', withTokenFile('/run/nodefence-token/token'), 0o600);
  put('etc/nodefence/controller.env', 'NODEFENCE_MODE=observe\nNODEFENCE_HTTP_ADDRESS=127.0.0.1:0\n', 0o644);
  put('etc/nodefence/node-kubeconfig', withTokenFile('/var/lib/nodefence-node-token/token'), 0o600);
  put('etc/nodefence/node.env', `NODEFENCE_NODE_NAME=${NODE}\nNODEFENCE_NODE_WATCHDOG=none\nNODEFENCE_NODE_LISTEN=127.0.0.1:0\n`, 0o644);
  put('etc/kubernetes/admin.conf', cluster.operatorKubeconfigText(), 0o600);
  const bound = `--bound-object-kind Node --bound-object-name ${NODE} --duration 24h`;
  put('var/lib/nodefence-node-token/token', (await cluster.must(`-n nodefence-system create token nodefence-node ${bound}`)).trim(), 0o600);
  chmodSync(join(tree, 'var/lib/nodefence-node-token'), 0o700);
  const kubectl = execFileSync('sh', ['-c', `command -v ${KUBECTL}`], { encoding: 'utf8' }).trim();
  copyFileSync(realpathSync(kubectl), join(tree, 'usr/bin/kubectl'));
}

function installed(tree: string): void {
  execFileSync('cp', ['-a', debianTree(CACHE), tree]);
  const said = execFileSync(process.execPath, [join(ROOT, 'scripts/deb/main.ts')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  copyFileSync(said.split(' ')[0] ?? '', join(tree, 'nodefence.deb'));
  copyFileSync('/etc/resolv.conf', join(tree, 'etc/resolv.conf'));
  const commands = 'apt-get update -q && apt-get install -y -q --no-install-recommends systemd systemd-sysv && dpkg --install /nodefence.deb';
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stderr } = spawnSync('chroot', [tree, 'sh', '-ec', commands], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.slice(-2_000));
}

async function main(): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (setUpPackages(PROGRAMS, thisMachine(), say).length > 0 || process.getuid?.() !== 0)
    throw new Error('this trial needs root on Debian, and these packages: debootstrap systemd-container');
  const assets = findAssets(process.env);
  if (assets === undefined) throw new Error('this trial needs a real control plane (KUBEBUILDER_ASSETS): a token is bound to a Node by it');
  const work = mkdtempSync(join(tmpdir(), 'nodefence-boot-'));
  const cluster = new Cluster();
  const tree = join(work, 'tree');
  const machine = new Machine(tree);
  try {
    installed(tree);
    await cluster.start(assets);
    for (const folder of ['observe', 'node-daemon', 'node-daemon-token']) await cluster.must(`apply -k config/${folder}`);
    await cluster.must('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }));
    await configure(tree, cluster);
    say(`booted: ${await machine.boot()}`);
    for (const [name, trial] of Object.entries(TRIALS)) {
      try {
        say(`  ok      ${name}: ${await trial(machine, cluster)}`);
      } catch (error) {
        process.exitCode = 1;
        say(`  NOT SO  ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    await machine.powerOff();
    await cluster.end();
    rmSync(work, { recursive: true, force: true });
  }
}

await main();
