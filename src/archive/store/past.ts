import type { ArchiveCalls } from '../archive-calls.ts'
import type { Engine } from './engine.ts'

/** The questions about the past. */
export function past(_engine: Engine): Pick<ArchiveCalls, 'changes' | 'objectAt' | 'differences'> {
  throw new Error('the past is not written yet')
}
