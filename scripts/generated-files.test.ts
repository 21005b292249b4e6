import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from './generated-files.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const FILES = await generatedFiles();

describe('generated files', () => {
  it.each(FILES)('$path is what `npm run generate` would write', ({ path, text }) => {
    expect(readFileSync(ROOT + path, 'utf8')).toBe(text);
  });
});
