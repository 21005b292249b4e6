import { PASSWORD, startSimulator } from '../../../agents/ipmi/testing/ipmi-simulator.ts';
import type { Simulator } from '../../../agents/ipmi/testing/ipmi-simulator.ts';
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

function fencePeer(port: number, action: string, ...more: string[]): Peer {
  const words = ['--lanplus', '--cipher=3', '--ip=127.0.0.1', `--ipport=${port}`, '--username=admin', `--password=${PASSWORD}`, `--action=${action}`];
  return { command: 'fence_ipmilan', args: [...words, ...more] };
}

function toolPeer(port: number, ...words: string[]): Peer {
  return { command: 'ipmitool', args: ['-I', 'lanplus', '-C', '3', '-H', '127.0.0.1', '-p', String(port), '-U', 'admin', '-P', PASSWORD, ...words] };
}

function targetFor(simulator: Simulator, transport: string): Target {
  return targetOf({ ...simulator.target().parameters, transport }, '', { node: 'a' });
}

/** Off and verified on ipmi_sim: ours beside fence_ipmilan and ipmitool. */
export async function measureIpmi(): Promise<Way[]> {
  const simulator = await startSimulator();
  const agent = await powerAgent('ipmi');
  const { port } = simulator;
  const [native, shell] = [targetFor(simulator, 'native'), targetFor(simulator, 'ipmitool')];
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
    await simulator.dispose();
  }
}

/** A hundred machines told off at once, on ten BMCs, ten at a time. */
export async function measureIpmiStorm(): Promise<StormRatio> {
  const simulators = await Promise.all(Array.from({ length: STORM_DEVICES }, () => startSimulator()));
  const agent = await powerAgent('ipmi');
  try {
    const rounds = Array.from({ length: STORM }, (_unused, index) => ({
      simulator: simulators[index % STORM_DEVICES] as Simulator,
      state: Math.floor(index / STORM_DEVICES) % 2 === 0 ? ('off' as const) : ('on' as const),
    }));
    const peers = await inParallel(rounds, STORM_DEVICES, ({ simulator, state }) => runPeer(fencePeer(simulator.port, state, '--power-wait=0')));
    const targets = new Map(simulators.map((simulator) => [simulator, targetFor(simulator, 'native')]));
    const ours = await inParallel(rounds, STORM_DEVICES, ({ simulator, state }) => switchOnce(agent, targets.get(simulator) as Target, state, 1));
    return ratioOf('fence_ipmilan --power-wait=0', STORM, STORM_DEVICES, peers, ours);
  } finally {
    await agent.close?.();
    await Promise.all(simulators.map((simulator) => simulator.dispose()));
  }
}
