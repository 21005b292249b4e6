import { describe, expect, it } from 'vitest';
import type { ProgramResult } from '../shared/process/run-program.ts';
import { statusOf } from './answers.ts';

const OFF: ProgramResult = { ended: 'exited', code: 2, signal: null, stdout: 'Status: OFF\n', stderr: '', isCut: false };
const SILENT_OFF: ProgramResult = { ...OFF, stdout: '' };

describe('off by a fence agent', () => {
  it('is what its code and its words say together, or its code alone where it prints nothing', () => {
    expect(statusOf(OFF, false)).toBe('off');
    expect(statusOf(SILENT_OFF, true)).toBe('off');
  });

  it.each<[string, Partial<ProgramResult>]>([
    ['fails with the words of off', { code: 1 }],
    ['ends with another code', { code: 255 }],
    ['is ended by a signal', { code: null, signal: 'SIGTERM' }],
    ['said more than is kept', { isCut: true }],
    ['was killed at its deadline, and chose its code itself', { ended: 'deadline' }],
    ['was given up, and chose its code itself', { ended: 'aborted' }],
  ])('is not what a program says that %s', (_what, more) => {
    expect(statusOf({ ...OFF, ...more }, false)).toBe('unknown');
    expect(statusOf({ ...SILENT_OFF, ...more }, true)).toBe('unknown');
  });
});
