/** How much is asked about what viewers may see, and for how long an answer holds. Times are milliseconds. */
export interface AccessLimits {
  /** How long a permission is believed that nothing is heard of. */
  readonly allowMs: number
  /** The same of a refusal. */
  readonly denyMs: number
  /** Answers that are kept, of all viewers of one cluster; those who have most of them lose their oldest first. */
  readonly maxDecisions: number
  /** How long the API server may take for one review. */
  readonly reviewDeadlineMs: number
  /** Reviews that are under way at once in one cluster. */
  readonly maxReviewsInFlight: number
  /** Reviews that wait for that, users in turn; beyond it the user who has most of them is refused the newest. */
  readonly maxReviewsWaiting: number
  /** Namespaces that one operation asks about for one kind. */
  readonly maxNamespaces: number
  /** Reviews that one operation may need. */
  readonly maxReviewsPerOperation: number
}

/** Every default of {@link AccessLimits}. */
export const defaultAccessLimits: AccessLimits = {
  allowMs: 45_000,
  denyMs: 10_000,
  maxDecisions: 100_000,
  reviewDeadlineMs: 5_000,
  maxReviewsInFlight: 32,
  maxReviewsWaiting: 10_000,
  maxNamespaces: 200,
  maxReviewsPerOperation: 2_000,
}
