import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { remedyTexts } from './remedy-folder.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-remedies-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a folder of remedies', () => {
  it('is read file by file, in their order, each line with its file', () => {
    for (const name of ['b.yaml', 'a.yml', 'notes.txt']) writeFileSync(join(folder, name), name);
    const texts = remedyTexts(folder);
    expect(texts.map(({ name, text }) => [name, text])).toEqual([
      ['a.yml', 'a.yml'],
      ['b.yaml', 'b.yaml'],
    ]);
    expect(texts[1]?.where(3)).toBe(`${join(folder, 'b.yaml')}, line 3`);
  });

  it('that is not there is an error', () => {
    expect(() => remedyTexts(join(folder, 'missing'))).toThrow('ENOENT');
  });

  it('has bounds', () => {
    for (let index = 0; index < 65; index += 1) writeFileSync(join(folder, `${index}.yaml`), '');
    expect(() => remedyTexts(folder)).toThrow('has 65 files of remedies, and 64 may be there');
  });
});
