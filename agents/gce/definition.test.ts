import { describe, expect, it } from 'vitest';

import { gce } from './definition.ts';

const PLACE = { project: 'example-project', zone: 'europe-west3-a' };

describe('the parameters of gce', () => {
  it.each<[string, Record<string, string>, string]>([
    ['a method that proves nothing', { method: 'cycle' }, 'method must be onoff: after a reset nobody can read whether the machine was ever off'],
    ['several zones', { zone: 'europe-west3-a,europe-west3-b' }, 'zone must be the name of one zone'],
    ['an endpoint without TLS', { endpoint: 'http://compute.example' }, 'endpoint must be an https URL'],
    ['an endpoint with a password', { endpoint: 'https://a:b@compute.googleapis.com' }, 'endpoint must be an https URL'],
    ['an id that is none', { instance_id: 'worker-1' }, 'instance_id must be the numeric id'],
    ['a server whose state cannot be read', { baremetalsolution: 'yes' }, 'baremetalsolution must be no'],
    ['a proxy', { proxyhost: 'proxy.example' }, 'proxyhost is not supported'],
    ['credentials that are neither JSON nor a path', { serviceaccount: 'change-me' }, 'serviceaccount must be the JSON of a credential file'],
  ])('refuse %s, in words', (_what, more, words) => {
    const told = gce.check({ ...PLACE, ...more }, true).map(({ parameter, message }) => `${parameter} ${message}`);
    expect(told).toEqual([expect.stringContaining(words)]);
  });

  it('take what fence_gce takes of a method that switches off and on', () => {
    const written = {
      ...PLACE,
      method: 'onoff',
      serviceaccount: '/etc/key.json',
      plugzonemap: 'worker-1:europe-west3-b',
      apitimeout: '60',
      retries: '3',
      retrysleep: '5',
    };
    expect(gce.check({ ...written, baremetalsolution: 'no' }, true)).toEqual([]);
  });

  it('keep the key secret', () => {
    expect(gce.describe().flatMap(({ name, secret }) => (secret ? [name] : []))).toEqual(['serviceaccount']);
  });
});

describe('the instance of a Node', () => {
  it('is named by its providerID', () => {
    expect(gce.instanceOf?.('gce://example-project/europe-west3-a/worker-1')).toEqual({ plug: 'worker-1', parameters: PLACE });
    for (const other of ['aws:///eu-central-1a/i-1', 'gce://p/z', 'gce://p/z/n/x', 'gce:///z/n', '']) expect(gce.instanceOf?.(other)).toBeUndefined();
  });

  it('is not another one of its providerID, which is told before the cloud is asked', () => {
    const identity = { node: 'a', providerID: 'gce://example-project/europe-west3-a/worker-1' };
    expect(gce.plugProblem?.('worker-1', PLACE, identity)).toBeUndefined();
    expect(gce.plugProblem?.('7000000000000000001', PLACE, identity)).toBeUndefined();
    expect(gce.plugProblem?.('worker-2', PLACE, identity)).toBe('worker-2 is another machine: the providerID names worker-1');
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['the zone', 'worker-1', { project: 'p' }, 'nothing says the zone of the instance: write zone='],
    ['the project', 'worker-1', { zone: 'z' }, 'nothing says the project of the instance: write project='],
    ['a name that the API takes', '../worker-1', PLACE, 'must be the name of an instance or its numeric id'],
  ])('cannot be found without %s', (_what, plug, parameters, words) => {
    expect(gce.plugProblem?.(plug, parameters, undefined)).toContain(words);
  });

  it('is in the zone that the map of zones has for it', () => {
    expect(gce.plugProblem?.('worker-1', { project: 'p', plugzonemap: 'worker-1:europe-west3-b' }, undefined)).toBeUndefined();
    expect(gce.plugProblem?.('worker-2', { project: 'p', plugzonemap: 'worker-1:europe-west3-b' }, undefined)).toContain('nothing says the zone');
  });

  it('cannot be told from others where the Node has no providerID of this cloud', () => {
    expect(gce.anonymous?.(PLACE, { node: 'a' }, '')).toContain('no providerID of Google Compute Engine');
    expect(gce.anonymous?.(PLACE, { node: 'a', providerID: 'gce://p/z/n' }, '')).toBeUndefined();
  });
});
