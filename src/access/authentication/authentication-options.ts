import { z } from 'zod'

/** How callers are asked who they are. */
export interface AuthenticationOptions {
  /**
   * `none`: nobody is asked, so only this machine may ask. `token-review`: bearer tokens, which an API server knows.
   */
  readonly mode: 'none' | 'token-review'
  /** What tokens have to be for, one of these; empty: for the API server itself. */
  readonly audiences: readonly string[]
  /** The cluster whose API server reviews tokens; the default one unless given. */
  readonly cluster?: string | undefined
  /** How long a token is known without asking again. */
  readonly knownMs: number
  /** How long it may take to find out whose a token is. */
  readonly deadlineMs: number
}

/** Checks {@link AuthenticationOptions}, and holds every default of them. */
export const authenticationOptionsSchema: z.ZodType<AuthenticationOptions> = z.strictObject({
  mode: z.enum(['none', 'token-review']).default('none'),
  audiences: z.array(z.string().min(1)).default([]),
  cluster: z.string().min(1).optional(),
  knownMs: z.int().min(1_000).max(30_000).default(20_000),
  deadlineMs: z.int().min(100).max(60_000).default(5_000),
})

/** {@link AuthenticationOptions} with every default. */
export function defaultAuthenticationOptions(): AuthenticationOptions {
  return authenticationOptionsSchema.parse({})
}
