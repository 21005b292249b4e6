import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Names each file that Node loads for the registry. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  const { standardRegistry } = await import(process.argv[1]);
  standardRegistry().names();
  process.stdout.write(JSON.stringify(loaded));
`;

describe('a cloud that nobody uses', () => {
  it('costs nothing but its name, its parameters and what a providerID means', () => {
    const registry = new URL('../../registry.ts', import.meta.url).href;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT, registry], { cwd: ROOT, encoding: 'utf8' });
    const loaded = JSON.parse(text) as string[];
    const ofClouds = loaded.filter((url) => /\/agents\/(?:aws|gce|azure|openstack|vsphere|hetzner|proxmox|ovirt|shared\/cloud)\//.test(url));
    const heavy = loaded.filter((url) => /node_modules\/(?:aws4|p-retry|axios)\//.test(url));
    expect(ofClouds.length).toBeGreaterThan(0);
    expect(ofClouds.filter((url) => !/\/(?:definition|parameters|place|endpoints)\.ts$/.test(url))).toEqual([]);
    expect(heavy).toEqual([]);
  });
});
