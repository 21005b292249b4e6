import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AssetsMissing, assetsOf } from './assets.ts';

const folder = mkdtempSync(join(tmpdir(), 'assets-'));
writeFileSync(join(folder, 'etcd'), '', { mode: 0o755 });
writeFileSync(join(folder, 'kube-apiserver'), '', { mode: 0o644 });

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the binaries of a real control plane', () => {
  it('are found where the environment says', () => {
    expect(assetsOf({ KUBEBUILDER_ASSETS: folder }, ['etcd'])).toBe(folder);
  });

  it('are asked for with the way to get them when the environment says nothing', () => {
    expect(() => assetsOf({}, ['etcd'])).toThrow(AssetsMissing);
    expect(() => assetsOf({}, ['etcd'])).toThrow(/KUBEBUILDER_ASSETS.*setup-envtest/);
  });

  it('are named when they are missing or cannot be run', () => {
    expect(() => assetsOf({ KUBEBUILDER_ASSETS: folder }, ['etcd', 'kube-apiserver', 'kube-controller-manager'])).toThrow(
      `KUBEBUILDER_ASSETS=${folder} has no executable kube-apiserver, kube-controller-manager: `,
    );
  });
});
