import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AssetsMissing, assetsLine, assetsOf, findAssets } from './assets.ts';

const folder = mkdtempSync(join(tmpdir(), 'assets-'));
const home = join(folder, 'home');
const half = join(folder, 'half');
writeBinaries(half, ['etcd']);
writeFileSync(join(half, 'kube-apiserver'), '', { mode: 0o644 });

function writeBinaries(place: string, names: readonly string[], version = ''): void {
  mkdirSync(place, { recursive: true });
  for (const name of names) writeFileSync(join(place, name), `#!/bin/sh\necho Kubernetes ${version}\n`, { mode: 0o755 });
}

function inHome(version: string): string {
  return join(home, '.cache', 'control-plane', version, 'bin');
}

const COMPLETE = ['etcd', 'kube-apiserver', 'kube-controller-manager'];
writeBinaries(inHome('1.9'), COMPLETE, 'v1.9.8');
writeBinaries(inHome('1.20'), COMPLETE, 'v1.20.5');
writeBinaries(inHome('1.36'), ['etcd', 'kube-apiserver'], 'v1.36.3');
writeBinaries(inHome('run'), COMPLETE);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the binaries of a real control plane', () => {
  it('are found where the environment says', () => {
    expect(assetsOf({ KUBEBUILDER_ASSETS: half, HOME: home }, ['etcd'])).toBe(half);
  });

  it('are found below the home directory, of the newest version that has them all', () => {
    expect(assetsOf({ HOME: home })).toBe(inHome('1.20'));
    expect(assetsOf({ HOME: home }, ['etcd', 'kube-apiserver'])).toBe(inHome('1.36'));
  });

  it('are not looked for where the environment says that there are none', () => {
    expect(findAssets({ KUBEBUILDER_ASSETS: '', HOME: home })).toBeUndefined();
  });

  it.each([{}, { HOME: half }, { KUBEBUILDER_ASSETS: '', HOME: home }])(
    'are asked for with the ways to get them where there are none (%o)',
    (environment) => {
      expect(() => assetsOf(environment)).toThrow(AssetsMissing);
      expect(() => assetsOf(environment)).toThrow(
        /no real control plane here: .*\.cache\/control-plane\/1\.36\/bin.*KUBEBUILDER_ASSETS.*setup-envtest/,
      );
    },
  );

  it('are named when they are missing or cannot be run', () => {
    expect(() => findAssets({ KUBEBUILDER_ASSETS: half, HOME: home })).toThrow(
      `KUBEBUILDER_ASSETS=${half} has no executable kube-apiserver, kube-controller-manager: `,
    );
  });

  it('are told in one line, with version and folder, and so is that there are none', () => {
    expect(assetsLine({ HOME: home })).toBe(
      `real control plane: Kubernetes v1.20.5 in ${inHome('1.20')}; what needs one runs against it and against the embedded API server`,
    );
    expect(assetsLine({})).toMatch(/^real control plane: none, only the embedded API server serves \(put etcd.*\)$/);
    expect(assetsLine({ KUBEBUILDER_ASSETS: half })).toMatch(/^real control plane: KUBEBUILDER_ASSETS=\S+ has no executable/);
  });
});
