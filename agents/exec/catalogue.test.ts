import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ProgramFolder } from '../shared/process/program-folder.ts';
import { FenceCatalogue } from './catalogue.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-catalogue-'));
  writeFileSync(join(folder, 'asked'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that says that it has this parameter, once `go` is there. */
function install(parameter: string): void {
  const xml = `<resource-agent name="fence_a"><parameters><parameter name="${parameter}"><content type="string"/></parameter></parameters><actions><action name="off"/></actions></resource-agent>`;
  const file = join(folder, 'fence_a');
  writeFileSync(file, `#!/bin/sh\necho x >>${folder}/asked\nwhile [ -e ${folder}/wait ]; do sleep 0.1; done\necho '${xml}'\n`);
  chmodSync(file, 0o755);
}

describe('a program that is asked for its metadata', () => {
  const asked = (): number => readFileSync(join(folder, 'asked'), 'utf8').length / 2;

  it(
    'is asked once, and again beside everything else when its file has changed; meanwhile what it said before stands',
    { timeout: 90_000 },
    async () => {
      const catalogue = new FenceCatalogue(new ProgramFolder({ kind: 'folder', path: folder }));
      const has = (parameter: string): boolean => catalogue.find('fence_a')?.metadata?.parameters.has(parameter) === true;
      install('first');
      expect([has('first'), has('first'), asked()]).toEqual([true, true, 1]);
      writeFileSync(join(folder, 'wait'), '');
      install('second-one');
      expect([has('first'), has('first')]).toEqual([true, true]);
      await expect.poll(asked, { timeout: 30_000 }).toBe(2);
      rmSync(join(folder, 'wait'));
      await expect.poll(() => has('second-one'), { timeout: 30_000 }).toBe(true);
      expect(asked()).toBe(2);
    },
  );

  it('is refused in words once its file is gone', () => {
    const catalogue = new FenceCatalogue(new ProgramFolder({ kind: 'folder', path: folder }));
    install('first');
    expect(catalogue.find('fence_a')?.metadata).toBeDefined();
    rmSync(join(folder, 'fence_a'));
    const refusal = expect.stringMatching(/^there is no fence_a in .*, the folder of --programs$/) as string;
    expect(catalogue.find('fence_a')).toEqual({ name: 'fence_a', metadata: undefined, refusal });
  });
});
