import type { Target } from '../../../src/ports/agents.ts';
import { powerAgent, switchOnce, targetOf } from './client.ts';
import { startFarm } from './farm.ts';
import { inParallel, runPeer } from './peer.ts';
import type { Peer } from './peer.ts';
import { bareWay } from './ipmi-floor.ts';
import { ratioOf, STORM_ROUNDS } from './storm.ts';
import type { Cost, StormRatio } from './storm.ts';
import { compared, LONG_WARM_UP, OURS, peerWay, realWay, warmWay } from './single.ts';
import type { Way } from './single.ts';

const STORM = 100;
const AT_ONCE = 10;

type Bmc = Readonly<Record<string, string>>;

function fencePeer({ ip = '', ipport = '', username = '', password = '' }: Bmc, action: string, ...more: string[]): Peer {
  const login = [`--username=${username}`, `--password=${password}`];
  const words = ['--lanplus', '--cipher=3', `--ip=${ip}`, `--ipport=${ipport}`, ...login, `--action=${action}`];
  return { command: 'fence_ipmilan', args: [...words, ...more] };
}

function toolPeer({ ip = '', ipport = '', username = '', password = '' }: Bmc, ...words: string[]): Peer {
  return { command: 'ipmitool', args: ['-I', 'lanplus', '-C', '3', '-H', ip, '-p', ipport, '-U', username, '-P', password, ...words] };
}

function targetFor(bmc: Bmc, transport: string): Target {
  return targetOf({ ...bmc, transport }, '', { node: 'a' });
}

/** Off and verified on one BMC: ours beside fence_ipmilan and ipmitool. */
export async function measureIpmi(): Promise<Way[]> {
  const farm = await startFarm({ protocol: 'ipmi', count: 1 });
  const agent = await powerAgent('ipmi');
  const [bmc = {}] = farm.devices;
  const [native, shell] = [targetFor(bmc, 'native'), targetFor(bmc, 'ipmitool')];
  const quick = ['--power-wait=0'];
  try {
    const unit = 'fence_ipmilan --power-wait=0';
    const ways = [
      await peerWay(unit, [fencePeer(bmc, 'off', ...quick)], [fencePeer(bmc, 'on', ...quick)]),
      await peerWay('fence_ipmilan, its defaults', [fencePeer(bmc, 'off')], [fencePeer(bmc, 'on', ...quick)], true),
      await peerWay(
        'ipmitool off, then status',
        [toolPeer(bmc, 'chassis', 'power', 'off'), toolPeer(bmc, 'chassis', 'power', 'status')],
        [toolPeer(bmc, 'chassis', 'power', 'on')],
      ),
      await warmWay('ours, ipmitool under a pty, warm: set + read', agent, shell),
      await warmWay('ours, native RMCP+, warm: set + read', agent, native),
      await warmWay('the same, in a process that has run for long', agent, native, LONG_WARM_UP),
      await bareWay('its two datagrams made beforehand, no answer read', native, { count: OURS, warmUp: LONG_WARM_UP }),
      await realWay('ours, native, as a fence does it (off_stable 3 s)', 'ipmi', native),
    ];
    return compared(ways, unit);
  } finally {
    await agent.close?.();
    await farm.close();
  }
}

/** A hundred machines told off, each by a BMC of its own, ten at a time; ours opens its sessions in the measured time, each time by an agent that has none. */
export async function measureIpmiStorm(): Promise<StormRatio> {
  const farm = await startFarm({ protocol: 'ipmi', count: STORM });
  const { devices } = farm;
  const [peers, ours]: [Cost[], Cost[]] = [[], []];
  try {
    const tell = (action: string) => inParallel(devices, AT_ONCE, (bmc) => runPeer(fencePeer(bmc, action, '--power-wait=0')));
    const targets = devices.map((bmc) => targetFor(bmc, 'native'));
    for (let round = 0; round < STORM_ROUNDS; round += 1) {
      peers.push(await tell('off'));
      await tell('on');
      const agent = await powerAgent('ipmi');
      const turn = (state: 'on' | 'off') => inParallel(targets, AT_ONCE, (target) => switchOnce(agent, target, state, 1));
      try {
        ours.push(await turn('off'));
        await turn('on');
      } finally {
        await agent.close?.();
      }
    }
    return ratioOf('fence_ipmilan --power-wait=0', STORM, AT_ONCE, peers, ours);
  } finally {
    await farm.close();
  }
}
