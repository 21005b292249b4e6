import { startTestProcess, TEST_PASSWORD } from '../../../src/drill/ipmi/test-process.ts';
import type { Target } from '../../../src/ports/agents.ts';
import { powerAgent, switchOnce, targetOf } from './client.ts';
import { inParallel, runPeer } from './peer.ts';
import type { Peer } from './peer.ts';
import { ratioOf } from './storm.ts';
import type { StormRatio } from './storm.ts';
import { compared, peerWay, realWay, warmWay } from './single.ts';
import type { Way } from './single.ts';

const STORM = 100;
const STORM_DEVICES = 10;

/** An emulated BMC in a process of its own: Debian's simulator starts a script for each command, which would be measured instead of us. */
interface Bmc {
  port: number;
  stop(): Promise<void>;
}

async function startBmc(): Promise<Bmc> {
  const { ready, stop } = await startTestProcess('ipmi');
  return { port: ready.port, stop };
}

function fencePeer(port: number, action: string, ...more: string[]): Peer {
  const words = [
    '--lanplus',
    '--cipher=3',
    '--ip=127.0.0.1',
    `--ipport=${port}`,
    '--username=admin',
    `--password=${TEST_PASSWORD}`,
    `--action=${action}`,
  ];
  return { command: 'fence_ipmilan', args: [...words, ...more] };
}

function toolPeer(port: number, ...words: string[]): Peer {
  return {
    command: 'ipmitool',
    args: ['-I', 'lanplus', '-C', '3', '-H', '127.0.0.1', '-p', String(port), '-U', 'admin', '-P', TEST_PASSWORD, ...words],
  };
}

function targetFor({ port }: Bmc, transport: string): Target {
  return targetOf({ ip: '127.0.0.1', ipport: String(port), username: 'admin', password: TEST_PASSWORD, cipher: '3', transport }, '', { node: 'a' });
}

/** Off and verified on one BMC: ours beside fence_ipmilan and ipmitool. */
export async function measureIpmi(): Promise<Way[]> {
  const bmc = await startBmc();
  const agent = await powerAgent('ipmi');
  const { port } = bmc;
  const [native, shell] = [targetFor(bmc, 'native'), targetFor(bmc, 'ipmitool')];
  const quick = ['--power-wait=0'];
  try {
    const unit = 'fence_ipmilan --power-wait=0';
    const ways = [
      await peerWay(unit, [fencePeer(port, 'off', ...quick)], [fencePeer(port, 'on', ...quick)]),
      await peerWay('fence_ipmilan, its defaults', [fencePeer(port, 'off')], [fencePeer(port, 'on', ...quick)], true),
      await peerWay(
        'ipmitool off, then status',
        [toolPeer(port, 'chassis', 'power', 'off'), toolPeer(port, 'chassis', 'power', 'status')],
        [toolPeer(port, 'chassis', 'power', 'on')],
      ),
      await warmWay('ours, ipmitool under a pty, warm: set + read', agent, shell),
      await warmWay('ours, native RMCP+, warm: set + read', agent, native),
      await realWay('ours, native, as a fence does it (off_stable 3 s)', 'ipmi', native),
    ];
    return compared(ways, unit);
  } finally {
    await agent.close?.();
    await bmc.stop();
  }
}

/** A hundred machines told off at once, on ten BMCs, ten at a time. */
export async function measureIpmiStorm(): Promise<StormRatio> {
  const bmcs = await Promise.all(Array.from({ length: STORM_DEVICES }, startBmc));
  const agent = await powerAgent('ipmi');
  try {
    const states = Array.from({ length: STORM / STORM_DEVICES }, (_unused, round) => (round % 2 === 0 ? ('off' as const) : ('on' as const)));
    const peers = await inParallel(bmcs, STORM_DEVICES, async ({ port }) => {
      for (const state of states) await runPeer(fencePeer(port, state, '--power-wait=0'));
    });
    const ours = await inParallel(bmcs, STORM_DEVICES, async (bmc) => {
      for (const state of states) await switchOnce(agent, targetFor(bmc, 'native'), state, 1);
    });
    return ratioOf('fence_ipmilan --power-wait=0', STORM, STORM_DEVICES, peers, ours);
  } finally {
    await agent.close?.();
    await Promise.all(bmcs.map((bmc) => bmc.stop()));
  }
}
