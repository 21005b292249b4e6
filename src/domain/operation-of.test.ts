import { describe, expect, it } from 'vitest';
import { operationOf } from './operation-of.ts';
import { method, Model, planOf } from './testing/model.ts';

/** Everything that a fence with two paths to its storage and two supplies dispatches, from its first to its last operation. */
function whole(): Model {
  const model = new Model(
    planOf({
      minimumEvidence: ['power-off', 'storage-revoked'],
      isolation: [
        {
          level: 1,
          methods: ['close-1', 'close-2'].map((name) =>
            method(name, 'fc-switch', 'off', { kind: 'fabric', device: 'switch', plug: name, storage: 'san' }),
          ),
        },
      ],
      powerManagement: [{ level: 1, methods: ['left', 'right'].map((name) => method(name, 'pdu', 'reboot', { device: 'pdu', plug: name })) }],
    }),
  );
  model.fail();
  for (let count = 0; count < 40 && model.fence?.status?.state !== 'done'; count += 1) {
    model.runUntil(() => model.inFlight.size > 0 || model.fence?.status?.state === 'done');
    if (model.inFlight.size > 0) model.finish('succeeded');
    if (model.dispatched.at(-1)?.entry.action === 'release') model.drained();
  }
  return model;
}

describe('the operation that an entry of the journal stands for', () => {
  it('is the one that was decided, whichever it is: a crash changes nothing of it', () => {
    const { dispatched, status } = whole();
    const own = dispatched.filter(({ operation }) => operation?.method !== undefined);
    expect(new Set(own.map(({ entry }) => entry.operation))).toEqual(
      new Set(['off:close-1', 'off:close-2', 'off:left', 'off:right', 'on:left', 'on:right']),
    );
    for (const { entry, operation } of own) expect(operationOf(entry, status), entry.operation).toEqual(operation);
  });

  it('says of the last off alone that it proves, and of the last revocation alone what it proves', () => {
    const operations = whole().dispatched.map(({ operation }) => operation);
    expect(new Set(operations.filter((operation) => operation?.isLastOff).map((operation) => operation?.key))).toEqual(new Set(['off:right']));
    expect(new Set(operations.filter((operation) => operation?.revokes).map((operation) => operation?.key))).toEqual(new Set(['off:close-2']));
  });

  it('is none without a frozen plan, or where the plan names no such method', () => {
    const { dispatched, status } = whole();
    const [first] = dispatched;
    if (first === undefined) throw new Error('a run was expected');
    const { frozen: _frozen, ...begun } = status;
    expect(operationOf(first.entry, begun)).toBeUndefined();
    expect(operationOf({ ...first.entry, operation: 'off:other', plug: 'other' }, status)).toBeUndefined();
  });
});
