import { describe, expect, it } from 'vitest';
import { method, planOf } from '../../domain/testing/model.ts';
import type { JournalEntry } from '../../domain/node-fence.ts';
import { lastReads } from './device-reads.ts';
import { fence, run } from './testing/pictured-cluster.ts';

function shown(journal: JournalEntry[], plugs = ['']): string[] {
  const methods = plugs.map((plug) => method(`off${plug}`, 'redfish', 'off', { device: 'bmc', plug }));
  const plan = planOf({ powerManagement: [{ level: 1, methods }] });
  const { status } = fence('a', { journal, frozen: { nodeUID: 'uid-a', plan } });
  return status === undefined ? [] : lastReads(status).map(({ shows }) => shows);
}

const ended = (operation: string, result: JournalEntry['result'], message: string, more: Partial<JournalEntry> = {}): JournalEntry =>
  run(operation, 20, { finishedAt: '2026-03-29T02:14:50Z', ...(result === undefined ? {} : { result }), message, ...more });

describe('the last read of a device, as the journal has it', () => {
  it('is off after a proven off, and on after an on', () => {
    expect(shown([ended('off:off', 'succeeded', 'off read back 3 times')])).toEqual(['off']);
    expect(shown([ended('off:off', 'succeeded', ''), ended('on:on', 'succeeded', '')])).toEqual(['on']);
  });

  it('is on where a device took the off and went on showing on', () => {
    expect(shown([ended('off:off', 'timeout', 'not off within 60000 ms; last read off: PowerState=On, Chassis PowerState=On')])).toEqual(['on']);
    expect(shown([ended('off:off', 'found-not-done', 'not off any more: PowerState=PoweringOn', { action: 'confirm' })])).toEqual(['on']);
  });

  it('is on where a weighed acknowledgement found it on', () => {
    const weighed = ended('acknowledge', 'refused', 'the acknowledgement ack-a is refused: bmc  reads on (PowerState=On): it is not down', {
      action: 'acknowledge',
      device: '',
    });
    expect(shown([ended('off:off', 'unreachable', 'bmc: asked read, connect ECONNREFUSED'), weighed])).toEqual(['on']);
  });

  it('is not known without an answer, and one plug says nothing of another', () => {
    expect(shown([])).toEqual(['unknown']);
    expect(shown([ended('off:off', 'unreachable', 'Unreachable: bmc: asked read, connect ETIMEDOUT')])).toEqual(['unknown']);
    expect(shown([run('off:off', 4)])).toEqual(['unknown']);
    expect(shown([ended('off:off1', 'succeeded', '', { plug: '1' })], ['1', '2'])).toEqual(['off', 'unknown']);
  });
});
