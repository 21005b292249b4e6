import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { DeviceRead } from '../device-reads.ts';
import { counted, harmless } from '../terminal/text.ts';
import { moment } from '../terminal/times.ts';
import type { FreedPod } from './plan-page.ts';
import { entry, paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

export interface AckPage {
  node: string;
  bootID: string | undefined;
  status: NodeFenceStatus;
  reads: readonly DeviceRead[];
  freed: readonly FreedPod[];
}

const NAME_WIDTH = 10;
const PODS_SHOWN = 12;

/** What a person puts his name to, and what happens when he is wrong. */
export function ackPage({ node, bootID, status, reads, freed }: AckPage, sheet: Sheet): string {
  const { ink, nowMs } = sheet;
  const line = (name: string, text: string, paint?: (text: string) => string): string => entry(sheet, name, harmless(text), NAME_WIDTH, paint);
  const { trigger } = status;
  const failed =
    trigger === undefined
      ? ''
      : `: ${trigger.conditionType ?? trigger.kind} ${trigger.status ?? ''} (${trigger.reason ?? ''}) since ${moment(trigger.since, nowMs)}`;
  const lines = [
    ink.bold(`You are about to say that the machine of node ${node} is DOWN.`),
    line('node', `${node}, UID ${status.frozen?.nodeUID ?? 'not known'}`),
    line('incident', `${status.incident}${failed}`),
    line('boot', bootID ?? 'none is known'),
    line('fence', `state ${status.state}, step ${status.step}: ${status.message ?? ''}`),
  ];
  for (const read of reads) {
    const place = `${read.device}${read.plug === '' ? '' : ` plug ${read.plug}`}`;
    const message =
      read.at === undefined ? read.words : `last read ${moment(read.at, nowMs)}: ${read.shows === 'unknown' ? '' : `${read.shows}, `}${read.words}`;
    lines.push(line('device', `${place}: ${message}`, read.shows === 'on' ? ink.bad : undefined));
  }
  const pods = freed
    .slice(0, PODS_SHOWN)
    .map(({ namespace, name, claims }) => `${namespace}/${name}${claims.length === 0 ? '' : ` (${claims.join(', ')})`}`);
  const more = freed.length > PODS_SHOWN ? ` and ${freed.length - PODS_SHOWN} more` : '';
  lines.push(line('lets go', pods.length === 0 ? 'no pods' : `${counted(freed.length, 'pod')}: ${pods.join(', ')}${more}`));
  const danger =
    'If that machine still runs, its pods start a second time elsewhere, both write to the same volumes, and their data is destroyed. nodefence can not prevent that after your acknowledgement.';
  return [...lines, '', ink.bad(paragraph(sheet, danger))].join('\n');
}
