import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROWS } from '../../src/domain/automaton.ts';
import { POLICY_NAMES } from '../../src/domain/policies/policy.ts';
import { Scene } from './transcript-scene.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

/** A file is blocks: comments, commands, `----`, what was said; an empty line ends a block. Everything after `----` is written by the automaton. */
function replay(text: string): string {
  const scene = new Scene();
  const blocks = text.trimEnd().split(/\n\n+/);
  return `${blocks.map((block) => replayBlock(scene, block)).join('\n\n')}\n`;
}

function sceneAfter(text: string): Scene {
  const scene = new Scene();
  for (const block of text.trimEnd().split(/\n\n+/)) replayBlock(scene, block);
  return scene;
}

function replayBlock(scene: Scene, block: string): string {
  const head = block.split(/\n----(?:\n|$)/)[0] ?? '';
  const commands = head.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  if (commands.length === 0) return head;
  return [head, '----', ...scene.play(commands)].join('\n');
}

describe('transcripts of the automaton (UPDATE_TRANSCRIPTS=1 writes them again; read the difference)', () => {
  it.each(FILES)('%s', (name) => {
    const said = replay(readFileSync(FOLDER + name, 'utf8'));
    if (process.env['UPDATE_TRANSCRIPTS'] === '1') writeFileSync(FOLDER + name, said);
    expect(said).toBe(readFileSync(FOLDER + name, 'utf8'));
    expect(said).not.toContain('LAW BROKEN');
  });

  it('are at least forty, and every row of the automaton decides in one of them', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(40);
    const scenes = FILES.map((name) => sceneAfter(readFileSync(FOLDER + name, 'utf8')));
    const rows = new Set(scenes.flatMap((scene) => [...scene.rows]));
    expect(ROWS.map(({ id }) => id).filter((id) => !rows.has(id))).toEqual([]);
  });

  it.each(POLICY_NAMES)('%s holds a fence in one of them by its own words, and lets it go', (policy) => {
    const texts = FILES.filter((name) => name.startsWith('storm-')).map((name) => readFileSync(FOLDER + name, 'utf8'));
    const held = new RegExp(`^policies .*\\b${policy}\\b[^]*Held by ${policy}: [^]*new-isolate: run run:cordon`, 'm');
    expect(texts.filter((text) => held.test(text)).length).toBeGreaterThan(0);
  });

  it('are all named in the table of the README, which names no other', () => {
    const table = readFileSync(`${FOLDER}README.md`, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    const named = new Set(table.flatMap((line) => [...line.matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => `${name ?? ''}.txt`)));
    expect([...named].toSorted()).toEqual(FILES.toSorted());
  });

  it('would notice a difference', () => {
    expect(replay('plan\nnode dies\nuntil run:cordon\n----\nsomething else\n')).not.toContain('something else');
  });
});
