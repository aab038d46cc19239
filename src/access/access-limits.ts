/** Bounds of access reviews, and the lifetimes of their answers. Times are milliseconds. */
export interface AccessLimits {
  /** How long an answer that allows access is valid without news of RBAC. */
  readonly allowMs: number
  /** How long an answer that denies access is valid without news of RBAC. */
  readonly denyMs: number
  /** The maximum number of cached answers per cluster. Beyond it, users with the most answers lose their oldest. */
  readonly maxDecisions: number
  /** The deadline of one review. */
  readonly reviewDeadlineMs: number
  /** The maximum number of running reviews per cluster. */
  readonly maxReviewsInFlight: number
  /**
   * The maximum number of waiting reviews. Users take turns; beyond it, the newest review of the user with the most is
   * refused.
   */
  readonly maxReviewsWaiting: number
  /** The maximum number of namespaces that one operation reviews for one kind. */
  readonly maxNamespaces: number
  /** The maximum number of reviews of one operation. */
  readonly maxReviewsPerOperation: number
}

/** The defaults of {@link AccessLimits}. */
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
