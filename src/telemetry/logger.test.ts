import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../ports/api-transport.ts';
import { LOG_FIELDS } from './log-fields.ts';
import { createLogger, type LoggerOptions } from './logger.ts';

function logged(say: (logger: ReturnType<typeof createLogger>) => void, options: Partial<LoggerOptions> = {}): string[] {
  const lines: string[] = [];
  say(createLogger({ level: 'debug', format: 'json', write: (line) => lines.push(line), ...options }));
  return lines;
}

const parsed = (lines: readonly string[]): Record<string, unknown> => JSON.parse(lines[0] ?? '') as Record<string, unknown>;

describe('the logger', () => {
  it('writes one JSON object a line with time, level, message, base and fields', () => {
    const lines = logged((logger) => logger.info('a fence began', { node: 'a', attempt: 1 }), { base: { component: 'controller' } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(parsed(lines)).toMatchObject({ level: 'info', component: 'controller', message: 'a fence began', node: 'a', attempt: 1 });
    expect(parsed(lines)['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('keeps fields outside the catalogue apart, and none can overwrite the message or the level', () => {
    const line = parsed(logged((logger) => logger.warn('said', { surprise: 1, message: 'forged', level: 'forged', time: 'forged', node: 'a' })));
    expect(line).toMatchObject({ message: 'said', node: 'a', other: { surprise: 1, message: 'forged', time: 'forged' } });
  });

  it('writes nothing below its level', () => {
    expect(logged((logger) => logger.debug('x'), { level: 'info' })).toEqual([]);
    expect(logged((logger) => logger.error('x'), { level: 'silent' })).toEqual([]);
  });

  it.each([
    ['a password field', { password: 'hunter2' }],
    ['a field of any depth', { answered: { session: [{ authToken: 'hunter2' }] } }],
    ['header names', { other: { Authorization: 'hunter2', cookie: 'hunter2', 'set-cookie': 'hunter2' } }],
    ['SNMP words', { community: 'hunter2', authKey: 'hunter2', privKey: 'hunter2' }],
    ['a secret as an object', { secret: { data: { a: 'hunter2' } } }],
    ['a bearer token in a text', { error: new Error('sent Authorization: Bearer hunter2hunter2') }],
    ['a URL with a password', { url: 'https://admin:hunter2@bmc/redfish' }],
    ['a query', { url: 'https://bmc/login?user=a&password=hunter2&x=1' }],
    ['a private key', { other: '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----' }],
    ['a cut private key', { other: '-----BEGIN RSA PRIVATE KEY-----\nhunter2' }],
    ['JSON in a text', { answered: '{"password":"hunter2"}' }],
    ['a cause of an error', { error: new Error('outer', { cause: Object.assign(new Error('inner'), { clientSecret: 'hunter2' }) }) }],
  ])('never writes %s', (_case, fields) => {
    const text = logged((logger) => logger.error('failed', fields)).join('');
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('hunter2');
  });

  it('never writes a secret that stands in the message itself', () => {
    expect(logged((logger) => logger.error('login with password=hunter2 failed')).join('')).not.toContain('hunter2');
  });

  it('keeps what only is named after a secret', () => {
    const line = parsed(logged((logger) => logger.info('read', { other: { secretName: 'bmc', tokenExpiry: 5, hasToken: true, keyboard: 'de' } })));
    expect(line['other']).toEqual({ other: { secretName: 'bmc', tokenExpiry: 5, hasToken: true, keyboard: 'de' } });
  });

  it('writes errors with kind, own fields, cause and stack', () => {
    const error = new ApiStatusError(409, 'Conflict', 'changed', 5);
    error.cause = new Error('inner');
    expect(parsed(logged((logger) => logger.error('x', { error })))['error']).toMatchObject({
      name: 'ApiStatusError',
      message: 'changed',
      status: 409,
      reason: 'Conflict',
      cause: { message: 'inner' },
      stack: expect.stringContaining('logger.test.ts') as string,
    });
  });

  it('survives rings, depth, length and odd values', () => {
    const ring: Record<string, unknown> = { big: 10n, action: () => 1, symbol: Symbol('s'), long: 'x'.repeat(10_000) };
    ring['ring'] = ring;
    const text = logged((logger) => logger.info('x', { other: ring, result: Array.from({ length: 1000 }, () => 1) })).join('');
    expect(text).toContain('[deeper]');
    expect(text.length).toBeLessThan(6000);
  });

  it('is read by people as time, level, message and fields, in colour only when asked', () => {
    const [plain = ''] = logged((logger) => logger.warn('watch failed', { resource: 'nodes', error: new Error('no "way"') }), { format: 'pretty' });
    expect(plain).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}watch failed resource=nodes error="no \\"way\\""\n$/);
    const [coloured = ''] = logged((logger) => logger.warn('x'), { format: 'pretty', isColoured: true });
    expect(coloured).toContain('\u001b[33mWARN');
  });

  it.each(['json', 'pretty'] as const)('is one line for each entry, and moves no cursor, whatever a device says (%s)', (format) => {
    const lines: string[] = [];
    const said = 'off\n12:00:00 ERROR forged\r\u001b[2J\u009b2J\u2028\u202e';
    createLogger({ level: 'info', format, write: (line) => lines.push(line) }).info(`a device says ${said}`, {
      problem: said,
      error: new Error(said),
    });
    expect(lines).toHaveLength(1);
    const [line = ''] = lines;
    expect(line.slice(0, -1)).not.toMatch(format === 'json' ? /[\n\r\u001b]/u : /[\p{Cc}\u2028\u202e]/u);
    expect(line.slice(-1)).toBe('\n');
  });

  it('is given only fields of the catalogue by this program', async () => {
    const root = new URL('..', import.meta.url).pathname;
    const files = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    const unknown: string[] = [];
    for (const file of files) {
      const source = await readFile(join(root, file), 'utf8');
      for (const [, inner = ''] of source.matchAll(/logger\.(?:debug|info|warn|error)\(\s*(?:'[^']*'|`[^`]*`),\s*\{([^{}]*)\}/g)) {
        const names = inner.split(',').map((part) => /^\s*(\w+)\s*(?::|$)/.exec(part)?.[1]);
        unknown.push(...names.filter((name) => name !== undefined && !Object.hasOwn(LOG_FIELDS, name)).map((name) => `${file}: ${String(name)}`));
      }
    }
    expect(unknown).toEqual([]);
  });
});
