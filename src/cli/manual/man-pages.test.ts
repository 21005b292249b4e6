import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../command-table.ts';
import { manPages } from './man-pages.ts';

const pages = await manPages('1.2.3');
const textOf = (file: string): string => pages.find((page) => page.file === file)?.text ?? '';
const hasGroff = spawnSync('man', ['--version']).status === 0;

describe('the manual pages', () => {
  it('are one for the program, which names every command, and one for each', () => {
    expect(pages.map(({ file }) => file)).toEqual(['nodefence.1', ...Object.keys(COMMANDS).map((name) => `nodefence-${name}.1`)]);
    for (const name of Object.keys(COMMANDS)) expect(textOf('nodefence.1')).toContain(`nodefence\\-${name}(1)`);
  });

  it('say of each option what the program itself says', async () => {
    let compared = 0;
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      const command = await load?.();
      const text = textOf(`nodefence-${name}.1`).replaceAll('\\-', '-');
      for (const option of command?.options.filter(({ hidden }) => !hidden) ?? []) {
        expect(text).toContain(`\\fB${option.flags}\\fR\n`);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('describe the commands below a command', () => {
    expect(textOf('nodefence-node.1')).toContain('.SH "NODEFENCE NODE STATUS"');
  });

  it('say nothing of the machine that wrote them', () => {
    const everything = pages.map(({ text }) => text).join('');
    expect(everything).not.toContain(process.cwd());
    expect(everything).not.toMatch(/\(default: "?\/(home|root)/);
  });

  it.runIf(hasGroff)('are read by man without a warning (needs man)', { timeout: 60_000 }, () => {
    for (const { file, text } of pages) {
      const { stderr, status } = spawnSync('man', ['--warnings', '-l', '-'], {
        input: text,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '', MANWIDTH: '120' },
      });
      expect({ file, status, stderr }).toEqual({ file, status: 0, stderr: '' });
    }
  });
});
