import { describe, expect, it } from 'vitest';
import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { LEASES, NODES, PODS, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import { pruneFor } from '../prune.ts';
import { ProtobufFrames } from '../transport/protobuf-frames.ts';
import { decodeObject } from './decode.ts';
import recorded from './testing/recorded.json' with { type: 'json' };
import { Texts } from './texts.ts';

const RESOURCES: readonly Resource[] = [NODES, PODS, LEASES, VOLUME_ATTACHMENTS];

function kept(object: unknown): unknown {
  const known = object as KubeObject;
  const resource = RESOURCES.find(({ kind }) => kind === known.kind);
  return resource === undefined ? known : pruneFor(resource)(structuredClone(known));
}

/** A field of any length, as it stands on the wire. */
function field(place: number, content: string | Buffer): Buffer<ArrayBuffer> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([Buffer.from([...varint((place << 3) | 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

function number(place: number, ...bytes: number[]): Buffer<ArrayBuffer> {
  return Buffer.from([...varint(place << 3), ...bytes]);
}

const joined = (...parts: Buffer[]): Buffer<ArrayBuffer> => Buffer.concat(parts);

/** An object in its envelope. */
function envelope(kind: string, raw: Buffer, apiVersion = 'v1', more: Buffer = Buffer.alloc(0)): Buffer<ArrayBuffer> {
  return joined(Buffer.from('k8s\0'), field(1, joined(field(1, apiVersion), field(2, kind))), field(2, raw), more);
}

const METADATA = field(1, joined(field(1, 'a'), field(6, '7')));
const decoded = (bytes: Buffer): Record<string, unknown> => decodeObject(bytes, new Texts());
const node = (...parts: Buffer[]): Record<string, unknown> => decoded(envelope('Node', joined(METADATA, ...parts)));
const pod = (...parts: Buffer[]): Record<string, unknown> => decoded(envelope('Pod', joined(METADATA, ...parts)));
const condition = (...parts: Buffer[]): Buffer => field(3, field(4, joined(...parts)));

describe('objects of a real API server', () => {
  it.each(recorded.objects.map(({ json, protobuf }) => ({ json, protobuf, name: `${json.kind} ${json.metadata.name}` })))(
    '$name is in protobuf what it is in JSON',
    ({ json, protobuf }) => {
      const object = decoded(Buffer.from(protobuf, 'base64'));
      expect(kept(object)).toEqual(kept(json));
      expect(object).toMatchObject({ apiVersion: json.apiVersion, kind: json.kind });
    },
  );

  it('are watched as in JSON, with the bookmark that ends them', () => {
    const events = [...new ProtobufFrames(new Texts()).push(Buffer.from(recorded.watch.protobuf, 'base64'))];
    expect(events.map(({ type }) => type)).toEqual(recorded.watch.events.map(({ type }) => type));
    const shown = (event: { object: unknown }): unknown => kept(event.object);
    const byName = (list: readonly { object: unknown }[]): Map<unknown, unknown> =>
      new Map(list.slice(0, -1).map((event) => [(event.object as KubeObject).metadata.name, shown(event)]));
    expect(byName(events)).toEqual(byName(recorded.watch.events));
    const bookmark = recorded.watch.events.at(-1)?.object.metadata;
    const shownLast = (events.at(-1)?.object as KubeObject).metadata;
    expect(Object.keys(shownLast).sort()).toEqual(['annotations', 'resourceVersion']);
    expect([shownLast.annotations, bookmark?.annotations]).toEqual([
      { 'k8s.io/initial-events-end': 'true' },
      { 'k8s.io/initial-events-end': 'true' },
    ]);
  });

  it('are refused with a Status that says what JSON says', () => {
    expect(decoded(Buffer.from(recorded.refusal.protobuf, 'base64'))).toEqual(recorded.refusal.json);
  });
});

describe('what is sent of a field', () => {
  it('is left out, zero or null where nothing was sent, as in JSON', () => {
    expect(node()).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a', resourceVersion: '7' },
      spec: {},
      status: { nodeInfo: { machineID: '', systemUUID: '', bootID: '' } },
    });
    expect(node(condition())).toMatchObject({
      status: { conditions: [{ type: '', status: '', lastHeartbeatTime: null, lastTransitionTime: null }] },
    });
    expect(pod(field(2, field(22, '')))).toMatchObject({ spec: { tolerations: [{}] }, status: {} });
  });

  it('counts as the last of it where it was sent twice, if it is one value', () => {
    expect(node(field(2, joined(field(3, 'one'), field(3, 'two'), number(4, 1), number(4, 0))))).toMatchObject({ spec: { providerID: 'two' } });
    expect(node(field(2, joined(field(3, 'one'), field(3, ''))))['spec']).toEqual({});
    expect(pod(field(2, joined(number(25, 5), number(25, 0))))['spec']).toEqual({ priority: 0 });
  });

  it('is refused where a part of an object was sent twice: nobody merges them', () => {
    expect(() => node(field(2, field(3, 'one')), field(2, field(3, 'two')))).toThrow('spec stands there twice');
    expect(() => node(METADATA)).toThrow('metadata stands there twice');
  });

  it('is an entry of a map by its last value, also without a key or a value, and by whatever name', () => {
    const entry = (key: string, value: string): Buffer => field(11, joined(field(1, key), field(2, value)));
    const metadata = field(
      1,
      joined(field(1, 'a'), entry('k', '1'), entry('k', '2'), entry('__proto__', 'x'), field(11, ''), field(11, field(2, 'v'))),
    );
    const { labels } = decoded(envelope('Node', metadata))['metadata'] as { labels: object };
    expect(Object.entries(labels)).toEqual([
      ['k', '2'],
      ['__proto__', 'x'],
      ['', 'v'],
    ]);
  });

  it('is passed over where nobody asked for it, whatever its wire type', () => {
    const strange = joined(
      field(900, 'x'),
      number(901, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1),
      Buffer.from([...varint((902 << 3) | 1), 1, 2, 3, 4, 5, 6, 7, 8, ...varint((903 << 3) | 5), 1, 2, 3, 4]),
    );
    expect(node(strange, field(2, joined(strange, number(4, 1))))).toMatchObject({ spec: { unschedulable: true } });
  });

  it('is a number of up to 64 bits with a sign', () => {
    const grace = (...bytes: number[]): unknown => pod(field(2, number(4, ...bytes)))['spec'];
    expect(grace(172, 2)).toEqual({ terminationGracePeriodSeconds: 300 });
    expect(grace(255, 255, 255, 255, 255, 255, 255, 255, 255, 1)).toEqual({ terminationGracePeriodSeconds: -1 });
    expect(grace(255, 255, 255, 255, 255, 255, 255, 255, 127)).toEqual({ terminationGracePeriodSeconds: Number((1n << 63n) - 1n) });
    expect(grace(255, 255, 255, 255, 31)).toEqual({ terminationGracePeriodSeconds: 2 ** 33 - 1 });
    expect(grace(128, 128, 128, 128, 16)).toEqual({ terminationGracePeriodSeconds: 2 ** 32 });
    expect(grace(255, 255, 255, 255, 15)).toEqual({ terminationGracePeriodSeconds: 2 ** 32 - 1 });
    expect(grace(128, 128, 128, 128, 128, 128, 128, 128, 128, 1)).toEqual({ terminationGracePeriodSeconds: -(2 ** 63) });
    expect(pod(field(2, number(25, 246, 255, 255, 255, 255, 255, 255, 255, 255, 1)))['spec']).toEqual({ priority: -10 });
    expect(() => pod(field(2, number(25, 128, 128, 128, 128, 8)))).toThrow('larger than 32 bits');
  });

  it('is a time to the second, or to the microsecond in a Lease', () => {
    const at = (...bytes: number[]): unknown => node(condition(field(3, Buffer.from(bytes))))['status'];
    expect(at(8, 0, 16, 200, 1)).toMatchObject({ conditions: [{ lastHeartbeatTime: '1970-01-01T00:00:00Z' }] });
    expect(at(8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)).toMatchObject({ conditions: [{ lastHeartbeatTime: '1969-12-31T23:59:59Z' }] });
    expect(at(8, 128, 146, 184, 195, 152, 254, 255, 255, 255, 1)).toMatchObject({ conditions: [{ lastHeartbeatTime: null }] });
    expect(() => at(8, 128, 128, 128, 128, 128, 128, 1)).toThrow('no year of four digits');
    expect(() => at(10, 0)).toThrow('a time is not of seconds and nanoseconds');
    const renewed = (...bytes: number[]): unknown =>
      decoded(envelope('Lease', joined(METADATA, field(2, field(4, Buffer.from(bytes)))), 'coordination.k8s.io/v1'))['spec'];
    expect(renewed(8, 1, 16, 231, 7)).toEqual({ renewTime: '1970-01-01T00:00:01.000000Z' });
    expect(renewed(8, 1, 16, 232, 7)).toEqual({ renewTime: '1970-01-01T00:00:01.000001Z' });
    expect(renewed(8, 1)).toEqual({ renewTime: '1970-01-01T00:00:01.000000Z' });
    expect(() => renewed(8, 1, 16, 128, 148, 235, 220, 3)).toThrow('more nanoseconds than a second');
  });
});

describe('texts', () => {
  it('are those of their bytes, however many others look alike', () => {
    const texts = new Texts();
    const of = (bytes: Buffer): string => texts.shared(bytes, 0, bytes.length);
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 40_000; index += 1)
        expect(of(Buffer.from(`text-${index}-of-many-that-end-alike`))).toBe(`text-${index}-of-many-that-end-alike`);
    }
    for (const text of ['', 'é', 'Ã©', 'ノード', 'x'.repeat(500), `${'x'.repeat(200)}é`]) expect(of(Buffer.from(text))).toBe(text);
  });

  it('that are no UTF-8 are refused, also where one was read whose characters are those bytes', () => {
    const texts = new Texts();
    const read = (...bytes: number[]): string => texts.shared(Buffer.from(bytes), 0, bytes.length);
    // Both come to one place.
    expect(read(...Buffer.from('\u0085²Ä'))).toBe('\u0085²Ä');
    expect(() => read(0x85, 0xb2, 0xc4)).toThrow('a text is not UTF-8');
    expect(() => node(condition(field(6, Buffer.from([0x61, 0xff]))))).toThrow('a text is not UTF-8');
  });
});

describe('lists and maps that many pods have', () => {
  const entry = (key: string, value: string): Buffer => field(11, joined(field(1, key), field(2, value)));
  const named = (name: string, ...parts: Buffer[]): Buffer => envelope('Pod', field(1, joined(field(1, name), ...parts)));
  const labelsOf = (object: Record<string, unknown>): unknown => (object['metadata'] as Record<string, unknown>)['labels'];

  it('are held once, and nobody can change them', () => {
    const texts = new Texts();
    const owner = field(13, joined(field(1, 'ReplicaSet'), field(3, 'a')));
    const read = (name: string, app: string): Record<string, Record<string, unknown> | undefined> =>
      decodeObject(joined(named(name, entry('app', app), entry('x', 'y'), owner)), texts) as never;
    const [one, other, third] = [read('a', '1'), read('b', '1'), read('c', '2')];
    expect(other['metadata']?.['labels']).toBe(one['metadata']?.['labels']);
    expect(other['metadata']?.['ownerReferences']).toBe(one['metadata']?.['ownerReferences']);
    expect(third['metadata']?.['labels']).toEqual({ app: '2', x: 'y' });
    expect(third['metadata']?.['ownerReferences']).toBe(one['metadata']?.['ownerReferences']);
    const owners = one['metadata']?.['ownerReferences'] as object[];
    expect([one['metadata']?.['labels'], owners, owners[0]].map(Object.isFrozen)).toEqual([true, true, true]);
  });

  it('are not those of other entries whose bytes are the same', () => {
    const texts = new Texts();
    const toleration = (...parts: Buffer[]): Buffer => field(22, joined(...parts));
    const of = (...tolerations: Buffer[]): unknown =>
      (decodeObject(envelope('Pod', field(2, joined(...tolerations))), texts)['spec'] as Record<string, unknown>)['tolerations'];
    // What follows the first length is the same: one entry with an unknown field 22 in it, and two entries.
    const inner = toleration(field(1, 'b'));
    expect(of(toleration(field(1, 'a')), inner)).toEqual([{ key: 'a' }, { key: 'b' }]);
    expect(of(toleration(field(1, 'a'), inner))).toEqual([{ key: 'a' }]);
    expect(of(toleration(field(1, 'a')), inner)).toEqual([{ key: 'a' }, { key: 'b' }]);
  });

  it('are whole where other fields stand between their entries, and where they are long', () => {
    const texts = new Texts();
    const apart = named('a', entry('a', '1'), field(5, 'uid'), entry('b', '2'), entry('a', '3'));
    for (let round = 0; round < 2; round += 1) expect(labelsOf(decodeObject(apart, texts))).toEqual({ a: '3', b: '2' });
    expect(labelsOf(decodeObject(named('b', entry('a', '1')), texts))).toEqual({ a: '1' });
    const owners = (name: string): Buffer => named(name, field(13, field(3, 'x')), field(5, 'uid'), field(13, field(3, 'y')));
    expect(decodeObject(owners('c'), texts)).toMatchObject({ metadata: { ownerReferences: [{ name: 'x' }, { name: 'y' }] } });
    const long = Array.from({ length: 200 }, (_unused, index): [string, string] => [`label-${index}`, 'value']);
    for (const name of ['d', 'e'])
      expect(labelsOf(decodeObject(named(name, ...long.map(([key, value]) => entry(key, value))), texts))).toEqual(Object.fromEntries(long));
  });

  it('are right when more of them came than are held', () => {
    const texts = new Texts();
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 5_000; index += 1)
        expect(labelsOf(decodeObject(named('a', entry('app', String(index))), texts))).toEqual({ app: String(index) });
    }
  });
});

describe('bytes that are no object', () => {
  const WHOLE = envelope('Node', joined(METADATA, condition(field(1, 'Ready'))));

  it.each([
    ['nothing', Buffer.alloc(0), 'does not begin'],
    ['JSON', Buffer.from('{"kind":"Node"}'), 'does not begin'],
    ['a kind that has no table', envelope('Secret', METADATA), 'v1 Secret, which nobody asked for'],
    ['a kind of another group', envelope('Node', METADATA, 'example.com/v1'), 'example.com/v1 Node, which nobody asked for'],
    ['an encoding', envelope('Node', METADATA, 'v1', field(3, 'gzip')), 'in the encoding gzip'],
    ['a type alone', joined(Buffer.from('k8s\0'), field(1, joined(field(1, 'v1'), field(2, 'Node')))), 'nobody asked for'],
    ['a group', envelope('Node', Buffer.from([11, 12])), 'wire type 3'],
    ['a text as a number', envelope('Node', Buffer.from([8, 1])), 'field 1 has the wire type 0'],
    ['a number as a text', envelope('Node', field(2, field(4, 'x'))), 'field 4 has the wire type 2'],
    ['a field without a number', envelope('Node', Buffer.from([2, 0])), 'no number that there can be'],
    ['a field with too large a number', envelope('Node', Buffer.from([130, 128, 128, 128, 16, 0])), 'no number that there can be'],
    [
      'a field of negative length',
      envelope('Node', Buffer.from([10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
      'longer than what it stands in',
    ],
    ['a field beyond its message', envelope('Node', Buffer.from([10, 4, 10, 5, 97, 98])), 'longer than what it stands in'],
    ['a number that does not end', envelope('Node', Buffer.from([...varint(900 << 3), 128])), 'in the middle of a field'],
    [
      'a number of more than 64 bits',
      envelope('Node', Buffer.from([...varint(900 << 3), 255, 255, 255, 255, 255, 255, 255, 255, 255, 2])),
      'longer than 64 bits',
    ],
    ['a fixed number cut off', envelope('Node', Buffer.from([...varint((900 << 3) | 5), 1, 2, 3])), 'longer than what it stands in'],
    ['an entry of a map with more in it', envelope('Node', field(1, field(11, field(3, 'x')))), 'not of a key and a value'],
  ])('%s: refused', (_name, bytes, message) => {
    expect(() => decoded(bytes)).toThrow(message);
  });

  it('cut off anywhere are refused, and never half an object', () => {
    for (let length = 0; length < WHOLE.length; length += 1) expect(() => decoded(WHOLE.subarray(0, length))).toThrow(/./);
    expect(decoded(WHOLE)).toMatchObject({ metadata: { name: 'a' }, status: { conditions: [{ type: 'Ready' }] } });
  });
});
