/**
 * Who asks, as an API server knows them: the user of a TokenReview, of a verified JWT, or of a trusted proxy's headers.
 * All four members go into every SubjectAccessReview.
 */
export interface Viewer {
  readonly username: string
  /** Empty where the authenticator knows none. */
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}
