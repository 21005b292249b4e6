import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../ports/api-transport.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { KubeObject, Secret } from '../ports/objects.ts';
import { WorkloadPool } from './workload-pool.ts';

const NAMESPACE = 'clusters';

/** Secrets by name, and what was opened and closed by their kubeconfigs. */
class Site {
  readonly secrets = new Map<string, Secret>();
  readonly log: string[] = [];
  refusal: Error | undefined;
  readonly pool = new WorkloadPool({ get: (_resource, name) => this.#get(name) }, (kubeconfig) => {
    if (kubeconfig === 'broken') throw new Error('kubeconfig: is not YAML');
    this.log.push(`open ${kubeconfig}`);
    return Promise.resolve({ transport: {} as ApiTransport, close: () => void this.log.push(`close ${kubeconfig}`) });
  });

  write(name: string, kubeconfig: string, resourceVersion = '1'): void {
    const data = { value: Buffer.from(kubeconfig).toString('base64') };
    this.secrets.set(name, { metadata: { name, namespace: NAMESPACE, uid: `uid-${name}`, resourceVersion }, data });
  }

  #get<T extends KubeObject>(name: string): Promise<T | undefined> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    return Promise.resolve(this.secrets.get(name) as T | undefined);
  }
}

function secret(name: string): { namespace: string; name: string } {
  return { namespace: NAMESPACE, name };
}

describe('The connection to a workload cluster', () => {
  it('is one for all who ask, as long as its Secret is the same', async () => {
    const site = new Site();
    site.write('a', 'first');
    const [one, other] = [await site.pool.find(secret('a')), await site.pool.find(secret('a'))];
    expect(other).toBe(one);
    expect(await site.pool.clusterOf(secret('a'))).toBe(one?.cluster);
    expect(site.log).toEqual(['open first']);
  });

  it('is another when its Secret has changed, and none when that is gone', async () => {
    const site = new Site();
    site.write('a', 'first');
    const one = await site.pool.find(secret('a'));
    site.write('a', 'second', '2');
    const other = await site.pool.find(secret('a'));
    expect(other).not.toBe(one);
    expect(one !== undefined && site.pool.isOpen(one)).toBe(false);
    expect(other !== undefined && site.pool.isOpen(other)).toBe(true);
    site.secrets.clear();
    expect(await site.pool.find(secret('a'))).toBeUndefined();
    expect(site.log).toEqual(['open first', 'close first', 'open second', 'close second']);
  });

  it('is one for two who ask at the same time', async () => {
    const site = new Site();
    site.write('a', 'first');
    const found = await Promise.all([site.pool.find(secret('a')), site.pool.find(secret('a'))]);
    expect(found[1]).toBe(found[0]);
    expect(found[0] !== undefined && site.pool.isOpen(found[0])).toBe(true);
    site.pool.close();
    expect(site.log.filter((line) => line.startsWith('open'))).toHaveLength(site.log.filter((line) => line.startsWith('close')).length);
  });

  it('is ended when the Secret may no longer be read, and the right is named', async () => {
    const site = new Site();
    site.write('a', 'first');
    await site.pool.find(secret('a'));
    site.refusal = new ApiStatusError(403, 'Forbidden', 'no');
    await expect(site.pool.find(secret('a'))).rejects.toThrow('bind ClusterRole nodefence-workload-clusters in namespace clusters');
    expect(site.log).toEqual(['open first', 'close first']);
  });

  it('stays through a silence of the API server', async () => {
    const site = new Site();
    site.write('a', 'first');
    const one = await site.pool.find(secret('a'));
    site.refusal = new Error('no answer');
    await expect(site.pool.find(secret('a'))).rejects.toThrow('no answer');
    expect(one !== undefined && site.pool.isOpen(one)).toBe(true);
  });

  it('is none where the Secret holds no kubeconfig, and what is wrong is told without a word of it', async () => {
    const site = new Site();
    site.secrets.set('a', { metadata: { name: 'a', namespace: NAMESPACE }, data: {} });
    await expect(site.pool.find(secret('a'))).rejects.toThrow('Secret clusters/a has no key value');
    site.write('a', 'broken');
    await expect(site.pool.find(secret('a'))).rejects.toThrow('kubeconfig: is not YAML');
    expect(site.log).toEqual([]);
  });

  it('is one of 32 that nobody keeps: the one that was not used for longest is ended, and one that is watched never', async () => {
    const site = new Site();
    site.pool.keep(secret('kept'));
    for (const name of ['kept', ...Array.from({ length: 33 }, (_, number) => `c${number}`)]) {
      site.write(name, name);
      await site.pool.find(secret(name));
    }
    expect(site.log.filter((line) => line.startsWith('close'))).toEqual(['close c0']);
    site.pool.letGo(secret('kept'));
    expect(site.log.at(-1)).toBe('close kept');
  });
});
