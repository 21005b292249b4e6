import { chmodSync, readFileSync } from 'node:fs';
import { startTestProcess, TEST_PASSWORD } from '../../src/testbed/devices/ipmi/test-process.ts';
import { Cluster } from '../installation/cluster.ts';
import type { Engine, Volume } from './engine.ts';

const ENTRY = ['node', '/app/dist/src/main.js'];
const COMMANDS = [
  'controller',
  'status',
  'explain',
  'plan',
  'stop',
  'preserve',
  'history',
  'problems',
  'resume',
  'ack',
  'validate',
  'probe',
  'manifests',
  'uninstall',
  'node',
  'agents',
];
const READY_MS = 90_000;
const RUNS = 5;

/** Throws with what was seen when it is not as it must be; returns what is worth a line. */
export type Trial = (engine: Engine, container: string, folder: string) => Promise<string>;

function mustHold(isSo: boolean, seen: unknown): void {
  if (!isSo) throw new Error(`it is not so: ${JSON.stringify(seen)}`);
}

/** Measured inside: what buildah itself takes is no part of it. */
async function medianStartMs(engine: Engine, container: string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { said } = await engine.run(container, ['sh', '-c', `date +%s%N; ${ENTRY.join(' ')} --version >/dev/null; date +%s%N`]);
    const [before = '', after = ''] = said.split('\n');
    times.push(Number(BigInt(after) - BigInt(before)) / 1e6);
  }
  return times.sort((one, other) => one - other)[(RUNS - 1) / 2] ?? 0;
}

async function saysItsVersion(engine: Engine, container: string): Promise<string> {
  const version = await engine.run(container, [...ENTRY, '--version']);
  const startMs = await medianStartMs(engine, container);
  mustHold(version.code === 0 && /^\d+\.\d+\.\d+\n$/.test(version.said), version);
  const user = await engine.run(container, ['id', '-u']);
  mustHold(user.said.trim() === '65532', user);
  return `${version.said.trim()} as user 65532, in ${Math.round(startMs)} ms (median of ${RUNS})`;
}

async function loadsEveryCommand(engine: Engine, container: string): Promise<string> {
  for (const command of COMMANDS) {
    const { code, said } = await engine.run(container, [...ENTRY, command, '--help']);
    mustHold(code === 0 && said.startsWith(`Usage: nodefence ${command}`), { command, code, said });
  }
  // buildah may lose what is said in the last moment of a program.
  const drill = await engine.run(container, ['sh', '-c', `${ENTRY.join(' ')} drill; code=$?; sleep 0.3; exit $code`]);
  mustHold(drill.code === 1 && drill.said.includes('npm run drill'), drill);
  return `${COMMANDS.length} commands; the drill says where it is`;
}

/** By ipmitool too where the image has it. */
async function readsIpmi(engine: Engine, container: string): Promise<string> {
  const bmc = await startTestProcess('ipmi-sim');
  try {
    const hasTool = (await engine.run(container, ['sh', '-c', 'command -v ipmitool'])).code === 0;
    const transports = ['native', ...(hasTool ? ['ipmitool'] : [])];
    for (const transport of transports) {
      const lines = { ip: '127.0.0.1', ipport: bmc.ready.port, username: 'admin', password: TEST_PASSWORD, transport, cipher: 3, action: 'status' };
      const input = Object.entries(lines).map(([key, value]) => `${key}=${value}\n`);
      const { code, said } = await engine.run(container, [...ENTRY, 'agent', 'ipmi'], input.join(''));
      mustHold(code === 0 && /ON/i.test(said), { transport, code, said });
    }
    return `ON from ipmi_sim, by ${transports.join(' and ')}`;
  } finally {
    await bmc.stop();
  }
}

/** As the user of the image, who may write nowhere. */
const TOOLS: readonly (readonly [string, RegExp])[] = [
  ['ssh -V', /^OpenSSH_9/],
  ['snmpget -V', /NET-SNMP version: 5/],
  ['fence_apc_snmp -o metadata', /<resource-agent name="fence_apc_snmp"/],
  ['fence_ipmilan -o metadata', /<resource-agent name="fence_ipmilan"/],
  ['systemctl --version', /^systemd 252/],
  ['sg_persist -V', /version/],
];

async function hasTools(engine: Engine, container: string): Promise<string> {
  for (const [command, expected] of TOOLS) {
    const { code, said } = await engine.run(container, ['sh', '-c', `${command} 2>&1; code=$?; sleep 0.3; exit $code`]);
    mustHold(code === 0 && expected.test(said), { command, code, said: said.slice(0, 500) });
  }
  const { said } = await engine.run(container, ['sh', '-c', 'ls /usr/sbin/fence_* | wc -l']);
  mustHold(Number(said) > 50, said);
  return `${TOOLS.map(([command]) => command.split(' ')[0]).join(', ')}; ${said.trim()} fence agents`;
}

async function leads(engine: Engine, container: string, folder: string): Promise<string> {
  const cluster = new Cluster();
  try {
    await cluster.start();
    await cluster.must('apply -k config/observe');
    const kubeconfig = cluster.file('kubeconfig-image', readFileSync(await cluster.controllerKubeconfig(), 'utf8'));
    // The user of the image is not whoever wrote it.
    chmodSync(kubeconfig, 0o644);
    const volumes: Volume[] = [{ from: kubeconfig, to: '/kubeconfig' }];
    return await servedBy(engine, container, volumes, folder);
  } finally {
    await cluster.end();
  }
}

async function servedBy(engine: Engine, container: string, volumes: readonly Volume[], folder: string): Promise<string> {
  const startedAtMs = performance.now();
  const command = [
    'env',
    'NODEFENCE_KUBECONFIG=/kubeconfig',
    ...ENTRY,
    'controller',
    '--mode',
    'observe',
    '--http-address',
    '127.0.0.1:0',
    '--log-format',
    'json',
  ];
  const child = engine.start(container, command, volumes);
  let log = '';
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  const seen = (message: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no "${message}" within ${READY_MS / 1000} s in ${folder}: ${log.slice(-1_000)}`)), READY_MS);
      const look = (): void => {
        if (!log.includes(`"message":"${message}"`)) return;
        clearTimeout(timer);
        resolve(performance.now() - startedAtMs);
      };
      child.stderr?.on('data', look);
      child.on('close', () => reject(new Error(`ended before "${message}": ${log.slice(-1_000)}`)));
    });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const [servesMs, leadsMs] = await Promise.all([seen('starting'), seen('leading')]);
  child.kill('SIGTERM');
  await ended;
  return `starts after ${Math.round(servesMs)} ms, leads after ${Math.round(leadsMs / 100) / 10} s (15 s of it because no Lease was there)`;
}

/** Of what target full alone has. */
export const FULL_TRIALS: Readonly<Record<string, Trial>> = { 'has the tools of fence agents and node daemons': hasTools };

export const TRIALS: Readonly<Record<string, Trial>> = {
  'says its version': saysItsVersion,
  'loads every command': loadsEveryCommand,
  'reads an IPMI status': readsIpmi,
  'leads on the embedded API server': leads,
};
