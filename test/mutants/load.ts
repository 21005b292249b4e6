// Loaded before a program (`node --import`): the mutant that the environment names takes the place of its module.
import { registerHooks } from 'node:module';
import { broken, filesOf } from './source-mutant.ts';
import { MUTANT_VARIABLE, mutantNamed } from './mutants.ts';

const name = process.env[MUTANT_VARIABLE];
if (name !== undefined) {
  const mutant = mutantNamed(name);
  const files = new Map([...filesOf(mutant)].map((file) => [new URL(`../../${file}`, import.meta.url).href, file]));
  registerHooks({
    load(asked, context, next) {
      const loaded = next(asked, context);
      const file = files.get(asked);
      if (file === undefined || loaded.source === undefined) return loaded;
      const source = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
      return { ...loaded, source: broken(mutant, file, source) };
    },
  });
}
