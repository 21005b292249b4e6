import { describe, expect, it } from 'vitest';
import { AuditReader } from './audit.ts';

const AT = '2026-11-21T10:00:00.123456Z';
const AT_MS = Date.parse('2026-11-21T10:00:00Z') + 123.456;

interface Audited {
  verb: string;
  resource?: string;
  name?: string;
  subresource?: string;
  stage?: string;
  code?: number;
  at?: string;
  request?: unknown;
  response?: unknown;
}

/** A line as kube-apiserver 1.20 writes it. */
function line({
  verb,
  resource = 'pods',
  name = 'db-0',
  subresource,
  stage = 'ResponseComplete',
  code = 200,
  at = AT,
  request,
  response,
}: Audited): string {
  return JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'RequestResponse',
    auditID: 'f3f0',
    stage,
    requestURI: `/api/v1/namespaces/default/${resource}/${name}`,
    verb,
    user: { username: 'operator', groups: ['system:masters'] },
    objectRef: { resource, namespace: 'default', name, apiVersion: 'v1', ...(subresource === undefined ? {} : { subresource }) },
    responseStatus: { metadata: {}, code },
    ...(request === undefined ? {} : { requestObject: request }),
    ...(response === undefined ? {} : { responseObject: response }),
    stageTimestamp: at,
  });
}

function pod(resourceVersion: string, more: object = {}): object {
  return { kind: 'Pod', metadata: { name: 'db-0', namespace: 'default', resourceVersion, managedFields: [{ manager: 'm' }] }, ...more };
}

const GONE = { kind: 'Status', metadata: {}, status: 'Success' };

describe('the audit log of a real API server', () => {
  it('tells a write with what was asked and what was stored, in fractions of a millisecond', () => {
    const event = new AuditReader().read(line({ verb: 'create', name: '', code: 201, request: { spec: {} }, response: pod('7') }));
    expect(event).toEqual({
      at: expect.closeTo(AT_MS, 3) as number,
      kind: 'api',
      user: 'operator',
      verb: 'create',
      resource: 'pods',
      namespace: 'default',
      name: 'db-0',
      status: 201,
      request: { spec: {} },
      object: { kind: 'Pod', metadata: { name: 'db-0', namespace: 'default', resourceVersion: '7' } },
    });
  });

  it('names a resource with its group', () => {
    const audited = JSON.parse(line({ verb: 'get', resource: 'leases' })) as { objectRef: object };
    const event = new AuditReader().read(JSON.stringify({ ...audited, objectRef: { ...audited.objectRef, apiGroup: 'coordination.k8s.io' } }));
    expect(event?.resource).toBe('leases.coordination.k8s.io');
  });

  it('tells a watch once, when it is opened, and a refused one when it is refused', () => {
    const reader = new AuditReader();
    expect(reader.read(line({ verb: 'watch', stage: 'ResponseStarted' }))?.verb).toBe('watch');
    expect(reader.read(line({ verb: 'watch' }))).toBeUndefined();
    expect(reader.read(line({ verb: 'watch', code: 403 }))?.status).toBe(403);
    expect(reader.read(line({ verb: 'list', stage: 'ResponseStarted' }))).toBeUndefined();
  });

  it('tells a deletion with the object as it last stood, also when it was bound meanwhile', () => {
    const reader = new AuditReader();
    reader.read(line({ verb: 'create', response: pod('7', { spec: { containers: [] } }) }));
    reader.read(line({ verb: 'create', subresource: 'binding', request: { target: { name: 'worker-1' } }, response: GONE }));
    const event = reader.read(line({ verb: 'delete', request: { gracePeriodSeconds: 0 }, response: GONE }));
    expect(event).toMatchObject({ verb: 'delete', request: { gracePeriodSeconds: 0 }, object: { spec: { containers: [], nodeName: 'worker-1' } } });
    expect(reader.read(line({ verb: 'delete', response: GONE }))?.object).toBeUndefined();
  });

  it('tells a deletion that only marks with the marked object', () => {
    const marked = { ...pod('8'), metadata: { name: 'db-0', deletionTimestamp: AT } };
    expect(new AuditReader().read(line({ verb: 'delete', response: marked }))?.object).toEqual(marked);
  });

  it('puts two states of one object in the order in which they were stored, whatever their answers were stamped', () => {
    const reader = new AuditReader();
    const second = reader.read(line({ verb: 'patch', response: pod('9'), at: '2026-11-21T10:00:00.500000Z' }));
    const first = reader.read(line({ verb: 'patch', response: pod('8'), at: '2026-11-21T10:00:00.500010Z' }));
    expect(first?.at).toBeLessThan(second?.at ?? 0);
  });

  it('tells a refusal without an object', () => {
    const event = new AuditReader().read(line({ verb: 'patch', code: 409, request: { a: 1 }, response: { kind: 'Status', status: 'Failure' } }));
    expect(event).toMatchObject({ status: 409, request: { a: 1 } });
    expect(event).not.toHaveProperty('object');
  });

  it('is silent on a dry run, of which nothing is stored', () => {
    const audited = JSON.parse(line({ verb: 'create', response: pod('') })) as { requestURI: string };
    const tried = (query: string): unknown => new AuditReader().read(JSON.stringify({ ...audited, requestURI: `${audited.requestURI}${query}` }));
    expect(tried('?dryRun=All&fieldValidation=Strict')).toBeUndefined();
    expect(tried('?fieldValidation=Strict')).toBeDefined();
  });

  it('is silent on lines that are no audit event, and on requests for no object', () => {
    const reader = new AuditReader();
    const { objectRef: _objectRef, ...bare } = JSON.parse(line({ verb: 'get' })) as { objectRef: object };
    expect([reader.read('I1121 starting'), reader.read('{"kind":"Other"}'), reader.read(JSON.stringify(bare))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
