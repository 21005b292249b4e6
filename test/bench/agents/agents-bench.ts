import { tableOf } from '../figures.ts';
import { measureIpmi, measureIpmiStorm } from './ipmi.ts';
import { measurePdu } from './pdu.ts';
import { measureMemory } from './memory.ts';
import type { ProbeMemory } from './memory.ts';
import { measureCrowd, measureOverhead, measureRedfish, measureRedfishStorm } from './redfish.ts';
import type { Crowd, Overhead } from './redfish.ts';
import type { Way } from './single.ts';
import type { StormRatio } from './storm.ts';

/** What was asked for, and nothing else. */
export interface AgentFigures {
  ipmi?: readonly Way[];
  redfish?: readonly Way[];
  pdu?: readonly Way[];
  storms?: readonly StormRatio[];
  crowd?: { cold: Crowd; warm: Crowd };
  overhead?: Overhead;
  memory?: ProbeMemory;
}

export const AGENT_SECTIONS = ['ipmi', 'redfish', 'pdu', 'storms', 'crowd', 'overhead', 'memory'] as const satisfies (keyof AgentFigures)[];

/** All in one run on one machine, so that the ratios hold. `say` tells what is being measured. */
export async function measureAgents(sections: ReadonlySet<string>, say: (line: string) => void): Promise<AgentFigures> {
  const figures: AgentFigures = {};
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    say(`measuring ${name}`);
    return work();
  };
  if (sections.has('ipmi')) figures.ipmi = await step('IPMI, one machine', measureIpmi);
  if (sections.has('redfish')) figures.redfish = await step('Redfish, one machine', measureRedfish);
  if (sections.has('pdu')) figures.pdu = await step('a PDU, one outlet', measurePdu);
  if (sections.has('storms')) {
    figures.storms = [await step('IPMI, a hundred', measureIpmiStorm), ...(await step('Redfish, a hundred', measureRedfishStorm))];
  }
  if (sections.has('crowd')) {
    const cold = await step('Redfish, a thousand at once, cold', () => measureCrowd(false));
    figures.crowd = { cold, warm: await step('and warm', () => measureCrowd(true)) };
  }
  if (sections.has('overhead')) figures.overhead = await step('a BMC that acts late', measureOverhead);
  if (sections.has('memory')) figures.memory = await step('memory of 200 probed BMCs', measureMemory);
  return figures;
}

export function agentWords({ ipmi, redfish, pdu, storms, crowd, overhead, memory }: AgentFigures): string {
  return [
    waysTable('IPMI: off and verified', ipmi),
    waysTable('Redfish: off and verified', redfish),
    waysTable('PDU by SNMP 2c: off and verified', pdu),
    storms === undefined ? '' : stormTable(storms),
    crowd === undefined ? '' : crowdWords('cold', crowd.cold),
    crowd === undefined ? '' : crowdWords('warm', crowd.warm),
    overhead === undefined
      ? ''
      : `a BMC that acts after ${overhead.actsAfterMs} ms: known ${overhead.overMs} ms later (fence_redfish: ${overhead.peerOverMs} ms)`,
    memory === undefined ? '' : memoryWords(memory),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function waysTable(title: string, rows: readonly Way[] = []): string {
  if (rows.length === 0) return '';
  const cells = rows.map(({ name, count, offMs, ratio }) => [name, String(count), offMs.toFixed(2), `${ratio.toFixed(1)}x`]);
  return tableOf([[title, 'n', 'median ms', 'ratio'], ...cells]);
}

function stormTable(storms: readonly StormRatio[]): string {
  return tableOf([
    ['storm (medians)', 'machines', 'at once', 'rounds', 'wall ms, theirs', 'ours', 'ratio', 'CPU ms, theirs', 'ours', 'ratio'],
    ...storms.map((storm) => [
      storm.peer,
      ...[storm.machines, storm.atOnce, storm.rounds, storm.peerWallMs, storm.wallMs].map(String),
      `${storm.wallRatio}x`,
      ...[storm.peerCpuMs, storm.cpuMs].map(String),
      `${storm.cpuRatio}x`,
    ]),
  ]);
}

function memoryWords({ devices, loadedMb, beforeMb, afterMb, grownMb }: ProbeMemory): string {
  const begun = `${loadedMb} MB resident with the agent loaded, ${beforeMb} MB after as many reads of one BMC`;
  return `${devices} BMCs probed, every connection kept: ${begun}, ${afterMb} MB after those of all: ${grownMb} MB more`;
}

function crowdWords(name: string, { machines, wallMs, loopLag }: Crowd): string {
  return `${machines} BMCs told off at once, ${name}: ${wallMs} ms, event loop late by ${loopLag.p99} ms (p99), ${loopLag.max} ms (max)`;
}
