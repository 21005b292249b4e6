import { tableOf } from '../figures.ts';
import { measureIpmi, measureIpmiStorm } from './ipmi.ts';
import { measurePdu } from './pdu.ts';
import { measureMemory } from './memory.ts';
import type { ProbeMemory } from './memory.ts';
import { measureCrowd, measureOverhead, measureRedfish, measureRedfishStorm } from './redfish.ts';
import type { Crowd, Overhead } from './redfish.ts';
import type { Way } from './single.ts';
import type { StormRatio } from './storm.ts';

export interface AgentFigures {
  ipmi: readonly Way[];
  redfish: readonly Way[];
  pdu: readonly Way[];
  storms: readonly StormRatio[];
  crowd: { cold: Crowd; warm: Crowd };
  overhead: Overhead;
  memory: ProbeMemory;
}

/** What issue 6 asks for, all in one run on one machine, so that the ratios hold. `say` tells what is being measured. */
export async function measureAgents(say: (line: string) => void): Promise<AgentFigures> {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    say(`measuring ${name}`);
    return work();
  };
  return {
    ipmi: await step('IPMI, one machine', measureIpmi),
    redfish: await step('Redfish, one machine', measureRedfish),
    pdu: await step('a PDU, one outlet', measurePdu),
    storms: [await step('IPMI, a hundred', measureIpmiStorm), await step('Redfish, a hundred', measureRedfishStorm)],
    crowd: {
      cold: await step('Redfish, a thousand at once, cold', () => measureCrowd(false)),
      warm: await step('and warm', () => measureCrowd(true)),
    },
    overhead: await step('a BMC that acts late', measureOverhead),
    memory: await step('memory of 200 probed BMCs', measureMemory),
  };
}

export function agentWords({ ipmi, redfish, pdu, storms, crowd, overhead, memory }: AgentFigures): string {
  const ways = (title: string, rows: readonly Way[]): string =>
    tableOf([
      [title, 'n', 'median ms', 'ratio'],
      ...rows.map(({ name, count, offMs, ratio }) => [name, String(count), offMs.toFixed(2), `${ratio.toFixed(1)}x`]),
    ]);
  const thousand = (name: string, { machines, wallMs, loopLag }: Crowd): string =>
    `${machines} BMCs told off at once, ${name}: ${wallMs} ms, event loop late by ${loopLag.p99} ms (p99), ${loopLag.max} ms (max)`;
  return [
    ways('IPMI: off and verified', ipmi),
    ways('Redfish: off and verified', redfish),
    ways('PDU by SNMP 2c: off and verified', pdu),
    tableOf([
      ['storm', 'machines', 'at once', 'wall ms, theirs', 'ours', 'ratio', 'CPU ms, theirs', 'ours', 'ratio'],
      ...storms.map((storm) => [
        storm.peer,
        ...[storm.machines, storm.atOnce, storm.peerWallMs, storm.wallMs].map(String),
        `${storm.wallRatio}x`,
        ...[storm.peerCpuMs, storm.cpuMs].map(String),
        `${storm.cpuRatio}x`,
      ]),
    ]),
    thousand('cold', crowd.cold),
    thousand('warm', crowd.warm),
    `a BMC that acts after ${overhead.actsAfterMs} ms: known ${overhead.overMs} ms later (fence_redfish: ${overhead.peerOverMs} ms)`,
    `${memory.devices} BMCs probed: ${memory.beforeMb} MB resident before, ${memory.afterMb} MB after, ${memory.grownMb} MB more`,
  ].join('\n\n');
}
