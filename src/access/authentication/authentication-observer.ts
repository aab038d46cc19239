/** Told of what authentication does: for metrics and logs. */
export interface AuthenticationObserver {
  /** A token was verified, and not found in the cache. */
  verified(outcome: 'accepted' | 'refused' | 'unavailable'): void
  /** Whoever vouches for tokens cannot be asked. */
  unavailable(error: unknown): void
}
