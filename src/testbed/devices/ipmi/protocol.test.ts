import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { bmcProtocolFor } from './protocol.ts';

describe('the protocol of a drill’s BMCs', () => {
  it('is Redfish for redfish, and for ipmi that of a simulator that nobody here wrote, where there is one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-path-'));
    try {
      const path = `/nowhere:${folder}`;
      expect(bmcProtocolFor('ipmi', path)).toBe('ipmi');
      writeFileSync(join(folder, 'ipmi_sim'), '#!/bin/sh\n');
      expect(bmcProtocolFor('ipmi', path)).toBe('ipmi');
      chmodSync(join(folder, 'ipmi_sim'), 0o755);
      expect(bmcProtocolFor('ipmi', path)).toBe('ipmi-sim');
      expect(bmcProtocolFor('redfish', path)).toBe('redfish');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
