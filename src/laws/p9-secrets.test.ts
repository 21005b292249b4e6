import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { api, CONTROLLER, edited, goodTrace } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const SECRET = 'pa"ss-word-1';
const P9 = (trace: readonly TraceEvent[], texts: Record<string, string> = {}): { checks: number; violations: string[] } =>
  judge(trace, { secrets: [SECRET], texts }).laws.P9;
const event = (message: string): TraceEvent => api(12_000, CONTROLLER, 'create', 'events', 'x', { request: { message } });

describe('P9, no secret leaves', () => {
  it('passes a run whose writes and logs are clean', () => {
    expect(P9(goodTrace(), { log: 'login as admin' }).violations).toEqual([]);
    expect(P9(goodTrace(), { log: 'login as admin' }).checks).toBeGreaterThan(10);
  });

  it('catches a secret in an Event', () => {
    expect(P9([...goodTrace(), event(`401 for ${SECRET}`)]).violations.join()).toContain('a secret is in a create of events');
  });

  it('catches a secret as base64', () => {
    expect(P9([...goodTrace(), event(Buffer.from(SECRET).toString('base64'))]).violations).toHaveLength(1);
  });

  it('catches a secret in a stored object', () => {
    const trace = edited((written) =>
      written.kind === 'api' && written.at === 14_300 ? { ...written, object: { metadata: { name: 'x' }, spec: SECRET } } : written,
    );
    expect(P9(trace).violations).toHaveLength(1);
  });

  it('catches a secret in a log or a command line', () => {
    expect(P9(goodTrace(), { 'command line': `--password ${SECRET}` }).violations.join()).toContain('a secret is in command line');
  });
});
