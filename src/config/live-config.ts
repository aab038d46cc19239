import { z } from 'zod'
import { defaultLiveLimits, type LiveLimits } from '../graphql/live/live-limits.ts'
import { defaultOperationLimits, type OperationLimits } from '../graphql/served/served-schema.ts'

/** What an operator configures of subscriptions. */
export type LiveConfig = LiveLimits &
  Pick<OperationLimits, 'coalesceMs' | 'maxFrameObjects' | 'maxFrameBytes'>

const { coalesceMs, maxFrameObjects, maxFrameBytes } = defaultOperationLimits

/** Checks {@link LiveConfig}, and holds every default of it. */
export const liveConfigSchema: z.ZodType<LiveConfig> = z.strictObject({
  coalesceMs: z.int().min(0).max(60_000).default(coalesceMs),
  maxFrameObjects: z.int().min(1).max(100_000).default(maxFrameObjects),
  maxFrameBytes: z.int().min(1_024).max(1_073_741_824).default(maxFrameBytes),
  maxFrames: z.int().min(1).max(1_000_000).default(defaultLiveLimits.maxFrames),
  maxBytes: z.int().min(65_536).max(1_099_511_627_776).default(defaultLiveLimits.maxBytes),
  maxHeldBytes: z.int().min(0).max(1_099_511_627_776).default(defaultLiveLimits.maxHeldBytes),
  maxHeldBytesPerUser: z
    .int()
    .min(0)
    .max(1_099_511_627_776)
    .default(defaultLiveLimits.maxHeldBytesPerUser),
})
