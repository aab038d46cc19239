import type { RemovalCause } from '../../query/live-set.ts'
import type { FrameChange } from '../schema/read-context.ts'

/** What clients are told of why an object is removed. */
export const removals: Readonly<Record<RemovalCause, NonNullable<FrameChange['removal']>>> = {
  gone: 'DELETED',
  unmatched: 'UNMATCHED',
  hidden: 'HIDDEN',
}
