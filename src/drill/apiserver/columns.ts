import { age } from './clock-text.ts';
import type { Column, Kind } from './kinds.ts';

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object',
  priority: 0,
  value: (object) => object.metadata.name,
};
const AGE: Column = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created',
  priority: 0,
  value: (object, nowMs) => age(Date.parse(object.metadata.creationTimestamp ?? ''), nowMs),
};

export function columnsOf(_kind: Kind): readonly Column[] {
  return [NAME, AGE];
}
