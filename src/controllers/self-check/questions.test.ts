import { describe, expect, it } from 'vitest';
import { questionsOf, sentenceOf } from './questions.ts';
import type { Installed } from './questions.ts';
import { needsOf, describeRight, ungranted } from './rights.ts';
import type { ResourceRule } from './rights.ts';
import { changedIn, samplesOf } from './samples.ts';
import type { CheckedServer } from './server.ts';

const SCHEMA = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string', enum: ['x', 'y'] } } } } };
const KIND = { group: 'ha.k8s.io', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };
const PODS = { group: '', resource: 'pods', verb: 'list' };
const PART: Installed = {
  kinds: [{ resource: KIND, schema: SCHEMA, isCreated: true }],
  needs: [PODS, { group: '', resource: 'secrets', verb: 'get', namespace: 'ns' }],
  isOptional: false,
  definitionRemedy: 'apply crd',
  rightRemedy: 'apply rbac',
};

/** Takes everything. */
class Willing implements CheckedServer {
  readonly sent: object[] = [];
  readonly asked: string[] = [];
  granted: ResourceRule[] = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  isComplete = true;

  definition: CheckedServer['definition'] = () => Promise.resolve({ isOurs: true, schema: SCHEMA, hasStatus: false });

  dryRun: CheckedServer['dryRun'] = (_resource, object) => {
    this.sent.push(object);
    return Promise.resolve({ kind: 'created', object });
  };

  rules: CheckedServer['rules'] = () => Promise.resolve({ rules: this.granted, isComplete: this.isComplete });

  mayDo: CheckedServer['mayDo'] = ({ resource }) => {
    this.asked.push(resource);
    return Promise.resolve(resource === 'secrets');
  };
}

async function check(server: CheckedServer, part: Installed = PART): Promise<string> {
  return sentenceOf((await Promise.all(questionsOf(server, [part]).map(({ ask }) => ask()))).flat());
}

describe('what is asked of a server', () => {
  it('a willing one is found to be right, and was tried with every enum value', async () => {
    const server = new Willing();
    expect(await check(server)).toBe('');
    expect(server.sent.map((object) => (object as { spec: object }).spec)).toEqual([{ a: 'x' }, { a: 'y' }]);
  });

  it('what does not come back as it was sent is a fault', async () => {
    const server = new Willing();
    server.dryRun = () => Promise.resolve({ kind: 'created', object: { spec: {} } });
    expect(await check(server)).toBe('of a Thing the API server does not keep spec.a (mend it: apply crd)');
  });

  it('where a webhook knows no dry run, the definition speaks', async () => {
    const server = new Willing();
    server.dryRun = () => Promise.resolve({ kind: 'unsupported' });
    expect(await check(server)).toBe('');
  });

  it('a refusal is told with its words, and with the command for its cause', async () => {
    const server = new Willing();
    server.dryRun = () => Promise.resolve({ kind: 'refused', status: 403, message: 'no' });
    expect(await check(server)).toBe('the API server refuses a Thing: no (mend it: apply rbac)');
    server.dryRun = () => Promise.resolve({ kind: 'refused', status: 422, message: 'no' });
    expect(await check(server)).toBe('the API server refuses a Thing: no (mend it: apply crd)');
  });

  it.each([
    ['that is not there', undefined],
    ['of another version', { isOurs: true, schema: undefined, hasStatus: false }],
  ])('a definition %s is a fault, but not of what is optional', async (_what, definition) => {
    const server = new Willing();
    server.definition = () => Promise.resolve(definition);
    expect(await check(server)).toBe('things.ha.k8s.io is not served in version v1 (mend it: apply crd)');
    expect(await check(server, { ...PART, isOptional: true })).toBe('');
  });

  it('what another program has installed is none of ours', async () => {
    const server = new Willing();
    server.granted = [];
    server.definition = () => Promise.resolve({ isOurs: false, schema: { type: 'object' }, hasStatus: false });
    expect(await check(server, { ...PART, isOptional: true })).toBe('');
  });

  it('an authorizer that cannot tell all its rules is asked for what the others do not grant', async () => {
    const server = new Willing();
    server.granted = [];
    expect(await check(server)).toContain('may not list pods;');
    expect(server.asked).toEqual([]);
    server.isComplete = false;
    expect(await check(server)).toBe("the controller's account may not list pods (mend it: apply rbac)");
    expect(server.asked.sort()).toEqual(['pods', 'secrets']);
  });

  it('one who may not even ask is told how he may', async () => {
    const server = new Willing();
    server.rules = () => Promise.resolve('forbidden');
    expect(await check(server)).toContain('--clusterrole=system:basic-user');
  });
});

describe('rights', () => {
  it.each<[string, ResourceRule, boolean]>([
    ['the thing itself', { verbs: ['list'], apiGroups: [''], resources: ['pods'] }, true],
    ['another verb', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, false],
    ['another group', { verbs: ['list'], apiGroups: ['apps'], resources: ['pods'] }, false],
    ['its subresource', { verbs: ['list'], apiGroups: [''], resources: ['pods/log'] }, false],
    ['one of its names', { verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, false],
    ['everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, true],
  ])('are granted or not by %s', (_what, rule, isGranted) => {
    expect(ungranted([PODS], [rule])).toEqual(isGranted ? [] : [PODS]);
  });

  it('of a subresource are granted for all kinds together, and of one name by that name', () => {
    const eviction = { group: '', resource: 'pods/eviction', verb: 'create' };
    expect(ungranted([eviction], [{ verbs: ['create'], apiGroups: [''], resources: ['*/eviction'] }])).toEqual([]);
    const named = { ...PODS, name: 'a' };
    expect(ungranted([named], [{ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }])).toEqual([]);
    expect(ungranted([named], [{ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['b'] }])).toEqual([named]);
  });

  it('are told in words, verbs of one resource together', () => {
    const needs = needsOf([
      { rules: [{ apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get', 'patch'], resourceNames: ['x'] }] },
      { namespace: 'ns', rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] },
    ]);
    expect(describeRight(needs)).toEqual(['get, patch deployments.apps/scale x', 'get secrets in namespace ns']);
  });
});

describe('samples', () => {
  it('have every field and every enum value, and stay within the least bounds', () => {
    const schema = {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
        at: { type: 'string', format: 'date-time' },
        count: { type: 'integer', minimum: 5 },
        is: { type: 'boolean' },
        map: { type: 'object', additionalProperties: { type: 'string' } },
      },
    };
    const samples = samplesOf(schema) as { list: string[]; count: number; map: object }[];
    expect(samples.map(({ list }) => list)).toEqual([['a'], ['b'], ['c']]);
    expect(samples[0]).toMatchObject({ count: 5, is: true, map: { 'self-check': 'self-check' } });
  });

  it('that come back changed are told by their paths', () => {
    expect(changedIn({ a: [{ b: 1 }, 2], c: 'x' }, { a: [{}, 2], c: 'x', more: 1 }, 'spec')).toEqual(['spec.a[].b']);
  });
});
